"""Strategies give what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bindax_core.sharding import NamedSharding
from bindax_core.tree_util import tree_leaves
from bindax_testing import between, strategies

few = settings(max_examples=25, deadline=None, database=None)


@few
@given(strategies.arrays(st.sampled_from(strategies.DTYPES), domain=between(1, 2)))
def test_arrays_are_of_the_dtypes_shapes_and_domain(x: Any) -> None:
    assert x.dtype.name in strategies.DTYPES
    assert x.ndim <= 3
    assert max(x.shape, default=0) <= 4
    if x.dtype.kind == "f":
        assert between(1, 2).contains(x)
        assert np.unique(x).size == x.size


@few
@given(strategies.arrays("int32", (2, 3)))
def test_arrays_of_one_shape(x: Any) -> None:
    assert (x.shape, x.dtype) == ((2, 3), np.int32)


@few
@given(strategies.pytrees(st.just(1.0)))
def test_trees_have_the_leaves(tree: Any) -> None:
    assert set(tree_leaves(tree)) <= {1.0}


@few
@given(strategies.meshes(max_devices=1).flatmap(lambda mesh: specs_on(mesh)))
def test_specs_fit_meshes(drawn: Any) -> None:
    mesh, spec = drawn
    assert NamedSharding(mesh, spec).shard_shape((4, 6)) == (4, 6)


def specs_on(mesh: Any) -> Any:
    return strategies.specs(mesh, (4, 6)).map(lambda spec: (mesh, spec))
