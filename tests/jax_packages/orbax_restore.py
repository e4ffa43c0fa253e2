"""A training state that orbax saves twice, and restores."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import optax
import orbax.checkpoint as ocp


def main():
    optimizer = optax.adam(1e-2)
    parameters = {"w": jnp.linspace(-1, 1, 6).reshape(2, 3), "b": jnp.zeros(3)}
    state = {"parameters": parameters, "moments": optimizer.init(parameters), "step": 0}

    @jax.jit
    def update(parameters, moments):
        def loss(p):
            return jnp.sum((jnp.ones(2) @ p["w"] + p["b"] - 1) ** 2)

        changes, moments = optimizer.update(jax.grad(loss)(parameters), moments)
        return optax.apply_updates(parameters, changes), moments

    with tempfile.TemporaryDirectory() as folder:
        options = ocp.CheckpointManagerOptions(max_to_keep=2)
        with ocp.CheckpointManager(Path(folder), options=options) as manager:
            for step in range(4):
                new = update(state["parameters"], state["moments"])
                state = {"parameters": new[0], "moments": new[1], "step": step}
                manager.save(step, args=ocp.args.StandardSave(state))
            manager.wait_until_finished()
            kept = list(manager.all_steps())
            like = jax.tree.map(ocp.utils.to_shape_dtype_struct, state)
            read = manager.restore(3, args=ocp.args.StandardRestore(like))
            earlier = manager.restore(2)
    equal = jax.tree.all(jax.tree.map(lambda x, y: bool(jnp.all(x == y)), state, read))
    return (
        kept,
        read["parameters"],
        read["moments"],
        int(read["step"]),
        equal,
        earlier["parameters"],
    )
