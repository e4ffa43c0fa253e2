"""A model of own layers, trained: parameters, statistics, random streams and own state."""

from collections import defaultdict

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Affine(nnx.Module):
    def __init__(self, din: int, dout: int, *, rngs: nnx.Rngs):
        self.w = nnx.Param(jax.random.uniform(rngs.params(), (din, dout)))
        self.b = nnx.Param(jnp.zeros((dout,)))
        self.din, self.dout = din, dout

    def __call__(self, x: jax.Array):
        return jnp.dot(x, self.w) + self.b[None]


class Calls(nnx.Variable):
    pass


class Block(nnx.Module):
    def __init__(self, din: int, width: int, dout: int, *, rngs: nnx.Rngs):
        self.first = Affine(din, width, rngs=rngs)
        self.norm = nnx.BatchNorm(width, rngs=rngs)
        self.dropout = nnx.Dropout(0.2, rngs=rngs)
        self.last = nnx.Linear(width, dout, rngs=rngs)
        self.calls = Calls(jnp.array(0))

    def __call__(self, x):
        self.calls[...] += 1
        x = nnx.gelu(self.dropout(self.norm(self.first(x))))
        return self.last(x)


def main():
    results = {}
    model = Block(3, 8, 2, rngs=nnx.Rngs(0, dropout=1))
    x = jax.random.normal(jax.random.key(7), (16, 3))
    y = jnp.stack([jnp.sum(x, axis=1), jnp.prod(x, axis=1)], axis=1)
    results["before"] = model(x)

    descent = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(1e-2, momentum=0.9))
    optimizer = nnx.Optimizer(model, descent, wrt=nnx.Param)

    @nnx.jit
    def train_step(model, optimizer, x, y):
        def loss_fn(model):
            predicted = model(x)
            return jnp.mean((predicted - y) ** 2), predicted

        (loss, _), grads = nnx.value_and_grad(loss_fn, has_aux=True)(model)
        optimizer.update(model, grads)
        return loss

    results["losses"] = jnp.stack([train_step(model, optimizer, x, y) for _ in range(10)])
    results["calls"] = model.calls[...]
    results["mean"] = model.norm.mean[...]

    # The functional form: structure and state apart, by filters.
    graphdef, params, counts, rest = nnx.split(model, nnx.Param, Calls, ...)
    names = sorted("/".join(map(str, path)) for path, _ in nnx.to_flat_state(params))
    results["names"] = jnp.array([len(names), sum(map(len, names))])
    grown = jax.tree.map(lambda p: p * 1.5, params)
    other = nnx.clone(nnx.merge(graphdef, grown, counts, rest))
    other.eval()
    model.eval()
    results["merged"] = other(x)
    results["evaluated"] = model(x)
    results["same in evaluation"] = jnp.allclose(model(x), model(x))

    @jax.jit
    def forward(graphdef, state, x):
        model = nnx.merge(graphdef, state)
        out = model(x)
        return out, nnx.state(model, Calls)

    out, counted = forward(*nnx.split(model), x)
    nnx.update(model, counted)
    results["functional"] = out
    results["counted"] = model.calls[...]

    kinds = defaultdict(int)
    for _, node in nnx.iter_graph(model):
        kinds[type(node).__name__] += isinstance(node, (nnx.Module, nnx.Variable))
    results["kinds"] = jnp.array([kinds[k] for k in ("Affine", "Linear", "Param", "BatchStat")])
    return results
