"""Samples for the conformance suite."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bindax_random import keys as k
from bindax_random.counter_hashes import philox2x32_p, philox4x32_p, threefry4x32_p
from bindax_random.gamma_numbers import random_gamma_p
from bindax_random.keys import key_dtype
from bindax_random.quantiles import multiply_add_p, quantile_p
from bindax_random.rbg import RBG
from bindax_random.threefry import threefry2x32_numbers_p, threefry2x32_p
from bindax_random.threefry_generator import THREEFRY
from bindax_random.uniform_numbers import unit_floats_p
from bindax_testing import POSITIVE, Sample, array, between, sample

_WORD = between(0, 2**32 - 1)


_FOLLOWS_QUANTILES = (
    "the derivative is that of the number at its quantile, which rejection hides from differences"
)


def conformance_samples() -> Iterator[Sample]:
    """Give calls of the primitives."""
    yield from _on_numbers()
    yield from _on_keys()


def _on_keys() -> Iterator[Sample]:
    """Calls on the words of keys, and on keys of two generators."""
    for prng in (THREEFRY, RBG):
        words = array((2, *prng.key_shape), "uint32", _WORD)
        yield sample(k.random_wrap_p, words, prng=prng)
        keys = array((2,), key_dtype(prng))
        yield sample(k.random_unwrap_p, keys)
        yield sample(k.random_fold_in_p, keys, array((2,), "uint32", _WORD))
        yield sample(k.random_split_p, keys, shape=(3,))
        yield sample(k.random_bits_p, keys, bit_width=32, shape=(3,))
    key, none = array((), key_dtype()), array((0,), key_dtype())
    for some in (key, none):
        yield sample(k.random_unwrap_p, some)
        yield sample(k.random_split_p, some, shape=(2, 2))
        yield sample(k.random_bits_p, some, bit_width=8, shape=())
        yield sample(k.random_fold_in_p, some, array(some.shape, "uint32", _WORD))
    for log_space in (False, True):
        for keys, shape in ((key, (3,)), (array((2,), key_dtype()), (2, 2))):
            yield sample(
                random_gamma_p,
                keys,
                array(shape, "float32", POSITIVE),
                log_space=log_space,
                skip={"jvp": _FOLLOWS_QUANTILES, "second order": _FOLLOWS_QUANTILES},
            )


def _on_numbers() -> Iterator[Sample]:
    for dtype in ("float32", "float64"):
        yield sample(quantile_p, array((2, 3), dtype, between(-0.9, 0.9)))
        yield sample(multiply_add_p, *[array((2, 3), dtype)] * 3)
    yield sample(threefry2x32_p, *[array((4,), "uint32", _WORD)] * 4)
    for hash_p, count in ((philox2x32_p, 3), (philox4x32_p, 6), (threefry4x32_p, 8)):
        yield sample(hash_p, *[array((4,), "uint32", _WORD)] * count)
        yield sample(hash_p, *[array((), "uint32", _WORD)] * count)
    for bit_width in (0, 8, 32, 64):
        key = array((2,), "uint32", _WORD)
        yield sample(threefry2x32_numbers_p, key, shape=(2, 3), bit_width=bit_width)
    for bits, dtype in (("uint32", "float32"), ("uint8", "bfloat16"), ("uint16", "float16")):
        top = between(0, float(np.iinfo(bits).max))
        yield sample(unit_floats_p, array((2, 3), bits, top), dtype=np.dtype(dtype))
