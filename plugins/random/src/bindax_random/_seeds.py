"""Seeds: integers as the words of a key."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, config, typeof
from bindax_lax_basic import add, bitcast_convert_type, concatenate, convert_element_type, reshape
from bindax_lax_basic.extend import is_integer

_LEAST = -(1 << 63)
_GREATEST = ((1 << 64) - 1, (1 << 63) - 1)


def seed_array(name: str, seed: Any) -> Any:
    """A seed as an array of integers, of 32 or 64 bits as ``config.dtype_bits`` says.

    ``config.random_seed_offset`` is added.
    """
    bits, offset = config.dtype_bits, config.random_seed_offset
    if isinstance(seed, np.integer):
        bits = bits if seed.dtype.itemsize == 8 else 32
    if isinstance(seed, (int, np.integer)):
        whole = int(seed)
        if not _LEAST <= whole <= _GREATEST[isinstance(seed, int)]:
            raise OverflowError(f"{name}: the seed {whole} does not fit into an int64.")
        return Array.from_numpy(np.array((whole + offset) & ((1 << bits) - 1), f"uint{bits}"))
    aval = typeof(seed)
    if not (is_integer(aval.dtype) or aval.dtype == np.bool_):
        raise TypeError(f"{name}: the seed must be an integer, but got {aval.str_short()}.")
    if aval.shape:
        raise TypeError(
            f"{name} takes a scalar as seed, but got an array of shape {aval.shape}; use "
            f"vmap({name}) for many seeds."
        )
    wide = min(bits, 8 * aval.dtype.itemsize) if aval.dtype.itemsize >= 4 else 32
    made = convert_element_type(seed, f"uint{wide}")
    return add(made, np.array(offset & ((1 << wide) - 1), f"uint{wide}")) if offset else made


def seed_words(seed: Any) -> Any:
    """The high and the low word of a seed, uint32[2]; the high one of 32 bits is zero."""
    if type(seed) is Array and seed.on_host:
        whole = int(seed)
        return Array.from_numpy(np.array([whole >> 32, whole & 0xFFFFFFFF], np.uint32))
    if typeof(seed).dtype.itemsize == 8:
        low, high = [reshape(x, (1,)) for x in bitcast_convert_type(seed, np.uint32)]
        return concatenate([high, low], 0)
    return concatenate([np.zeros(1, np.uint32), reshape(seed, (1,))], 0)
