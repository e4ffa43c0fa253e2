"""A vision transformer: patches, a class token, blocks of attention, labels of pictures."""

import jax
import jax.numpy as jnp
import optax
from flax import nnx


class Block(nnx.Module):
    def __init__(self, width, heads, rngs):
        self.before = nnx.LayerNorm(width, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(
            num_heads=heads, in_features=width, dropout_rate=0.1, broadcast_dropout=False,
            decode=False, rngs=rngs,
        )  # fmt: skip
        self.between = nnx.LayerNorm(width, rngs=rngs)
        self.mlp = nnx.Sequential(
            nnx.Linear(width, 2 * width, rngs=rngs),
            nnx.gelu,
            nnx.Dropout(0.1, rngs=rngs),
            nnx.Linear(2 * width, width, rngs=rngs),
        )

    def __call__(self, x):
        x = x + self.attention(self.before(x))
        return x + self.mlp(self.between(x))


class VisionTransformer(nnx.Module):
    def __init__(self, patch, width, classes, rngs):
        self.patches = nnx.Conv(1, width, (patch, patch), strides=patch, padding="VALID", rngs=rngs)
        self.token = nnx.Param(jnp.zeros((1, 1, width)))
        self.places = nnx.Param(nnx.initializers.normal(0.02)(rngs.params(), (1, 5, width)))
        self.blocks = nnx.List([Block(width, 2, rngs) for _ in range(2)])
        self.norm = nnx.LayerNorm(width, rngs=rngs)
        self.head = nnx.Linear(width, classes, rngs=rngs)

    def __call__(self, images):
        x = self.patches(images)
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        token = jnp.broadcast_to(self.token[...], (x.shape[0], 1, x.shape[-1]))
        x = jnp.concatenate([token, x], axis=1) + self.places[...]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


def loss_of(model, images, labels):
    scores = model(images)
    return optax.softmax_cross_entropy_with_integer_labels(scores, labels).mean(), scores


@nnx.jit
def train_step(model, optimizer, metrics, images, labels):
    (loss, scores), gradients = nnx.value_and_grad(loss_of, has_aux=True)(model, images, labels)
    optimizer.update(model, gradients)
    metrics.update(loss=loss, logits=scores, labels=labels)
    return loss


def main():
    model = VisionTransformer(4, 8, 3, nnx.Rngs(0))
    schedule = optax.warmup_cosine_decay_schedule(0.0, 1e-2, 2, 8)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule, weight_decay=1e-2), wrt=nnx.Param)
    metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
    images = jax.random.normal(jax.random.key(1), (6, 8, 8, 1))
    labels = jnp.arange(6) % 3
    model.train()
    losses = [train_step(model, optimizer, metrics, images, labels) for _ in range(6)]
    model.eval()
    found = dict(metrics.compute())
    return {"losses": jnp.stack(losses), "scores": model(images), **found}
