"""Strategies give what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from bindax_core import typecheck_jaxpr
from bindax_core.extend import eval_jaxpr, typeof
from bindax_core.sharding import NamedSharding
from bindax_core.tree_util import tree_leaves
from bindax_testing import between, strategies

pytest.importorskip("bindax_lax_basic", reason="random jaxprs are made of its primitives")
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


@few
@given(strategies.jaxprs(max_equations=6))
def test_jaxprs_are_well_typed_and_run(closed: Any) -> None:
    typecheck_jaxpr(closed.jaxpr)
    rng = np.random.default_rng(0)
    operands = [rng.uniform(-2, 2, aval.shape).astype(aval.dtype) for aval in closed.in_avals]
    results = eval_jaxpr(closed.jaxpr, closed.consts, *operands)
    assert [typeof(x) for x in results] == closed.out_avals


@few
@given(strategies.jaxprs(dtype="int32", shapes=[(4,)]))
def test_jaxprs_of_integers(closed: Any) -> None:
    typecheck_jaxpr(closed.jaxpr)
    assert {(aval.shape, aval.dtype.name) for aval in closed.in_avals} == {((4,), "int32")}


@pytest.mark.nightly
def test_failing_jaxprs_are_made_smaller() -> None:
    def has_product(closed: Any) -> bool:
        return any(eqn.primitive.name == "mul" for eqn in closed.jaxpr.eqns)

    found = find(strategies.jaxprs(), has_product, settings=settings(database=None))

    assert [eqn.primitive.name for eqn in found.jaxpr.eqns] == ["mul"]


def specs_on(mesh: Any) -> Any:
    return strategies.specs(mesh, (4, 6)).map(lambda spec: (mesh, spec))
