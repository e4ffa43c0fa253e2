"""Samples for the conformance kit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bindax_random.threefry import threefry2x32_numbers_p, threefry2x32_p
from bindax_random.uniform_numbers import unit_floats_p
from bindax_testing import Sample, array, between, sample

_WORD = between(0, 2**32 - 1)


def conformance_samples() -> Iterator[Sample]:
    """Give calls of the primitives on numbers."""
    yield sample(threefry2x32_p, *[array((3,), "uint32", _WORD)] * 4)
    for bit_width in (0, 8, 32, 64):
        key = array((2,), "uint32", _WORD)
        yield sample(threefry2x32_numbers_p, key, shape=(2, 3), bit_width=bit_width)
    for bits, dtype in (("uint32", "float32"), ("uint8", "bfloat16"), ("uint16", "float16")):
        top = between(0, float(np.iinfo(bits).max))
        yield sample(unit_floats_p, array((2, 3), bits, top), dtype=np.dtype(dtype))
