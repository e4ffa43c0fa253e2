"""Functions that Flax has, beside its answers."""

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import nnx as ours

X = np.random.RandomState(0).randn(3, 4).astype("f4")


def by_flax(jax, program):
    """The results of a program with Flax."""
    theirs = pytest.importorskip("flax.nnx")
    return [np.asarray(x) for x in program(theirs, jax.numpy, jax)]


@pytest.fixture
def assert_equal(jax_answers):
    """Check that a program gives the results that it gives with Flax."""

    def check(program):
        mine = [np.asarray(x) for x in program(ours, bnp, bindax)]
        expected = jax_answers("results", lambda jax: by_flax(jax, program), x64=False)
        assert len(mine) == len(expected)
        for x, y in zip(mine, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)
            assert x.shape == y.shape

    return check


def keys(root, rngs):
    return [root.random.key_data(rngs[name]()) for name in ("params", "noise")]


@pytest.mark.graph
def test_streams_are_forked_and_split_by_filters(assert_equal):
    def program(nnx, jnp, root):
        rngs = nnx.Rngs(params=0, noise=1)
        rngs.noise()
        found = []
        with nnx.fork_rngs(rngs):
            found += keys(root, rngs)
        with nnx.fork_rngs(rngs, split={"params": 4}):
            found += [root.random.key_data(rngs.params.key[...]), rngs.params.count[...]]
            found += [root.random.key_data(rngs.noise())]

        @nnx.fork_rngs(split=3)
        def inside(rngs):
            return root.random.key_data(rngs.noise.key[...])

        return [*found, inside(rngs), *keys(root, rngs)]

    assert_equal(program)


def test_streams_get_new_seeds(assert_equal):
    def program(nnx, jnp, root):
        rngs = nnx.Rngs(params=0, noise=1)
        rngs.noise()
        nnx.reseed(rngs, noise=7)
        found = keys(root, rngs)
        split = nnx.Rngs(noise=1).split(3)
        nnx.reseed(split, policy="match_shape", noise=5)
        return [*found, root.random.key_data(split.noise.key[...])]

    assert_equal(program)
    split = ours.Rngs(noise=1).split(3)
    with pytest.raises(ValueError, match=r"Rngs\.noise has keys of the shape \(3,\).*match_shape"):
        ours.reseed(split, noise=5)


def test_averages_of_parameters(assert_equal):
    def program(nnx, jnp, root):
        model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
        average = nnx.EMA(model, decay=0.9)
        for _ in range(3):
            model.kernel[...] = model.kernel[...] + 1
            average.update(model)
        smooth = average.apply_to(model)
        return [smooth(X), model(X)]

    assert_equal(program)


def test_copies_with_other_parts(assert_equal):
    def program(nnx, jnp, root):
        model = nnx.Sequential(
            nnx.Linear(4, 3, rngs=nnx.Rngs(0)), nnx.Dropout(0.5, rngs=nnx.Rngs(1))
        )
        quiet = nnx.with_attributes(model, deterministic=True)
        doubled = nnx.map(lambda path, x: x * 2, nnx.Linear(4, 3, rngs=nnx.Rngs(0)))

        def exchange(path, node):
            if isinstance(node, nnx.Linear):
                return nnx.Linear(4, 5, rngs=nnx.Rngs(2))
            return node

        other = nnx.recursive_map(exchange, quiet)
        nnx.set_metadata(model, only=nnx.Param, role="first")
        assert model.layers[0].kernel.role == "first"
        values = nnx.as_pure(nnx.state(model, nnx.Param))
        return [quiet(X), doubled(X), other(X), values["layers"][0]["kernel"]]

    assert_equal(program)
    with pytest.raises(ValueError, match=r"no module of Linear .* \['deterministic'\]"):
        ours.with_attributes(ours.Linear(1, 1, rngs=ours.Rngs(0)), deterministic=True)
    node = ours.Dict(a=1)
    node["self"] = node
    with pytest.raises(ValueError, match=r"Dict\.self is an object that contains itself"):
        ours.compat.recursive_map(lambda path, x: x, node)


@pytest.mark.graph
def test_an_axis_over_devices(assert_equal):
    def program(nnx, jnp, root):
        @nnx.pmap(in_axes=(None, 0), out_axes=1, axis_name="devices")
        def apply(model, x):
            model.mean[...] = x.mean()
            return model(x)

        model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
        model.mean = nnx.BatchStat(jnp.zeros(()))

        @nnx.pmap(in_axes=(nnx.StateAxes({nnx.BatchStat: 0, ...: None}), 0))
        def stateful(model, x):
            model.mean[...] = model.mean[...] + x.mean()
            return model(x)

        model.mean = nnx.BatchStat(jnp.zeros((1,)))
        return [stateful(model, X[None]), model.mean[...]]

    assert_equal(program)
    with pytest.raises(ValueError, match="takes 64 devices"):
        ours.pmap(lambda x: x)(np.zeros(64))


def test_classes_as_dataclasses(assert_equal):
    def program(nnx, jnp, root):
        @nnx.dataclass
        class Scale(nnx.Module):
            factor: nnx.Param
            power: int = nnx.static(default=2)

            def __call__(self, x):
                return (self.factor[...] * x) ** self.power

        return [Scale(nnx.Param(jnp.ones(4) * 3))(X), nnx.identity(X)]

    assert_equal(program)
    with pytest.raises(TypeError, match=r"for subclasses of nnx\.Object"):
        ours.dataclass(int)


def test_attention_with_few_heads_of_keys_and_masks(assert_equal):
    def program(nnx, jnp, root):
        layer = nnx.MultiHeadAttention(
            4,
            8,
            num_kv_heads=2,
            decode=False,
            kernel_metadata={"role": "kernel"},
            out_kernel_init=nnx.initializers.ones,
            rngs=nnx.Rngs(1),
        )
        assert layer.key.kernel.role == "kernel"
        x = jnp.asarray(np.random.RandomState(1).randn(2, 5, 8).astype("f4"))
        whole = layer(x, is_causal=True)
        layer.init_cache((2, 5, 8))
        steps = [layer(x[:, i : i + 1], decode=True) for i in range(5)]
        mask = nnx.make_causal_mask(jnp.ones((2, 3)), extra_batch_dims=1)
        return [layer(x), whole, *steps, mask, nnx.combine_masks(mask, None, mask)]

    assert_equal(program)


def test_functions_with_constants(assert_equal):
    def program(nnx, jnp, root):
        @nnx.remat(static_argnums=(1,))
        def apply(model, power, x):
            return (model(x) ** power).sum() if power > 1 else model(x).sum()

        model = nnx.Linear(4, 2, rngs=nnx.Rngs(0))
        gradient = nnx.grad(apply)(model, 3, X)
        mode = {} if nnx is ours else {"graph": False}
        partly = nnx.jit_partial(lambda model, x: model(x), model, **mode)
        return [gradient.kernel[...], partly(X)]

    assert_equal(program)


def test_recurrent_layers_in_both_directions(assert_equal):
    def program(nnx, jnp, root):
        rngs = nnx.Rngs(0, carry=3)
        layer = nnx.Bidirectional(
            nnx.RNN(nnx.GRUCell(4, 3, kernel_metadata={"role": "in"}, rngs=rngs)),
            nnx.RNN(nnx.LSTMCell(4, 3, rngs=rngs)),
            rngs=rngs,
        )
        (ahead, back), out = layer(X[None], return_carry=True)
        assert layer.forward_rnn.cell.dense_i.kernel.role == "in"
        return [ahead, *back, out]

    assert_equal(program)


@pytest.mark.graph
def test_derivatives_of_parts_of_objects(assert_equal):
    def program(nnx, jnp, root):
        class Scale(nnx.Module):
            def __init__(self):
                self.x, self.y = nnx.Param(jnp.asarray(1.5)), nnx.Param(jnp.asarray(2.0))

        def is_x(path, value):
            return path[-1] == "x"

        @nnx.custom_vjp(nondiff_argnums=(nnx.DiffState(0, is_x), 1))
        def apply(scale, power, z):
            return jnp.sin(scale.x[...]) * scale.y[...] * z**power

        def forward(scale, power, z):
            return apply(scale, power, z), (jnp.cos(scale.x[...]) * z**power, scale)

        def backward(power, residuals, cotangents):
            (scale_bar, _), out_bar = cotangents
            slope, scale = residuals
            scale_bar["x"][...] = slope * out_bar * scale.y[...] * power
            del scale_bar["y"]
            return scale_bar, out_bar * 7

        apply.defvjp(forward, backward)
        scale = Scale()
        bars = nnx.grad(lambda s, z: apply(s, 3, z), argnums=(nnx.DiffState(0, is_x), 1))(
            scale, 2.0
        )
        return [bars[0]["x"][...], bars[1], apply(scale, 3, 2.0)]

    assert_equal(program)


@pytest.mark.graph
def test_a_cotangent_that_is_not_asked_for_is_named():
    @ours.custom_vjp(nondiff_argnums=(ours.DiffState(0, "kernel"),))
    def apply(model):
        return model.kernel[...].sum()

    apply.defvjp(lambda m: (apply(m), None), lambda res, bars: (bars[0][0],))
    with pytest.raises(ValueError, match=r"a cotangent of Linear\.bias, which the filter"):
        ours.grad(apply)(ours.Linear(1, 1, rngs=ours.Rngs(0)))
