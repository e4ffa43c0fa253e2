"""Comparison, logic, bits, and tests of elements."""

from __future__ import annotations

import math
from typing import Any, overload

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, is_extended, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import broadcast_to, comparisons, convert, refuse_out
from bindax_numpy._operands import (
    as_operand,
    checked,
    operand,
    promoted,
    require_real,
    together,
    values,
)
from bindax_numpy.creation import asarray
from bindax_transforms import evaluated


def _array_like(x: Any) -> Any:
    """An operand that may be a list."""
    return x if is_value(x) else asarray(x)


def equal(x1: Any, x2: Any, /) -> Array:
    """``x1 == x2``.

    >>> jnp.equal(jnp.arange(3), 1)
    Array([False,  True, False], dtype=bool)
    """
    return comparisons.equal(*values("equal", x1, x2))


def not_equal(x1: Any, x2: Any, /) -> Array:
    """``x1 != x2``.

    >>> jnp.not_equal(jnp.arange(3), 1)
    Array([ True, False,  True], dtype=bool)
    """
    return comparisons.not_equal(*values("not_equal", x1, x2))


def less(x1: Any, x2: Any, /) -> Array:
    """``x1 < x2``.

    >>> jnp.less(jnp.arange(3), 1)
    Array([ True, False, False], dtype=bool)
    """
    return comparisons.less(*values("less", x1, x2))


def less_equal(x1: Any, x2: Any, /) -> Array:
    """``x1 <= x2``.

    >>> jnp.less_equal(jnp.arange(3), 1)
    Array([ True,  True, False], dtype=bool)
    """
    return comparisons.less_equal(*values("less_equal", x1, x2))


def greater(x1: Any, x2: Any, /) -> Array:
    """``x1 > x2``.

    >>> jnp.greater(jnp.arange(3), 1)
    Array([False, False,  True], dtype=bool)
    """
    return comparisons.greater(*values("greater", x1, x2))


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """``x1 >= x2``.

    >>> jnp.greater_equal(jnp.arange(3), 1)
    Array([False,  True,  True], dtype=bool)
    """
    return comparisons.greater_equal(*values("greater_equal", x1, x2))


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Tell whether both elements are true, that is, not zero.

    >>> jnp.logical_and(jnp.array([0, 1, 2]), True)
    Array([False,  True,  True], dtype=bool)
    """
    return lax.bitwise_and(*_truths("logical_and", x1, x2))


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Tell whether either element is true, that is, not zero.

    >>> jnp.logical_or(jnp.array([0, 1, 2]), True)
    Array([ True,  True,  True], dtype=bool)
    """
    return lax.bitwise_or(*_truths("logical_or", x1, x2))


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Tell whether one element of the two is true, that is, not zero.

    >>> jnp.logical_xor(jnp.array([0, 1, 2]), True)
    Array([ True, False, False], dtype=bool)
    """
    return lax.bitwise_xor(*_truths("logical_xor", x1, x2))


def logical_not(x: Any, /) -> Array:
    """Tell whether an element is false, that is, zero.

    >>> jnp.logical_not(jnp.array([0, 1, 2]))
    Array([ True, False, False], dtype=bool)
    """
    return lax.bitwise_not(*_truths("logical_not", x))


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """The bits that are set in both. Operands are integers or booleans.

    >>> jnp.bitwise_and(jnp.array([4, 5]), 6)
    Array([4, 4], dtype=int32)
    """
    return lax.bitwise_and(*promoted("bitwise_and", x1, x2))


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """The bits that are set in either. Operands are integers or booleans.

    >>> jnp.bitwise_or(jnp.array([4, 5]), 6)
    Array([6, 7], dtype=int32)
    """
    return lax.bitwise_or(*promoted("bitwise_or", x1, x2))


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """The bits that are set in one of the two. Operands are integers or booleans.

    >>> jnp.bitwise_xor(jnp.array([4, 5]), 6)
    Array([2, 3], dtype=int32)
    """
    return lax.bitwise_xor(*promoted("bitwise_xor", x1, x2))


def bitwise_not(x: Any, /) -> Array:
    """The bits that are not set; of booleans, ``not x``.

    >>> jnp.bitwise_not(jnp.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return lax.bitwise_not(checked("bitwise_not", x))


bitwise_invert = bitwise_not


def invert(x: Any, /) -> Array:
    """The bits that are not set; of booleans, ``not x``.

    >>> jnp.invert(jnp.array([0, 5]))
    Array([-1, -6], dtype=int32)
    """
    return lax.bitwise_not(checked("invert", x))


def _truths(name: str, *operands: Any) -> tuple[Any, ...]:
    return promoted(name, *(convert(x, dtypes.bool_, False) for x in values(name, *operands)))


def isnan(x: Any, /) -> Array:
    """Tell whether elements are nan.

    >>> jnp.isnan(jnp.array([1.0, jnp.nan]))
    Array([False,  True], dtype=bool)
    """
    x = operand("isnan", x)
    return lax.ne(x, x)


def isfinite(x: Any, /) -> Array:
    """Tell whether elements are neither infinite nor nan.

    >>> jnp.isfinite(jnp.array([1.0, jnp.nan, jnp.inf]))
    Array([ True, False, False], dtype=bool)
    """
    x = operand("isfinite", x)
    aval = typeof(x)
    if dtypes.is_complex(aval.dtype):
        return lax.bitwise_and(lax.is_finite(x.real), lax.is_finite(x.imag))
    if dtypes.is_inexact(aval.dtype):
        return lax.is_finite(x)
    return lax.eq(x, x)


def isinf(x: Any, /) -> Array:
    """Tell whether elements are infinite.

    >>> jnp.isinf(jnp.array([1.0, jnp.nan, -jnp.inf]))
    Array([False, False,  True], dtype=bool)
    """
    x = operand("isinf", x)
    aval = typeof(x)
    if dtypes.is_complex(aval.dtype):
        return lax.bitwise_or(isinf(x.real), isinf(x.imag))
    if dtypes.is_inexact(aval.dtype):
        return lax.eq(abs(x), math.inf)
    return lax.ne(x, x)


def isposinf(x: Any, /, out: None = None) -> Array:
    """Tell whether elements are plus infinity.

    >>> jnp.isposinf(jnp.array([jnp.inf, -jnp.inf]))
    Array([ True, False], dtype=bool)
    """
    return _equals("isposinf", x, math.inf, out)


def isneginf(x: Any, /, out: None = None) -> Array:
    """Tell whether elements are minus infinity.

    >>> jnp.isneginf(jnp.array([jnp.inf, -jnp.inf]))
    Array([False,  True], dtype=bool)
    """
    return _equals("isneginf", x, -math.inf, out)


def _equals(name: str, x: Any, infinity: float, out: None) -> Any:
    refuse_out(name, out)
    x = operand(name, x)
    require_real(name, x)
    return lax.eq(x, infinity) if dtypes.is_inexact(typeof(x).dtype) else lax.ne(x, x)


@overload
def where(
    condition: Any, x: Any, y: Any, /, *, size: Any = None, fill_value: Any = None
) -> Array: ...
@overload
def where(condition: Any, /, *, size: Any = None, fill_value: Any = None) -> tuple[Array, ...]: ...
@evaluated
def where(
    condition: Any, x: Any = None, y: Any = None, /, *, size: Any = None, fill_value: Any = None
) -> Any:
    """Elements of ``x`` where a condition holds, and of ``y`` elsewhere.

    Args:
        condition: booleans, or numbers that hold where they are not zero.
        x: what is chosen where it holds.
        y: what is chosen elsewhere. The three broadcast together.
        size: as for ``nonzero``, which is what ``where`` of a condition alone is.
        fill_value: likewise.

    Raises:
        ValueError: with one of ``x`` and ``y`` alone, and with ``size`` beside them.

    >>> jnp.where(jnp.array([True, False]), 1.0, jnp.array([5.0, 6.0]))
    Array([1., 6.], dtype=float32)
    """
    if x is None and y is None:
        # Late, as searching compares.
        from bindax_numpy.nonzero_searchsorted import nonzero

        return nonzero(condition, size=size, fill_value=fill_value)
    if x is None or y is None:
        raise ValueError(
            "where takes both x and y to choose from, or neither, but got one of them."
        )
    if size is not None or fill_value is not None:
        raise ValueError("where with x and y has their shape; it takes no size and fill_value.")
    return _chosen(condition, *together("where", x, y))


def choice(condition: Any, x: Any, y: Any) -> Any:
    """``where`` inside of formulas, whose numbers of double precision do not settle."""
    return _chosen(condition, *promoted("where", x, y))


def _chosen(condition: Any, x: Any, y: Any) -> Any:
    holds = convert(checked("where", condition), dtypes.bool_, False)
    shape = lax.broadcast_shapes(typeof(holds).shape, typeof(x).shape, typeof(y).shape)
    holds, x, y = broadcast_to(holds, shape), broadcast_to(x, shape), broadcast_to(y, shape)
    return lax.select_n_p.bind(holds, y, x)


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """Tell whether elements differ by no more than ``atol + rtol * abs(b)``.

    Args:
        a: an array.
        b: what it is compared with.
        rtol: the relative tolerance.
        atol: the absolute tolerance.
        equal_nan: whether nan is close to nan.

    Infinities are close to themselves only.

    >>> jnp.isclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.1]))
    Array([ True, False], dtype=bool)
    """
    a, b = promoted("isclose", a, b)
    equal = lax.eq(a, b)
    if is_extended(typeof(a).dtype):  # keys have no distance
        return equal
    if not dtypes.is_inexact(typeof(a).dtype):
        # Integers have tolerances, too; floats of 64 bits hold what they need.
        a, b = (convert(v, dtypes.inexact_dtype(typeof(v).dtype), False) for v in (a, b))
    a, b = as_operand(a), as_operand(b)
    finite = lax.bitwise_and(*promoted("isclose", isfinite(a), isfinite(b)))
    near = lax.le(*promoted("isclose", abs(a - b), atol + rtol * abs(b)))
    out = lax.bitwise_or(equal, lax.bitwise_and(finite, near))
    if equal_nan:
        out = lax.bitwise_or(out, lax.bitwise_and(*promoted("isclose", isnan(a), isnan(b))))
    return out


def allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Array:
    """Tell whether all elements are close to each other; arguments as for ``isclose``.

    >>> jnp.allclose(jnp.array([1.0, 2.0]), jnp.array([1.0, 2.0000001]))
    Array(True, dtype=bool)
    """
    return lax.reduce_and(isclose(a, b, rtol, atol, equal_nan))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Array:
    """Tell whether two arrays have one shape and equal elements.

    Args:
        a1: an array.
        a2: another one.
        equal_nan: whether nan equals nan.

    >>> jnp.array_equal(jnp.arange(3), jnp.arange(4))
    Array(False, dtype=bool)
    """
    a1, a2 = _array_like(a1), _array_like(a2)
    if typeof(a1).shape != typeof(a2).shape:
        return Array.from_numpy(np.array(False))
    out = equal(a1, a2)
    if equal_nan:
        out = lax.bitwise_or(out, lax.bitwise_and(isnan(a1), isnan(a2)))
    return lax.reduce_and(out)


def array_equiv(a1: Any, a2: Any) -> Array:
    """Tell whether two arrays broadcast together and have equal elements then.

    >>> jnp.array_equiv(jnp.ones(3), 1.0)
    Array(True, dtype=bool)
    """
    a1, a2 = _array_like(a1), _array_like(a2)
    try:
        lax.broadcast_shapes(typeof(a1).shape, typeof(a2).shape)
    except ValueError:
        return Array.from_numpy(np.array(False))
    return lax.reduce_and(equal(a1, a2))
