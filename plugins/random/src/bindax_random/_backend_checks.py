"""The check that backends draw the same random numbers, bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bindax_random import keys as k
from bindax_random.rbg import RBG
from bindax_random.sampling import permutation
from bindax_random.threefry_generator import THREEFRY
from bindax_random.uniform_numbers import bernoulli, bits, randint, uniform
from bindax_testing import BackendCall, BackendCheck, Mismatch, backend_check

_SHAPE = (3, 5)
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "split": lambda key: k.key_data(k.split(key, 3)),
    "fold_in": lambda key: k.key_data(k.fold_in(key, 7)),
    "bits of 8": lambda key: bits(key, _SHAPE, np.uint8),
    "bits of 32": lambda key: bits(key, _SHAPE, np.uint32),
    "bits of 64": lambda key: bits(key, _SHAPE, np.uint64),
    "uniform float32": lambda key: uniform(key, _SHAPE, np.float32),
    "uniform float64": lambda key: uniform(key, _SHAPE, np.float64),
    "randint": lambda key: randint(key, _SHAPE, -3, 1000),
    "bernoulli": lambda key: bernoulli(key, 0.3, _SHAPE),
    "permutation": lambda key: permutation(key, 10),
}


def checks_of_random_numbers() -> Iterator[BackendCheck]:
    """Numbers of two generators."""
    yield backend_check("random bits", _same_bits)


def _same_bits(call: BackendCall) -> None:
    for prng in (THREEFRY, RBG):
        words = np.arange(11, 11 + np.prod(prng.key_shape), dtype=np.uint32)
        for name, draw in _FUNCTIONS.items():
            _require_same_bits(call, f"{name} of {prng.name}", _drawing(draw, prng), words)


def _drawing(draw: Callable[[Any], Any], prng: Any) -> Callable[[Any], list[Any]]:
    return lambda words: [draw(k.wrap_key_data(words, impl=prng.name))]


def _require_same_bits(call: BackendCall, what: str, draw: Any, words: Any) -> None:
    wanted, got = (np.asarray(one(draw, words)[0]) for one in (call.expected, call.results))
    if got.dtype != wanted.dtype or got.tobytes() != wanted.tobytes():
        different = got.ravel()[:3].tolist() if got.size else []
        raise Mismatch(
            f"{what} begins with {different}, and not {wanted.ravel()[:3].tolist()}: random "
            f"numbers have to be the same on every backend."
        )
