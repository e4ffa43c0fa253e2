"""``fori_loop``: known and traced bounds, both modes of differentiation, messages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import fori_loop, scan_p, while_p
from bindax_core.errors import MissingRuleError

pytestmark = pytest.mark.smoke


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def horner(lower: Any, upper: Any, x: Any, **options: Any) -> Any:
    return fori_loop(lower, upper, lambda i, c: c * x + i, x, **options)


def horner_dot(lower: int, upper: int, x: float) -> tuple[float, float]:
    value, dot = x, 1.0
    for i in range(lower, upper):
        value, dot = value * x + i, dot * x + value
    return value, dot


@pytest.mark.parametrize(("lower", "upper"), [(0, 5), (2, 4), (-2, 1), (3, 3), (5, 3)])
def test_values_and_derivatives(lower: int, upper: int) -> None:
    x = np.array(0.7)
    value, dot = horner_dot(lower, upper, 0.7)
    known = lambda x: horner(lower, upper, x)  # noqa: E731
    traced = lambda x: bt.jit(horner)(np.int32(lower), np.int32(upper), x)  # noqa: E731
    for f in (known, bt.jit(known), traced):
        np.testing.assert_allclose(f(x), value, rtol=1e-13)
        np.testing.assert_allclose(bt.jacfwd(f)(x), dot, rtol=1e-12)
    for f in (bt.grad(known), bt.jit(bt.grad(known)), bt.grad(bt.jit(known))):
        np.testing.assert_allclose(f(x), dot, rtol=1e-12)


def test_known_bounds_make_a_scan_and_traced_ones_a_while() -> None:
    names = lambda f, *args: [eqn.primitive for eqn in bt.make_jaxpr(f)(*args).eqns]  # noqa: E731
    assert scan_p in names(lambda x: horner(0, 4, x), 0.5)
    assert scan_p in names(lambda x: horner(np.int8(0), np.int8(4), x), 0.5)
    assert while_p in names(lambda n, x: horner(0, n, x), 4, 0.5)
    with pytest.raises(MissingRuleError, match="fori_loop with bounds that are not traced"):
        bt.grad(lambda x: bt.jit(horner)(0, 4, x))(0.5)


def test_bounds_of_a_batch() -> None:
    uppers = np.array([0, 3, 5], np.int32)
    expected = [horner_dot(0, n, 0.7) for n in uppers]
    x, one = np.array(0.7), np.ones(())
    found = bt.vmap(lambda n: bt.jvp(lambda x: horner(0, n, x), (x,), (one,)))(uppers)
    np.testing.assert_allclose(np.stack(found, 1), expected, rtol=1e-12)


@pytest.mark.parametrize("unroll", [1, 2, 3, True, False])
def test_unroll(unroll: Any) -> None:
    value, dot = horner_dot(0, 5, 0.7)
    f = lambda x: horner(0, 5, x, unroll=unroll)  # noqa: E731
    np.testing.assert_allclose(bt.jit(bt.value_and_grad(f))(0.7), (value, dot), rtol=1e-12)


def test_the_integer_has_the_type_of_the_bounds() -> None:
    def index(lower: Any, upper: Any) -> Any:
        return fori_loop(lower, upper, lambda i, c: i, lower)

    for run in (index, bt.jit(index)):
        for lower, upper, dtype, weak in (
            (np.int8(0), np.int8(3), np.int8, False),
            (np.uint16(0), 3, np.uint16, False),
            (0, 3, np.int64, True),
        ):
            out = run(lower, upper)
            assert (out.dtype, out.weak_type, int(out)) == (dtype, weak, 2)
    # A Python integer yields to the arrays it meets.
    assert fori_loop(0, 3, lambda i, c: c * i, np.float32(1)).dtype == np.float32
    assert int(fori_loop(2**40, 2**40 + 2, lambda i, c: i, 0)) == 2**40 + 1
    assert int(fori_loop(np.int8(125), np.int8(127), lambda i, c: c + 1, 0)) == 2
    assert int(bt.jit(lambda n: fori_loop(n, n + 2, lambda i, c: c + 1, 0))(np.int8(125))) == 2


def test_python_numbers_take_the_types_of_the_body() -> None:
    out = bt.jit(lambda n: fori_loop(0, n, lambda i, c: c + np.float32(0.5), 0))(3)
    assert (out.dtype, float(out)) == (np.float32, 1.5)
    out = fori_loop(0, 3, lambda i, c: {"a": c["a"] + np.float32(0.5)}, {"a": 0})["a"]
    assert (out.dtype, float(out)) == (np.float32, 1.5)


def test_messages() -> None:
    keep = lambda i, c: c  # noqa: E731
    with pytest.raises(TypeError, match=r"body_fun of fori_loop must be a function, but got 5 of"):
        fori_loop(0, 3, 5, 1)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"lower of fori_loop must be an integer scalar or a float, but .*c"
    ):
        fori_loop(0j, 3, keep, 1)
    with pytest.raises(
        TypeError, match=r"upper of fori_loop must be an integer scalar.*int64\[2\]"
    ):
        fori_loop(0, np.array([1, 2]), keep, 1)
    with pytest.raises(TypeError, match=r"upper of fori_loop: a value of type builtins.str"):
        fori_loop(0, "3", keep, 1)
    with pytest.raises(TypeError, match=r"one dtype, but they are int8\[\] and int16\[\]; convert"):
        fori_loop(np.int8(0), np.int16(3), keep, 1)
    with pytest.raises(
        TypeError, match=r"body of fori_loop .* carry\['x'\] comes in as float64\[\]"
    ):
        fori_loop(0, 3, lambda i, c: {"x": np.ones(2)}, {"x": 1.0})
    with pytest.raises(
        TypeError, match=r"init_val\[0\] of fori_loop: a value of type builtins.str"
    ):
        fori_loop(0, 3, keep, ["no"])
    with pytest.raises(ValueError, match=r"given unroll=2, but upper is traced, so the number of"):
        bt.jit(lambda n: fori_loop(0, n, keep, 1.0, unroll=2))(3)
    with pytest.raises(ValueError, match=r"lower and upper are traced"):
        bt.jit(lambda n: fori_loop(n, n, keep, 1.0, unroll=2))(3)


def test_bounds_that_are_floats() -> None:
    for wrap in (lambda f: f, bt.jit):
        total = wrap(lambda a, b: fori_loop(a, b, lambda i, c: c + i, 0.0))
        assert float(total(0.5, 3.0)) == 0.5 + 1.5 + 2.5
        assert float(total(3.0, 0.0)) == 0
    assert float(fori_loop(0.0, 3.0, lambda i, c: c + i, 0.0)) == 3
    with pytest.raises(TypeError, match="must have one dtype"):
        fori_loop(0, 3.0, lambda i, c: c, 0.0)
    with pytest.raises(TypeError, match="an integer scalar or a float, but it is complex"):
        fori_loop(0, 3j, lambda i, c: c, 0.0)
