"""Preparation of operands before a primitive is bound: Python scalars, and weak dtypes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import lru_cache
from typing import Any, Final

import numpy as np

from bindax_core.errors import ShapeError
from bindax_core.extend import (
    Array,
    Dimension,
    ShapedArray,
    config,
    typeof,
    user_source_info,
    warn_user,
)
from bindax_lax_basic.dtypes import (
    DType,
    Promotion,
    bool_,
    inexact_dtype,
    promote_avals,
    promotes_within_kind,
)
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to

__all__ = ["broadcast_shapes"]


NUMBERS: Final = frozenset({bool, int, float, complex, np.int64, np.float64, np.complex128})
"""Python's numbers, and NumPy's scalars of their precision: they become arrays of any dtype."""

_SCALAR_CACHE_LIMIT: Final = 4096
_scalars: dict[tuple[type, Any, DType], Array] = {}


def scalar_array(value: Any, dtype: DType) -> Array:
    """A number as a weakly typed array of a dtype, cached: an operand, to be given to nobody else.

    Raises:
        OverflowError: when an integer does not fit into an integer dtype.

    >>> scalar_array(2, np.dtype("float16"))
    Array(2., dtype=float16, weak_type=True)
    >>> scalar_array(300, np.dtype("uint8"))
    Traceback (most recent call last):
    OverflowError: the Python integer 300 does not fit into uint8; convert the array it meets ...
    """
    key = (type(value), value, dtype)
    found = _scalars.get(key)
    if found is None or found.is_deleted():  # by who got it as the result of an operation
        if isinstance(value, Dimension):
            return convert(value, dtype, dtype != bool_)
        try:
            # NumPy would wrap a scalar of its own around, where a Python integer is an error.
            plain = value.item() if isinstance(value, np.generic) else value
            with np.errstate(over="ignore"):  # what is too large becomes infinite
                host = np.asarray(plain, dtype)
        except OverflowError:
            raise OverflowError(
                f"the Python integer {value} does not fit into {dtype.name}; convert the array "
                f"it meets to a wider dtype first."
            ) from None
        found = Array.from_numpy(host, ShapedArray((), dtype, weak_type=dtype != bool_))
        # 0.0 equals -0.0 and nan nothing, so these three would be confused or never found.
        if value == value and (value != 0 or type(value) in (int, np.int64)):
            if len(_scalars) >= _SCALAR_CACHE_LIMIT:
                _scalars.clear()
            _scalars[key] = found
    return found


@lru_cache(maxsize=4096)
def promoted_type(mode: Promotion, *avals: ShapedArray) -> tuple[DType, bool]:
    """The dtype and weak type to which operands of some types promote; see ``promote_avals``."""
    return promote_avals(tuple([(aval.dtype, aval.weak_type) for aval in avals]), mode)


def adopt_dtype(*operands: Any) -> tuple[Any, ...]:
    """Operands of a ``lax`` function, weakly typed ones converted to the dtype of the others.

    A weak operand changes its width only, never its family: an integer does not become a float.
    Whatever still differs is for the primitive to refuse.

    >>> adopt_dtype(np.zeros(2, np.float32), 1.5)[1]
    Array(1.5, dtype=float32, weak_type=True)
    """
    avals = [typeof(x) for x in operands]
    dtypes, _ = _common_type(*avals)
    return operands if dtypes is None else _converted(operands, avals, dtypes)


def adopt_type(*operands: Any) -> tuple[Any, ...]:
    """Operands of an elementwise function of ``lax``: of one dtype, as ``adopt_dtype`` has them.

    Arrays with equally many axes have one shape then: axes of size 1 are repeated.

    >>> adopt_type(np.zeros((2, 2), np.float32), np.array([[1.0], [2.0]], np.float32))[1]
    Array([[1., 1.],
           [2., 2.]], dtype=float32)
    """
    avals = [typeof(x) for x in operands]
    dtypes, shape = _common_type(*avals)
    if dtypes is not None:
        operands = _converted(operands, avals, dtypes)
    if shape is not None:
        pairs = zip(operands, avals, strict=True)
        operands = tuple([broadcast_to(x, shape) if aval.shape else x for x, aval in pairs])
    return operands


@lru_cache(maxsize=4096)
def _common_type(*avals: ShapedArray) -> tuple[tuple[DType, ...] | None, tuple[int, ...] | None]:
    """The dtypes to convert operands to, and the shape; None for what may stay as it is."""
    first = avals[0].dtype
    if all(aval.dtype == first for aval in avals):
        dtypes = None
    else:
        strong = [aval.dtype for aval in avals if not aval.weak_type]
        dtype = strong[0] if strong else min((a.dtype for a in avals), key=lambda d: d.itemsize)
        dtypes = tuple([dtype if promotes_within_kind(a, dtype) else a.dtype for a in avals])
    shapes = {aval.shape for aval in avals if aval.shape}
    if len(shapes) == 1 or len({len(shape) for shape in shapes}) != 1:
        return dtypes, None
    sizes = [set(axis) - {1} for axis in zip(*shapes, strict=True)]
    if any(len(several) > 1 for several in sizes):
        return dtypes, None
    return dtypes, tuple([min(size, default=1) for size in sizes])


def _converted(
    operands: tuple[Any, ...], avals: list[ShapedArray], dtypes: tuple[DType, ...]
) -> tuple[Any, ...]:
    """Operands in the dtypes given, weakly typed where they are converted."""
    given = zip(operands, avals, dtypes, strict=True)
    return tuple(
        [
            x
            if aval.dtype is dtype
            else (scalar_array(x, dtype) if type(x) in NUMBERS else convert(x, dtype, True))
            for x, aval, dtype in given
        ]
    )


def convert_operand(x: Any, aval: ShapedArray, dtype: DType, weak_type: bool) -> Any:
    """An operand of an array operator in the dtype and weak type that the operator promotes to."""
    if type(x) in NUMBERS:
        try:
            return scalar_array(x, dtype)
        except OverflowError:
            if config.conventions != "jax":
                raise
            x = np.asarray(x, aval.dtype)  # JAX takes it modulo the range of the dtype
    return x if aval.dtype == dtype else convert(x, dtype, weak_type)


def promote_dtypes(*operands: Any) -> tuple[Any, ...]:
    """Operands converted to the dtype that they promote to together.

    >>> promote_dtypes(np.array([1, 2], np.int8), np.zeros(3, np.int32))[0]
    Array([1, 2], dtype=int32)
    """
    return _in_common_dtype(operands, lambda dtype: dtype)


def promote_inexact(*operands: Any) -> tuple[Any, ...]:
    """Like ``promote_dtypes``; integers and booleans become floats, whatever their range is.

    >>> promote_inexact(np.array([1, 2], np.int8), 3)
    (Array([1., 2.], dtype=float32), Array(3., dtype=float32, weak_type=True))
    """
    return _in_common_dtype(operands, inexact_dtype)


def _in_common_dtype(operands: tuple[Any, ...], used: Callable[[DType], DType]) -> tuple[Any, ...]:
    """Operands in the dtype that is used for the one that they promote to."""
    avals = [typeof(x) for x in operands]
    first = avals[0].dtype
    if all(aval.dtype == first for aval in avals) and used(first) == first:
        return operands
    common, weak = promoted_type(config.promotion, *avals)
    dtype, pairs = used(common), zip(operands, avals, strict=True)
    return tuple(
        [
            # A boolean is not weak, whatever it becomes.
            convert(x, dtype, weak) if type(x) is bool else convert_operand(x, aval, dtype, weak)
            for x, aval in pairs
        ]
    )


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape to which shapes broadcast by NumPy's rules.

    Raises:
        ShapeError: when they do not fit together; it is a ValueError and a TypeError.

    >>> broadcast_shapes((3, 1), (4,), ())
    (3, 4)
    """
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return tuple(shapes[0])  # the usual case
    rank = max([len(shape) for shape in shapes], default=0)
    result = [1] * rank
    for shape in shapes:
        for i, size in enumerate(shape, rank - len(shape)):
            if size != 1 and result[i] not in (1, size):
                raise ShapeError(
                    f"Incompatible shapes for broadcasting: {' and '.join(map(str, shapes))} do "
                    f"not broadcast together: axis {i - rank} has sizes {result[i]} and {size}; "
                    f"they must be equal or 1."
                )
            result[i] = size if size != 1 else result[i]
    return tuple(result)


def broadcast_arrays(*operands: Any) -> tuple[Any, ...]:
    """Operands of one shape; scalars stay scalars, as elementwise primitives take them."""
    shapes = [typeof(x).shape for x in operands]
    different = {shape for shape in shapes if shape}
    if len(different) <= 1:
        return operands
    object_to_ranks(different)
    shape = broadcast_shapes(*different)
    pairs = zip(operands, shapes, strict=True)
    return tuple([broadcast_to(x, shape) if own else x for x, own in pairs])


def operator_operands(x: Any, y: Any) -> tuple[Any, Any, DType]:
    """Two operands of one dtype and one shape, and the dtype; scalars stay beside arrays."""
    a = x.aval if type(x) is Array else typeof(x)
    b = y.aval if type(y) is Array else typeof(y)
    dtype = a.dtype
    if dtype is not b.dtype and dtype != b.dtype:
        dtype, weak = promoted_type(config.promotion, a, b)
        if a.dtype is not dtype:
            x = convert_operand(x, a, dtype, weak)
        if b.dtype is not dtype:
            y = convert_operand(y, b, dtype, weak)
    if a.shape != b.shape and a.shape and b.shape:
        x, y = broadcast_arrays(x, y)
    return x, y, dtype


def object_to_ranks(given: Collection[tuple[Any, ...]]) -> None:
    """Warn of shapes of different ranks, or raise, as ``config.numpy_rank_promotion`` says.

    >>> object_to_ranks([(2, 3), (3,), ()])
    """
    if config.numpy_rank_promotion == "allow":
        return
    shapes = sorted({shape for shape in given if shape}, key=len, reverse=True)
    if len({len(shape) for shape in shapes}) <= 1:
        return
    message = (
        f"arrays of the shapes {' and '.join(map(str, shapes))} have different ranks, and "
        f"config.numpy_rank_promotion is {config.numpy_rank_promotion!r}: give all of them "
        f"{len(shapes[0])} axes, as with x[None] or reshape. This is at {user_source_info(1)}."
    )
    if config.numpy_rank_promotion == "raise":
        raise ValueError(message)
    warn_user(message, UserWarning)


def constant(value: Any, like: Any) -> Any:
    """A Python number as a weak scalar of the dtype of another operand, for use in rules."""
    return scalar_array(value, typeof(like).dtype)
