"""Making arrays from Python values, from a shape, and like another array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import clause
from bindax_core.extend import Array, Tracer, float0, is_extended, is_value, typeof, unwrapped
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import DType, canonical_dtype, default_dtype, named_dtype
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_lax_basic.extend import convert, shape_argument
from bindax_lax_basic.extend import scalar as scalar_of_dtype
from bindax_numpy._operands import (
    PYTHON_SCALARS,
    array_operand,
    from_scalar,
    overflow,
    placed,
    settled,
)

_SEQUENCES = (list, tuple, range)
_ORDERS = ("K", "A", "C", "F", None)


def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
) -> Array:
    """An array of a value: of a scalar, an array, or nested sequences of either.

    Args:
        object: the value. Sequences may hold traced values.
        dtype: the dtype of the result. By default that of ``object``: NumPy arrays and scalars
            keep theirs, Python scalars have the default dtype and, unless in a sequence, give a
            weak type.
        copy: whether an array gets bytes of its own, which stay when those of ``object`` are
            deleted or donated. What could be written to is copied always.
        order: accepted for compatibility; the layout in memory is the backend's business.
        ndmin: the least number of axes; missing ones are added in front.
        device: where the bytes are put; by default they stay on the host until they are needed.

    Raises:
        TypeError: when something in ``object`` is no number or array.
        ValueError: when something in it is None, or nested sequences are ragged.
        OverflowError: when an integer does not fit into the dtype.

    >>> jnp.array([1, 2.5])
    Array([1. , 2.5], dtype=float32)
    >>> jnp.array([[1, 2], [3, 4]], dtype="int64")
    Array([[1, 2],
           [3, 4]], dtype=int64)
    """
    if order not in _ORDERS:
        raise ValueError(f"order must be 'K', 'A', 'C', 'F' or None, but is {order!r:.60}.")
    made = _from_object(object, None if dtype is None else canonical_dtype(dtype))
    if copy and made is object:
        made = lax.copy(made)
    if ndmin > typeof(made).ndim:
        made = lax.broadcast_to_rank(made, ndmin)
    return placed("array", made, device)


def asarray(
    a: Any,
    dtype: Any = None,
    order: str | None = None,
    *,
    copy: bool | None = None,
    device: Any = None,
) -> Array:
    """An array of a value, like ``array``.

    Args:
        a: a scalar, an array, or nested sequences of either.
        dtype: the dtype of the result; by default that of ``a``.
        order: accepted for compatibility.
        copy: True for bytes of its own, as for ``array``; False where none may be copied.
        device: where the bytes are put.

    Raises:
        ValueError: when ``copy`` is False, and ``a`` is not an array of the dtype already.

    >>> jnp.asarray(1.0)
    Array(1., dtype=float32, weak_type=True)
    >>> jnp.asarray(np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    made = placed("asarray", array(a, dtype, bool(copy), order), device)
    if copy is False and made is not a:
        raise ValueError(
            f"asarray: an array of {a!r:.60} needs a copy, as others may write to it, or as its "
            f"dtype or device is another; give copy=None."
        )
    return made


def _from_object(value: Any, dtype: DType | None) -> Any:
    if isinstance(value, (Array, Tracer)):
        return settled(value) if dtype is None else convert(value, dtype, False)
    if isinstance(value, np.generic) and typeof(value).weak_type:
        return _from_scalar(value.item(), dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return _from_numpy(np.array(value), dtype)
    if isinstance(value, PYTHON_SCALARS):
        return _from_scalar(value, dtype)
    if isinstance(value, _SEQUENCES):
        return _from_sequence(value, dtype)
    inner = unwrapped(value)
    if inner is not value:
        return _from_object(inner, dtype)
    if is_value(value):
        return value if dtype is None else convert(value, dtype, False)
    host = _foreign(value)
    if host is not None:
        return _from_numpy(host, dtype)
    raise _not_a_number(value, "")


def _foreign(value: Any) -> np.ndarray[Any, Any] | None:
    """A copy of the array of another library, or of a buffer; None where it is neither."""
    if hasattr(value, "__array__"):
        return np.array(value)
    if hasattr(value, "__dlpack__"):
        return np.array(np.from_dlpack(value))
    try:
        return np.array(memoryview(value))
    except TypeError:
        return None


def _not_a_number(value: Any, path: str) -> Exception:
    where = f" at {path}" if path else ""
    # As in JAX: programs may tell None, which is missing, from what is of a wrong type.
    kind = ValueError if value is None else TypeError
    return kind(
        f"array: {value!r:.60} of type {type(value).__name__}{where} is no number, array, or "
        f"sequence of them."
    )


def _from_numpy(host: np.ndarray[Any, Any], dtype: DType | None) -> Any:
    made = Array.from_numpy(host.astype(named_dtype(host.dtype.newbyteorder("=")), copy=False))
    return made if dtype is None else convert(made, dtype, False)


def _from_scalar(value: Any, dtype: DType | None) -> Any:
    family = next(t for t in PYTHON_SCALARS if isinstance(value, t))
    plain = family(value)
    if dtype is None:  # an array of its own, which may be donated or deleted
        return from_scalar(plain, default_dtype(family.__name__)).copy()
    try:
        return convert(scalar_of_dtype(plain, dtype, False), dtype, False)
    except OverflowError:
        raise overflow(value, dtype) from None


def _from_sequence(value: Sequence[Any], dtype: DType | None) -> Any:
    leaves: list[Any] = []
    shape = _nested_shape(value, "", leaves)
    wanted = _common_dtype(leaves) if dtype is None else dtype
    if any(isinstance(leaf, (Array, Tracer)) or not is_value(leaf) for leaf in leaves):
        return _stacked(value, wanted)
    try:
        host = np.array(value, wanted) if leaves else np.zeros(shape, wanted)
    except OverflowError:
        raise overflow(value, wanted) from None
    except TypeError as error:
        raise TypeError(
            f"array: {value!r:.60} cannot have the dtype {wanted}: {clause(error)}."
        ) from error
    return Array.from_numpy(host)


def _nested_shape(value: Any, path: str, leaves: list[Any]) -> tuple[int, ...]:
    """The shape of nested sequences; what is no sequence is added to the leaves."""
    if not isinstance(value, _SEQUENCES):
        inner = unwrapped(value)
        if inner is not value:
            value = _from_object(inner, None)
        elif not is_value(value):
            if not (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
                raise _not_a_number(value, path)
            value = _from_object(value, None)
        leaves.append(value)
        return () if isinstance(value, PYTHON_SCALARS) else typeof(value).shape
    shapes = [_nested_shape(child, f"{path}[{i}]", leaves) for i, child in enumerate(value)]
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"array: the nested sequences are ragged: {path}[0] has the shape {shapes[0]}, and "
                f"{path}[{i}] has the shape {shape}."
            )
    return (len(value), *(shapes[0] if shapes else ()))


def _common_dtype(leaves: Sequence[Any]) -> DType:
    if not leaves:
        return default_dtype("float")
    kinds: dict[Any, Any] = {}
    for leaf in leaves:
        kinds.setdefault(type(leaf) if isinstance(leaf, PYTHON_SCALARS) else typeof(leaf), leaf)
    return dtypes.result_type(*kinds.values())


def _stacked(value: Any, dtype: DType) -> Any:
    if not isinstance(value, _SEQUENCES):
        return _from_object(value, dtype)
    parts = [lax.expand_dims(_stacked(child, dtype), (0,)) for child in value]
    return parts[0] if len(parts) == 1 else lax.concatenate(parts, 0)


def full(shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of a shape, filled with a value.

    Args:
        shape: its sizes; one integer means one axis.
        fill_value: a scalar, or an array that broadcasts to the shape.
        dtype: its dtype; by default that of ``fill_value``.
        device: where the bytes are put.

    >>> jnp.full((2,), 7, "float32")
    Array([7., 7.], dtype=float32)
    """
    if dtype is None:
        value = array_operand("full", fill_value)
    else:
        value = _in_dtype("full", fill_value, canonical_dtype(dtype), False)
    made = lax_broadcast_to(value, shape_argument("full", shape))
    if made is value and isinstance(made, Array):
        made = made.copy()
    return placed("full", made, device)


def _in_dtype(name: str, value: Any, dtype: DType, weak_type: bool) -> Any:
    """A fill value in a dtype; an integer fills all parts of an element of an extended dtype."""
    if type(value) is int and is_extended(dtype):
        return scalar_of_dtype(value, dtype, False)
    if type(value) is complex and not dtypes.is_complex(dtype):
        raise TypeError(
            f"{name}: {value!r} cannot have the dtype {dtype.name}, which has no imaginary part; "
            f"take the real part first."
        )
    return convert(array_operand(name, value), dtype, weak_type)


def zeros(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of zeros.

    Args:
        shape: its sizes; one integer means one axis.
        dtype: its dtype; by default the default float.
        device: where the bytes are put.

    >>> jnp.zeros(2)
    Array([0., 0.], dtype=float32)
    """
    return placed("zeros", full(shape, 0, float if dtype is None else dtype), device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array of ones; arguments as for ``zeros``.

    >>> jnp.ones((1, 2), dtype=int)
    Array([[1, 1]], dtype=int32)
    """
    return placed("ones", full(shape, 1, float if dtype is None else dtype), device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None) -> Array:
    """An array whose elements nobody relies on; they are zeros. Arguments as for ``zeros``.

    >>> jnp.empty((0, 3)).shape
    (0, 3)
    """
    return placed("empty", zeros(shape, dtype), device)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array filled with a value, with the shape and dtype of another.

    Args:
        a: an array, or what has a ``shape`` and a ``dtype``.
        fill_value: a scalar, or an array that broadcasts to the shape.
        dtype: another dtype.
        shape: another shape.
        device: where the bytes are put.

    >>> jnp.full_like(jnp.arange(2), 5)
    Array([5, 5], dtype=int32)
    """
    if not is_value(a) and hasattr(a, "shape") and hasattr(a, "dtype"):
        sizes, wanted, weak = a.shape, canonical_dtype(a.dtype), False
    else:
        aval = typeof(array_operand("full_like", a))
        sizes, wanted, weak = aval.shape, aval.dtype, aval.weak_type
    if dtype is not None:
        wanted, weak = canonical_dtype(dtype), False
    if wanted == float0:
        return lax.full_like(a, 0, shape=shape)
    value = _in_dtype("full_like", fill_value, wanted, weak)
    made = lax_broadcast_to(value, shape_argument("full_like", sizes if shape is None else shape))
    return placed("full_like", made, device)


def zeros_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Zeros with the shape and dtype of another array; arguments as for ``full_like``.

    >>> jnp.zeros_like(jnp.ones(2))
    Array([0., 0.], dtype=float32)
    """
    return placed("zeros_like", full_like(a, 0, dtype, shape), device)


def ones_like(a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None) -> Array:
    """Ones with the shape and dtype of another array; arguments as for ``full_like``.

    >>> jnp.ones_like(jnp.arange(2))
    Array([1, 1], dtype=int32)
    """
    return placed("ones_like", full_like(a, 1, dtype, shape), device)


def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array like another, whose elements nobody relies on; they are zeros.

    >>> jnp.empty_like(jnp.ones((2, 0))).shape
    (2, 0)
    """
    return placed("empty_like", full_like(prototype, 0, dtype, shape), device)
