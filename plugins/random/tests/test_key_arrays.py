"""Keys are values: what arrays of them can do, evaluated, compiled, batched."""

import pickle

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import dtypes, lax, random

KEYS = random.split(random.key(0), (3, 4))
MASK = np.array([True, False, True, False])
CHOSEN = np.array([2, 0])

STRUCTURAL = {
    "index": lambda k: k[1],
    "slices": lambda k: k[-1:, ::-2],
    "gather": lambda k: k[CHOSEN],
    "take": lambda k: jnp.take(k, CHOSEN, axis=1),
    "clip": lambda k: k.at[np.array([0, 5])].get(mode="clip"),
    "fill": lambda k: k.at[np.array([0, 5])].get(mode="fill"),
    "scatter": lambda k: k.at[0].set(k[1]),
    "reshape": lambda k: k.reshape(2, 6),
    "transpose": lambda k: k.T,
    "concatenate": lambda k: jnp.concatenate([k, k], 1),
    "stack": lambda k: jnp.stack([k, k], 1),
    "broadcast": lambda k: jnp.broadcast_to(k, (2, 3, 4)),
    "where": lambda k: jnp.where(MASK, k, k[::-1]),
    "dynamic_slice": lambda k: lax.dynamic_slice(k, (1, 0), (1, 2)),
    "dynamic_update_slice": lambda k: lax.dynamic_update_slice(k, k[:1, :1], (1, 0)),
    "roll": lambda k: jnp.roll(k, 1, 0),
    "tile": lambda k: jnp.tile(k, 2),
    "pad": lambda k: lax.pad(k, k[0, 0], ((1, 0, 0), (0, 1, 0))),
    "zeros_like": jnp.zeros_like,
    "equal": lambda k: k == k[:, ::-1],
    "unequal": lambda k: k != k[0, 0],
    "astype": lambda k: k.astype(k.dtype),
    "vmap": bindax.vmap(lambda k: random.split(k[0]), 1),
    "scan": lambda k: lax.scan(lambda c, x: (random.split(c)[0], x[0]), k[0, 0], k),
    "while": lambda k: lax.fori_loop(0, 3, lambda i, k: random.fold_in(k, i), k[0, 0]),
    "cond": lambda k: lax.cond(True, lambda k: k[0], lambda k: k[1], k),
    "batched cond": lambda k: bindax.vmap(
        lambda p, k: lax.cond(p, lambda k: k[0], lambda k: k[1], k)
    )(MASK[:3], k),
    "checkpoint": bindax.checkpoint(lambda k: random.split(k[0, 0])),
    "jit": bindax.jit(lambda k: {"one": k[0], "number": random.bits(k[0, 0])}),
}


def data(tree):
    leaves = bindax.tree.leaves(tree)
    are_keys = [dtypes.issubdtype(x.dtype, dtypes.extended) for x in leaves]
    plain = [random.key_data(x) if flag else x for x, flag in zip(leaves, are_keys, strict=True)]
    return [np.asarray(x) for x in plain]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", STRUCTURAL)
def test_structural_operations(name):
    function = STRUCTURAL[name]
    evaluated = function(KEYS)
    for x, y in zip(data(evaluated), data(bindax.jit(function)(KEYS)), strict=True):
        np.testing.assert_array_equal(x, y)
    shapes = bindax.eval_shape(function, KEYS)
    assert [x.aval for x in bindax.tree.leaves(evaluated)] == bindax.tree.leaves(shapes)


def test_elements_move_as_those_of_other_arrays():
    words = np.asarray(random.key_data(KEYS))
    expected = {
        "gather": words[CHOSEN],
        "transpose": words.transpose(1, 0, 2),
        "where": np.where(MASK[:, None], words, words[::-1]),
        "fill": np.stack([words[0], np.full((4, 2), 0xFFFFFFFF, np.uint32)]),
        "equal": (words == words[:, ::-1]).all(-1),
        "pad": np.pad(words, ((1, 0), (0, 1), (0, 0)), constant_values=0),
    }
    expected["pad"][0], expected["pad"][:, -1] = words[0, 0], words[0, 0]
    for name, array in expected.items():
        np.testing.assert_array_equal(data(STRUCTURAL[name](KEYS))[0], array)


ARITHMETIC = {
    "add does not accept the dtype key<fry>": lambda k: k + k,
    "the dtypes key<fry>, int64 have no implicit promotion": lambda k: k + 1,
    "sin does not accept the dtype key<fry>": lax.sin,
    "lt does not accept the dtype key<fry>": lambda k: k < k,
    "reduce_sum does not accept": lambda k: k.sum(),
    "it has no numbers, so only operations that move elements": lambda k: -k,
    "cannot become float32": lambda k: k.astype("float32"),
    "cannot become key<fry>": lambda k: lax.convert_element_type(jnp.ones(2), k.dtype),
    "has no numbers to give to NumPy": np.asarray,
}


@pytest.mark.parametrize("text", ARITHMETIC)
def test_keys_are_no_numbers(text):
    with pytest.raises(TypeError, match=f"(?i){text}"):
        ARITHMETIC[text](KEYS)


def test_a_key_has_no_truth_value():
    for use in (bool, float, int):
        with pytest.raises(TypeError, match="no numbers"):
            use(KEYS[0, 0])


def test_printing():
    words = np.asarray(random.key_data(KEYS[0]))
    assert repr(KEYS[0]) == f"Array((4,), dtype=key<fry>) overlaying:\n{words}"
    assert str(KEYS.aval) == "ShapeDtypeStruct(shape=(3, 4), dtype=key<fry>)"
    assert repr(KEYS.dtype) == "key<fry>"
    jaxpr = str(bindax.make_jaxpr(random.split)(KEYS[0, 0]))
    assert jaxpr.splitlines()[0] == "{ lambda a:key<fry>[] ."


def test_dtypes():
    dtype = KEYS.dtype
    assert dtypes.issubdtype(dtype, dtypes.prng_key)
    assert dtypes.issubdtype(dtype, dtypes.extended)
    assert not dtypes.issubdtype(np.float32, dtypes.extended)
    assert dtype == random.key_dtype("threefry2x32") != random.key_dtype("rbg")
    assert {dtype: 1}[random.key_dtype()] == 1
    assert dtype.itemsize == KEYS.itemsize == 8
    assert jnp.zeros((2,), dtype).dtype == dtype


def test_pickles_and_copies():
    for keys in (KEYS, bindax.jit(lambda k: k[0])(KEYS)):
        again = pickle.loads(pickle.dumps(keys))
        assert again.dtype == keys.dtype
        assert bool((again == keys).all())
    assert pickle.loads(pickle.dumps(KEYS.dtype)) == KEYS.dtype


def test_loops_close_over_keys():
    def draw_with(key):
        return lax.scan(lambda x, _: (x + random.uniform(key), None), 0.0, None, length=2)[0]

    first, second = random.key(1), random.key(2)
    assert [draw_with(k) for k in (first, second)] == [
        2 * random.uniform(k) for k in (first, second)
    ]
    assert bindax.jit(lambda: draw_with(first))() == draw_with(first)
    closes_over = bindax.make_jaxpr(lambda: random.uniform(first))()
    assert [x.dtype for x in closes_over.consts] == [first.dtype]  # one program for all keys


def test_keys_are_left_as_they_are_on_the_host():
    assert bindax.device_get({"key": KEYS})["key"] is KEYS


def test_trees_and_devices():
    tree = bindax.tree.map(lambda k: k[0], {"a": KEYS, "b": [KEYS]})
    assert tree["b"][0].shape == (4,)
    assert bool((bindax.device_put(KEYS) == KEYS).all())


def test_keys_have_no_derivatives():
    key = KEYS[0, 0]

    def draw(x, key):
        return random.uniform(key) * x

    assert float(bindax.grad(draw)(2.0, key)) == float(random.uniform(key))
    _, tangent = bindax.jvp(draw, (2.0, key), (1.0, np.zeros((), bindax.float0)))
    assert float(tangent) == float(random.uniform(key))
    with pytest.raises(TypeError, match="grad needs inputs of a float dtype"):
        bindax.grad(draw, 1)(2.0, key)
    assert bindax.vjp(draw, 2.0, key)[1](1.0)[1].dtype == bindax.float0


def test_donated_keys_are_gone():
    pytest.importorskip("jaxlib", reason="NumPy reuses no memory")
    split = bindax.jit(lambda k: random.fold_in(k, 1), donate_argnums=0)
    key = random.key(1)
    split(key)
    with pytest.raises(Exception, match="deleted or donated"):
        split(key)


def test_a_compiled_function_that_closes_over_a_key_in_a_loop():
    key = random.key(0)
    draw = bindax.jit(lambda i, x: x + random.uniform(random.fold_in(key, i)))
    expected = sum(float(random.uniform(random.fold_in(key, i))) for i in range(2))
    assert float(lax.fori_loop(0, 2, draw, jnp.zeros(()))) == pytest.approx(expected)
