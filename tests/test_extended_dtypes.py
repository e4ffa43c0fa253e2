"""Dtypes that a plugin defines: what moves elements works, what reads them needs a rule."""

import pickle

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import dtypes, lax
from bindax.extend import (
    Array,
    ExtendedDType,
    ShapedArray,
    extended,
    extended_dtype,
    primitive,
    rules,
)
from bindax_transforms import physical_jaxpr


class frame(extended):
    """The kind of coordinate frames."""


FRAME = extended_dtype("frame", np.float32, (2, 3), frame)
WORDS = np.arange(24, dtype=np.float32).reshape(4, 2, 3)


def _made_type(words):
    return ShapedArray(words.shape[:-2], FRAME.dtype)


def absent(*kinds):
    return [kind.absent("a test") for kind in kinds]


frames_p = primitive(
    "test.frames",
    rules.impl(lambda x: [Array.of_physical(_made_type(x), Array.from_numpy(x))], on_values=True),
    rules.abstract_eval(_made_type),
    rules.physical(lambda avals, words: [words]),
    *absent(rules.jvp, rules.vmap, rules.transpose, rules.lowering["stablehlo"]),
)
words_p = primitive(
    "test.words",
    rules.impl(lambda x: [x.physical()], on_values=True),
    rules.abstract_eval(lambda x: x.physical()),
    rules.physical(lambda avals, words: [words]),
    *absent(rules.jvp, rules.vmap, rules.transpose, rules.lowering["stablehlo"]),
)
is_right_handed_p = primitive(
    "test.is_right_handed",
    rules.impl(lambda x: np.ones(x.shape, bool)),
    rules.abstract_eval(lambda x: x.update(dtype=np.dtype(bool))),
    rules.vmap(lambda size, xs, dims: (is_right_handed_p.bind(*xs), dims[0])),
    *absent(rules.jvp, rules.transpose, rules.lowering["stablehlo"]),
)
FRAMES = frames_p.bind(WORDS)

MOVES = {
    "reverse": (lambda x: x[::-1], lambda w: w[::-1]),
    "gather": (lambda x: x[np.array([3, 0])], lambda w: w[[3, 0]]),
    "fold": (lambda x: x.reshape(2, 2).T, lambda w: w.reshape(2, 2, 2, 3).swapaxes(0, 1)),
    "join": (lambda x: jnp.concatenate([x, x[:1]]), lambda w: np.concatenate([w, w[:1]])),
    "choose": (
        lambda x: jnp.where(np.array([True, False, True, False]), x, x[0]),
        lambda w: np.where(np.array([1, 0, 1, 0])[:, None, None], w, w[0]),
    ),
    "write": (lambda x: x.at[1].set(x[3]), lambda w: w[[0, 3, 2, 3]]),
    "scan": (lambda x: lax.scan(lambda c, y: (y, c), x[0], x)[1], lambda w: w[[0, 0, 1, 2]]),
    "batch": (bindax.vmap(lambda x: jnp.stack([x, x])), lambda w: np.stack([w, w], 1)),
}


@pytest.mark.parametrize("name", MOVES)
def test_elements_move_with_their_parts(name):
    move, expected = MOVES[name]
    np.testing.assert_array_equal(words_p.bind(move(FRAMES)), expected(WORDS))
    compiled = bindax.jit(lambda w: words_p.bind(move(frames_p.bind(w))))(WORDS)
    np.testing.assert_array_equal(compiled, expected(WORDS))
    np.testing.assert_array_equal(words_p.bind(bindax.jit(move)(FRAMES)), expected(WORDS))


def test_programs_on_parts_know_nothing_of_elements():
    jaxpr = bindax.make_jaxpr(lambda x: lax.cond(True, lambda y: y[1:], lambda y: y[:3], x))(FRAMES)
    assert "frame[3]" in str(jaxpr)
    physical = physical_jaxpr(jaxpr)
    assert "frame" not in str(physical)
    assert [aval.str_short() for aval in physical.in_avals] == ["float32[4,2,3]"]
    assert [aval.str_short() for aval in physical.out_avals] == ["float32[3,2,3]"]
    plain = bindax.make_jaxpr(lax.sin)(1.0)
    assert physical_jaxpr(plain) is plain


def test_an_operation_that_reads_elements_needs_a_rule():
    pytest.importorskip("bindax_xla_backend")
    assert bool(is_right_handed_p.bind(FRAMES).all())
    with pytest.raises(TypeError, match=r"test.is_right_handed of \(frame\[4\]\) has no meaning"):
        bindax.jit(is_right_handed_p.bind)(FRAMES)


def test_the_dtype():
    assert isinstance(FRAMES.dtype, ExtendedDType)
    assert (FRAME.name, FRAME.base, FRAME.element_shape) == ("frame", np.float32, (2, 3))
    assert dtypes.issubdtype(FRAMES.dtype, frame)
    assert not dtypes.issubdtype(FRAMES.dtype, dtypes.prng_key)
    assert pickle.loads(pickle.dumps(FRAMES)).dtype == FRAME
    assert extended_dtype("frame", "float32", (2, 3), frame) is FRAME
    assert repr(FRAMES[0]).startswith("Array((), dtype=frame) overlaying:\n[[0. 1. 2.]")
    with pytest.raises(ValueError, match="'frame' is defined already, with the kind frame"):
        extended_dtype("frame", np.float32, (2, 3), dtypes.prng_key)
    for shape in ((), (0,)):
        with pytest.raises(ValueError, match="with at least one axis, none of size 0"):
            extended_dtype("wrong", np.float32, shape)


def test_raw_arrays_are_no_operands():
    with pytest.raises(TypeError, match="is not a legal operand"):
        lax.reshape(FRAMES.numpy(), (2, 2))
