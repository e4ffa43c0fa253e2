"""Layers and metrics piece by piece: norms, recurrent layers, a cache, running figures."""

import jax
import jax.numpy as jnp
from flax import nnx


def norms(results):
    x = jax.random.normal(jax.random.key(1), (3, 5, 4))
    axes = nnx.StateAxes({...: None})

    # Statistics across the mapped axis, too.
    norm = nnx.BatchNorm(4, axis_name="devices", momentum=0.8, rngs=nnx.Rngs(0))
    norm.scale[...] = jnp.arange(4.0)

    @nnx.vmap(in_axes=(axes, 0), axis_name="devices")
    def apply(norm, x):
        return norm(x)

    results["mapped norm"] = apply(norm, x)
    results["mapped mean"] = norm.mean[...]
    results["mapped variance"] = norm.var[...]
    plain = nnx.BatchNorm(4, momentum=0.8, rngs=nnx.Rngs(0))
    plain(x)
    results["one mean"] = plain.mean[...]
    norm.eval()
    results["evaluated norm"] = apply(norm, x)

    def loss(norm, x):
        return (apply(norm, x) ** 3).sum()

    norm.train()
    grads = nnx.grad(loss)(norm, x)
    results["gradient of mapped norm"] = grads["scale"][...]

    weighted = nnx.WeightNorm(nnx.Linear(4, 3, rngs=nnx.Rngs(2)), rngs=nnx.Rngs(3))
    results["weight norm"] = weighted(x)
    spectral = nnx.SpectralNorm(nnx.Linear(4, 3, rngs=nnx.Rngs(2)), rngs=nnx.Rngs(3))
    results["spectral norm"] = jnp.stack([spectral(x, update_stats=True) for _ in range(3)])
    results["spectral norm, still"] = spectral(x, update_stats=False)


def recurrent(results):
    x = jax.random.normal(jax.random.key(4), (2, 6, 3))
    lengths = jnp.array([6, 3])
    rnn = nnx.RNN(nnx.LSTMCell(3, 4, rngs=nnx.Rngs(0)), return_carry=True)
    (cell, hidden), out = rnn(x, seq_lengths=lengths)
    results["cell"], results["hidden"], results["outputs"] = cell, hidden, out
    backwards = nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(1)), reverse=True, keep_order=True)
    results["backwards"] = backwards(x, seq_lengths=lengths)
    major = nnx.RNN(nnx.SimpleCell(3, 4, rngs=nnx.Rngs(1)), time_major=True)
    results["time first"] = major(jnp.swapaxes(x, 0, 1))
    both = nnx.Bidirectional(
        nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(2))), nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(3)))
    )
    results["both"] = both(x)
    grads = nnx.grad(lambda rnn: rnn(x)[1].sum())(rnn)
    results["gradient"] = jax.tree.leaves(grads)[0]
    given = rnn.cell.initialize_carry((2, 3), nnx.Rngs(5), carry_init=nnx.initializers.normal(1.0))
    results["carry"] = jnp.stack(given)


def decoded(results):
    attention = nnx.MultiHeadAttention(2, 4, decode=True, rngs=nnx.Rngs(0))
    attention.init_cache((1, 5, 4))
    steps = jax.random.normal(jax.random.key(6), (5, 1, 1, 4))
    results["decoded"] = jnp.stack([attention(step) for step in steps])
    results["cached"] = attention.cached_key[...]
    results["position"] = attention.cache_index[...]


def figures(results):
    values = jax.random.normal(jax.random.key(7), (3, 4))
    logits = jax.random.normal(jax.random.key(8), (3, 4, 5))
    labels = jnp.arange(12).reshape(3, 4) % 5
    metrics = nnx.MultiMetric(
        accuracy=nnx.metrics.Accuracy(),
        loss=nnx.metrics.Average("loss"),
        spread=nnx.metrics.Welford("loss"),
    )
    for row, row_logits, row_labels in zip(values, logits, labels, strict=True):
        metrics.update(loss=row, logits=row_logits, labels=row_labels)
    found = metrics.compute()
    results["figures"] = jnp.stack([found["accuracy"], found["loss"]])
    results["spread"] = jnp.stack(
        [
            found["spread"].mean,
            found["spread"].standard_error_of_mean,
            found["spread"].standard_deviation,
        ]
    )
    metrics.reset()
    metrics.update(loss=values[0], logits=logits[0], labels=labels[0])
    results["after reset"] = metrics.compute()["loss"]


def main():
    results = {}
    norms(results)
    recurrent(results)
    decoded(results)
    figures(results)
    return results
