"""Lifted transformations: what the document does not show, and what is refused."""

import numpy as np
import pytest

import bindax
import bindax_numpy as jnp
from bindax import nnx
from bindax_axis_metadata import Partitioned


class Scale(nnx.Module):
    def __init__(self, factor=2.0):
        self.factor = nnx.Param(jnp.asarray(factor, dtype="float32"))
        self.calls = nnx.BatchStat(jnp.zeros((), "int32"))

    def __call__(self, x):
        self.calls += 1
        return self.factor * x


def square(scale, x):
    return (scale(x) ** 2).sum()


X = np.arange(3, dtype="f4")


@pytest.mark.graph
def test_gradients_are_states_and_other_changes_are_kept():
    scale = Scale()
    value, gradients = nnx.value_and_grad(square)(scale, X)
    assert float(value) == 20
    assert list(gradients) == ["factor"]
    assert isinstance(gradients.factor, nnx.Param)
    assert float(gradients.factor.value) == 20
    assert int(scale.calls) == 1


@pytest.mark.graph
def test_gradients_of_chosen_variables_and_arguments():
    scale = Scale()
    by_filter = nnx.DiffState(0, nnx.All(nnx.Param, nnx.PathContains("factor")))
    state, bar = nnx.grad(square, argnums=(by_filter, 1))(scale, X)
    assert float(state.factor.value) == 20
    np.testing.assert_allclose(bar, 8 * X)
    assert list(
        nnx.grad(square, argnums=nnx.DiffState(0, nnx.BatchStat), allow_int=True)(scale, X)
    ) == ["calls"]
    _, aux = nnx.grad(lambda s, x: (square(s, x), "aux"), has_aux=True)(scale, X)
    assert aux == "aux"
    trees = nnx.grad(lambda t: square(t["a"][0], t["x"]))({"a": [scale], "x": jnp.asarray(X)})
    assert float(trees["a"][0].factor.value) == 20
    np.testing.assert_allclose(trees["x"], 8 * X)


def test_forward_and_reverse_mode_agree():
    scale = Scale()
    out, dot = nnx.jvp(square, (scale, X), (nnx.State({"factor": np.float32(1)}), np.ones(3, "f4")))
    value, pullback = nnx.vjp(square, scale, X)
    state, bar = pullback(np.float32(1))
    assert float(out) == float(value) == 20
    np.testing.assert_allclose(dot, state.factor.value + bar.sum())
    assert int(scale.calls) == 2
    value, pullback, aux = nnx.vjp(lambda s: (s.factor * 1.0, "aux"), scale, has_aux=True)
    assert aux == "aux"
    tangents = nnx.State({"factor": np.float32(1)}), np.ones(3, "f4")
    apart = nnx.jvp(
        lambda s, x: (square(s, x), {"x": x, "by": 2}), (scale, X), tangents, has_aux=True
    )
    assert float(apart[0]) == 20
    np.testing.assert_allclose(apart[1], dot)
    np.testing.assert_array_equal(apart[2]["x"], X)
    with pytest.raises(ValueError, match="the tangent of argument 0 has unknown"):
        nnx.jvp(square, (scale, X), (nnx.State({"unknown": 1.0}), X))


@pytest.mark.graph
def test_custom_derivatives_see_the_state_and_keep_changes():
    @nnx.custom_vjp
    def apply(scale, x):
        return scale(x)

    def forward(scale, x):
        return apply(scale, x), (scale, x)

    def backward(residuals, cotangents):
        (scale, x), (inputs, out_bar) = residuals, cotangents
        assert list(inputs[0].flat_state()) == [("calls",), ("factor",)]
        bars = nnx.clone(scale)
        bars.factor.value = 10 * (x * out_bar).sum()
        del bars.calls
        return bars, None

    apply.defvjp(forward, backward)
    scale = Scale()
    gradients = nnx.grad(lambda scale: apply(scale, X).sum())(scale)
    assert float(gradients.factor.value) == 30
    assert int(scale.calls) == 1
    np.testing.assert_allclose(apply(scale, X), 2 * X)
    assert int(scale.calls) == 2

    @nnx.custom_vjp
    def without(x):
        return x

    with pytest.raises(AttributeError, match="has no derivative; give it one with defvjp"):
        without(X)


def test_a_function_with_its_own_derivative_takes_arguments_by_name() -> None:
    @nnx.custom_vjp
    def scaled(x, factor):
        return x * factor

    scaled.defvjp(lambda x, factor: (x * factor, factor), lambda factor, g: (factor * g, None))

    np.testing.assert_array_equal(scaled(X, factor=2.0), 2 * X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'power'"):
        scaled(X, 2.0, power=3.0)


def test_loops_carry_objects():
    scale = Scale()

    def body(i, state):
        module, x = state
        return module, module(x)

    module, x = nnx.fori_loop(0, 3, body, (scale, np.float32(1)))
    assert module is scale
    assert float(x) == 8
    assert int(scale.calls) == 3
    assert float(nnx.fori_loop(0, 3, body, (scale, np.float32(1)), unroll=3)[1]) == 8
    scale = Scale()
    scale = nnx.while_loop(lambda s: s.calls < 5, lambda s: (s(1.0), s)[1], scale)
    assert int(scale.calls) == 5


def test_choices_change_objects_alike():
    scale = Scale()

    def double(scale):
        scale.factor.value = scale.factor.value * 2
        return scale.factor.value

    branches = [lambda scale: scale.factor.value, double]
    jitted = nnx.jit(lambda i, scale: nnx.switch(i, branches, scale))
    assert [float(jitted(i, scale)) for i in (0, 1, 1, 0)] == [2, 4, 8, 8]

    def grow(scale):
        scale.extra = nnx.Param(jnp.zeros(()))
        return scale.factor.value

    with pytest.raises(nnx.GraphError, match="branches of cond leave different structures"):
        nnx.compat.cond(True, grow, branches[0], scale)
    assert not hasattr(scale, "extra")


def test_jit_takes_static_arguments_keywords_and_trees():
    scale = Scale()
    traces = []

    @nnx.jit(static_argnames="power")
    def apply(tree, x, power=1):
        traces.append(power)
        return tree["scale"](x) ** power

    for power in (1, 2, True, 2):
        apply({"scale": scale}, x=X, power=power)
    assert [(p, type(p)) for p in traces] == [(1, int), (2, int), (True, bool)]
    assert int(scale.calls) == 4
    assert apply.cache_info() == (3, 3)


@pytest.mark.graph
def test_jit_notices_each_change_of_a_graph():
    scale = Scale()
    scale.parts = [nnx.Param(jnp.ones(()))]
    total = nnx.jit(lambda s: s.factor + sum(p.value for p in s.parts))
    assert float(total(scale)) == 3
    scale.parts.append(nnx.Param(jnp.ones(())))
    assert float(total(scale)) == 4
    scale.factor.set_metadata(role="none")
    assert float(total(scale)) == 4
    scale.factor = nnx.Param(jnp.asarray(5.0))
    assert float(total(scale)) == 7
    scale.parts[0] = scale.factor
    assert float(total(scale)) == 11
    Scale()  # something else changes
    assert float(total(scale)) == 11
    assert total.cache_info()[0] == 4


def test_donated_variables_are_replaced():
    scale = Scale(np.ones(4))

    @nnx.jit(donate_argnums=0)
    def step(scale):
        scale.calls += 1

    for _ in range(2):
        step(scale)
    np.testing.assert_array_equal(scale.factor.value, 1)
    assert int(scale.calls) == 2


def test_boxes_in_variables_pass():
    class Boxed(nnx.Module):
        def __init__(self):
            self.kernel = nnx.Param(Partitioned(jnp.ones((2, 3)), ("a", "b")))

    boxed = Boxed()

    def total(boxed):
        boxed.kernel.value = boxed.kernel.value.replace(value=boxed.kernel.value.unbox() * 2)
        return boxed.kernel.value.unbox().sum()

    assert float(nnx.jit(total)(boxed)) == 12
    assert boxed.kernel.value.names == ("a", "b")
    np.testing.assert_array_equal(nnx.vmap(total)(boxed), [12, 12])
    gradients = nnx.grad(total)(boxed)
    assert gradients.kernel.value.names == ("a", "b")


def test_shapes_are_known_without_computing():
    made = nnx.eval_shape(lambda: Scale(np.ones(3)))
    assert made.factor.value.shape == (3,)
    scale = Scale()
    assert nnx.eval_shape(square, scale, X).shape == ()
    assert int(scale.calls) == 0
    jaxpr = nnx.make_jaxpr(square)(scale, X)
    assert [aval.str_short() for aval in jaxpr.in_avals] == ["int32[]", "float32[]", "float32[3]"]


@pytest.mark.graph
def test_scan_slices_shares_and_stacks():
    class Layer(nnx.Module):
        def __init__(self, factor):
            self.factor = nnx.Param(factor)
            self.seen = nnx.BatchStat(jnp.zeros((), "float32"))
            self.total = Count(jnp.zeros((), "float32"))
            self.shared = nnx.Cache(jnp.ones((), "float32"))

    class Count(nnx.Variable):
        pass

    layers = nnx.vmap(Layer, out_axes=nnx.StateAxes({(nnx.Param, nnx.BatchStat): 0, ...: None}))(
        jnp.asarray([2.0, 3.0], "float32")
    )
    axes = nnx.StateAxes({(nnx.Param, nnx.BatchStat): 0, Count: nnx.Carry, ...: None})

    def step(layer, x):
        layer.seen.value = x
        layer.total += x
        layer.sown = nnx.Intermediate(x)
        return layer.factor * x * layer.shared.value

    def run(layer, x):
        y = step(layer, x)
        del layer.sown
        return y

    apply = nnx.scan(run, in_axes=(axes, nnx.Carry), out_axes=nnx.Carry)
    assert float(apply(layers, np.float32(1))) == 6
    np.testing.assert_array_equal(layers.seen.value, [1, 2])
    assert float(layers.total) == 3

    def change(layer, x):
        layer.shared.value = layer.shared.value + 1
        return x

    with pytest.warns(UserWarning, match=r"Layer\.shared.*all steps share.*is forgotten. Give"):
        nnx.scan(change, in_axes=(axes, nnx.Carry), out_axes=nnx.Carry)(layers, np.float32(1))
    assert float(layers.shared) == 1


@pytest.mark.graph
def test_transformations_nest():
    scale = Scale()

    @nnx.jit
    def outer(scale, xs):
        @nnx.vmap(in_axes=(nnx.StateAxes({...: None}), 0))
        def inner(scale, x):
            return scale.factor * x

        return nnx.grad(lambda s: inner(s, xs).sum())(scale), nnx.remat(square)(scale, xs)

    gradients, value = outer(scale, X)
    assert float(gradients.factor.value) == 3
    assert float(value) == 20
    assert int(scale.calls) == 1


# ----------------------------------------------------------------------------------- bad input


def test_an_unhashable_attribute_is_refused_by_name():
    scale = Scale()
    scale.names = {"a"}
    with pytest.raises(nnx.GraphError, match=r"Scale\.names is static.*cannot be hashed"):
        nnx.jit(lambda m: None)(scale)


def test_carries_must_keep_their_structure():
    scale = Scale()

    def grow(i, scale):
        scale.extra = nnx.Param(jnp.zeros(()))
        return scale

    with pytest.raises(nnx.GraphError, match="structure of what fori_loop carries changes"):
        nnx.fori_loop(0, 2, grow, scale)
    with pytest.raises(nnx.GraphError, match="returned another Scale than the Scale"):
        nnx.while_loop(lambda s: True, lambda s: Scale(), scale)
    with pytest.raises(nnx.GraphError, match="cond_fun of while_loop changed an object"):
        nnx.while_loop(lambda s: s(1.0) > 0, lambda s: s, scale)
    assert not hasattr(scale, "extra")
    assert int(scale.calls) == 0


def test_a_substate_without_a_filter_is_named():
    with pytest.raises(ValueError, match=r"has no filter for calls, a BatchStat; add one"):
        nnx.compat.vmap(lambda s: None, in_axes=(nnx.StateAxes({nnx.Param: 0}),))(Scale(np.ones(2)))
    with pytest.raises(ValueError, match="must be the last filter"):
        nnx.StateAxes({...: 0, nnx.Param: None})


def test_sizes_that_do_not_fit_are_named():
    scale = Scale(np.ones(2))
    with pytest.raises(ValueError, match=r"map axis 0 of Scale\.calls, which has the shape \(\)"):
        nnx.vmap(lambda s: None)(scale)
    axes = nnx.StateAxes({nnx.Param: 0, ...: None})
    with pytest.raises(ValueError, match=r"inconsistent sizes"):
        nnx.compat.vmap(lambda s, x: None, in_axes=(axes, 0))(scale, X)


def test_an_error_leaves_objects_as_they_were():
    scale = Scale()

    @nnx.jit
    def fail(scale):
        scale.calls += 1
        scale.extra = 1
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        fail(scale)
    assert int(scale.calls) == 0
    assert not hasattr(scale, "extra")


def test_traced_values_do_not_leak_through_a_module():
    scale = Scale()

    @bindax.jit
    def plain(x):
        scale.factor.value = x
        return x

    with pytest.raises(nnx.TraceContextError, match=r"Scale\.factor was changed inside jit of"):
        plain(X)

    def outer(x):
        def inner(x):
            scale.name = "changed"
            return x

        return nnx.vmap(inner)(x)

    with pytest.raises(nnx.TraceContextError, match=r"Scale\.name was changed inside vmap of"):
        outer(X)


def test_missing_streams_and_wrong_sizes_are_named():
    with pytest.raises(AttributeError, match="Rngs has no stream 'dropout' and no default one"):
        nnx.Dropout(0.5, rngs=nnx.Rngs(params=0))(X)
    with pytest.raises(ValueError, match="Dropout needs random numbers of the stream"):
        nnx.Dropout(0.5)(X)
    with pytest.raises(ValueError, match=r"Linear was made for inputs with 4 features .* \(3,\)"):
        nnx.Linear(4, 2, rngs=nnx.Rngs(0))(X)


def test_a_third_party_lifts_its_transformation():
    calls = []

    def noted(flat):
        def run(leaves):
            calls.append(len(leaves))
            return flat(leaves)

        return run

    scale = Scale()
    np.testing.assert_allclose(nnx.lift(noted)(Scale.__call__)(scale, X), 2 * X)
    assert calls == [3]
    assert int(scale.calls) == 1
