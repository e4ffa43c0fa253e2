"""Functions of objects that see nothing new are traced once by loops and choices."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx

TRACED: list[str] = []
note = TRACED.append
STEPS = np.arange(3.0, dtype="f4")
UNTRACED = {"graph_updates": False}


class Scale(nnx.Module):
    def __init__(self, factor=2.0):
        self.factor = nnx.Param(jnp.float32(factor))
        self.count = nnx.Variable(jnp.float32(0))
        self.power = 1


def apply(scale, x):
    note("apply")
    scale.count += 1.0
    return scale.factor**scale.power * x


def up(scale):
    note("up")
    scale.count += scale.factor
    return scale


def few(scale):
    note("few")
    return scale.count < 6


def one(scale):
    note("one")
    return nnx.Param(scale.factor * 1.0)


def two(scale):
    note("two")
    return nnx.Param(scale.factor * 2.0)


def uses():
    """Calls of loops and choices with a module."""
    sliced = nnx.scan(lambda x, scale: apply(scale, x), in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    shared = nnx.scan(lambda scale, x: apply(scale, x), in_axes=(None, 0), out_axes=0, **UNTRACED)
    carried = nnx.scan(lambda scale, x: (scale, apply(scale, x)))
    remade = nnx.remat(apply)
    make = nnx.vmap(Scale)
    plus = lambda i, scale: up(scale)  # noqa: E731
    return {
        "cond": lambda s: nnx.cond(True, one, two, s),
        "switch": lambda s: nnx.switch(1, (one, two), s),
        "while_loop": lambda s: nnx.while_loop(few, up, s).count.value,
        "fori_loop": lambda s: nnx.fori_loop(0, 3, plus, s).count.value,
        "scan of slices": lambda s: sliced(s.factor.value, make(STEPS)),
        "scan of what is shared": lambda s: shared(s, STEPS),
        "scan of a carry": lambda s: carried(s, STEPS)[1],
        "remat": lambda s: remade(s, 3.0),
    }


@pytest.fixture(autouse=True)
def fresh():
    bindax.clear_caches()
    TRACED.clear()


def values(tree):
    return [np.asarray(x) for x in bindax.tree.leaves(nnx.pure(tree))]


@pytest.mark.parametrize("name", uses())
def test_a_second_call_traces_nothing_and_does_the_same(name):
    call, scale = uses()[name], Scale()
    first = call(scale)
    count, after = len(TRACED), float(scale.count)
    assert count
    scale.count.value = jnp.float32(0)
    second = call(scale)
    assert len(TRACED) == count
    assert float(scale.count) == after
    for ours, theirs in zip(values(first), values(second), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert not isinstance(first, nnx.Param) or first is not second


@pytest.mark.parametrize("name", uses())
def test_another_object_has_its_own_values(name):
    call, scale = uses()[name], Scale()
    call(scale)
    count, other = len(TRACED), Scale(3.0)
    expected = values(uses()[name](Scale(3.0)))
    known = len(TRACED)
    for ours, theirs in zip(values(call(other)), expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    # What all steps share is a constant of the program.
    assert len(TRACED) == known or name == "scan of what is shared"
    assert known >= count


@pytest.mark.parametrize("name", ["scan of what is shared", "scan of a carry", "remat"])
def test_other_static_attributes_are_seen(name):
    call, scale = uses()[name], Scale()
    before = values(call(scale))
    scale.power = 2
    for ours, theirs in zip(values(call(scale)), before, strict=True):
        np.testing.assert_allclose(ours, 2 * theirs)


def test_a_new_value_of_what_all_steps_share_is_seen():
    call, scale = uses()["scan of what is shared"], Scale()
    np.testing.assert_allclose(call(scale), [0, 2, 4])
    scale.factor.value = jnp.float32(5)
    np.testing.assert_allclose(call(scale), [0, 5, 10])
    slope = bindax.grad(lambda f: call(Scale(f)).sum())
    np.testing.assert_allclose([slope(jnp.float32(2)), slope(jnp.float32(2))], [3, 3])


def test_closed_over_variables_are_seen():
    by, table = nnx.Param(jnp.float32(1)), {"by": 1.0}
    of_variable = lambda scale: scale.factor * by  # noqa: E731
    of_table = lambda scale: scale.factor * table["by"]  # noqa: E731
    scale = Scale()
    for f in (of_variable, of_table):
        assert float(nnx.cond(True, f, f, scale)) == 2.0
        by.value, table["by"] = jnp.float32(3), 3.0
        assert float(nnx.cond(True, f, f, scale)) == 6.0
        by.value, table["by"] = jnp.float32(1), 1.0


def test_modes_are_told_apart():
    class Tied(nnx.Module):
        def __init__(self):
            self.one = self.other = nnx.Param(jnp.float32(2))

    class Apart(nnx.Module):
        def __init__(self):
            self.one, self.other = nnx.Param(jnp.float32(2)), nnx.Param(jnp.float32(2))

    def change(module):
        note("change")
        module.one += 1.0
        module.extra = 3

    for module, other in ((Tied(), 3.0), (Apart(), 2.0), (Tied(), 3.0)):
        nnx.cond(True, change, change, module)
        assert (float(module.one), float(module.other), module.extra) == (3.0, other, 3)
    count, module = len(TRACED), Tied()
    with nnx.set_graph_updates(False):
        nnx.cond(True, change, change, module)
    assert float(module.one) == 3.0
    assert not hasattr(module, "extra")
    assert len(TRACED) > count
    with pytest.raises(ValueError, match="Duplicate"), nnx.set_graph_mode(False):
        nnx.cond(True, change, change, Tied())


def test_an_error_is_the_same_at_each_call():
    def grow(scale):
        scale.extra = nnx.Param(jnp.float32(0))
        return scale

    for _ in range(2):
        with pytest.raises(nnx.GraphError, match="different structures"):
            nnx.cond(True, grow, up, Scale())
        with pytest.raises(nnx.GraphError, match=r"Scale\.extra was added"):
            nnx.while_loop(few, grow, Scale())


def test_a_loop_keeps_the_containers_that_variables_hold():
    pair = nnx.Variable({"a": jnp.float32(1)})

    def change(pair):
        pair.value = (pair.value["a"],)
        return pair

    with pytest.raises(nnx.GraphError, match="structure of what while_loop carries changes"):
        nnx.while_loop(lambda pair: False, change, pair)


def test_functions_are_not_kept_alive():
    for transform in (
        lambda f: nnx.cond(True, f, f, Scale()),
        lambda f: nnx.scan(lambda scale, x: (f(scale), x))(Scale(), STEPS),
        lambda f: nnx.fori_loop(0, 2, partial(lambda f, i, s: f(s), f), Scale()),
    ):
        f = lambda scale: up(scale)  # noqa: E731 -- a new function
        transform(f)
        alive = weakref.ref(f)
        del f
        gc.collect()
        assert alive() is None


def test_choices_without_tracing():
    with bindax.disable_jit():
        assert float(nnx.cond(False, one, two, Scale()).value) == 4.0
        assert float(nnx.while_loop(lambda s: s.count < 0, up, Scale()).count) == 0.0


def powered(layer, power):
    note("powered")
    return (layer.kernel**power).sum()


@pytest.mark.parametrize("static", [1, -1, (1,)])
def test_remat_traces_once_for_each_value_of_a_static_argument(static):
    TRACED.clear()
    function = nnx.remat(powered, static_argnums=static)
    layer = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    found = [nnx.grad(function)(layer, power).kernel.value for power in (2, 3, 2, 3, 2.0, 2)]
    np.testing.assert_allclose(found[2], 2 * np.asarray(layer.kernel.value), rtol=1e-6)
    np.testing.assert_array_equal(found[4], found[0])
    assert len(TRACED) == 3  # 2 and 2.0 are different values
