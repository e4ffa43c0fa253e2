import numpy as np
import pytest
from bindax_example_philox import PHILOX, philox

import bindax_random as random

# kat_vectors of Random123: key, counter, result of philox2x32 with 10 rounds.
KNOWN = [
    (0, (0, 0), (0xFF1DAE59, 0x6CD10DF2)),
    (0xFFFFFFFF, (0xFFFFFFFF, 0xFFFFFFFF), (0x2C3F628B, 0xAB4FD7AD)),
    (0x13198A2E, (0x243F6A88, 0x85A308D3), (0xDD7CE038, 0xF62A4C12)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
def test_known_answers(key, counter, expected):
    words = [np.array([x], np.uint32) for x in (key, *counter)]
    assert tuple(int(x[0]) for x in philox(*words)) == expected


def test_promises():
    random.check_prng(PHILOX)


def test_keys():
    keys = random.split(random.key(0, impl="example.philox2x32"), 3)
    assert repr(keys.dtype) == "key<philox>"
    assert random.normal(keys[0], (4,)).shape == (4,)
    assert bool((keys[::-1] == keys).sum() == 1)
