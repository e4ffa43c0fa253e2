"""Samples for mistakes that those of the functions do not show: batches of every operand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_testing import Sample, array, between, sample
from bindax_transforms import vmap


def _both(x: Any, y: Any) -> tuple[Any, Any]:
    return lax.add(x[0], y[0]), lax.mul(x[1], y[1])


def _reduced(x: Any, y: Any) -> Any:
    """Initial values that the results depend on."""
    return lax.reduce((x, y), (np.float64(0.5), np.float64(0.25)), _both, (1,))


def _reduced_windows(x: Any, y: Any) -> Any:
    inits = np.float64(0.5), np.float64(0.25)
    return lax.reduce_window((x, y), inits, _both, (1, 2), (1, 1), "VALID")


def _all_bits(x: Any) -> Any:
    """Nothing is rounded, so that the derivative is that of the identity."""
    return lax.reduce_precision(x, 11, 52)


def _applied(x: Any, indices: Any) -> Any:
    """A function that is not holomorphic, applied to elements."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))

    def function(v: Any) -> Any:
        return lax.sin(v) * (lax.conj(v) if v.dtype.kind == "c" else v)

    return lax.scatter_apply(x, indices, function, numbers, update_shape=(2,))


def _distinct(rng: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Any:
    return rng.permutation(3)[: shape[0], None].astype(dtype)


def _bits_of_keys(keys: Any) -> Any:
    return vmap(lambda key: lax.rng_bit_generator(key, (3,)))(keys)


def _sorted_together(x: Any, y: Any) -> Any:
    return lax.sort((x, y), num_keys=2)


def _only_number(low: Any) -> Any:
    """The one integer that is between two bounds, so that each drawing gives the same."""
    return lax.rng_uniform(low, lax.add(low, np.int32(1)), (2, 3))


def more_samples() -> Iterator[Sample]:
    """Initial values that count, an identity, a square."""
    matrix = array((2, 3), "float64")
    reason = "compilers take initial values for neutral, which special values are not"
    neutral = {"compiled special values": reason}
    yield sample(_reduced, matrix, matrix, skip=neutral)
    yield sample(_reduced_windows, matrix, matrix, skip=neutral)
    square = array((2, 2), "float64")
    places = array((2, 1), "int32", _distinct)
    for dtype in ("float64", "complex128"):
        yield sample(_applied, array((3,), dtype), places)
    # One number alone: a batch mixes the bounds of several samples.
    yield sample(_only_number, array((), "int32", between(3, 3)))
    yield sample(_all_bits, square)
    yield sample(_bits_of_keys, array((2, 4), "uint32", between(0, 9)))
    # Integers that no float32 or int32 tells apart.
    wide = array((2, 5), "int64", between(2**53, 2**53 + 3))
    yield sample(_sorted_together, wide, wide)
    yield sample(lax.neg, square)
