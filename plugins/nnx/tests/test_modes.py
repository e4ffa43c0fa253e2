"""The three modes: what comes out of transformations, and what is refused, as in Flax."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import nnx

MODES = {
    "updates": {"graph": True, "graph_updates": True},
    "graph": {"graph": True, "graph_updates": False},
    "tree": {"graph": False},
}
WITHOUT_UPDATES = ("graph", "tree")


class Scale(nnx.Module):
    def __init__(self, factor=2.0):
        self.factor = nnx.Param(jnp.float32(factor))
        self.count = nnx.Variable(jnp.float32(0), step=0)


class Tied(nnx.Module):
    def __init__(self):
        self.one = self.other = nnx.Param(jnp.float32(2))


def change(scale):
    scale.count += 1.0
    scale.count.set_metadata("step", 1)
    scale.extra = nnx.Param(jnp.float32(7))
    return scale.factor.value * 2


def apply(name, mode):
    """A transformation of ``change``."""
    options = MODES[mode]
    if name == "cond":
        return lambda s: nnx.cond(True, change, change, s, **options)
    if name == "vmap":
        return nnx.vmap(change, in_axes=(None,), out_axes=None, axis_size=2, **options)
    return getattr(nnx, name)(change, **options)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["jit", "remat", "cond", "vmap", "grad", "vjp"])
def test_what_comes_out(name, mode):
    scale = Scale()
    apply(name, mode)(scale)
    assert float(scale.count) == 1.0
    assert scale.count.step == 1
    assert hasattr(scale, "extra") is (mode == "updates")


@pytest.mark.parametrize("mode", MODES)
def test_calls_of_a_compiled_function_change_the_variables_again(mode):
    scale, step = Scale(), nnx.jit(lambda s: s.count.set_value(s.count + 1), **MODES[mode])
    for _ in range(3):
        step(scale)
    assert float(scale.count) == 3.0
    assert step.cache_info() == (1, 1)


SHARED = r"Duplicate Param found at paths \.args\[0\]\.one and \.args\[0\]\.other"


@pytest.mark.parametrize("name", ["jit", "grad", "remat", "vmap", "eval_shape", "cond"])
def test_trees_share_nothing(name):
    def run(f, *args, **options):
        if name == "eval_shape":
            return nnx.eval_shape(f, *args, **options)
        if name == "cond":
            return nnx.cond(True, f, f, *args, **options)
        options |= {"axis_size": 2, "in_axes": None} if name == "vmap" else {}
        return getattr(nnx, name)(f, **options)(*args)

    with pytest.raises(ValueError, match=SHARED + r".*does not support Variable aliasing"):
        run(lambda m: m.one.value, Tied(), graph=False)
    run(lambda m: m.one.value, Tied(), graph=True, graph_updates=False)


NAMES = ["split", "state", "clone", "graphdef", "iter_graph", "iter_modules", "view"]


@pytest.mark.parametrize("name", NAMES)
def test_functions_refuse_what_trees_share(name):
    message = rf"found at paths \.one and \.other.*nnx\.{name}\(\.\.\., graph="
    with pytest.raises(ValueError, match=message):
        getattr(nnx, name)(Tied(), graph=False)


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_variables_of_arguments_are_no_results(mode):
    with pytest.raises(
        ValueError, match=r"Param found at paths \.args\[0\]\.factor and \.out\[0\]"
    ):
        nnx.jit(lambda m: [m.factor], **MODES[mode])(Scale())
    assert nnx.jit(lambda m: m.factor.copy(), **MODES[mode])(Scale()).value == 2.0


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_gradients_are_of_the_class_of_the_argument(mode):
    def loss(m, x):
        return m.factor.value**2 * x + m.count.value

    gradient = nnx.grad(loss, **MODES[mode])(Scale(), 3.0)
    assert type(gradient) is Scale
    assert (float(gradient.factor), float(gradient.count)) == (12.0, 1.0)
    out, pull = nnx.vjp(loss, Scale(), jnp.float32(3), **MODES[mode])
    bar, x_bar = pull(jnp.float32(1))
    assert (type(bar), float(bar.factor), float(x_bar), float(out)) == (Scale, 12.0, 4.0, 12.0)
    tangent = nnx.map(lambda path, x: x * 0 + 1, Scale())
    _, dot = nnx.jvp(loss, (Scale(), 3.0), (tangent, 0.0), **MODES[mode])
    assert float(dot) == 13.0


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_integers_have_no_gradients(mode):
    holder = nnx.Dict(n=nnx.Variable(jnp.int32(1)))
    wanted = r"float dtype, but Dict\.n is .*; split the object in two arguments, nnx\.split\("
    with pytest.raises(TypeError, match=wanted):
        nnx.grad(lambda m: m.n.value * 1.0, **MODES[mode])(holder)


def test_an_object_given_twice_has_its_gradient_in_the_first_place():
    scale = Scale()
    first, second = nnx.compat.grad(lambda a, b: a.factor * b.factor, argnums=(0, 1))(scale, scale)
    assert float(first.factor.value) == 4.0
    assert len(second) == 0
    with pytest.raises(ValueError, match=r"grad: argument 0 is repeated in argnums=\(0, 0\)"):
        nnx.grad(lambda a: a.factor, argnums=(0, 0))


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_filters_are_no_prefixes(mode):
    options = MODES[mode]
    with pytest.raises(ValueError, match=r"in_axes.*cannot contain `StateAxes`.*nnx\.prefix"):
        nnx.vmap(change, in_axes=(nnx.StateAxes({...: 0}),), **options)
    with pytest.raises(ValueError, match=r"in_shardings.*cannot contain `StateSharding`"):
        nnx.jit(change, in_shardings=nnx.StateSharding({...: None}), **options)
    with pytest.raises(ValueError, match=r"argnums.*cannot contain `DiffState`.*nnx\.split"):
        nnx.grad(change, argnums=nnx.DiffState(0, nnx.Param), **options)
    with pytest.raises(ValueError, match=r"nondiff_argnums.*cannot contain `DiffState`"):
        nnx.custom_vjp(change, nondiff_argnums=(nnx.DiffState(0, nnx.Param),), **options)


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_prefixes_by_filter(mode):
    options = MODES[mode]
    rows = nnx.vmap(Scale, **options)(jnp.arange(3.0))
    rows.count = nnx.Variable(jnp.float32(10))
    axes = nnx.prefix(rows, {nnx.Param: 0, ...: None}, graph=options["graph"])
    run = nnx.vmap(lambda m: m.factor + m.count, in_axes=(axes,), **options)
    np.testing.assert_array_equal(run(rows), [10, 11, 12])
    with pytest.raises(ValueError, match=r"No filter matched \.count, a Variable"):
        nnx.prefix(rows, {nnx.Param: 0}, graph=options["graph"])


def test_prefixes_of_another_mode_are_refused():
    scale = Scale()
    tree = nnx.prefix(scale, {...: None}, graph=False)
    graph = nnx.prefix(scale, {...: None}, graph=True)
    with pytest.raises(ValueError, match=r"in_axes\[0\] of nnx\.vmap is a Scale\. Graph nodes"):
        nnx.compat.vmap(change, in_axes=(tree,))
    with pytest.raises(ValueError, match=r"in_axes\[0\].*made by nnx\.prefix for graph mode"):
        nnx.vmap(change, in_axes=(graph,), graph=False)
    with pytest.raises(ValueError, match=r"in_axes\[0\]\.count.*Variables prefixes are not"):
        nnx.vmap(change, in_axes=(Scale(),), graph=False)


def test_bound_methods_are_refused():
    linear = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    for name in ("jit", "vmap", "grad", "remat", "scan", "custom_vjp", "shard_map", "pmap"):
        options = {"in_specs": None, "out_specs": None} if name == "shard_map" else {}
        with pytest.raises(ValueError, match=rf"nnx\.{name} does not support bound methods"):
            getattr(nnx, name)(linear.__call__, **options)


def test_a_change_inside_of_a_block_ends_with_the_block():
    before = nnx.set_graph_mode.current_value()

    @nnx.set_graph_mode(False)
    def inside():
        nnx.set_graph_mode(True)
        return nnx.set_graph_mode.current_value()

    with nnx.set_graph_mode(False):
        nnx.set_graph_mode(True)
        assert nnx.set_graph_mode.current_value() is True
        with nnx.set_graph_mode(False):
            assert nnx.set_graph_mode.current_value() is False
        assert nnx.set_graph_mode.current_value() is True
    assert nnx.set_graph_mode.current_value() is before
    assert inside() is True
    assert nnx.set_graph_mode.current_value() is before
    with nnx.var_defaults(ref=False):
        nnx.var_defaults(ref=True)
        assert nnx.var_defaults().ref is True
    assert nnx.var_defaults().ref is False


@pytest.mark.graph
def test_settings_are_the_defaults():
    assert nnx.set_graph_mode.current_value() is nnx.set_graph_updates.current_value() is True
    with nnx.set_graph_mode(False):
        assert nnx.set_graph_mode.current_value() is False
        with nnx.set_graph_mode(True):
            assert nnx.set_graph_mode.current_value() is True
        assert nnx.set_graph_mode.current_value() is False
    assert nnx.set_graph_mode.current_value() is True
    with nnx.set_graph_mode(False):
        assert nnx.set_graph_mode.current_value() is False
        with pytest.raises(ValueError, match="Duplicate Param"):
            nnx.split(Tied())
        nnx.compat.split(Tied())
    nnx.set_graph_updates(False)
    try:
        scale = Scale()
        nnx.jit(change)(scale)
        assert not hasattr(scale, "extra")
        nnx.compat.jit(change)(scale)
        assert hasattr(scale, "extra")
    finally:
        nnx.set_graph_updates(True)

    @nnx.set_graph_updates(False)
    def inner():
        return nnx.set_graph_updates.current_value()

    assert nnx.set_graph_updates.current_value() is True
    assert inner() is False


def test_functions_of_the_mode_before_are_those_of_flax():
    theirs = pytest.importorskip("flax.nnx").compat
    wanted = {name: x.keywords for name, x in vars(theirs).items() if isinstance(x, partial)}
    assert len(wanted) > 30
    assert {name: getattr(nnx.compat, name).keywords for name in wanted} == wanted
    graphdef, flat = nnx.set_graph_mode(False)(nnx.compat.flatten)(Tied())
    assert flat.paths == (("one",),)
    assert (both := nnx.unflatten(graphdef, flat)).one is both.other


@pytest.mark.parametrize("mode", MODES)
def test_loops_return_what_they_were_given(mode):
    scale = Scale()

    def up(i, s):
        s.count += 1.0
        return s

    assert nnx.fori_loop(0, 3, up, scale, **MODES[mode]) is scale
    assert float(scale.count) == 3.0
    done = nnx.while_loop(lambda s: s.count < 5.0, lambda s: up(0, s), scale, **MODES[mode])
    assert done is scale
    assert float(scale.count) == 5.0


def test_shared_variables_stay_shared_in_graphs():
    tied = Tied()

    def double(m):
        assert m.one is m.other
        m.one *= 2.0

    nnx.jit(double, graph=True, graph_updates=False)(tied)
    assert tied.one is tied.other
    assert float(tied.one) == 4.0


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_what_is_no_slice_is_passed_on_where_steps_change_it(mode):
    def step(scale, x):
        scale.count += x
        return scale.count.value * scale.factor

    scale = Scale()
    run = nnx.scan(step, in_axes=(None, 0), out_axes=0, **MODES[mode])
    for _ in range(2):
        scale.count.value = jnp.float32(0)
        np.testing.assert_array_equal(run(scale, jnp.arange(3.0)), [0, 2, 6])
        assert float(scale.count) == 3.0


CARRY = nnx.Carry


@pytest.mark.parametrize(
    ("axes", "message"),
    {
        (CARRY, 0): r"If one of in_axes or out_axes has Carry",
        ((CARRY, CARRY), CARRY): r"multiple Carry definitions at in_axes\[0\] and in_axes\[1\]",
        ((CARRY, 0), (CARRY, None)): r"Cannot broadcast output state. Got None at out_axes\[1\]",
        ((CARRY, (CARRY, 0)), CARRY): r"cannot be nested. Found Carry at in_axes\[",
    }.items(),
)
def test_axes_of_scans(axes, message):
    with pytest.raises(ValueError, match=message):
        nnx.scan(lambda c, x: (c, x), in_axes=axes[0], out_axes=axes[1])
    with pytest.raises(ValueError, match=r"must take exactly one argument, .* called with 2"):
        nnx.scan(lambda c, x: c, in_axes=CARRY, out_axes=CARRY)(1.0, 2.0)


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_scan_returns_variables_of_its_arguments_as_the_carry_alone(mode):
    xs, other = nnx.Param(jnp.arange(3.0)), nnx.Param(jnp.float32(1))

    def run(f, **axes):
        return nnx.scan(f, **axes, **MODES[mode])

    found = r"Duplicate Param found at paths \.args\[1\] and \.out\[1\]: nnx\.scan"
    with pytest.raises(ValueError, match=found):
        run(lambda carry, x: (carry, x))(other, xs)
    with pytest.raises(ValueError, match=r"\.args\[0\] and \.out: nnx\.scan"):
        run(lambda x: x, in_axes=0, out_axes=0)(xs)
    with pytest.raises(ValueError, match=r"captured Variable: \.out\[1\] of nnx\.scan"):
        run(lambda carry, x: (carry, other))(1.0, xs)
    carry, ys = run(lambda carry, x: (carry, nnx.Param(x * carry)))(other, xs)
    assert carry is other
    np.testing.assert_allclose(ys.value, [0, 1, 2])


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_own_derivatives_get_cotangents_of_changed_variables_alone(mode):
    given = []

    @nnx.custom_vjp(**MODES[mode])
    def apply(scale, x):
        scale.count += x
        return scale.factor * x

    def backward(residuals, cotangent, updates_g):
        given.append(updates_g)
        scale, x = residuals
        own = nnx.clone(scale)
        own.factor.value, own.count.value = x * cotangent, jnp.float32(0)
        return own, scale.factor * cotangent

    apply.defvjp(lambda scale, x: (apply(scale, x), (scale, x)), backward)

    def loss(scale, x):
        return apply(scale, x) + 3 * scale.count

    scale = Scale()
    gradient = nnx.grad(loss, **MODES[mode])(scale, jnp.float32(5))
    assert (float(gradient.factor), float(scale.count)) == (5.0, 5.0)
    changed, other = given[0]
    assert changed.factor is other is None
    assert float(changed.count) == 3.0


@pytest.mark.parametrize("mode", WITHOUT_UPDATES)
def test_own_derivatives_keep_apart_what_is_not_differentiated(mode):
    scale, tied = Scale(), {"a": Scale()}
    apply = nnx.custom_vjp(
        lambda n, x, y: x.factor * y["a"].factor, nondiff_argnums=(2,), **MODES[mode]
    )
    apply.defvjp(lambda n, x, y: (apply(n, x, y), x), lambda y, x, cotangent: (None, nnx.clone(x)))
    assert float(apply(1.0, scale, tied)) == 4.0
    found = r"Duplicate Variable found at paths \.args\[2\]\.a\.count and \.args\[1\]\.count"
    with pytest.raises(ValueError, match=found):
        apply(1.0, tied["a"], tied)
