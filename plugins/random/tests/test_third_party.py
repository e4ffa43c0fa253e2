"""A generator of another package: found by its entry point, checked by the suite."""

import importlib.util
import sys
from pathlib import Path

import attrs
import numpy as np
import pytest

import bindax
import bindax_random as random
from bindax_random.threefry_generator import THREEFRY

EXAMPLE = Path(__file__).parents[3] / "examples" / "plugins" / "philox"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The example's package and metadata on the path, as if it were installed."""
    info = tmp_path / "bindax_example_philox-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Name: bindax-example-philox\nVersion: 0.1.0\n", encoding="utf-8"
    )
    entry = "example.philox2x32 = bindax_example_philox:PHILOX"
    (info / "entry_points.txt").write_text(f"[bindax_random.v1]\n{entry}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLE / "src")


def test_the_example(installed):
    keys = random.split(random.key(3, impl="example.philox2x32"), (2, 2))
    assert repr(keys) == (
        f"Array((2, 2), dtype=key<philox>) overlaying:\n{np.asarray(random.key_data(keys))}"
    )
    drawn = bindax.vmap(lambda k: random.uniform(k, (2,)))(keys[1])
    np.testing.assert_array_equal(drawn[0], random.uniform(keys[1, 0], (2,)))
    random.check_prng(sys.modules["bindax_example_philox"].PHILOX)


def test_the_tests_of_the_example(installed):
    path = EXAMPLE / "tests" / "test_philox.py"
    module = importlib.util.module_from_spec(
        spec := importlib.util.spec_from_file_location("philox_tests", path)
    )
    spec.loader.exec_module(module)
    for known in module.KNOWN:
        module.test_known_answers(*known)
    module.test_keys()


BROKEN = {
    "compiled": {"fold_in": lambda key, data: np.asarray(key) ^ data},
    "split: two of 64 keys are the same": {
        "split": lambda key, shape: THREEFRY.split(key, shape) * 0 + key
    },
    "the shares of ones": {
        "random_bits": lambda key, width, shape: (
            THREEFRY.random_bits(key, width, shape) & np.dtype(f"uint{width}").type(254)
        )
    },
    "random_bits: 8 bits": {
        "random_bits": lambda key, width, shape: THREEFRY.random_bits(key, 32, shape)
    },
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_promises(text):
    number = sorted(BROKEN).index(text)
    changes = {"name": f"broken{number}", "tag": f"broken{number}", **BROKEN[text]}
    with pytest.raises(Exception, match=r"breaks a promise|traced|uint"):
        random.check_prng(attrs.evolve(THREEFRY, **changes))


def test_conflicts():
    with pytest.raises(ValueError, match="'rbg' with the tag 'rbg' is already"):
        random.register_prng(attrs.evolve(THREEFRY, name="rbg", tag="other"))
