"""A training that is killed, and goes on where orbax kept it, with other shardings."""

import json
import logging
import os
from pathlib import Path

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
import optax
import orbax.checkpoint as ocp
from jax.sharding import Mesh, NamedSharding, PartitionSpec

FOLDER = Path("checkpoints").absolute()
HANDLERS = {"state": ocp.StandardCheckpointHandler(), "notes": ocp.JsonCheckpointHandler()}
KILLED_AFTER, STEPS, EVERY = 23, 40, 5
logging.disable(logging.WARNING)


def mesh_of(first_run):
    """The devices of a run: four in a row, or, when it starts again, two by two."""
    devices = np.array(jax.devices()[:4])
    return Mesh(devices, ("data",)) if first_run else Mesh(devices.reshape(2, 2), ("data", "model"))


def shardings(mesh, state):
    """The shardings of a state: matrices by rows, by columns on a mesh with an axis for them."""
    columns = "model" if "model" in mesh.axis_names else None

    def of(x):
        by_rows = np.ndim(x) == 2 and x.shape[0] % mesh.shape["data"] == 0
        return NamedSharding(mesh, PartitionSpec("data", columns) if by_rows else PartitionSpec())

    return jax.tree.map(of, state)


def begin():
    keys = jax.random.split(jax.random.key(4), 3)
    parameters = {
        "first": {"w": jax.random.normal(keys[0], (8, 16)) / 3, "b": jnp.zeros(16)},
        "second": {"w": jax.random.normal(keys[1], (16, 4)) / 4, "b": jnp.zeros(4, jnp.bfloat16)},
    }
    return {
        "parameters": parameters,
        "moments": optimizer().init(parameters),
        "key": jax.random.key_data(keys[2]),
        "seen": np.int32(0),
    }


def optimizer():
    rate = optax.warmup_cosine_decay_schedule(0.0, 3e-2, 5, STEPS)
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=1e-3))


def batch_of(key):
    x = jax.random.normal(key, (32, 8))
    return x, jnp.stack([jnp.sin(x[:, 0]), x[:, 1] * x[:, 2], jnp.abs(x[:, 3]), x[:, 4]], 1)


@jax.jit
def update(state):
    key, used = jax.random.split(jax.random.wrap_key_data(state["key"]))
    x, y = batch_of(used)

    def loss(p):
        hidden = jnp.tanh(x @ p["first"]["w"] + p["first"]["b"])
        found = hidden @ p["second"]["w"] + p["second"]["b"].astype(jnp.float32)
        return jnp.mean((found - y) ** 2)

    value, slope = jax.value_and_grad(loss)(state["parameters"])
    changes, moments = optimizer().update(slope, state["moments"], state["parameters"])
    new = {
        "parameters": optax.apply_updates(state["parameters"], changes),
        "moments": moments,
        "key": jax.random.key_data(key),
        "seen": state["seen"] + len(x),
    }
    return new, {"loss": value, "slope": optax.global_norm(slope)}


def describe(state):
    """Print each array of a state, and how it lies."""
    for path, x in jax.tree_util.tree_leaves_with_path(state):
        total = np.asarray(x, np.float64).sum()
        lies = getattr(x.sharding, "spec", None) if isinstance(x, jax.Array) else None
        name = jax.tree_util.keystr(path, simple=True, separator="/")
        print(f"  {name}: {x.dtype}{list(x.shape)} sum {total:.5f} on {lies}")


def show(manager):
    """Print what the folder has."""
    print(
        "steps", manager.all_steps(), "latest", manager.latest_step(), "best", manager.best_step()
    )
    for step in manager.all_steps():
        print(
            f"  {step}: loss {manager.metrics(step)['loss']:.5f}",
            sorted(os.listdir(FOLDER / str(step))),
        )


def restore(manager, mesh):
    """Read the latest step, each array to where it lies in this run."""
    like = jax.eval_shape(begin)
    like = jax.tree.map(
        lambda x, s: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=s), like, shardings(mesh, like)
    )
    step = manager.latest_step()
    items = ocp.args.Composite(state=ocp.args.StandardRestore(like), notes=ocp.args.JsonRestore())
    found = manager.restore(step, args=items)
    print("restored", step, found.notes)
    return step, found.state


def show_metadata(manager):
    metadata = manager.item_metadata(manager.latest_step())
    print("items", sorted(metadata.keys()))
    for path, x in jax.tree_util.tree_leaves_with_path(dict(metadata.state)):
        name = jax.tree_util.keystr(path)
        print(f"  {name}: {np.dtype(x.dtype)}{list(x.shape)} {x.storage is not None}")
    written = json.loads((FOLDER / str(manager.latest_step()) / "state/_METADATA").read_text())
    for entry in sorted(written["tree_metadata"]):
        print("  written", entry, written["tree_metadata"][entry]["value_metadata"]["value_type"])


def main():
    first_run = not FOLDER.exists()
    mesh = mesh_of(first_run)
    print(
        "devices", len(jax.devices()), "mesh", dict(mesh.shape), "first" if first_run else "again"
    )
    options = ocp.CheckpointManagerOptions(
        max_to_keep=3,
        save_interval_steps=EVERY,
        best_fn=lambda m: m["loss"],
        best_mode="min",
        keep_checkpoints_without_metrics=False,
        create=True,
    )
    with ocp.CheckpointManager(FOLDER, options=options, item_handlers=HANDLERS) as manager:
        begun, state = 0, jax.device_put(begin(), shardings(mesh, begin()))
        if not first_run:
            show(manager)
            show_metadata(manager)
            latest, state = restore(manager, mesh)
            begun = latest + 1
        describe(state)
        for step in range(begun, STEPS):
            state, metrics = update(state)
            print(f"step {step}: " + ", ".join(f"{k} {v:.5f}" for k, v in metrics.items()))
            items = ocp.args.Composite(
                state=ocp.args.StandardSave(state),
                notes=ocp.args.JsonSave({"step": step, "seen": int(state["seen"])}),
            )
            measured = {k: float(v) for k, v in metrics.items()}
            if manager.save(step, args=items, metrics=measured):
                print("saved", step)
            if first_run and step == KILLED_AFTER:
                manager.wait_until_finished()
                print("killed", flush=True)
                os._exit(75)  # nothing is closed, as when a machine is taken away
        manager.wait_until_finished()
        show(manager)
        describe(state)
        best = manager.restore(
            manager.best_step(), args=ocp.args.Composite(state=ocp.args.StandardRestore())
        )
        print("best, without saying what is in it", sorted(best.state))
        describe(best.state["parameters"])
        other = {"parameters": {"first": jnp.zeros(3)}}
        try:
            items = ocp.args.Composite(state=ocp.args.StandardRestore(other))
            manager.restore(manager.latest_step(), args=items)
        except ValueError as error:
            print("another tree:", type(error).__name__)
    with ocp.StandardCheckpointer() as checkpointer:
        checkpointer.save(FOLDER / "last", state)
        checkpointer.wait_until_finished()
        whole = checkpointer.restore(FOLDER / "last", state)
    equal = jax.tree.map(
        lambda a, b: bool((a == b).all()) and a.sharding == b.sharding, state, whole
    )
    print("same as saved", jax.tree.all(equal))


if __name__ == "__main__":
    main()
