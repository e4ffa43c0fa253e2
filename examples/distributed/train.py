"""Train a network on the devices of several processes, with checkpoints.

    python examples/distributed/launch.py 2 examples/distributed/train.py --data 2

The mesh has two axes: rows of the data are divided along ``data``, columns of the weights along
``model``. Without arguments of ``launch.py`` the same program runs in one process.
"""

import argparse
import os
from pathlib import Path

import numpy as np

import bindax
from bindax import nnx
from bindax.sharding import Mesh, NamedSharding
from bindax.sharding import PartitionSpec as P

ROWS, INPUTS, HIDDEN = 64, 8, 16
SPECS = {"inner": P(None, "model"), "outer": P("model", None), "bias": P("model")}


def on_mesh(mesh: Mesh, spec: P, whole: np.ndarray) -> bindax.Array:
    """An array on a mesh; each process takes the parts that it needs."""
    sharding = NamedSharding(mesh, spec)
    return bindax.make_array_from_callback(whole.shape, sharding, lambda index: whole[index])


def start(mesh: Mesh) -> dict[str, bindax.Array]:
    """The weights to begin with: the same in all processes, as the seed is."""
    random = np.random.default_rng(0)
    weights = {
        "inner": random.normal(size=(INPUTS, HIDDEN)) / INPUTS**0.5,
        "outer": random.normal(size=(HIDDEN, 1)) / HIDDEN**0.5,
        "bias": np.zeros(HIDDEN),
    }
    return {name: on_mesh(mesh, SPECS[name], x) for name, x in weights.items()}


def batch(mesh: Mesh, step: int) -> tuple[bindax.Array, bindax.Array]:
    """The data of a step."""
    x = np.random.default_rng(step + 1).normal(size=(ROWS, INPUTS))
    y = np.sin(x.sum(1, keepdims=True))
    return on_mesh(mesh, P("data", None), x), on_mesh(mesh, P("data", None), y)


def loss(weights, x, y):
    """The mean squared error of the network."""
    hidden = bindax.nn.relu(x @ weights["inner"] + weights["bias"])
    return ((hidden @ weights["outer"] - y) ** 2).mean()


def make_step(mesh: Mesh):
    """A compiled step of gradient descent; XLA adds what the devices exchange."""

    def step(weights, x, y):
        value, gradient = bindax.value_and_grad(loss)(weights, x, y)
        return value, bindax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient)

    stay = {name: NamedSharding(mesh, spec) for name, spec in SPECS.items()}
    return bindax.jit(step, out_shardings=(NamedSharding(mesh, P()), stay))


def train(mesh: Mesh, steps: int, checkpoint: Path | None = None, every: int = 5) -> list[float]:
    """Train from the last checkpoint on, or from the start; returns the loss of each step."""
    state = {"step": np.array(0), "weights": start(mesh)}
    if checkpoint is not None and checkpoint.exists():
        state = nnx.load(checkpoint, like=state)
    step, losses = make_step(mesh), []
    for i in range(int(state["step"]), steps):
        value, state["weights"] = step(state["weights"], *batch(mesh, i))
        losses.append(float(value))
        if bindax.process_index() == 0:
            print(f"step {i} loss {losses[-1]:.9f}", flush=True)
        if checkpoint is not None and (i + 1) % every == 0:
            state["step"] = np.array(i + 1)
            nnx.save(checkpoint, state, sharded=True, overwrite=True)
    return losses


def main() -> None:
    """Join the other processes, if there are any, and train."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=int, default=1, help="devices along the data")
    parser.add_argument("--model", type=int, default=1, help="devices along the model")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--checkpoint", type=Path)
    options = parser.parse_args()
    if "PROCESSES" in os.environ:
        bindax.distributed.initialize(
            os.environ["COORDINATOR"],
            num_processes=int(os.environ["PROCESSES"]),
            process_id=int(os.environ["PROCESS"]),
            initialization_timeout=60,
            heartbeat_timeout_seconds=20,
        )
    mesh = bindax.make_mesh((options.data, options.model), ("data", "model"))
    train(mesh, options.steps, options.checkpoint)


if __name__ == "__main__":
    main()
