"""The bytes of elements: as elements of another dtype, and in reverse order."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import DType, canonical_dtype, convert
from bindax_numpy.reshaping import flip, ravel, reshape

_BYTE = np.dtype(np.uint8)


def viewed(x: Any, dtype: Any) -> Any:
    """The bytes along the last axis as elements of another dtype; None is the same one."""
    own = typeof(x)
    wanted = own.dtype if dtype is None else canonical_dtype(dtype)
    if wanted == own.dtype:
        return convert(x, wanted, False)
    if not own.shape and wanted.itemsize != own.dtype.itemsize:
        raise ValueError(
            f"view: a scalar {own.str_short()} has no axis to grow or shrink for {wanted.name}."
        )
    found = _bytes(x)
    count = typeof(found).shape[-1]
    if count % wanted.itemsize:
        raise ValueError(
            f"view: the last axis of {own.str_short()} has {count} bytes, which are no whole "
            f"number of elements of {wanted.name}."
        )
    out = _elements(found, wanted)
    return out if own.shape else reshape(out, ())


def byteswapped(x: Any) -> Any:
    """The elements with the bytes of each in reverse order; of complex ones, of each part."""
    own = typeof(x)
    if not own.shape:
        return reshape(byteswapped(reshape(x, (1,))), ())
    size = own.dtype.itemsize // (2 if dtypes.is_complex(own.dtype) else 1)
    found = _bytes(x)
    shape = typeof(found).shape
    swapped = flip(reshape(found, (*shape[:-1], shape[-1] // size, size)), -1)
    return _elements(reshape(swapped, shape), own.dtype)


def _bytes(x: Any) -> Any:
    """The bytes of the elements along the last axis."""
    dtype = typeof(x).dtype
    x = x if typeof(x).shape else ravel(x)
    lead = typeof(x).shape[:-1]
    if dtypes.is_complex(dtype):
        parts = [lax.expand_dims(part, (len(lead) + 1,)) for part in (lax.real(x), lax.imag(x))]
        x = lax.concatenate(parts, len(lead) + 1)
    elif dtype == dtypes.bool_:
        x = convert(x, _BYTE, False)
    found = lax.bitcast_convert_type(x, _BYTE)
    return reshape(found, (*lead, typeof(x).shape[len(lead)] * dtype.itemsize))


def _elements(found: Any, dtype: DType) -> Any:
    """Elements from the bytes along the last axis."""
    *lead, count = typeof(found).shape
    if dtype == dtypes.bool_:
        return lax.ne(found, np.uint8(0))
    if dtypes.is_complex(dtype):
        parts = _elements(found, dtypes.real_dtype(dtype))
        return lax.complex(parts[..., 0::2], parts[..., 1::2])
    groups = reshape(found, (*lead, count // dtype.itemsize, dtype.itemsize))
    if dtype.itemsize == 1:
        groups = reshape(groups, (*lead, count))
    return lax.bitcast_convert_type(groups, dtype)
