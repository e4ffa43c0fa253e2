"""Metadata without a hash: compared by ``==``, with one notice."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.errors import TreeError, UnhashableMetadataNotice
from bindax_core.tree_util import register_pytree_node_class

pytestmark = pytest.mark.usefixtures("toy_operations")


@register_pytree_node_class
class Scaled:
    def __init__(self, x: Any, options: Any) -> None:
        self.x = x
        self.options = options

    def tree_flatten(self) -> Any:
        return (self.x,), self.options

    @classmethod
    def tree_unflatten(cls, options: Any, children: Any) -> Any:
        return cls(*children, options)


def test_jit_compares_it() -> None:
    traced: list[int] = []

    @bt.jit
    def f(node: Scaled) -> Any:
        traced.append(1)
        return Scaled(toy.mul(node.x, node.options["by"]), node.options)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for by in (2.0, 2.0, 3.0, 2.0):
            out = f(Scaled(np.ones(2), {"by": by}))
            np.testing.assert_array_equal(out.x, [by, by])
            assert out.options == {"by": by}
    assert len(traced) == 2
    assert [w.category for w in caught] == [UnhashableMetadataNotice]
    assert "Scaled cannot be hashed" in str(caught[0].message)
    grad = bt.grad(lambda node: f(node).x)(Scaled(1.0, {"by": 2.0}))
    assert float(grad.x) == 2


def test_arrays_are_refused_still() -> None:
    with pytest.raises(TreeError, match="cannot be hashed"):
        bt.jit(lambda node: node.x)(Scaled(1.0, {"by": np.ones(2)}))
