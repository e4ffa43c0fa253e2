"""A transformer of characters learns a poem by William Blake (1794), and writes."""

import numpy as np

import bindax.numpy as jnp
from bindax import nnx, optimizers, random

TEXT = """\
Tyger Tyger, burning bright,
In the forests of the night;
What immortal hand or eye,
Could frame thy fearful symmetry?

In what distant deeps or skies,
Burnt the fire of thine eyes?
On what wings dare he aspire?
What the hand, dare seize the fire?

And what shoulder, and what art,
Could twist the sinews of thy heart?
And when thy heart began to beat,
What dread hand? and what dread feet?
"""
LETTERS = sorted(set(TEXT))
CODES = np.array([LETTERS.index(c) for c in TEXT])
LENGTH = 32


class Block(nnx.Module):
    """Attention and a small network, each added to what comes in."""

    def __init__(self, size, rngs):
        self.first, self.second = nnx.LayerNorm(size, rngs=rngs), nnx.LayerNorm(size, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(4, size, decode=False, rngs=rngs)
        self.wide = nnx.Linear(size, 4 * size, rngs=rngs)
        self.narrow = nnx.Linear(4 * size, size, rngs=rngs)

    def __call__(self, x, mask):
        """Apply both."""
        x = x + self.attention(self.first(x), mask=mask)
        return x + self.narrow(nnx.gelu(self.wide(self.second(x))))


class Writer(nnx.Module):
    """Tells for each character which may be the next one."""

    def __init__(self, size, rngs):
        self.letters = nnx.Embed(len(LETTERS), size, rngs=rngs)
        self.places = nnx.Embed(LENGTH, size, rngs=rngs)
        self.blocks = nnx.List([Block(size, rngs) for _ in range(2)])
        self.norm = nnx.LayerNorm(size, rngs=rngs)

    def __call__(self, codes):
        """Give a number for each character, at each place."""
        x = self.letters(codes) + self.places(jnp.arange(codes.shape[-1]))
        for block in self.blocks:
            x = block(x, nnx.make_causal_mask(codes))
        return self.letters.attend(self.norm(x))


@nnx.jit
def train_step(model, optimizer, codes):
    """Change the model so that it foresees a batch better; gives the loss."""

    def loss(model):
        logits = nnx.log_softmax(model(codes[:, :-1]))
        return -jnp.take_along_axis(logits, codes[:, 1:, None], axis=-1).mean()

    value, gradients = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradients)
    return value


@nnx.jit
def next_code(model, codes, place, key):
    """Draw the character after a place."""
    return random.categorical(key, 2.0 * model(codes[None])[0, place])


def write(model, start, count, rngs):
    """Continue a text."""
    codes = [LETTERS.index(c) for c in start]
    for _ in range(count):
        window = codes[-LENGTH:]
        padded = np.array(window + [0] * (LENGTH - len(window)))
        codes.append(int(next_code(model, padded, len(window) - 1, rngs.sample())))
    return "".join(LETTERS[c] for c in codes)


def main(steps=200, letters=120):
    """Train, write, and give the last loss."""
    numbers = np.random.default_rng(0)
    rngs = nnx.Rngs(0, sample=1)
    model = Writer(48, rngs)
    optimizer = nnx.Optimizer(model, optimizers.adamw(5e-3))
    loss = float("inf")
    for step in range(1, steps + 1):
        starts = numbers.integers(0, len(CODES) - LENGTH, 16)
        batch = np.stack([CODES[s : s + LENGTH + 1] for s in starts])
        loss = float(train_step(model, optimizer, batch))
        if step % 50 == 0:
            print(step, round(loss, 3))
    print(write(model, "Ty", letters, rngs))
    return loss


if __name__ == "__main__":
    main()
