"""The generators: known answers, batches, and the paths for few and many numbers."""

import itertools
from functools import partial

import numpy as np
import pytest

import bindax
import bindax_random as random
import bindax_transforms
from bindax_random import _threefry_numbers as numbers
from bindax_random.threefry import threefry2x32, threefry2x32_numbers_p

# kat_vectors of Random123: key, counter, result of threefry2x32 with 20 rounds.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "expected"), KNOWN)
@pytest.mark.parametrize("count", [1, numbers.FEW, 3 * numbers.FEW, 20_000])
def test_known_answers(key, counter, expected, count):
    words = [np.full(count, x, np.uint32) for x in (*key, *counter)]
    for word, known in zip(threefry2x32(*words), expected, strict=True):
        np.testing.assert_array_equal(word, np.full(count, known, np.uint32))


def test_known_answers_compiled():
    pytest.importorskip("bindax_xla_backend")
    words = [np.array(column, np.uint32) for column in np.array([[*k, *c] for k, c, _ in KNOWN]).T]
    found = np.stack([np.asarray(x) for x in bindax.jit(threefry2x32)(*words)], 1)
    np.testing.assert_array_equal(found, [r for _, _, r in KNOWN])


@pytest.mark.parametrize("bit_width", [0, 8, 32, 64])
def test_numbers_do_not_depend_on_how_many_there_are(bit_width):
    key = np.array([3, 1 << 31], np.uint32)
    some = [
        np.asarray(threefry2x32_numbers_p.bind(key, shape=(n,), bit_width=bit_width))
        for n in (7, numbers.FEW + 1, 30_000)
    ]
    for few, more in itertools.pairwise(some):
        np.testing.assert_array_equal(few, more[: len(few)])


@pytest.mark.every(2)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (2, 30), (3, 0)])
def test_compiled_numbers_are_the_same(shape):
    keys = np.arange(6, dtype=np.uint32).reshape(3, 2)
    pytest.importorskip("bindax_xla_backend")
    for bit_width in (0, 16, 64):
        bind = partial(threefry2x32_numbers_p.bind, shape=shape, bit_width=bit_width)
        np.testing.assert_array_equal(bind(keys), bindax.jit(bind)(keys))


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
@pytest.mark.parametrize("draw", [random.bits, random.split, lambda k: random.fold_in(k, 3)])
def test_many_keys_give_what_each_gives(impl, draw):
    keys = random.split(random.key(1, impl=impl), (2, 3))
    together = bindax.vmap(bindax.vmap(draw))(keys)
    for i in range(2):
        for j in range(3):
            assert bool((together[i, j] == draw(keys[i, j])).all())


def test_a_scanned_generator_gives_the_numbers_of_a_loop():
    def step(key, _):
        key, own = random.split(key)
        return key, random.bits(own, (3,))

    _, scanned = bindax.lax.scan(step, random.key(5), None, length=4)
    key = random.key(5)
    for row in scanned:
        key, drawn = step(key, None)
        np.testing.assert_array_equal(row, drawn)


def test_seeds():
    for seed in (0, 7, -1, 2**31, True, np.int64(-1), np.uint32(7), np.int8(-1)):
        traced = random.key_data(bindax.jit(random.key)(np.asarray(seed)))
        np.testing.assert_array_equal(random.key_data(random.key(seed)), traced)
    with bindax.config.override(default_dtype_bits=64):
        np.testing.assert_array_equal(random.PRNGKey(-1), [0xFFFFFFFF, 0xFFFFFFFF])
        np.testing.assert_array_equal(random.PRNGKey(2**32 + 5), [1, 5])
        np.testing.assert_array_equal(random.PRNGKey(np.int32(-1)), [0, 0xFFFFFFFF])


def test_a_bound_first_met_in_a_traced_program_serves_outside_of_it():
    def draw(key):
        return random.uniform(key, (2,), minval=-0.1234, maxval=0.4321)

    traced = bindax_transforms.jit(draw)(random.key(0))
    np.testing.assert_array_equal(draw(random.key(0)), traced)


@pytest.mark.parametrize("shape", [(1,), (8,), (32,), (33,), (2, 16), (0,)])
def test_hashes_in_a_loop_are_those_without(shape):
    key = random.wrap_key_data(np.array([5, 7], np.uint32))
    compiled = bindax.jit(lambda key: random.bits(key, shape))(key)
    with bindax.config.override(backend="numpy"):
        assert compiled.tolist() == random.bits(key, shape).tolist()


def test_programs_for_all_sizes_are_exported():
    pytest.importorskip("jaxlib")
    export = pytest.importorskip("bindax_export")
    (n,) = export.symbolic_shape("n")
    words = bindax.ShapeDtypeStruct((2,), np.uint32)
    program = bindax.jit(lambda words, x: random.normal(random.wrap_key_data(words), x.shape))
    made = export.export(program)(words, bindax.ShapeDtypeStruct((n,), np.float32))
    given = np.array([5, 7], np.uint32)
    for size in (5, 40):
        found = made.call(given, np.zeros(size, np.float32))
        assert found.tolist() == random.normal(random.wrap_key_data(given), (size,)).tolist()
