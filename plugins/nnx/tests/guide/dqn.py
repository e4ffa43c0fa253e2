"""Q-learning on a line of fields: a network, its slow copy, a buffer of what happened."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

FIELDS = 5


class Q(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(FIELDS, 8, rngs=rngs)
        self.out = nnx.Linear(8, 2, rngs=rngs)

    def __call__(self, place):
        return self.out(nnx.tanh(self.hidden(nnx.one_hot(place, FIELDS))))


class Buffer(nnx.Module):
    """The last steps, and where the next one goes."""

    def __init__(self, size):
        self.next = nnx.Variable(jnp.zeros((), jnp.int32))
        self.steps = nnx.Variable(jnp.zeros((size, 4)))

    def add(self, step):
        self.steps[...] = self.steps.at[self.next[...]].set(step)
        self.next[...] = (self.next[...] + 1) % self.steps.shape[0]

    def sample(self, count, rngs):
        return self.steps[...][rngs.replay.randint((count,), 0, self.steps.shape[0])]


def acted(place, action):
    """The next place, and what it pays to come there: the last field pays, and is left."""
    ahead = jnp.clip(place + 2 * action - 1, 0, FIELDS - 1)
    paid = (ahead == FIELDS - 1).astype(jnp.float32)
    return jnp.where(paid > 0, 0, ahead), paid


def loss_of(q, slow, batch):
    place, action, paid, ahead = batch.T
    target = paid + 0.9 * slow(ahead.astype(int)).max(-1)
    chosen = jnp.take_along_axis(q(place.astype(int)), action.astype(int)[:, None], 1)[:, 0]
    return optax.huber_loss(chosen, jax.lax.stop_gradient(target)).mean()


@nnx.jit
def train_step(q, slow, buffer, optimizer, place, rngs):
    greedy = q(place).argmax()
    action = jnp.where(rngs.action.uniform() < 0.5, rngs.action.randint((), 0, 2), greedy)
    ahead, paid = acted(place, action)
    buffer.add(jnp.stack([place, action, paid, ahead]).astype(jnp.float32))
    loss, gradients = nnx.value_and_grad(loss_of)(q, slow, buffer.sample(8, rngs))
    optimizer.update(q, gradients)
    fast, old = nnx.state(q, nnx.Param), nnx.state(slow, nnx.Param)
    nnx.update(slow, optax.incremental_update(fast, old, 0.1))
    return loss, ahead


def main():
    rngs = nnx.Rngs(0, action=1, replay=2)
    q = Q(rngs)
    slow, buffer = nnx.clone(q), Buffer(16)
    optimizer = nnx.Optimizer(q, optax.adam(3e-2), wrt=nnx.Param)
    place, losses = jnp.zeros((), jnp.int32), []
    for _ in range(24):
        loss, place = train_step(q, slow, buffer, optimizer, place, rngs)
        losses.append(loss)
    return {
        "losses": jnp.stack(losses),
        "steps": buffer.steps[...],
        "q": q(jnp.arange(FIELDS)),
        "slow": slow(jnp.arange(FIELDS)),
    }
