"""Divisions that the rules accept or refuse; run it with BINDAX_NUM_CPU_DEVICES=8."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from bindax_example_divided import halved, mirrored
from bindax_example_softsign import softsign

from bindax import P, devices, grad, jit, make_mesh, reshard, set_mesh, typeof
from bindax.errors import ShardingTypeError
from bindax.sharding import AxisType, auto_axes
from bindax_testing import conformance

X = np.arange(32, dtype=np.float32).reshape(8, 4)

test_rules = conformance("divided", budget=10.0)


@pytest.fixture
def rows() -> Iterator[object]:
    mesh = make_mesh((2,), ("x",), (AxisType.Explicit,), devices=devices()[:2])
    with set_mesh(mesh):
        yield reshard(X, P("x"))


def test_a_primitive_with_a_rule(rows: object) -> None:
    for function in (mirrored, jit(mirrored)):
        found = function(rows)
        assert typeof(found).str_short() == "float32[8@x,4]"
        np.testing.assert_array_equal(found, X[:, ::-1])
    slope = grad(lambda x: (mirrored(x) ** 2).sum())(rows)
    assert typeof(slope).str_short() == "float32[8@x,4]"


def test_what_the_rule_refuses(rows: object) -> None:
    with pytest.raises(ShardingTypeError, match="needs its operands whole along an axis"):
        mirrored(rows.T)


def test_a_primitive_without_a_rule(rows: object) -> None:
    text = r"example\.halved of bindax-example-divided .* has no sharding rule.*auto_axes"
    with pytest.raises(ShardingTypeError, match=text):
        halved(rows)
    found = auto_axes(halved, out_sharding=P("x"))(rows)
    assert typeof(found).str_short() == "float32[8@x,4]"
    np.testing.assert_array_equal(found, X / 2)


def test_a_rule_for_the_primitive_of_another_package(rows: object) -> None:
    assert typeof(softsign(rows)).str_short() == "float32[8@x,4]"
    np.testing.assert_allclose(softsign(rows), X / (1 + X))
