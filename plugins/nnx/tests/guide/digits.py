"""A convolutional network with metrics, trained and evaluated in epochs."""

from functools import partial

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class CNN(nnx.Module):
    """Two convolutions with batch norm, pooled, and two dense layers."""

    def __init__(self, *, rngs: nnx.Rngs):
        self.conv1 = nnx.Conv(1, 4, kernel_size=(3, 3), rngs=rngs)
        self.batch_norm1 = nnx.BatchNorm(4, rngs=rngs)
        self.dropout1 = nnx.Dropout(rate=0.025, rngs=rngs)
        self.conv2 = nnx.Conv(4, 8, kernel_size=(3, 3), rngs=rngs)
        self.avg_pool = partial(nnx.avg_pool, window_shape=(2, 2), strides=(2, 2))
        self.linear1 = nnx.Linear(32, 16, rngs=rngs)
        self.dropout2 = nnx.Dropout(rate=0.025, rngs=rngs)
        self.linear2 = nnx.Linear(16, 10, rngs=rngs)

    def __call__(self, x, rngs: nnx.Rngs | None = None):
        x = self.avg_pool(nnx.relu(self.batch_norm1(self.dropout1(self.conv1(x), rngs=rngs))))
        x = self.avg_pool(nnx.relu(self.conv2(x)))
        x = x.reshape(x.shape[0], -1)
        x = nnx.relu(self.dropout2(self.linear1(x), rngs=rngs))
        return self.linear2(x)


def loss_fn(model: CNN, rngs: nnx.Rngs, batch):
    logits = model(batch["image"], rngs)
    loss = optax.softmax_cross_entropy_with_integer_labels(
        logits=logits, labels=batch["label"]
    ).mean()
    return loss, logits


@nnx.jit
def train_step(model, optimizer, metrics, rngs, batch):
    """Train for a single step."""
    grad_fn = nnx.value_and_grad(loss_fn, has_aux=True)
    (loss, logits), grads = grad_fn(model, rngs, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])
    optimizer.update(model, grads)


@nnx.jit
def eval_step(model, metrics, rngs, batch):
    loss, logits = loss_fn(model, rngs, batch)
    metrics.update(loss=loss, logits=logits, labels=batch["label"])


@nnx.jit
def pred_step(model, batch):
    return model(batch["image"]).argmax(axis=1)


def batches(count):
    for i in range(count):
        labels = jax.random.randint(jax.random.key(i), (8,), 0, 10)
        noise = 0.3 * jax.random.normal(jax.random.key(100 + i), (8, 8, 8, 1))
        drawn = jax.nn.one_hot(labels, 10)
        image = (
            noise.at[:, :4, :5, 0].add(drawn[:, None, :5]).at[:, 4:, 3:, 0].add(drawn[:, None, 5:])
        )
        yield {"image": image, "label": labels}


def main():
    model = CNN(rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.adamw(0.02, b1=0.9), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    rngs = nnx.Rngs(0)
    history = {"train_loss": [], "train_accuracy": [], "test_loss": [], "test_accuracy": []}
    for _ in range(2):
        model.train()
        for batch in batches(6):
            train_step(model, optimizer, metrics, rngs, batch)
        for name, value in metrics.compute().items():
            history[f"train_{name}"].append(value)
        metrics.reset()
        model.eval()
        for batch in batches(2):
            eval_step(model, metrics, rngs, batch)
        for name, value in metrics.compute().items():
            history[f"test_{name}"].append(value)
        metrics.reset()
    results = {name: jnp.stack(values) for name, values in history.items()}
    results["predicted"] = pred_step(model, next(batches(1)))
    results["steps"] = optimizer.step[...]
    return results
