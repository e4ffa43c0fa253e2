"""A flat buffer and a prioritised one of flashbax, filled and sampled."""

import flashbax as fbx
import jax
import jax.numpy as jnp


def main():
    flat = fbx.make_flat_buffer(max_length=16, min_length=2, sample_batch_size=3)
    example = {"seen": jnp.zeros(2), "reward": jnp.array(0.0)}
    state = flat.init(example)
    add = jax.jit(flat.add, donate_argnums=0)
    for i in range(6):
        state = add(state, {"seen": jnp.full(2, float(i)), "reward": jnp.array(i / 2)})
    batch = jax.jit(flat.sample)(state, jax.random.PRNGKey(0)).experience
    ranked = fbx.make_prioritised_flat_buffer(16, 2, 4)
    held = ranked.init(example)
    for i in range(6):
        held = ranked.add(held, {"seen": jnp.full(2, float(i)), "reward": jnp.array(i / 2)})
    drawn = ranked.sample(held, jax.random.PRNGKey(1))
    held = ranked.set_priorities(held, drawn.indices, jnp.arange(1.0, 5.0))
    again = ranked.sample(held, jax.random.PRNGKey(2))
    return batch, flat.can_sample(state), again.experience, again.probabilities
