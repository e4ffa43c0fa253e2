"""The older form of threefry2x32 against JAX's, bit for bit."""

import numpy as np
import pytest

import bindax_random as random
from bindax_core import config
from bindax_transforms import jit, vmap


@pytest.fixture(autouse=True)
def older():
    with config.override(threefry_partitionable=False):
        yield


@pytest.fixture(scope="module")
def theirs():
    jax = pytest.importorskip("jax")
    with jax.threefry_partitionable(False), jax.enable_x64(True):
        yield jax.random


@pytest.mark.every(2)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_bits(theirs, dtype):
    for shape in [(5,), (4, 3, 2)]:
        found = random.bits(random.key(7), shape, dtype)
        expected = theirs.bits(theirs.key(7), shape, dtype)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_few_numbers():
    assert random.bits(random.key(7), (0,), "uint8").shape == (0,)
    one = random.bits(random.key(7))
    np.testing.assert_array_equal(random.bits(random.key(7), (1,)), one[None])


def test_new_keys(theirs):
    for shape in [3, (2, 2)]:
        found = random.key_data(random.split(random.key(7), shape))
        np.testing.assert_array_equal(found, theirs.key_data(theirs.split(theirs.key(7), shape)))
    found = random.key_data(random.fold_in(random.key(7), 3))
    np.testing.assert_array_equal(found, theirs.key_data(theirs.fold_in(theirs.key(7), 3)))
    found = random.key_data(random.split(random.key(7, impl="rbg"), 3))
    expected = theirs.key_data(theirs.split(theirs.key(7, impl="rbg"), 3))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", [None, "numpy"])
def test_compiled_and_batched(backend):
    keys = random.split(random.key(7), 3)
    each = np.stack([random.bits(key, (5,), "uint16") for key in keys])

    def draw(key):
        return random.bits(key, (5,), "uint16")

    with config.override(backend=backend):
        np.testing.assert_array_equal(vmap(draw)(keys), each)
        np.testing.assert_array_equal(jit(vmap(draw))(keys), each)


def test_the_form_is_part_of_what_a_program_depends_on():
    draw = jit(lambda key: random.bits(key, (2,)))
    older = draw(random.key(0)).tolist()
    with config.override(threefry_partitionable=True):
        assert draw(random.key(0)).tolist() == [4070199207, 4202968722]
    assert older != [4070199207, 4202968722]
    assert draw(random.key(0)).tolist() == older


def test_too_many_numbers():
    pytest.importorskip("jaxlib", reason="the backend counts them")
    with pytest.raises(ValueError, match=r"known and below 2\*\*32, but got 8589934592"):
        jit(lambda: random.bits(random.key(0), (1 << 32,), "uint64")).lower()
