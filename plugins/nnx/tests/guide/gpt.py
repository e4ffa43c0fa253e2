"""A language model of letters: causal attention, tied embeddings, text that it continues."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx

TEXT = "the rain in spain stays mainly in the plain "
LETTERS = sorted(set(TEXT))
LENGTH = 12


class Block(nnx.Module):
    def __init__(self, width, rngs):
        self.attention = nnx.MultiHeadAttention(
            num_heads=2, in_features=width, use_bias=False, rngs=rngs
        )
        self.norms = nnx.List([nnx.RMSNorm(width, rngs=rngs) for _ in range(2)])
        self.wide = nnx.Linear(width, 4 * width, rngs=rngs)
        self.narrow = nnx.Linear(4 * width, width, rngs=rngs)

    def __call__(self, x, mask):
        x = x + self.attention(self.norms[0](x), mask=mask, decode=False)
        return x + self.narrow(nnx.silu(self.wide(self.norms[1](x))))


class Gpt(nnx.Module):
    def __init__(self, width, rngs):
        self.letters = nnx.Embed(len(LETTERS), width, rngs=rngs)
        self.places = nnx.Embed(LENGTH, width, rngs=rngs)

        @nnx.split_rngs(splits=2)
        @nnx.vmap
        def blocks(rngs):
            return Block(width, rngs)

        self.blocks = blocks(rngs)
        self.norm = nnx.RMSNorm(width, rngs=rngs)

    def __call__(self, letters):
        mask = nnx.make_causal_mask(letters)
        x = self.letters(letters) + self.places(jnp.arange(letters.shape[-1]))

        @nnx.scan(in_axes=(nnx.Carry, 0), out_axes=nnx.Carry)
        @nnx.remat
        def through(x, block):
            return block(x, mask)

        return self.letters.attend(self.norm(through(x, self.blocks)))


def loss_of(model, letters):
    scores = model(letters[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(scores, letters[:, 1:]).mean()


@nnx.jit
def train_step(model, optimizer, letters):
    loss, gradients = nnx.value_and_grad(loss_of)(model, letters)
    optimizer.update(model, gradients)
    return loss


@nnx.jit
def continued(model, letters, count):
    """The letters with the most likely ones after the first few."""

    def step(i, state):
        model, letters = state
        scores = model(letters)[:, i - 1]
        return model, letters.at[:, i].set(scores.argmax(-1))

    return nnx.fori_loop(count, letters.shape[1], step, (model, letters))[1]


def main():
    model = Gpt(16, nnx.Rngs(0))
    clipped = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(3e-2))
    optimizer = nnx.Optimizer(model, clipped, wrt=nnx.Param)
    numbers = jnp.array([LETTERS.index(x) for x in TEXT])
    starts = jax.random.randint(jax.random.key(1), (8, 4), 0, len(TEXT) - LENGTH - 1)
    losses = []
    for start in starts:
        batch = jnp.stack([numbers[i : i + LENGTH + 1] for i in start.tolist()])
        losses.append(train_step(model, optimizer, batch))
    prompt = jnp.zeros((1, LENGTH), int).at[0, :4].set(numbers[:4])
    return {
        "losses": jnp.stack(losses),
        "scores": model(batch[:, :-1]),
        "continued": continued(model, prompt, 4),
    }
