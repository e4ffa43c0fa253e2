"""The generators: known answers, batches, and the paths for few and many numbers."""

import itertools
from functools import partial

import numpy as np
import pytest

import bindax
import bindax_random as random
import bindax_transforms
from bindax_random import _threefry_numbers as numbers
from bindax_random._places import place_numbers
from bindax_random.threefry import threefry2x32, threefry2x32_numbers_p

# kat_vectors of Random123: key, counter, result of threefry2x32 with 20 rounds.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


PI = (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344, 0xA4093822, 0x299F31D0, 0x082EFA98)
# Of the same file, for ten rounds of Philox and twenty of Threefry: words of zeros, ones, of pi.
MORE_KNOWN = {
    "philox2x32": (1, [(0xFF1DAE59, 0x6CD10DF2), (0x2C3F628B, 0xAB4FD7AD),
                       (0xDD7CE038, 0xF62A4C12)]),
    "philox4x32": (2, [(0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
                       (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
                       (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)]),
    "threefry4x32": (4, [(0x9C6CA96A, 0xE17EAE66, 0xFC10ECD4, 0x5256A7D8),
                         (0x2A881696, 0x57012287, 0xF6C7446E, 0xA16A6732),
                         (0x59CD1DBB, 0xB8879579, 0x86B5D00C, 0xAC8B6D84)]),
}  # fmt: skip


@pytest.mark.parametrize("name", MORE_KNOWN)
def test_known_answers_of_other_hashes(name):
    key_count, expected = MORE_KNOWN[name]
    count = len(expected[0])
    digits = [*PI, 0xEC4E6C89][: count + key_count]
    ones = [0xFFFFFFFF] * (count + key_count)
    counters_first = np.array([[0] * len(ones), ones, digits], np.uint32)
    operands = [*counters_first.T[count:], *counters_first.T[:count]]
    hash_p = bindax.find_primitive(name)
    np.testing.assert_array_equal(np.transpose(hash_p.bind(*operands)), expected)
    one = hash_p.bind(*[x[1] for x in operands])
    assert [int(x) for x in one] == [*expected[1]]
    some = bindax.vmap(hash_p.bind, (0, *[None] * (len(operands) - 1)))
    many = some(operands[0], *[x[1] for x in operands[1:]])
    np.testing.assert_array_equal(np.transpose(many)[1], expected[1])
    with pytest.raises(TypeError, match=rf"{name} takes uint32 words, but got uint8\[\]"):
        hash_p.bind(*[np.uint8(0)] * (count + key_count))


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


IMPLS = ["threefry2x32", "rbg", "unsafe_rbg", "philox2x32", "philox4x32", "threefry4x32"]


@pytest.mark.parametrize("impl", IMPLS)
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


def test_places_beyond_32_bits_are_numbered_in_64():
    for size, dtype in ((1 << 32, "uint32"), ((1 << 32) + 1, "uint64")):
        traced = bindax.make_jaxpr(lambda size=size: place_numbers((size,)))()
        assert [
            v.aval.dtype for e in traced.eqns for v in e.outvars if e.primitive.name == "iota"
        ] == [dtype]


@pytest.mark.parametrize("impl", ["philox2x32", "philox4x32", "threefry4x32"])
def test_generators_by_hashes_keep_their_promises(impl):
    random.check_prng(random.find_prng(impl), count=1024)


def make_inverted(**changes):
    """Define a generator by the default one."""
    fry = random.find_prng("threefry2x32")
    given = {
        "seed": fry.seed,
        "split": fry.split,
        "fold_in": fry.fold_in,
        "random_bits": lambda key, width, shape: ~fry.random_bits(key, width, shape),
    }
    return random.define_prng_impl(key_shape=(2,), **{**given, **changes})


def test_a_program_defines_generators():
    one, two = make_inverted(), make_inverted()
    key = random.key(3, impl=one)
    assert one != two
    assert key.dtype == random.key_dtype(one) != random.key_dtype(two)
    again = random.wrap_key_data(random.key_data(key), dtype=key.dtype)
    assert random.key_impl(key) == random.key_impl(again) == one
    drawn = bindax.jit(lambda key: random.bits(key, (3,)))(key)
    np.testing.assert_array_equal(drawn, ~random.bits(random.key(3), (3,)))
    assert repr(make_inverted(name="rbg")) == "PRNGSpec('rbg2')"
    assert repr(make_inverted(name="rbg", tag="fry")) == "PRNGSpec('rbg3')"


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"seed": 3}, TypeError, "define_prng_impl: seed must be a function, but is 3"),
        ({"name": 3}, TypeError, "define_prng_impl: name must be a string, but is 3"),
        ({"tag": None}, TypeError, "define_prng_impl: tag must be a string, but is None"),
    ],
)
def test_bad_definitions_of_generators(changes, error, text):
    with pytest.raises(error, match=text):
        make_inverted(**changes)


def test_keys_of_a_defined_generator_have_axes():
    fry = random.find_prng("threefry2x32")
    with pytest.raises(ValueError, match=r"at least\s+one axis, none of size 0"):
        random.define_prng_impl(
            key_shape=(),
            seed=fry.seed,
            split=fry.split,
            fold_in=fry.fold_in,
            random_bits=fry.random_bits,
        )


@pytest.mark.parametrize("kind", [int, np.int32, np.int64, np.uint32])
def test_an_offset_is_added_to_seeds(kind):
    for make in (random.key, random.PRNGKey, bindax.jit(random.key)):
        with bindax.config.override(random_seed_offset=3):
            moved = make(kind(17))
        assert (random.key_data(moved) == random.key_data(make(kind(20)))).all()
    with bindax.config.override(random_seed_offset=-1):
        assert (random.key_data(random.key(kind(1))) == 0).all()
