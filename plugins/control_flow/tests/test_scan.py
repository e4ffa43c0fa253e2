"""``scan`` and ``map``: values on both ways to run, types, unrolling, messages."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_control_flow import cond, map, scan, scan_p
from bindax_core.errors import ConcretizationTypeError
from bindax_lax_basic import add, mul, sin, tanh


@pytest.fixture(autouse=True, params=["numpy", None])
def backend(request: pytest.FixtureRequest) -> Iterator[None]:
    with bx.config.override(backend=request.param, check_jaxprs=True):
        yield


def python_scan(
    f: Callable[..., Any], init: Any, xs: Any, length: int, reverse: bool = False
) -> tuple[Any, list[Any]]:
    """The definition."""
    carry, ys = init, [None] * length
    for i in reversed(range(length)) if reverse else range(length):
        carry, ys[i] = f(carry, None if xs is None else xs[i])
    return carry, ys


def recurrence(carry: Any, x: Any) -> Any:
    new = tanh(carry) + x
    return new, new * x


@pytest.mark.parametrize("length", [0, 1, 2, 7])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("unroll", [1, 3, True])
def test_values(length: int, reverse: bool, unroll: Any) -> None:
    xs = np.linspace(-1.0, 1.0, 2 * length).reshape(length, 2)
    init = np.array([0.5, -0.5])
    run = functools.partial(scan, recurrence, reverse=reverse, unroll=unroll)
    expected, rows = python_scan(
        lambda c, x: (np.tanh(c) + x, (np.tanh(c) + x) * x), init, xs, length, reverse
    )
    for function in (run, bt.jit(run)):
        carry, ys = function(init, xs)
        np.testing.assert_allclose(carry, expected, rtol=1e-12)
        np.testing.assert_allclose(ys, np.reshape(rows, (length, 2)), rtol=1e-12)


def test_trees() -> None:
    def step(carry: Any, x: Any) -> Any:
        h, counts = carry["h"], carry["n"]
        return {"h": (h[0] + x["a"], h[1]), "n": counts + 1}, {"y": h[0], "none": None}

    init = {"h": (np.float32(1.0), np.ones(2, np.float32)), "n": np.int32(0)}
    xs = {"a": np.arange(3, dtype=np.float32), "b": np.zeros((3, 4), np.int8)}
    carry, ys = scan(step, init, xs)
    assert float(carry["h"][0]) == 4.0
    assert int(carry["n"]) == 3
    assert ys["none"] is None
    np.testing.assert_array_equal(ys["y"], np.array([1.0, 1.0, 2.0], np.float32))
    assert ys["y"].dtype == np.float32
    assert scan(lambda c, x: (c, None), (), xs) == ((), None)


def test_without_sequences() -> None:
    carry, ys = scan(lambda c, x: (2.0 * c, x), np.float64(1.0), None, length=4)
    assert (float(carry), ys) == (16.0, None)
    assert float(scan(lambda c, x: (2.0 * c, c), 1.0, length=np.int64(3))[0]) == 8.0
    assert scan(lambda c, x: (c, c), np.ones(2), length=0)[1].shape == (0, 2)


def test_python_scalars_take_the_type_of_the_result() -> None:
    xs = np.arange(3, dtype=np.float32)
    for wrap in (lambda f: f, bt.jit):
        carry, ys = wrap(lambda xs: scan(lambda c, x: (c + x, c), 0.0, xs))(xs)
        assert (carry.dtype, ys.dtype, carry.weak_type) == (np.float32, np.float32, False)
        carry, _ = wrap(lambda xs: scan(lambda c, x: (c + x, c), 0, xs))(xs)
        assert carry.dtype == np.float32
    # One component's type follows from another's.
    (a, b), _ = scan(lambda c, x: ((c[1], c[0] + x), None), (0, 0), xs)
    assert (a.dtype, b.dtype) == (np.float32, np.float32)
    weak, _ = scan(lambda c, _: (c + 1, None), 0, None, length=3)
    assert weak.weak_type
    reset, _ = scan(lambda c, _: (0.0, None), np.float32(1.0), None, length=1)
    assert (reset.dtype, reset.weak_type) == (np.float32, False)


def test_carry_types_are_promoted_where_jax_promotes_them() -> None:
    jax = pytest.importorskip("jax", reason="JAX is the reference of differential tests")

    def agree(step: Any, init: Any, x: Any) -> None:
        xs = np.stack([x, x])
        try:
            expected = jax.lax.scan(step, init, xs)[0].dtype
        except TypeError:
            with pytest.raises(TypeError, match="carry"):
                scan(step, init, xs)
        else:
            assert scan(step, init, xs)[0].dtype == expected

    with jax.enable_x64(True), bx.enable_x64(True):
        for init in (0, 0.0, False, np.int32(1), np.float32(1.0), np.float64(1.0)):
            for x in (np.int32(2), np.float32(2.0), np.float64(2.0)):
                agree(lambda c, x: (c + x, None), init, x)
                agree(lambda c, x: (x, None), init, x)


def test_a_step_is_traced_at_each_call() -> None:
    calls = []

    def step(carry: Any, x: Any) -> Any:
        calls.append(1)
        return carry + x, carry

    xs = np.arange(5.0)
    for _ in range(2):
        scan(step, np.array(0.0), xs)
    bt.jit(lambda xs: scan(step, np.array(0.0), xs))(xs)
    assert len(calls) == 3

    class Unhashable:
        __hash__ = None  # type: ignore[assignment]

        def __call__(self, carry: Any, x: Any) -> Any:
            return step(carry, x)

    scan(Unhashable(), np.array(0.0), xs)
    assert len(calls) == 4


def test_steps_that_close_over_traced_values_are_not_remembered() -> None:
    held: list[Any] = []

    def step(carry: Any, x: Any) -> Any:
        return carry * held[0] + x, None

    def fun(w: Any) -> Any:
        held[:] = [w]
        return scan(step, np.float64(1.0), np.arange(3.0))[0]

    for w in (2.0, 3.0):
        point = np.float64(w)
        np.testing.assert_allclose(bt.jit(fun)(point), w**3 + w + 2.0)
        np.testing.assert_allclose(bt.grad(fun)(point), 3.0 * w**2 + 1.0)
        np.testing.assert_allclose(bt.vmap(fun)(np.array([w])), [w**3 + w + 2.0])


def test_results_share_no_memory_with_what_the_caller_can_write_to() -> None:
    xs, init = np.arange(3.0), np.zeros(2)
    carry, ys = scan(lambda c, x: (c, x), init, xs)
    xs[:], init[:] = 7.0, 7.0
    np.testing.assert_array_equal(carry, np.zeros(2))
    np.testing.assert_array_equal(ys, np.arange(3.0))


def test_narrow_dtypes_and_booleans() -> None:
    import ml_dtypes

    xs = np.array([True, False, True])
    carry, ys = scan(lambda c, x: (c ^ x, c), np.False_, xs)
    assert not bool(carry)
    np.testing.assert_array_equal(ys, [False, True, True])
    narrow = np.ones(3, ml_dtypes.bfloat16)
    carry, ys = bt.jit(lambda xs: scan(lambda c, x: (c + x, c), xs[0], xs))(narrow)
    assert float(carry) == 4.0
    assert ys.dtype == ml_dtypes.bfloat16


def test_long_eager_loops_are_compiled() -> None:
    xs = np.ones(10_000)
    carry, ys = scan(lambda c, x: (add(mul(c, 0.5), x), c), np.float64(0.0), xs)
    np.testing.assert_allclose(carry, 2.0)
    assert ys.shape == (10_000,)


def test_nested_in_cond_in_scan() -> None:
    def inner(carry: Any, x: Any) -> Any:
        return carry * x, carry

    def step(carry: Any, x: Any) -> Any:
        return cond(x > 1.0, lambda c: scan(inner, c, np.arange(1.0, 4.0))[0], sin, carry), x

    expected = np.float64(0.5)
    for x in (0.5, 1.5, 0.2):
        expected = expected * 6.0 if x > 1.0 else np.sin(expected)
    for wrap in (lambda f: f, bt.jit):
        found = wrap(lambda c, xs: scan(step, c, xs)[0])(np.float64(0.5), np.array([0.5, 1.5, 0.2]))
        np.testing.assert_allclose(found, expected)


# --------------------------------------------------------------------------------------- map


def test_map() -> None:
    xs = {"a": np.arange(10.0).reshape(5, 2), "b": np.arange(5.0)}

    def f(x: Any) -> Any:
        return {"y": x["a"] * x["b"]}, x["b"]

    expected = xs["a"] * xs["b"][:, None]
    for size in (None, 1, 2, 5, 7):
        for wrap in (lambda f: f, bt.jit):
            y, b = wrap(lambda xs, size=size: map(f, xs, batch_size=size))(xs)
            np.testing.assert_array_equal(y["y"], expected)
            np.testing.assert_array_equal(b, xs["b"])
    empty = map(f, {"a": np.zeros((0, 2)), "b": np.zeros(0)}, batch_size=2)
    assert empty[0]["y"].shape == (0, 2)
    slopes = bt.grad(lambda xs: map(sin, xs, batch_size=2).sum())(np.arange(5.0))
    np.testing.assert_allclose(slopes, np.cos(np.arange(5.0)))


def test_messages_of_map() -> None:
    with pytest.raises(TypeError, match="f of map must be a function, but got 3 of type int"):
        map(3, np.ones(2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="map needs an array to run along, but xs holds none"):
        map(sin, {})
    with pytest.raises(ValueError, match=r"xs\['b'\] has none: it is float64\[\]"):
        map(sin, {"a": np.ones(2), "b": np.float64(1.0)})
    with pytest.raises(ValueError, match="batch_size of map must not be negative, but it is -1"):
        map(sin, np.ones(2), batch_size=-1)
    with pytest.raises(TypeError, match="batch_size of map must be an integer or None, but it is"):
        map(sin, np.ones(2), batch_size=1.5)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------- messages


def step_of(result: Callable[..., Any]) -> Callable[..., Any]:
    def body(carry: Any, x: Any) -> Any:
        return result(carry, x)

    return body


INIT = {"h": [np.zeros(3, np.float32), np.float64(1.0)], "n": 0.0}


def changed(**changes: Any) -> Any:
    return step_of(lambda c, x: ({"h": [c["h"][0], c["h"][1]], "n": c["n"], **changes}, None))


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (step_of(lambda c, x: c["n"]), r"must return a pair \(carry, y\), but .*body.* returned"),
        (step_of(lambda c, x: (c,)), r"of type tuple. Return \(carry, None\) when nothing"),
        (
            step_of(lambda c, x: ({"h": c["h"]}, None)),
            r"body of scan must return the structure .*: carry\['n'\] is missing\. Return the",
        ),
        (changed(m=1.0), r"but body .* returns .*: carry\['m'\] is new\. Return the carry as it"),
        (changed(h=(1.0, 2.0)), r"takes, .*\[\*, \*\].*, but body .* returns .*\(\*, \*\)"),
        (
            changed(h=[np.zeros(4, np.float32), 1.0]),
            r"goes out as float32\[4\] \(return it with the shape \(3,\), or begin with \(4,\)\)",
        ),
        (
            changed(h=[np.zeros(3), 1.0]),
            r"in body .*carry\['h'\]\[0\] comes in as float32\[3\] and goes out as float64\[3\]",
        ),
        (
            changed(h=[np.zeros(3), 1.0]),
            r"\(convert it with \.astype\('float32'\), or begin with \.astype\('float64'\)\)",
        ),
        (
            changed(h=[np.zeros(3), 1.0], n=1),
            r"carry\['h'\]\[0\] .*; carry\['n'\] .* goes out as int\d+\[\] \(weakly typed\) \(conv",
        ),
        (changed(n="one"), r"carry\['n'\] of what body .* returned to scan: .*builtins.str"),
        (step_of(lambda c, x: (c, {"y": "one"})), r"y\['y'\] of what body .* returned to scan"),
    ],
)
def test_messages_about_the_carry(step: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        scan(step, INIT, None, length=2)
    with pytest.raises(TypeError, match=text):
        bt.jit(lambda init: scan(step, init, None, length=2))(INIT)


def test_messages_about_arguments() -> None:
    keep = step_of(lambda c, x: (c, x))
    two, three = np.zeros(2), np.zeros((3, 1))
    with pytest.raises(TypeError, match="f of scan must be a function, but got 3 of type int"):
        scan(3, 0.0, two)  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"one length in scan, but xs\['a'\] has 2 and xs\['b'\]\[0\] has 3"
    ):
        scan(keep, 0.0, {"a": two, "b": [three]})
    with pytest.raises(ValueError, match=r"xs\[1\] has none: it is float64\[\]. Let the function"):
        scan(keep, 0.0, (two, 1.0))
    with pytest.raises(ValueError, match=r"given length=3, but xs\[0\] has the length 2"):
        scan(keep, 0.0, [two], length=3)
    with pytest.raises(ValueError, match=r"scan needs length=\.\.\., because xs holds no arrays"):
        scan(keep, 0.0)
    with pytest.raises(ValueError, match="length of scan must not be negative, but it is -1"):
        scan(keep, 0.0, length=-1)
    with pytest.raises(TypeError, match=r"length of scan must be an integer, but it is 1\.5"):
        scan(keep, 0.0, length=1.5)  # type: ignore[arg-type]
    with pytest.raises(ConcretizationTypeError, match="length of scan must be known while tracing"):
        bt.jit(lambda n: scan(keep, 0.0, length=n))(3)
    with pytest.raises(ValueError, match="unroll of scan must not be negative, but it is -1"):
        scan(keep, 0.0, two, unroll=-1)
    with pytest.raises(TypeError, match="unroll of scan must be an integer or a bool, but it is"):
        scan(keep, 0.0, two, unroll="all")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"init\['a'\] of scan: a value of type builtins.str"):
        scan(keep, {"a": "zero"}, two)
    with pytest.raises(TypeError, match=r"xs\[0\] of scan: a value of type builtins.str"):
        scan(keep, 0.0, ["one"])


def test_messages_of_the_primitive() -> None:
    jaxpr = bt.make_jaxpr(lambda c, x: (c + x, c))(np.float64(0.0), np.float64(0.0))
    params = {"jaxpr": jaxpr, "reverse": False, "num_consts": 0, "num_carry": 1, "unroll": 1}
    with pytest.raises(
        TypeError, match=r"a scan of 3 steps was applied to a sequence .*float64\[2"
    ):
        bt.make_jaxpr(lambda: scan_p.bind(np.float64(0.0), np.zeros(2), length=3, **params))()
    with pytest.raises(TypeError, match=r"takes \(float64\[\], float64\[\]\) was applied to"):
        bt.make_jaxpr(lambda: scan_p.bind(np.zeros(3), np.zeros(2), length=2, **params))()
    wrong = bt.make_jaxpr(lambda c: (c > 0.0,))(np.float64(0.0))
    with pytest.raises(TypeError, match="carry input and carry output must have equal types"):
        bt.make_jaxpr(
            lambda: scan_p.bind(np.float64(0.0), length=2, **{**params, "jaxpr": wrong})
        )()


def test_zero_is_no_unrolling_and_no_batches() -> None:
    xs = np.arange(3.0)
    carry, _ = scan(lambda c, x: (c + x, None), 0.0, xs, unroll=0)
    assert float(carry) == 3
    np.testing.assert_array_equal(map(lambda x: 2 * x, xs, batch_size=0), 2 * xs)
