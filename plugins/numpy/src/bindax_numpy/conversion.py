"""Arrays from other arrays, buffers and functions, and questions about dtypes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.errors import clause
from bindax_core.extend import Array, Tracer, is_extended, is_value, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import canonical_dtype, convert, default_dtype, named_dtype
from bindax_numpy._operands import placed, put_into
from bindax_numpy.creation import asarray
from bindax_numpy.index_grids import indices

_KINDS = {
    "bool": {"bool"},
    "signed integer": {"signed integer"},
    "unsigned integer": {"unsigned integer"},
    "integral": {"signed integer", "unsigned integer"},
    "real floating": {"float"},
    "complex floating": {"complex"},
    "numeric": {"signed integer", "unsigned integer", "float", "complex"},
}


def astype(x: Any, dtype: Any, /, *, copy: bool = False, device: Any = None) -> Array:
    """The elements converted to another dtype.

    Args:
        x: an array.
        dtype: the dtype; None for the default float.
        copy: whether the result has bytes of its own even where nothing changes.
        device: where the result is to be.

    >>> jnp.astype(jnp.array([1.7, -1.7]), int)
    Array([ 1, -1], dtype=int32)
    """
    wanted = default_dtype("float") if dtype is None else canonical_dtype(dtype)
    out = put_into("astype", x, wanted)
    if copy and out is x:
        out = lax.copy(out)
    return placed("astype", out, device)


def copy(a: Any, order: str | None = None) -> Array:
    """A copy of an array.

    Args:
        a: an array, or what ``asarray`` makes one of.
        order: None, "K" or "C": elements are always in the order of their indices.

    >>> jnp.copy(jnp.array([1, 2]))
    Array([1, 2], dtype=int32)
    """
    if order not in (None, "K", "C"):
        raise ValueError(f"copy: order must be None, 'K' or 'C', but it is {order!r}.")
    return lax.copy(a if isinstance(a, (Array, Tracer)) else asarray(a))


_HOST = 1
"""The number of the host among the kinds of devices of DLPack."""


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """An array from that of another library, by the DLPack protocol.

    Args:
        x: an array with a method ``__dlpack__``; of a device it is copied to the host first.
        device: where the result is to be.
        copy: False for an array of bindax itself, which is taken as it is. Elements of others are
            always copied, as they may write to theirs.

    Raises:
        ValueError: where ``copy`` is False for an array of another library.

    >>> jnp.from_dlpack(np.array([1.0, 2.0]))
    Array([1., 2.], dtype=float64)
    """
    if copy is False:
        if isinstance(x, Array) and not is_extended(x.dtype):
            return placed("from_dlpack", convert(x, typeof(x).dtype, False), device)
        raise ValueError(
            "from_dlpack always copies arrays of other libraries, as they may write to them: "
            "leave out copy=False."
        )
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(
            f"from_dlpack takes an array with __dlpack__ and __dlpack_device__, but got {x!r:.60} "
            f"of type {type(x).__name__}."
        )
    try:
        on_host = x.__dlpack_device__()[0] == _HOST
        host = np.from_dlpack(x) if on_host else np.from_dlpack(x, device="cpu", copy=True)
    except BufferError as error:
        raise TypeError(f"from_dlpack: {x!r:.60} cannot be exchanged: {clause(error)}.") from error
    return placed("from_dlpack", Array.from_numpy(np.array(host)), device)


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """An array from the bytes of a buffer.

    Args:
        buffer: bytes, or what has a buffer of them.
        dtype: the dtype of the elements; by default the default float.
        count: how many elements; -1 for all.
        offset: the place of the first byte.

    >>> jnp.frombuffer(b"ab", "uint8")
    Array([97, 98], dtype=uint8)
    """
    return Array.from_numpy(np.frombuffer(buffer, named_dtype(dtype), count, offset).copy())


def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: Any = float, **kwargs: Any
) -> Any:
    """The values of a function of the indices of an array's elements.

    Args:
        function: takes an array of the indices along each axis, for all elements at once.
        shape: the shape of the array.
        dtype: the dtype of the indices; by default the default float.
        **kwargs: further arguments of the function.

    >>> jnp.fromfunction(lambda i, j: i + j, (2, 2), dtype=int)
    Array([[0, 1],
           [1, 2]], dtype=int32)
    """
    return function(*indices(shape, canonical_dtype(dtype)), **kwargs)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Tell whether a dtype is of a kind.

    Args:
        dtype: the dtype, or what names it; None is the default float.
        kind: a dtype, "bool", "signed integer", "unsigned integer", "integral", "real floating",
            "complex floating" or "numeric", or a tuple of any of these.

    >>> jnp.isdtype(jnp.float32, ("bool", "real floating"))
    True
    """
    own = named_dtype(float if dtype is None else dtype)
    kinds = kind if isinstance(kind, tuple) else (kind,)
    return any(
        dtypes.kind_of(own) in _KINDS[k]
        if isinstance(k, str) and k in _KINDS
        else named_dtype(k) == own
        for k in kinds
    )


def can_cast(from_: Any, to: Any, casting: str = "safe") -> bool:
    """Tell whether values of one dtype can be converted to another one.

    Args:
        from_: a dtype, an array or the type of one.
        to: a dtype.
        casting: "no" for the same dtype only, "safe" where no value is lost, "same_kind" also to
            narrower ones of one kind, "unsafe" always.

    >>> jnp.can_cast(jnp.int32, jnp.float32), jnp.can_cast(jnp.int8, jnp.float32)
    (False, True)
    """
    own = lax.dtype(from_) if hasattr(from_, "shape") else named_dtype(from_)
    return bool(np.can_cast(own, named_dtype(to), casting))  # type: ignore[arg-type]


def isscalar(element: Any) -> bool:
    """Tell whether something is a number, or an array without axes.

    >>> jnp.isscalar(1.0), jnp.isscalar(jnp.zeros(1))
    (True, False)
    """
    return is_value(element) and not typeof(element).shape


def iscomplexobj(x: Any) -> bool:
    """Tell whether the dtype of an array, a list of numbers, or the dtype itself is complex.

    >>> jnp.iscomplexobj(jnp.array([1.0])), jnp.iscomplexobj(1j)
    (False, True)
    """
    if x is None or isinstance(x, (str, bytes)):
        return False
    if isinstance(x, (type, np.dtype)):
        return dtypes.is_complex(named_dtype(x))
    if hasattr(x, "dtype"):  # also what has a type and no value
        return dtypes.is_complex(x.dtype)
    return dtypes.is_complex(typeof(x if is_value(x) else asarray(x)).dtype)


def isrealobj(x: Any) -> bool:
    """Tell whether the dtype of an array is not complex.

    >>> jnp.isrealobj(jnp.array([1.0])), jnp.isrealobj(1j)
    (True, False)
    """
    return not iscomplexobj(x)


def iterable(y: Any) -> bool:
    """Tell whether something can be iterated over; an array without axes cannot.

    >>> jnp.iterable(jnp.zeros(2)), jnp.iterable(jnp.zeros(()))
    (True, False)
    """
    return np.iterable(y) and (not is_value(y) or bool(typeof(y).shape))
