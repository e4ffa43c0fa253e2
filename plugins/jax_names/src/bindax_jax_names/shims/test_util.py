"""``jax.test_util``: derivatives beside finite differences, values beside others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax
from bindax import tree

__all__ = ["check_grads", "check_jvp", "check_vjp"]

Function = Callable[..., Any]
_TOLERANCE = {2: 1e-1, 4: 2e-2, 8: 1e-5}
_STEP = {2: 1e-1, 4: 1e-2, 8: 1e-4}
_ROUNDING = {1: 1e-1, 2: 1e-2, 4: 1e-6, 8: 1e-15}


def _width(args: Any) -> int:
    """The size of the narrowest floating-point elements."""
    sizes = [
        np.dtype(bindax.numpy.result_type(x)).itemsize // (2 if bindax.numpy.iscomplexobj(x) else 1)
        for x in tree.leaves(args)
    ]
    return min(sizes, default=4)


def check_close(xs: Any, ys: Any, atol: Any = None, rtol: Any = None, err_msg: str = "") -> None:
    """Compare trees of arrays, by default to the rounding of one operation for each element.

    Args:
        xs: one tree.
        ys: the other, of the same structure and shapes.
        atol: the absolute tolerance for each element, or a dict of it by dtype.
        rtol: the relative tolerance, likewise.
        err_msg: what the message of the error begins with.

    Raises:
        AssertionError: when they differ.
    """
    tree.map(lambda x, y: _check_close(x, y, atol, rtol, err_msg), xs, ys)


def _check_close(x: Any, y: Any, atol: Any, rtol: Any, what: str) -> None:
    if np.shape(x) != np.shape(y):
        raise AssertionError(f"{what} shapes {np.shape(x)} and {np.shape(y)} differ".strip())
    size = max(np.size(x), 1)
    absolute, relative = (
        size * max(_rounding(x, given), _rounding(y, given)) for given in (atol, rtol)
    )
    _close(x, y, what, absolute, relative)


def _rounding(x: Any, given: Any) -> float:
    """The tolerance of one element: what was given, or by its dtype."""
    dtype = np.dtype(bindax.numpy.result_type(x))
    if isinstance(given, dict):
        given = {np.dtype(key): value for key, value in given.items()}.get(dtype)
    if given is not None:
        return float(given)
    return 0.0 if dtype.kind in "biu" else _ROUNDING[_width(x)]


def _like(x: Any, random: np.random.Generator) -> Any:
    """A random direction of the type of a value."""
    dtype = np.dtype(bindax.numpy.result_type(x))
    drawn: Any = random.standard_normal(np.shape(x))
    if dtype.kind == "c":
        drawn = drawn + 1j * random.standard_normal(np.shape(x))
    return bindax.numpy.asarray(drawn, dtype)


def _differences(f: Function, args: Any, directions: Any, eps: float) -> Any:
    """The change of a function along a direction, by central differences."""
    ahead = f(*tree.map(lambda x, v: x + eps / 2 * v, args, directions))
    behind = f(*tree.map(lambda x, v: x - eps / 2 * v, args, directions))
    return tree.map(lambda x, y: (x - y) / eps, ahead, behind)


def _close(found: Any, expected: Any, what: str, atol: float, rtol: float) -> None:
    for x, y in zip(tree.leaves(found), tree.leaves(expected), strict=True):
        np.testing.assert_allclose(
            np.asarray(x, np.complex128), np.asarray(y, np.complex128), rtol, atol, err_msg=what
        )


def _tolerances(args: Any, atol: Any, rtol: Any, eps: Any) -> tuple[float, float, float]:
    width = _width(args)
    default = _TOLERANCE.get(width, 2e-2)
    return (
        default if atol is None else atol,
        default if rtol is None else rtol,
        _STEP.get(width, 1e-2) if eps is None else eps,
    )


def check_jvp(
    f: Function,
    f_jvp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare a forward derivative with central differences along a random direction.

    Raises:
        AssertionError: when they differ.
    """
    atol, rtol, eps = _tolerances(args, atol, rtol, eps)
    random = np.random.default_rng(0)
    directions = tree.map(lambda x: _like(x, random), tuple(args))
    out, tangent = f_jvp(tuple(args), directions)
    _close(out, f(*args), f"{err_msg} primal results", atol, rtol)
    expected = _differences(f, tuple(args), directions, eps)
    _close(tangent, expected, f"{err_msg} tangents", atol, rtol)


def check_vjp(
    f: Function,
    f_vjp: Function,
    args: Sequence[Any],
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
    err_msg: str = "",
) -> None:
    """Compare a reverse derivative with central differences, by the dot product of both.

    Raises:
        AssertionError: when they differ.
    """
    atol, rtol, eps = _tolerances(args, atol, rtol, eps)
    random = np.random.default_rng(0)
    out, pullback = f_vjp(*args)
    _close(out, f(*args), f"{err_msg} primal results", atol, rtol)
    directions = tree.map(lambda x: _like(x, random), tuple(args))
    cotangents = tree.map(lambda x: _like(x, random), out)
    change = _differences(f, tuple(args), directions, eps)
    back = pullback(cotangents)
    one = sum(np.vdot(np.conj(x), y) for x, y in _pairs(directions, back))
    other = sum(np.vdot(np.conj(x), y) for x, y in _pairs(change, cotangents))
    _close(np.real(one), np.real(other), f"{err_msg} cotangents", atol, rtol)


def _pairs(first: Any, second: Any) -> list[tuple[Any, Any]]:
    pairs = zip(tree.leaves(first), tree.leaves(second), strict=True)
    return [(np.asarray(x, np.complex128), np.asarray(y, np.complex128)) for x, y in pairs]


def check_grads(
    f: Function,
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare derivatives up to an order with central differences.

    Args:
        f: the function.
        args: where.
        order: the highest order.
        modes: ``"fwd"``, ``"rev"`` or both.
        atol: the absolute tolerance.
        rtol: the relative tolerance.
        eps: the step of the differences.

    Raises:
        AssertionError: when they differ.
    """
    if order < 1:
        return
    kinds = (modes,) if isinstance(modes, str) else tuple(modes)
    random = np.random.default_rng(order)
    directions = tree.map(lambda x: _like(x, random), tuple(args))
    if "fwd" in kinds:

        def forward(primals: Any, tangents: Any) -> Any:
            return bindax.jvp(f, primals, tangents)

        check_jvp(f, forward, args, atol, rtol, eps, "jvp")
        along = lambda *xs: bindax.jvp(f, xs, directions)  # noqa: E731 -- an expression
        check_grads(along, args, order - 1, kinds, atol, rtol, eps)
    if "rev" in kinds:
        check_vjp(f, lambda *xs: bindax.vjp(f, *xs), args, atol, rtol, eps, "vjp")
        if order > 1:
            cotangents = tree.map(lambda x: _like(x, random), f(*args))
            back = lambda *xs: bindax.vjp(f, *xs)[1](cotangents)  # noqa: E731 -- an expression
            check_grads(back, args, order - 1, kinds, atol, rtol, eps)
