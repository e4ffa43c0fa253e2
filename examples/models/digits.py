"""A convolutional network with batch norm reads digits that are drawn with noise."""

import numpy as np

import bindax.numpy as jnp
from bindax import nnx, optimizers

ROWS = [
    "111",
    "010",
    "111",
    "111",
    "101",
    "111",
    "111",
    "111",
    "111",
    "111",
    "101",
    "110",
    "001",
    "001",
    "101",
    "100",
    "100",
    "001",
    "101",
    "101",
    "101",
    "010",
    "111",
    "111",
    "111",
    "111",
    "111",
    "010",
    "111",
    "111",
    "101",
    "010",
    "100",
    "001",
    "001",
    "001",
    "101",
    "010",
    "101",
    "001",
    "111",
    "111",
    "111",
    "111",
    "001",
    "111",
    "111",
    "010",
    "111",
    "111",
]
GLYPHS = np.array([[[int(c) for c in ROWS[10 * i + d]] for i in range(5)] for d in range(10)])


def draw(labels, random):
    """Pictures of digits, moved and noisy."""
    images = random.normal(0, 0.3, (len(labels), 8, 8, 1)).astype("f4")
    for image, label in zip(images, labels, strict=True):
        y, x = random.integers(0, 4), random.integers(0, 6)
        image[y : y + 5, x : x + 3, 0] += GLYPHS[label]
    return images


class Network(nnx.Module):
    """Two convolutions and two linear layers."""

    def __init__(self, rngs):
        self.first = nnx.Conv(1, 8, (3, 3), rngs=rngs)
        self.norm = nnx.BatchNorm(8, rngs=rngs)
        self.second = nnx.Conv(8, 16, (3, 3), rngs=rngs)
        self.hidden = nnx.Linear(64, 32, rngs=rngs)
        self.dropout = nnx.Dropout(0.1, rngs=rngs)
        self.out = nnx.Linear(32, 10, rngs=rngs)

    def __call__(self, x):
        """Give a number for each digit."""
        x = nnx.max_pool(nnx.relu(self.norm(self.first(x))), (2, 2), (2, 2))
        x = nnx.max_pool(nnx.relu(self.second(x)), (2, 2), (2, 2))
        x = self.dropout(nnx.relu(self.hidden(x.reshape(x.shape[0], -1))))
        return self.out(x)


def loss_of(model, images, labels):
    """The cross entropy, and what the model says."""
    logits = model(images)
    chosen = jnp.take_along_axis(nnx.log_softmax(logits), labels[:, None], axis=-1)
    return -chosen.mean(), logits


@nnx.jit
def train_step(model, optimizer, metrics, images, labels):
    """Change the model so that it reads a batch better."""
    compute = nnx.value_and_grad(loss_of, has_aux=True)
    (loss, logits), gradients = compute(model, images, labels)
    optimizer.update(model, gradients)
    metrics.update(loss=loss, logits=logits, labels=labels)


@nnx.jit
def read(model, images):
    """The digits that a model sees."""
    return jnp.argmax(model(images), axis=-1)


def main(steps=500):
    """Train, and give the share of new pictures that is read right."""
    random = np.random.default_rng(0)
    model = Network(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optimizers.adam(3e-3))
    metrics = nnx.MultiMetric(loss=nnx.Average("loss"), accuracy=nnx.Accuracy())
    for step in range(1, steps + 1):
        labels = random.integers(0, 10, 64)
        train_step(model, optimizer, metrics, draw(labels, random), labels)
        if step % 100 == 0:
            print(step, {name: round(float(x), 3) for name, x in metrics.compute().items()})
            metrics.reset()
    model.eval()
    labels = random.integers(0, 10, 200)
    return float((read(model, draw(labels, random)) == labels).mean())


if __name__ == "__main__":
    print("read right:", main())
