"""Comparing what two ways of computing the same thing give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    ShapedArray,
    float0,
    is_differentiable,
    is_extended,
    is_value,
    physical_array,
    typeof,
)

_SAME = {2: 2e-2, 1: 2e-1, 4: 2e-5, 8: 1e-10}


class Mismatch(AssertionError):
    """A check found that a rule is wrong.

    Attributes:
        kind: that of the rule, where it is another than the check is for.
        rule: what is wrong, with its place, where the check knows it.

    >>> Mismatch("result 0 is 1.0, and not 2.0", rule="f (program.py:3)").rule
    'f (program.py:3)'
    """

    def __init__(self, message: str, kind: str | None = None, rule: str = "") -> None:
        super().__init__(message)
        self.kind = kind
        self.rule = rule


class Kept(Mismatch):
    """Something outlives its use, whatever its size, so that no smaller case is looked for."""


class NotApplicable(Exception):
    """A check has nothing to do for a case; the message says why.

    >>> issubclass(NotApplicable, Exception)
    True
    """


def real_size(dtype: np.dtype[Any]) -> int:
    """The bytes of a real number of a dtype's precision."""
    return dtype.itemsize // (2 if dtype.kind == "c" else 1)


_rounded_to: ContextVar[int] = ContextVar("rounded_to", default=8)


@contextmanager
def rounded_to(size: int) -> Iterator[None]:
    """Allow the differences of values that were rounded to real numbers of so many bytes before."""
    token = _rounded_to.set(size)
    try:
        yield
    finally:
        _rounded_to.reset(token)


def tolerance(dtype: np.dtype[Any]) -> float:
    """The relative difference that rounding explains."""
    return _SAME[min(real_size(dtype), _rounded_to.get())]


def host(x: Any) -> np.ndarray[Any, Any]:
    """A value as a NumPy array; of an extended dtype, one of records that NumPy can stack."""
    return x.numpy() if isinstance(x, Array) else np.asarray(x)


def host_parts(x: Any) -> np.ndarray[Any, Any]:
    """The numbers of a value: of an extended dtype, those of the array that represents it."""
    array = host(x)
    return physical_array(array) if is_extended(array.dtype) else array


def type_of_result(x: Any) -> Any:
    """The type of what ``impl`` returned, an array of records of an extended dtype included."""
    if is_value(x) and not (isinstance(x, np.ndarray) and is_extended(x.dtype)):
        return typeof(x)
    array = host(x)
    return ShapedArray(array.shape, array.dtype)


def wide(x: Any) -> np.ndarray[Any, Any]:
    """A floating-point value in double precision."""
    x = np.asarray(x)
    return np.asarray(x, np.complex128 if x.dtype.kind == "c" else np.float64)


def require_type(what: str, got: Any, wanted: Any, *, weak: bool = True) -> None:
    """Raise unless a value has a type: shape, dtype and, where it counts, weak type."""
    if not weak:
        got, wanted = got.strip_weak_type(), wanted.strip_weak_type()
    if got != wanted:
        raise Mismatch(f"{what} should be {wanted!r}, but is {got!r}.")


def require_same(
    what: str, got: Any, wanted: Any, *, types: bool = True, scale: float = 1.0
) -> None:
    """Raise unless two values agree: in type, and in their elements up to rounding.

    >>> require_same("the result", np.array([1, 3]), np.array([1, 2]))
    Traceback (most recent call last):
    bindax_testing._compare.Mismatch: the result should be np.int64(2) at (1,), but is ...
    """
    if types:
        require_type(what, typeof(got), typeof(wanted))
    a, b = host_parts(got), host_parts(wanted)
    if a.shape != b.shape:
        raise Mismatch(f"{what} should have the shape {b.shape}, but has {a.shape}.")
    if a.dtype == float0 or b.dtype == float0 or not a.size:
        return
    if not (is_differentiable(a.dtype) and is_differentiable(b.dtype)):
        agree = np.asarray(a == b)
    else:
        rtol = scale * max(tolerance(a.dtype), tolerance(b.dtype))
        a, b = wide(a), wide(b)
        finite = np.abs(b[np.isfinite(b)])
        atol = rtol * max(1e-3, float(finite.mean()) if finite.size else 0.0)
        agree = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if not np.all(agree):
        index = tuple(int(i) for i in np.argwhere(~np.atleast_1d(agree))[0])[: a.ndim]
        count = int(np.sum(~agree))
        raise Mismatch(
            f"{what} should be {b[index]!r} at {index}, but is {a[index]!r} ({count} of {a.size} "
            f"elements differ)."
        )
