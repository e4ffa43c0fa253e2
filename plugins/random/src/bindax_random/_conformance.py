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
from bindax_testing import POSITIVE, Sample, array, between, known, sample

_WORD = between(0, 2**32 - 1)


# The digits of pi, words of 32 bits, and the numbers for words of zeros, of ones, and of pi.
_PI = (
    *(0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
    *(0xA4093822, 0x299F31D0, 0x082EFA98, 0xEC4E6C89),
)
_VECTORS = (
    (
        threefry2x32_p,
        2,
        [(0x6B200159, 0x99BA4EFE), (0x1CB996FC, 0xBB002BE7), (0xC4923A9C, 0x483DF7A0)],
    ),
    (
        philox2x32_p,
        1,
        [(0xFF1DAE59, 0x6CD10DF2), (0x2C3F628B, 0xAB4FD7AD), (0xDD7CE038, 0xF62A4C12)],
    ),
    (
        philox4x32_p,
        2,
        [
            (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
            (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ],
    ),
    (
        threefry4x32_p,
        4,
        [
            (0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8),
            (0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732),
            (0x59CD1DBB, 0xB8879579, 0x86B5D00C, 0xAC8B6D84),
        ],
    ),
)
# What JAX draws with the key 42.
_BITS = {
    8: (162, 217, 249),
    16: (5026, 12505, 63993),
    32: (2098992034, 2919706841, 2646866425),
    64: (7871734211187709741, 276886910877598708, 10591095138341673235),
}
# What JAX draws with the key 134, for two of which a first number is rejected, and the logarithms.
_SHAPES = (0.3, 1.0, 3.5, 40.0)
_GAMMA = {
    False: np.array(
        [0.03195616230368614, 0.22027502954006195, 6.831928730010986, 31.977415084838867]
    ),
    True: np.array(
        [-3.443390130996704, -1.5128782987594604, 1.9216070175170898, 3.4650299549102783]
    ),
}
_FOLLOWS_QUANTILES = (
    "the derivative is that of the number at its quantile, which rejection hides from differences"
)


def conformance_samples() -> Iterator[Sample]:
    """Give calls of the primitives."""
    yield from _known_numbers()
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
        yield sample(
            multiply_add_p,
            *[array((2, 3), dtype)] * 3,
            skip={"compiled special values": "compilers may round a product, which can overflow"},
        )
    yield sample(threefry2x32_p, *[array((4,), "uint32", _WORD)] * 4)
    for hash_p, count in ((philox2x32_p, 3), (philox4x32_p, 6), (threefry4x32_p, 8)):
        yield sample(hash_p, *[array((4,), "uint32", _WORD)] * count)
        yield sample(hash_p, *[array((), "uint32", _WORD)] * count)
    for bit_width in (0, 8, 32, 64):
        key = array((2,), "uint32", _WORD)
        yield sample(threefry2x32_numbers_p, key, shape=(2, 3), bit_width=bit_width)
    yield sample(threefry2x32_numbers_p, key, shape=(100,), bit_width=0)  # more than are few
    for bits, dtype in (("uint32", "float32"), ("uint8", "bfloat16"), ("uint16", "float16")):
        top = between(0, float(np.iinfo(bits).max))
        yield sample(unit_floats_p, array((2, 3), bits, top), dtype=np.dtype(dtype))


def _known_numbers() -> Iterator[Sample]:
    """Calls whose numbers are known: those of the hashes are the test vectors of Random123."""
    for hash_p, key_count, results in _VECTORS:
        count = key_count + len(results[0])
        columns = np.array([[0] * count, [2**32 - 1] * count, _PI[:count]], np.uint32).T
        operands = [*columns[-key_count:], *columns[:-key_count]]
        yield known(hash_p, operands, np.array(results, np.uint32).T, label=f"known-{hash_p.name}")
    for bit_width, numbers in _BITS.items():
        wanted = np.array(numbers, f"uint{bit_width}")
        words = np.array([0, 42], np.uint32)
        yield known(threefry2x32_numbers_p, [words], wanted, shape=(3,), bit_width=bit_width)
    chances = np.array([-0.96875, -0.5, 0.03125, 0.625, 0.9990234375], np.float32)
    exact = [-1.523019401996956, -0.4769362762044699, 0.02770167571958433, 0.627307347788559]
    yield known(quantile_p, [chances], np.array([*exact, 2.331467773621948]), ulps=8)
    for bits, dtype, mantissa in (("uint32", "float32", 23), ("uint8", "bfloat16", 7)):
        drawn = np.array([0, 1, 77, 255], bits)
        shift = drawn.itemsize * 8 - mantissa
        yield known(unit_floats_p, [drawn], (drawn >> shift) / 2.0**mantissa, dtype=np.dtype(dtype))
    key = array((), key_dtype(), lambda *_: np.array([0, 134], np.uint32))
    for log_space, gammas in _GAMMA.items():
        for count in (1, len(_SHAPES)):
            yield known(
                random_gamma_p,
                [key, np.array(_SHAPES[:count], np.float32)],
                gammas[:count],
                ulps=16,
                label=f"known-gamma-{log_space}-{count}",
                log_space=log_space,
                skip={"jvp": _FOLLOWS_QUANTILES, "second order": _FOLLOWS_QUANTILES},
            )
