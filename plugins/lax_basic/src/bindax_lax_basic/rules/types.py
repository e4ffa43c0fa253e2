"""``abstract_eval`` rules of families, and the checks that give errors their text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Array, Dimension, ShapedArray, dtype_name, typeof
from bindax_lax_basic.dtypes import DType, bool_, kind_of

Kinds = frozenset[str]
ResultDType = Callable[[DType], DType] | DType | None

_KIND_ORDER = ("bool", "signed integer", "unsigned integer", "float", "complex", "extended")
_EXAMPLES = {"float": "float32", "complex": "complex64", "signed integer": "int32"}


def describe(avals: Iterable[ShapedArray]) -> str:
    """Types as messages print them: ``float32[2] and int32[]``.

    >>> describe([ShapedArray((2,), np.float32), ShapedArray((), np.int32)])
    'float32[2] and int32[]'
    """
    names = [aval.str_short() for aval in avals]
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def require_kind(name: str, aval: ShapedArray, accepts: Kinds, position: int | None = None) -> None:
    """Raise unless an operand's dtype is of an accepted kind.

    >>> from bindax_lax_basic.extend import FLOAT
    >>> require_kind("bessel", ShapedArray((2,), np.int32), FLOAT)
    Traceback (most recent call last):
    TypeError: bessel does not accept the dtype int32: its operand is int32[2]. Accepted ...
    """
    kind = kind_of(aval.dtype)
    if kind in accepts:
        return
    which = "its operand" if position is None else f"its operand {position}"
    accepted = ", ".join(k for k in _KIND_ORDER if k in accepts)
    example = next((dtype for k, dtype in _EXAMPLES.items() if k in accepts), "bool")
    remedy = f"Convert it first, for example with x.astype({example!r})."
    if kind == "extended":
        remedy = "It has no numbers, so only operations that move elements apply to it."
    raise TypeError(
        f"{name} does not accept the dtype {dtype_name(aval.dtype)}: {which} is "
        f"{aval.str_short()}. Accepted kinds: {accepted}. {remedy}"
    )


def require_same_dtype(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise unless all operands have one dtype.

    >>> require_same_dtype("hypot", [ShapedArray((), np.float32), ShapedArray((), np.int32)])
    Traceback (most recent call last):
    TypeError: hypot requires operands of equal dtypes, but got float32[] and int32[]. ...
    """
    if len({aval.dtype for aval in avals}) > 1:
        raise TypeError(
            f"{name} requires operands of equal dtypes, but got {describe(avals)}. Functions of "
            f"lax do not promote: convert an operand with lax.convert_element_type(x, dtype), or "
            f"use the operators and functions of arrays, which do."
        )


def common_shape(name: str, avals: Sequence[ShapedArray]) -> tuple[int, ...]:
    """The shape of an elementwise result: operands have it, or are scalars.

    >>> common_shape("hypot", [ShapedArray((2, 3), np.float32), ShapedArray((), np.float32)])
    (2, 3)
    """
    shapes = {aval.shape for aval in avals if aval.shape}
    if len(shapes) > 1:
        raise TypeError(
            f"{name} requires operands of equal shapes or scalars, but got {describe(avals)}. "
            f"Give them one shape with lax.broadcast_in_dim or reshape, or use the operators of "
            f"arrays, which broadcast."
        )
    return shapes.pop() if shapes else ()


def elementwise_type(
    name: str, *accepts: Kinds, result: ResultDType = None, same_dtype: bool = True
) -> Callable[..., ShapedArray]:
    """The ``abstract_eval`` rule of an elementwise primitive.

    Args:
        name: the primitive's name, for messages.
        accepts: for each operand the kinds of dtypes it may have.
        result: the dtype of the result: that of the first operand, a fixed one, or a function of
            the first operand's.
        same_dtype: whether all operands must have the same dtype.

    >>> from bindax_lax_basic.extend import FLOAT
    >>> type_of = elementwise_type("is_close", FLOAT, FLOAT, result=np.dtype(bool))
    >>> type_of(ShapedArray((2,), np.float32), ShapedArray((), np.float32))
    ShapeDtypeStruct(shape=(2,), dtype=bool)
    """
    count = len(accepts)

    def rule(*avals: ShapedArray, **params: Any) -> ShapedArray:
        if len(avals) != count:
            raise TypeError(f"{name} takes {count} operands, but got {len(avals)}.")
        for position, (aval, kinds) in enumerate(zip(avals, accepts, strict=True)):
            require_kind(name, aval, kinds, position if count > 1 else None)
        if same_dtype:
            require_same_dtype(name, avals)
        dtype = avals[0].dtype if result is None else result
        if not isinstance(dtype, np.dtype):
            dtype = dtype(avals[0].dtype)
        weak = dtype != bool_ and all(aval.weak_type for aval in avals)
        return ShapedArray(common_shape(name, avals), dtype, weak)

    return rule


def static_int(name: str, argument: str, value: Any) -> int:
    """A Python integer, or a symbolic size, for an argument that must be known while tracing.

    >>> static_int("repeat", "count", np.int32(3))
    3
    >>> static_int("repeat", "count", 1.5)
    Traceback (most recent call last):
    TypeError: repeat takes an integer for count, but got 1.5.
    """
    if isinstance(value, Dimension):
        return value  # type: ignore[return-value]
    try:
        return operator.index(value)
    except TypeError as error:
        if isinstance(value, float):
            raise TypeError(f"{name} takes an integer for {argument}, but got {value!r}.") from None
        # A tracer says more about itself than we could.
        if type(error) is not TypeError:
            raise
        raise TypeError(
            f"{name} takes an integer for {argument}, but got {value!r} of type "
            f"{type(value).__name__}."
        ) from None


def larger(a: Any, b: Any) -> Any:
    """The larger of two sizes, which can be symbolic.

    >>> larger(3, 4)
    4
    """
    if isinstance(a, Dimension):
        return a.max(b)  # type: ignore[attr-defined]
    return b.max(a) if isinstance(b, Dimension) else max(a, b)  # type: ignore[attr-defined]


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two sizes, which can be symbolic."""
    if isinstance(a, Dimension):
        return a.min(b)  # type: ignore[attr-defined]
    return b.min(a) if isinstance(b, Dimension) else min(a, b)  # type: ignore[attr-defined]


def static_ints(name: str, argument: str, values: Any) -> tuple[int, ...]:
    """A tuple of Python integers for an argument such as a shape; one integer means one entry.

    >>> static_ints("tile", "reps", [2, np.int64(3)]), static_ints("tile", "reps", 2)
    ((2, 3), (2,))
    """
    if type(values) is not tuple:
        if isinstance(values, (set, frozenset)):
            given = f"{values!r:.60}"
            raise TypeError(f"{name}: {argument} must be integers in order, but it is {given}.")
        if not np.iterable(values):
            return (static_int(name, argument, values),)
        if type(values) is Array:
            # To take its elements one by one would be traced.
            values = values.tolist()
    return tuple([v if type(v) is int else static_int(name, argument, v) for v in values])


def shape_argument(name: str, shape: Any, argument: str = "shape") -> tuple[int, ...]:
    """A shape: a tuple of integers, none negative.

    >>> shape_argument("zeros", [2, 3])
    (2, 3)
    >>> shape_argument("zeros", (2, -1))
    Traceback (most recent call last):
    ValueError: zeros: sizes must not be negative, but got the shape (2, -1).
    """
    sizes = static_ints(name, argument, shape)
    for size in sizes:
        if size < 0:
            raise ValueError(f"{name}: sizes must not be negative, but got the shape {sizes}.")
        if type(size) is int and size > _LARGEST_SIZE:
            raise OverflowError(f"{name}: no array can have as many elements as {sizes} says.")
    return sizes


_LARGEST_SIZE = np.iinfo(np.int64).max


def axis_argument(name: str, axis: Any, ndim: int, argument: str = "axis") -> int:
    """One axis, counted from the end when negative, within the bounds of ``ndim`` axes.

    >>> axis_argument("flip", -1, 3)
    2
    >>> axis_argument("flip", 3, 3)
    Traceback (most recent call last):
    numpy.exceptions.AxisError: flip: axis 3 is out of bounds for an operand with 3 axes; ...
    """
    i = axis if type(axis) is int else static_int(name, argument, axis)
    if not -ndim <= i < ndim:
        # A ValueError, as in JAX, and an IndexError, as the array API standard asks.
        raise np.exceptions.AxisError(
            f"{name}: {argument} {i} is out of bounds for an operand with {ndim} axes; "
            f"legal are {-ndim} to {ndim - 1}."
            if ndim
            else f"{name}: {argument} {i} is out of bounds: the operand is a scalar, without axes."
        )
    return i + ndim if i < 0 else i


def axes_argument(name: str, axes: Any, ndim: int, argument: str = "axes") -> tuple[int, ...]:
    """Sorted distinct axes; None means all.

    >>> axes_argument("sum", (-1, 0), 3), axes_argument("sum", None, 3)
    ((0, 2), (0, 1, 2))
    """
    if axes is None:
        return tuple(range(ndim))
    if type(axes) is tuple and len(axes) == 1 and type(axes[0]) is int and 0 <= axes[0] < ndim:
        return axes  # the usual case
    found = [
        axis_argument(name, axis, ndim, argument) for axis in static_ints(name, argument, axes)
    ]
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: {argument} {tuple(axes)} name an axis twice.")
    return tuple(sorted(found))


def rank_of(x: Any) -> int:
    """The number of axes of any legal operand.

    >>> rank_of(np.zeros((2, 3))), rank_of(1.5)
    (2, 0)
    """
    return len(x.aval.shape if type(x) is Array else typeof(x).shape)
