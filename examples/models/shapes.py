"""A variational autoencoder (Kingma and Welling, 2014) learns to draw bars and boxes."""

import numpy as np

import bindax.numpy as jnp
from bindax import nnx, optimizers, random

SIZE = 8


def shapes(count, numbers):
    """Pictures of filled boxes."""
    images = np.zeros((count, SIZE, SIZE), "f4")
    for image in images:
        (top, left), (high, wide) = numbers.integers(0, 4, 2), numbers.integers(2, 5, 2)
        image[top : top + high, left : left + wide] = 1
    return images.reshape(count, -1)


class Autoencoder(nnx.Module):
    """An encoder to the mean and deviation of a few numbers, and a decoder of these."""

    def __init__(self, latent, rngs):
        self.encoder = nnx.Sequential(
            nnx.Linear(SIZE * SIZE, 64, rngs=rngs), nnx.relu, nnx.Linear(64, 2 * latent, rngs=rngs)
        )
        self.decoder = nnx.Sequential(
            nnx.Linear(latent, 64, rngs=rngs), nnx.relu, nnx.Linear(64, SIZE * SIZE, rngs=rngs)
        )
        self.latent, self.rngs = latent, rngs

    def __call__(self, x):
        """Give pictures like those given, and the mean and deviation."""
        mean, log_deviation = jnp.split(self.encoder(x), 2, axis=-1)
        noise = random.normal(self.rngs.noise(), mean.shape)
        return self.decoder(mean + jnp.exp(log_deviation) * noise), mean, log_deviation

    def draw(self, count):
        """New pictures."""
        return nnx.sigmoid(self.decoder(random.normal(self.rngs.noise(), (count, self.latent))))


@nnx.jit
def train_step(model, optimizer, x):
    """Change the model so that pictures become more probable; gives the loss."""

    def loss(model):
        logits, mean, log_deviation = model(x)
        picture = (nnx.softplus(logits) - x * logits).sum(-1)
        spread = jnp.exp(2 * log_deviation)
        prior = 0.5 * (mean**2 + spread - 1 - 2 * log_deviation).sum(-1)
        return (picture + prior).mean()

    value, gradients = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradients)
    return value


def as_text(image):
    """A picture in characters."""
    rows = np.asarray(image).reshape(SIZE, SIZE)
    return "\n".join("".join(" .:*#"[min(int(5 * x), 4)] for x in row) for row in rows)


def main(steps=300):
    """Train, print a new picture, and give the last loss."""
    numbers = np.random.default_rng(0)
    model = Autoencoder(4, nnx.Rngs(0, noise=1))
    optimizer = nnx.Optimizer(model, optimizers.adam(3e-3))
    loss = float("inf")
    for step in range(1, steps + 1):
        loss = float(train_step(model, optimizer, shapes(64, numbers)))
        if step % 100 == 0:
            print(step, round(loss, 2))
    print(as_text(model.draw(1)[0]))
    return loss


if __name__ == "__main__":
    main()
