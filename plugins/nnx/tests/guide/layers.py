"""Layers that are scanned, an ensemble that is mapped, and control flow with modules."""

import jax
import jax.numpy as jnp
from flax import nnx


class Layer(nnx.Module):
    def __init__(self, width: int, rngs: nnx.Rngs):
        self.linear = nnx.Linear(width, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)

    def __call__(self, x):
        return x + nnx.relu(self.dropout(self.norm(self.linear(x))))


class Tower(nnx.Module):
    """The same layer many times: initialized by ``vmap``, applied by ``scan``."""

    def __init__(self, width: int, depth: int, *, rngs: nnx.Rngs):
        @nnx.split_rngs(splits=depth)
        @nnx.vmap(in_axes=(0,), out_axes=0)
        def create_layer(rngs: nnx.Rngs):
            return Layer(width, rngs=rngs)

        self.layers = create_layer(rngs)
        self.depth = depth

    def __call__(self, x):
        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        def forward(x, layer: Layer):
            return layer(x)

        return forward(x, self.layers)


def main():
    results = {}
    x = jax.random.normal(jax.random.key(1), (6, 4))
    model = Tower(4, 3, rngs=nnx.Rngs(0))
    results["first"] = model(x)
    results["second"] = model(x)
    results["kernel"] = model.layers.linear.kernel[...]
    results["mean"] = model.layers.norm.mean[...]

    # Gradients through rematerialized layers, with respect to a part of the parameters.
    model.eval()

    @nnx.remat
    def apply(model, x):
        return model(x)

    only_kernels = nnx.DiffState(0, nnx.All(nnx.Param, nnx.PathContains("kernel")))
    grads = nnx.grad(lambda model, x: (apply(model, x) ** 2).sum(), argnums=only_kernels)(model, x)
    results["gradient"] = grads.layers.linear.kernel[...]
    results["number of gradients"] = jnp.array(len(jax.tree.leaves(grads)))

    # An ensemble: parameters are mapped, the batch is shared, the counter is not mapped.
    class Count(nnx.Variable):
        pass

    class Member(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(4, 2, rngs=rngs)
            self.count = Count(jnp.array(0))

        def __call__(self, x):
            self.count[...] = self.count[...] + 1
            return self.linear(x)

    axes = nnx.StateAxes({nnx.Param: 0, ...: None})

    @nnx.split_rngs(splits=5)
    @nnx.vmap(in_axes=(0,), out_axes=axes)
    def create(rngs):
        return Member(rngs)

    ensemble = create(nnx.Rngs(3))
    out = nnx.vmap(lambda member, x: member(x), in_axes=(axes, None))(ensemble, x)
    results["ensemble"] = out
    results["count"] = ensemble.count[...]

    # Control flow whose branches and bodies change modules.
    def grow(member):
        member.count[...] = member.count[...] + 10

    def keep(member):
        pass

    nnx.cond(out.sum() > -1e6, grow, keep, ensemble)
    results["after cond"] = ensemble.count[...]
    # The state of a while loop keeps its types, so it begins with a strong one.
    member, total = nnx.while_loop(
        lambda state: state[0].count[...] < 20,
        lambda state: (grow(state[0]), (state[0], state[1] + 1.0))[1],
        (ensemble, jnp.zeros(())),
    )
    results["after while"] = jnp.stack([member.count[...].astype(jnp.float32), total])

    rngs = nnx.Rngs(params=0, noise=2)
    results["keys"] = jnp.stack(
        [jax.random.key_data(key) for key in (rngs.params(), rngs.noise(), rngs.noise())]
    )
    return results
