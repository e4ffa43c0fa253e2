"""Making arrays from Python values, from a shape, and like another array."""

from __future__ import annotations

from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import (
    Array,
    ShapedArray,
    canonicalize_aval,
    float0,
    is_extended,
    is_masked,
    is_value,
    typeof,
    unknown_type_error,
)
from bindax_core.sharding import laid_as
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    DType,
    canonical_dtype,
    convert,
    from_value,
    placed_as,
    shape_argument,
)
from bindax_lax_basic.extend import broadcast_to as lax_broadcast_to
from bindax_lax_basic.extend import scalar as scalar_of_dtype
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    checked,
    placed,
)
from bindax_transforms.extend import decided

_NUMBERS = (bool, int, float, complex)
_ORDERS = ("K", "A", "C", "F", None)


def array(
    object: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str | None = "K",
    ndmin: int = 0,
    *,
    device: Any = None,
    out_sharding: Any = None,
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
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

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
    if out_sharding is not None:
        return decided(array, out_sharding, (object, dtype, copy, order, ndmin), {"device": device})
    if order not in _ORDERS:
        raise ValueError(f"order must be 'K', 'A', 'C', 'F' or None, but is {order!r:.60}.")
    made = from_value("array", object, None if dtype is None else canonical_dtype(dtype))
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
    out_sharding: Any = None,
) -> Array:
    """An array of a value, like ``array``.

    Args:
        a: a scalar, an array, or nested sequences of either.
        dtype: the dtype of the result; by default that of ``a``.
        order: accepted for compatibility.
        copy: True for bytes of its own, as for ``array``; False where none may be copied.
        device: where the bytes are put.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        ValueError: when ``copy`` is False, and ``a`` has bytes of its own but is not an array of
            the dtype already; numbers and sequences have none. When it is a masked array, of which
            ``array`` makes one without the mask.

    >>> jnp.asarray(1.0)
    Array(1., dtype=float32, weak_type=True)
    >>> jnp.asarray(np.arange(3))
    Array([0, 1, 2], dtype=int64)
    """
    if out_sharding is not None:
        return decided(asarray, out_sharding, (a, dtype, order), {"copy": copy, "device": device})
    if is_masked(a):
        raise unknown_type_error(a, "asarray: ")
    made = placed("asarray", array(a, dtype, bool(copy), order), device)
    has_bytes = not isinstance(a, (*_NUMBERS, list, tuple))
    if copy is False and made is not a and has_bytes:
        raise ValueError(
            f"asarray: an array of {a!r:.60} needs a copy, as others may write to it, or as its "
            f"dtype or device is another; give copy=None."
        )
    return made


def full(
    shape: Any, fill_value: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """An array of a shape, filled with a value.

    Args:
        shape: its sizes; one integer means one axis.
        fill_value: a scalar, or an array that broadcasts to the shape.
        dtype: its dtype; by default that of ``fill_value``.
        device: where the bytes are put.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.full((2,), 7, "float32")
    Array([7., 7.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(full, out_sharding, (shape, fill_value, dtype), {"device": device})
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
    return as_operand(convert(checked(name, value), dtype, weak_type))


def zeros(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of zeros.

    Args:
        shape: its sizes; one integer means one axis.
        dtype: its dtype; by default the default float.
        device: where the bytes are put.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.zeros(2)
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(zeros, out_sharding, (shape, dtype), {"device": device})
    return placed("zeros", full(shape, 0, float if dtype is None else dtype), device)


def ones(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array of ones; arguments as for ``zeros``.

    >>> jnp.ones((1, 2), dtype=int)
    Array([[1, 1]], dtype=int32)
    """
    if out_sharding is not None:
        return decided(ones, out_sharding, (shape, dtype), {"device": device})
    return placed("ones", full(shape, 1, float if dtype is None else dtype), device)


def empty(shape: Any, dtype: Any = None, *, device: Any = None, out_sharding: Any = None) -> Array:
    """An array whose elements are not defined. Arguments as for ``zeros``.

    >>> jnp.empty((0, 3)).shape
    (0, 3)
    """
    if out_sharding is not None:
        return decided(empty, out_sharding, (shape, dtype), {"device": device})
    return placed("empty", zeros(shape, dtype), device)


def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    shape: Any = None,
    *,
    device: Any = None,
    out_sharding: Any = None,
) -> Array:
    """An array filled with a value, with the shape and dtype of another.

    Args:
        a: an array, or what has a ``shape`` and a ``dtype``.
        fill_value: a scalar, or an array that broadcasts to the shape.
        dtype: another dtype.
        shape: another shape.
        device: where the bytes are put; an array that is bound to others than the default device
            is followed.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    >>> jnp.full_like(jnp.arange(2), 5)
    Array([5, 5], dtype=int32)
    """
    if out_sharding is not None:
        return decided(full_like, out_sharding, (a, fill_value, dtype, shape), {"device": device})
    if not is_value(a) and hasattr(a, "shape") and hasattr(a, "dtype"):
        sizes, wanted, weak = a.shape, canonical_dtype(a.dtype), False
        aval = canonicalize_aval(a) if isinstance(a, ShapedArray) else None
    else:
        aval = typeof(array_operand("full_like", a))
        sizes, wanted, weak = aval.shape, aval.dtype, aval.weak_type
    if dtype is not None:
        wanted, weak = canonical_dtype(dtype), False
    if wanted == float0:
        return lax.full_like(a, 0, shape=shape)
    value = _in_dtype("full_like", fill_value, wanted, weak)
    made = lax_broadcast_to(value, shape_argument("full_like", sizes if shape is None else shape))
    if device is None and shape is None and aval is not None:
        made = placed_as(laid_as(made, aval), a)
    return placed("full_like", made, device)


def zeros_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Zeros with the shape and dtype of another array; arguments as for ``full_like``.

    >>> jnp.zeros_like(jnp.ones(2))
    Array([0., 0.], dtype=float32)
    """
    if out_sharding is not None:
        return decided(zeros_like, out_sharding, (a, dtype, shape), {"device": device})
    return placed("zeros_like", full_like(a, 0, dtype, shape), device)


def ones_like(
    a: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, out_sharding: Any = None
) -> Array:
    """Ones with the shape and dtype of another array; arguments as for ``full_like``.

    >>> jnp.ones_like(jnp.arange(2))
    Array([1, 1], dtype=int32)
    """
    if out_sharding is not None:
        return decided(ones_like, out_sharding, (a, dtype, shape), {"device": device})
    return placed("ones_like", full_like(a, 1, dtype, shape), device)


def empty_like(
    prototype: Any, dtype: Any = None, shape: Any = None, *, device: Any = None
) -> Array:
    """An array like another, whose elements are not defined.

    >>> jnp.empty_like(jnp.ones((2, 0))).shape
    (2, 0)
    """
    return placed("empty_like", full_like(prototype, 0, dtype, shape), device)
