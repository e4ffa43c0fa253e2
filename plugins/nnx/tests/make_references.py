"""Write stored answers of Flax, the files `*.npz` here. Needs the group `reference`."""

import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

sys.path.insert(0, str(Path(__file__).parent))
from _guide import MODELS, PROGRAMS, run
from _layer_cases import CASES, X, call
from _rope_cases import attention, rotated
from _sweep_cases import cases, write
from _sweep_cases import run as run_case


def main() -> None:
    found = {}
    for name, (inputs, make) in CASES.items():
        layer = make(nnx, nnx.Rngs(0))
        found[f"{name}/out"] = np.asarray(call(nnx, name, layer, X[inputs]))
        for path, variable in nnx.to_flat_state(nnx.state(layer, (nnx.Param, nnx.BatchStat))):
            found[f"{name}/state/{'/'.join(map(str, path))}"] = np.asarray(variable[...])
    rngs = nnx.Rngs(1, noise=2)
    drawn = [rngs.params(), rngs.params(), rngs.noise(), rngs()]
    found["rngs"] = np.stack([jax.random.key_data(key) for key in drawn])
    backups = nnx.split_rngs(rngs, splits=3, only="noise")
    found["split"] = np.asarray(jax.random.key_data(rngs.noise.key[...]))
    nnx.restore_rngs(backups)
    found["restored"] = np.asarray(jax.random.key_data(rngs.noise()))
    found["layers"], found["layers_grad"] = scan_over_layers()
    found["training"] = training()
    np.savez_compressed(Path(__file__).with_name("references.npz"), **found)
    write(Path(__file__).with_name("sweep.npz"), sweep())
    if hasattr(nnx, "RoPE"):  # of Flax 0.12.12
        rope = {k: np.asarray(x) for k, x in {**rotated(nnx), **attention(nnx)}.items()}
        np.savez_compressed(Path(__file__).with_name("rope.npz"), **rope)
    for name, programs in (("guide", PROGRAMS), ("models", MODELS)):
        found = {f"{n}/{key}": x for n in programs for key, x in run(n, {}).items()}
        np.savez_compressed(Path(__file__).with_name(f"{name}.npz"), **found)


def sweep():
    """The answers to the cases that Flax does not refuse."""
    answers = {}
    for name, case in cases():
        try:
            answers[name] = run_case(nnx, jnp, case)
        except (TypeError, ValueError, RuntimeError, NotImplementedError):
            continue
    return answers


def scan_over_layers():
    @nnx.split_rngs(splits=4)
    @nnx.vmap(in_axes=0, out_axes=0)
    def make(rngs):
        return nnx.Linear(6, 6, rngs=rngs)

    layers = make(nnx.Rngs(0))

    @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
    @nnx.remat
    def apply(x, layer):
        return jnp.tanh(layer(x))

    def loss(layers):
        return apply(X["vectors"], layers).sum()

    return np.asarray(apply(X["vectors"], layers)), np.asarray(
        nnx.grad(loss)(layers)["kernel"][...]
    )


def training():
    model = nnx.Linear(6, 1, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(0.1), wrt=nnx.Param)
    losses = []
    for _ in range(5):
        value, grads = nnx.value_and_grad(lambda m: (m(X["vectors"]) ** 2).mean())(model)
        optimizer.update(model, grads)
        losses.append(float(value))
    return np.array(losses)


if __name__ == "__main__":
    main()
