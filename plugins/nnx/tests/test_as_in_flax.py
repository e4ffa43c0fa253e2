"""Results, state and refusals of layers and functions that programs for Flax rely on."""

import numpy as np
import pytest

import bindax
import bindax_numpy as jnp
from bindax import nnx
from bindax.export import ExportError, deserialize, export

X = np.random.default_rng(0).normal(size=(2, 3, 4)).astype("f4")


def rngs():
    return nnx.Rngs(0)


def linear():
    return nnx.Linear(4, 4, rngs=rngs())


def paths(node, *filters):
    return {"/".join(map(str, path)) for path in nnx.state(node, *filters).flat_state()}


# ------------------------------------------------------------------------------------- layers


def test_the_bias_of_einsum_lies_along_the_axes_of_its_kernel():
    layer = nnx.Einsum("...d,dh->...h", (4, 5), (5,), bias_init=nnx.initializers.ones, rngs=rngs())
    expected = X @ layer.kernel.value + 1
    for x in (X, X[0], X[0, 0]):
        assert layer(x).shape == (*x.shape[:-1], 5)
    np.testing.assert_allclose(layer(X), expected, rtol=1e-5)
    turned = layer(X, "...d,dh->h...")
    np.testing.assert_allclose(turned, np.moveaxis(np.asarray(expected), -1, 0), rtol=1e-5)
    both = nnx.Einsum("ab...,bc...->ac...", (3, 4, 2), (4, 2), rngs=rngs())
    assert both(np.ones((5, 3, 2), "f4")).shape == (5, 4, 2)
    for text in ("ab,bc", "ab->a", "ab,bc,cd->ad", "ab->a,b"):
        with pytest.raises(ValueError, match=r"Einsum needs two operands and a result"):
            nnx.Einsum(text, (4, 5), rngs=rngs())


def test_spectral_norm_keeps_its_vectors_as_flax_does():
    layer = nnx.SpectralNorm(nnx.LinearGeneral(4, (2, 5), rngs=rngs()), rngs=rngs())
    kept = {f"batch_stats/('{name}', '{x}')" for name in ("kernel", "bias") for x in ("sigma", "u")}
    assert paths(layer, nnx.BatchStat) == kept
    u = layer.batch_stats["kernel", "u"]
    assert u.shape == (1, 5)
    assert 0 < np.abs(u.value).max() < 0.1
    layer(X)
    matrix = np.asarray(layer.layer_instance.kernel.value).reshape(-1, 5)
    for _ in range(20):
        layer(X)
    sigma = layer.batch_stats["kernel", "sigma"]
    np.testing.assert_allclose(sigma.value, np.linalg.norm(matrix, 2), rtol=1e-3)
    before = np.asarray(u.value)
    layer(X, False)
    layer.eval()
    layer(X)
    np.testing.assert_array_equal(u.value, before)
    convolution = nnx.Conv(4, 5, (3,), rngs=rngs())
    with pytest.raises(ValueError, match=r"parameter kernel has the shape \(3, 4, 5\) and is no"):
        nnx.SpectralNorm(convolution, error_on_non_matrix=True, rngs=rngs())
    unchanged = nnx.SpectralNorm(linear(), n_steps=0, rngs=rngs())
    np.testing.assert_array_equal(unchanged(X), linear()(X))
    layer.batch_stats.clear()
    with pytest.raises(ValueError, match=r"knows no parameter bias; make it anew"):
        layer(X)


def test_weight_norm_has_a_parameter_for_each_kernel():
    streams = rngs()
    layer = nnx.WeightNorm(nnx.Linear(4, 5, rngs=streams), rngs=streams)
    assert paths(layer, nnx.Param) == {
        "layer_instance/bias",
        "layer_instance/kernel",
        "scales/('kernel',)",
    }
    # It draws no key: what is made next is what it is in Flax.
    alone = rngs()
    nnx.Linear(4, 5, rngs=alone)
    assert int(streams.params.count.value) == int(alone.params.count.value)
    half = nnx.WeightNorm(linear(), dtype=jnp.bfloat16, use_scale=False, rngs=rngs())
    gradient = nnx.grad(lambda layer: layer(X).sum())(half)
    assert list(nnx.state(gradient).flat_state()) == [
        ("layer_instance", "bias"),
        ("layer_instance", "kernel"),
    ]


def test_transposed_convolutions_have_masks_of_the_shape_of_their_kernel():
    mask = np.arange(60).reshape(3, 4, 5) % 3 == 0
    layer = nnx.ConvTranspose(4, 5, (3,), mask=mask, rngs=rngs())
    plain = nnx.ConvTranspose(4, 5, (3,), rngs=rngs())
    plain.kernel.value = plain.kernel.value * mask
    np.testing.assert_allclose(layer(X), plain(X), rtol=1e-6)
    for kind in (nnx.Conv, nnx.ConvTranspose):
        with pytest.raises(ValueError, match=r"the shape of its kernel, \(3, 4, 5\), but has \(3,"):
            kind(4, 5, (3,), mask=np.ones((3, 4)), rngs=rngs())


def test_a_circular_transposed_convolution_is_the_adjoint_of_the_circular_convolution():
    x, y = X[0], np.random.default_rng(1).normal(size=(3, 4)).astype("f4")
    options = {"padding": "CIRCULAR", "use_bias": False}
    there = nnx.Conv(4, 4, (3,), rngs=rngs(), **options)
    back = nnx.ConvTranspose(4, 4, (3,), transpose_kernel=True, rngs=rngs(), **options)
    back.kernel.value = there.kernel.value
    np.testing.assert_allclose((there(x) * y).sum(), (x * back(y)).sum(), rtol=1e-4)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int8", "float32", "bfloat16", "bool"])
def test_pools_of_any_dtype(dtype):
    x = jnp.asarray(np.arange(4).reshape(1, 4, 1)).astype(dtype)
    for padding in ("VALID", "SAME"):
        largest, least = (f(x, (2,), (2,), padding) for f in (nnx.max_pool, nnx.min_pool))
        assert largest.dtype == least.dtype == x.dtype
        np.testing.assert_array_equal(largest, x[:, 1::2])
        np.testing.assert_array_equal(least, x[:, ::2])


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("cell", ["SimpleCell", "LSTMCell", "OptimizedLSTMCell", "GRUCell"])
def test_cells_have_parameters_of_half_precision(cell, dtype):
    half, whole = (
        nnx.RNN(getattr(nnx, cell)(4, 3, dtype=t, param_dtype=t, rngs=rngs()))
        for t in (getattr(jnp, dtype), jnp.float32)
    )
    nnx.update(whole, nnx.state(half, nnx.Param).map(lambda _, x: x.astype("float32")))
    y = half(X.astype(dtype))
    assert y.dtype == dtype
    np.testing.assert_allclose(y.astype("float32"), whole(X), atol=0.05)


def test_attention_that_decodes_is_causal_anyway():
    def decoded(**options):
        layer = nnx.MultiHeadAttention(2, 4, decode=True, rngs=rngs())
        layer.init_cache(X.shape)
        return np.concatenate([layer(X[:, i : i + 1], **options) for i in range(3)], axis=1)

    whole = nnx.MultiHeadAttention(2, 4, decode=False, rngs=rngs())(X, is_causal=True)
    np.testing.assert_allclose(decoded(), whole, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(decoded(is_causal=True), whole, rtol=1e-4, atol=1e-6)


def test_axes_of_dropout_are_counted_from_either_end():
    def kept(axes):
        return np.asarray(nnx.Dropout(0.5, broadcast_dims=axes, rngs=rngs())(np.ones((4, 8), "f4")))

    np.testing.assert_array_equal(kept((-1,)), kept((1,)))
    assert len(np.unique(kept((-1,)), axis=1).T) == 1


def test_options_that_flax_has():
    few = nnx.MultiHeadAttention(4, 8, 8, 8, 2, rngs=rngs())  # the fifth is num_kv_heads
    assert few.key.kernel.shape == (8, 2, 2)
    assert nnx.PReLU()(X.astype("float16")).dtype == np.float16
    norm = nnx.RMSNorm(4, rngs=rngs())
    mask = X > 0
    np.testing.assert_array_equal(norm(X, mask), norm(X, mask=mask))
    assert set(nnx.state(linear(), nnx.PathContains("ern", exact=False))) == {"kernel"}
    with pytest.raises(
        ValueError, match=r"reduction_axes must have the last axis, but .* \(0, 1\)"
    ):
        nnx.GroupNorm(4, 2, reduction_axes=(0, 1), rngs=rngs())(X)

    def total(x, groups=None):
        layer = nnx.LayerNorm(4, axis_name="i", axis_index_groups=groups, rngs=rngs())
        return layer(x)

    apart = bindax.vmap(lambda x: total(x, [[0], [1]]), axis_name="i")(X)
    np.testing.assert_allclose(apart, nnx.LayerNorm(4, rngs=rngs())(X), rtol=1e-4, atol=1e-5)
    together = bindax.vmap(total, axis_name="i")(X)
    assert not np.allclose(together, apart, atol=1e-2)


# ---------------------------------------------------------------------------------- functions


def test_duplicates_are_named_where_they_are_held():
    class Shared(nnx.Module):
        def __init__(self):
            self.a = self.b = linear()
            self.c = self.a.bias

    assert nnx.find_duplicates(Shared()) == [[("a",), ("b",)], [("a", "bias"), ("c",)]]
    assert nnx.find_duplicates(Shared(), only=nnx.PathContains("c")) == [[("a", "bias"), ("c",)]]


def test_update_adds_variables_that_are_new():
    class Model(nnx.Module):
        def __init__(self):
            self.inner = linear()

    model = Model()
    run = nnx.jit(lambda model: len(nnx.state(model).inner))
    assert run(model) == 2
    given = nnx.State({"inner": {"mean": nnx.BatchStat(jnp.ones(3)), "bias": jnp.ones(4)}})
    nnx.update(model, given)
    assert run(model) == 3
    assert isinstance(model.inner.mean, nnx.BatchStat)
    assert model.inner.mean is not given.inner.mean
    np.testing.assert_array_equal(model.inner.bias.value, np.ones(4))
    for name, value in (("use_bias", nnx.Param(1.0)), ("other", 1.0)):
        wrong = {"inner": {name: value, "bias": jnp.zeros(4)}}
        with pytest.raises(ValueError, match=f"no variable inner/{name}; .* must be an nnx.Vari"):
            nnx.update(model, wrong)
    with pytest.raises(ValueError, match=r"no variable outer/w"):
        nnx.update(model, {"outer": {"w": nnx.Param(1.0)}})
    np.testing.assert_array_equal(model.inner.bias.value, np.ones(4))


def test_views_refuse_what_no_module_has():
    layer = nnx.Dropout(0.5)
    with pytest.raises(ValueError, match=r"\['determinstic'\]. Did you mean 'deterministic'\?"):
        nnx.view(layer, determinstic=True)
    with pytest.raises(ValueError, match=r"view: no module of Dropout .* \['deterministic'\]"):
        nnx.view(layer, only=nnx.Linear, deterministic=True)
    with pytest.raises(
        ValueError, match=r"eval_mode: .* attributes \['rat'\]. Did you mean 'rate'"
    ):
        nnx.eval_mode(layer, rat=1)
    assert not nnx.view(layer, raise_if_not_found=False, other=1).deterministic
    assert nnx.eval_mode(linear()).kernel.shape == (4, 4)
    attention = nnx.MultiHeadAttention(2, 4, rngs=rngs())
    decoding = nnx.view(attention, decode=True, batch_size=2, max_length=5)
    assert decoding.cached_key.shape == (2, 5, 2, 2)
    assert not hasattr(attention, "cached_key")
    with pytest.raises(TypeError, match=r"no cache to decode with: give nnx.view the sizes"):
        nnx.view(attention, decode=True)

    class Open(nnx.Module):
        def set_view(self, **options):
            self.seen = tuple(options)

    assert nnx.view(Open(), anything=1).seen == ("anything",)


def test_sharding_of_a_variable_without_it():
    lies = r"traced float32\[2\], lies on no device.* metadata `out_sharding`"
    with pytest.raises(AttributeError, match=lies):
        nnx.jit(lambda x: x.sharding)(nnx.Param(jnp.ones(2)))
    with pytest.raises(
        AttributeError, match=r"Param has no metadata 'sharding', and its value, a fl"
    ):
        nnx.Param(1.0).sharding


def test_streams_make_initializers():
    rngs = nnx.Rngs(0, params=1)
    for name in ("lecun_normal", "glorot_uniform", "he_normal", "xavier_uniform"):
        found = getattr(rngs.params, name)()((3, 4))
        key = bindax.random.fold_in(bindax.random.key(1), int(rngs.params.count) - 1)
        np.testing.assert_array_equal(found, getattr(bindax.nn.initializers, name)()(key, (3, 4)))


def test_safetensors_say_which_argument_is_wrong(tmp_path):
    path, arrays = tmp_path / "x.safetensors", {"a": np.ones(2)}
    with pytest.raises(TypeError, match=r"arrays .* is a Linear. nnx.save.path, model. saves obj"):
        nnx.save_safetensors(path, linear())
    with pytest.raises(TypeError, match=r"path must be .* is a dict. The path comes first"):
        nnx.save_safetensors(arrays, path)
    with pytest.raises(TypeError, match=r"path must be a text or a path, but it is a Linear"):
        nnx.save_safetensors(linear(), path)
    with pytest.raises(TypeError, match=r"holds a State under 'layer'. nnx.save"):
        nnx.save_safetensors(path, nnx.State({"layer": {"a": nnx.Param(1.0)}}))
    assert not path.exists()


@pytest.mark.graph
def test_a_state_axes_stands_for_all_objects_of_a_container():
    class Weights(nnx.Module):
        def __init__(self):
            self.w, self.count = nnx.Param(jnp.ones((3, 2))), nnx.BatchStat(jnp.zeros(()))

    axes = nnx.StateAxes({nnx.Param: 0, nnx.BatchStat: None})

    def total(pair, x):
        return pair["a"].w.value.sum() + pair["b"][0].w.value.sum() + x

    pair = {"a": Weights(), "b": [Weights()]}
    found = nnx.vmap(total, in_axes=(axes, 0))(pair, jnp.arange(3.0))
    np.testing.assert_array_equal(found, [4, 5, 6])
    step = nnx.scan(lambda c, p: (total(p, c), c), in_axes=(nnx.Carry, axes))
    np.testing.assert_array_equal(step(jnp.zeros(()), pair)[1], [0, 4, 8])
    with pytest.raises(ValueError, match=r"in_axes: StateAxes.* stands for an array"):
        nnx.vmap(total, in_axes=(axes, axes))(pair, jnp.arange(3.0))


# ----------------------------------------------------------------- transformations and programs


@pytest.mark.parametrize("name", ["jit", "grad", "checkpoint", "make_jaxpr"])
def test_plain_transformations_take_objects_as_pytrees(name):
    def loss(m, x):
        return m(x).sum()

    got = getattr(bindax, name)(loss)(linear(), X)
    graphdef, state = nnx.split(linear())
    expected = getattr(bindax, name)(lambda s, x: loss(nnx.merge(graphdef, s), x))(state, X)
    if name == "make_jaxpr":
        assert str(got) == str(expected)
    else:
        for x, y in zip(bindax.tree.leaves(got), bindax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5)


def test_plain_transformations_say_what_takes_objects_that_are_no_pytrees():
    class Opaque(nnx.Module, pytree=False):
        def __init__(self):
            self.factor = nnx.Param(2.0)

    with pytest.raises(TypeError, match=r"nnx\.jit and nnx\.grad in .* nnx\.merge") as caught:
        bindax.jit(lambda m: m.factor.value)(Opaque())
    assert "static" not in str(caught.value)
    assert float(nnx.jit(lambda m: m.factor.value)(Opaque())) == 2.0


class Counter(nnx.Module):
    def __init__(self):
        self.layer, self.count = linear(), nnx.BatchStat(jnp.zeros((), "int32"))

    @nnx.jit
    def __call__(self, x, scale=1.0):
        self.count += 1
        return self.layer(x) * scale


def test_functions_of_objects_are_compiled_ahead_of_time():
    pytest.importorskip("jaxlib", reason="the text is that of XLA")
    model = Counter()
    compiled = model.__call__.lower(X).compile()
    np.testing.assert_allclose(compiled(model, X), linear()(X), rtol=1e-5)
    assert int(model.count.value) == 1
    assert "HloModule" in compiled.as_text()
    power = nnx.jit(lambda m, n, x: m(x) ** n, static_argnums=1)
    made = power.lower(linear(), 2, x=X).compile()
    np.testing.assert_allclose(made(linear(), x=X), linear()(X) ** 2, rtol=1e-5)
    with pytest.raises(TypeError, match=r"was compiled for other objects: arguments are passed as"):
        compiled(nnx.Linear(4, 4, use_bias=False, rngs=rngs()), X)
    with pytest.raises(TypeError, match=r"with float32\[2,3,4\] and called with float32\[1,3,4\]"):
        compiled(model, X[:1])


@pytest.mark.graph
def test_the_gradient_of_an_object_given_twice_is_in_the_first_place():
    model = linear()

    def loss(a, b):
        return (a(X) * b(X)).sum()

    alone = nnx.grad(lambda m: (m(X) ** 2).sum())(model)
    for argnums in ((0, 1), (1, 0)):
        found = dict(zip(argnums, nnx.grad(loss, argnums=argnums)(model, model), strict=True))
        assert not found[1].flat_state()
        np.testing.assert_allclose(found[0].kernel.value, alone.kernel.value, rtol=1e-5)
    pair = nnx.grad(lambda pair: loss(*pair))((model, model))
    assert [len(part.flat_state()) for part in pair] == [2, 0]
    holder = nnx.Sequential(model)
    first, second = nnx.grad(loss, argnums=(0, 1))(model, holder)
    assert [len(x.flat_state()) for x in (first, second)] == [2, 0]
    with pytest.raises(ValueError, match=r"Inconsistent aliasing"):
        nnx.grad(loss, argnums=1)(model, model)


def test_programs_of_states_and_variables_are_exported():
    pytest.importorskip("jaxlib", reason="programs are exported with XLA")
    model = linear()
    graphdef, state = nnx.split(model)
    plain = bindax.jit(lambda s, x: (nnx.merge(graphdef, s)(x), bindax.tree.map(lambda v: -v, s)))
    read = deserialize(export(plain)(state, X).serialize())
    out, negative = read.call(state, X)
    np.testing.assert_allclose(out, model(X), rtol=1e-5)
    np.testing.assert_array_equal(negative.kernel.value, -model.kernel.value)
    kernel = nnx.Param(jnp.ones((4, 2)), sharding=("data", None))
    read = deserialize(export(bindax.jit(lambda k, x: x @ k.value))(kernel, X).serialize())
    np.testing.assert_allclose(read.call(kernel, X), X @ np.ones((4, 2)), rtol=1e-5)
    with pytest.raises(ExportError, match=r"the same pytree structure as those that <lambda> was"):
        read.call(nnx.Param(jnp.ones((4, 2))), X)
    opaque = nnx.Param(jnp.ones(2), role=print)
    with pytest.raises(
        ExportError, match=r"with a Param cannot be serialized: .* no stable written"
    ):
        export(bindax.jit(lambda k: k.value))(opaque).serialize()


def test_a_jitted_function_of_objects_is_exported_with_states_in_their_place():
    pytest.importorskip("jaxlib", reason="programs are exported with XLA")
    model = linear()
    function = nnx.jit(lambda m, n, x, other: (m(x) + other(x)) * n, static_argnames="n")
    program = export(function)(model, 2, X, other=model)
    read = deserialize(program.serialize())
    nothing = nnx.State()
    found = read.call(nnx.state(model), X, other=nothing)
    np.testing.assert_allclose(found, 4 * model(X), rtol=1e-5)
    shapes = export(nnx.jit(lambda s, x: {"out": s.kernel.value @ x, "state": s}))
    result = shapes(nnx.state(model), X[0].T).call(nnx.state(model), X[0].T)
    assert result["state"].bias.shape == (4,)
    with pytest.raises(TypeError, match=r"changes Counter\.count, but a program of states changes"):
        export(nnx.jit(lambda m, x: m(x)))(Counter(), X)
    with pytest.raises(TypeError, match=r"returns a Linear, but a program of states returns arr"):
        export(nnx.jit(lambda m: m))(model)
    with pytest.raises(TypeError, match=r"changes objects, .*Linear\.extra was added"):
        export(nnx.jit(lambda m: setattr(m, "extra", 1)))(model)
    placed = nnx.jit(lambda m: m.bias.value, out_shardings=bindax.sharding.PartitionSpec())
    with pytest.raises(TypeError, match=r"takes no in_shardings and out_shardings of objects"):
        placed.trace(model)


def test_a_rematerialized_function_is_traced_once():
    calls = []
    inner = nnx.Linear.__call__

    class Noted(nnx.Linear):
        def __call__(self, x):
            calls.append(1)
            return inner(self, x)

    apply = nnx.remat(_call)
    model = Noted(4, 4, rngs=rngs())
    gradient = nnx.grad(lambda m: apply(m, X).sum())
    for _ in range(3):
        expected = gradient(model)
        apply(model, X)
    assert len(calls) == 1
    np.testing.assert_allclose(expected.bias.value, np.full(4, 6.0))
    other = nnx.Linear(4, 4, use_bias=False, rngs=rngs())
    np.testing.assert_allclose(apply(other, X), other(X), rtol=1e-5)


def _call(module, x):
    return module(x)
