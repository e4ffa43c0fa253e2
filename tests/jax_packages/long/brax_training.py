"""Environments of brax stepped with policies, and policies trained through them."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
from brax import envs
from brax.envs.wrappers import training as wrappers
from brax.io import json as brax_json
from brax.training import gradients
from brax.training.acme import running_statistics, specs
from brax.training.agents.ppo import networks as ppo_networks

STEPS, HORIZON = 200, 16


def describe(env):
    """Print what an environment is made of."""
    system = env.sys
    print(f"observations {env.observation_size}, actions {env.action_size}, dt {env.dt:.4f}")
    print("links", system.link_names, "types", system.link_types, "parents", system.link_parents)
    print("degrees of freedom", system.q_size(), system.qd_size(), "actuators", system.act_size())
    for name, value in (("gravity", system.gravity), ("mass", system.link.inertia.mass)):
        print(name, np.asarray(value))


def show_state(when, state):
    """Print the positions, the observation and the metrics of a state."""
    pipeline = state.pipeline_state
    print(f"{when}: q {np.asarray(pipeline.q)} qd {np.asarray(pipeline.qd)}")
    print(f"  observation {np.asarray(state.obs)} reward {state.reward:.5f} done {state.done:.0f}")
    for name, value in sorted(state.metrics.items()):
        print(f"  {name} {value:.5f}")


def roll_out(env):
    """Step one environment with a controller of ours, and print where it goes."""
    state = jax.jit(env.reset)(jax.random.PRNGKey(3))
    show_state("reset", state)
    gains = jnp.array([0.2, 3.0, 0.3, 0.6])

    def step(state, _):
        force = jnp.clip(gains @ state.obs, -1, 1)[None]
        state = env.step(state, force)
        return state, (state.pipeline_state.q, state.reward, force, state.done)

    last, (places, rewards, forces, done) = jax.jit(
        lambda state: jax.lax.scan(step, state, length=STEPS)
    )(state)
    for n in range(0, STEPS, 10):
        print(f"step {n}: cart {places[n, 0]:.5f} pole {places[n, 1]:.5f} force {forces[n, 0]:.5f}")
    show_state("last", last)
    print(f"sum of rewards {rewards.sum():.3f}, steps upright {int((done == 0).sum())}")
    text = brax_json.dumps(env.sys, [state.pipeline_state, last.pipeline_state])
    print("trajectory as JSON: begins", text[:60], "characters", len(text) > 1000)


def batches(env):
    """Step eight environments, that begin again at the end of their episodes."""
    wrapped = wrappers.wrap(env, episode_length=25, action_repeat=1)
    networks = ppo_networks.make_ppo_networks(
        env.observation_size,
        env.action_size,
        preprocess_observations_fn=running_statistics.normalize,
        policy_hidden_layer_sizes=(16, 16),
        value_hidden_layer_sizes=(16,),
    )
    statistics = running_statistics.init_state(specs.Array((env.observation_size,), jnp.float32))
    keys = jax.random.split(jax.random.PRNGKey(8), 3)
    policy = networks.policy_network.init(keys[0])
    value = networks.value_network.init(keys[1])
    for path, weight in jax.tree_util.tree_leaves_with_path((policy, value)):
        print(f"{jax.tree_util.keystr(path)} {weight.shape} {jnp.linalg.norm(weight):.5f}")
    act = ppo_networks.make_inference_fn(networks)

    @jax.jit
    def steps(state, statistics, key):
        def step(carry, key):
            state, statistics = carry
            action, extras = act((statistics, policy, value))(state.obs, key)
            statistics = running_statistics.update(statistics, state.obs)
            return (wrapped.step(state, action), statistics), (
                action,
                extras["log_prob"],
                state.done,
            )

        return jax.lax.scan(step, (state, statistics), jax.random.split(key, 20))

    state = jax.jit(wrapped.reset)(jax.random.split(keys[2], 8))
    for chunk in range(5):
        (state, statistics), (actions, chances, done) = steps(
            state, statistics, jax.random.fold_in(keys[2], chunk)
        )
        print(f"chunk {chunk}: actions {actions.mean():.5f} ± {actions.std():.5f}", end=" ")
        print(f"log of probability {chances.mean():.5f} ended {int(done.sum())}", end=" ")
        print("steps of episodes", np.asarray(state.info["steps"], int))
        print(f"  mean {np.asarray(statistics.mean)} deviation {np.asarray(statistics.std)}")
    return networks, statistics, policy


def train_through(env, networks, statistics, policy):
    """Train a policy by the gradient of rewards through the steps of the environment."""
    wrapped = wrappers.VmapWrapper(env)
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-2))

    def loss(policy, state):
        def step(state, _):
            logits = networks.policy_network.apply(statistics, policy, state.obs)
            state = wrapped.step(state, jnp.tanh(logits[..., : env.action_size]))
            return state, jnp.sum(state.pipeline_state.q**2, -1).mean()

        state, costs = jax.lax.scan(step, state, length=HORIZON)
        return costs.mean(), {"last": costs[-1], "speed": jnp.abs(state.pipeline_state.qd).mean()}

    update = jax.jit(
        gradients.gradient_update_fn(loss, optimizer, pmap_axis_name=None, has_aux=True)
    )
    state = jax.jit(wrapped.reset)(jax.random.split(jax.random.PRNGKey(5), 16))
    moments = optimizer.init(policy)
    for step in range(12):
        (value, more), policy, moments = update(policy, state, optimizer_state=moments)
        print(f"update {step}: cost {value:.6f} last {more['last']:.6f} speed {more['speed']:.5f}")
    print("parameters", [f"{jnp.linalg.norm(w):.5f}" for w in jax.tree.leaves(policy)])


def main():
    np.set_printoptions(precision=5, suppress=True)
    env = envs.get_environment("inverted_pendulum", backend="spring")
    describe(env)
    roll_out(env)
    train_through(env, *batches(env))


if __name__ == "__main__":
    main()
