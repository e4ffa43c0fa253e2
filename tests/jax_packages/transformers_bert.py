"""A small BERT of transformers, in Flax, with its gradient."""

import jax
import jax.numpy as jnp
from transformers import BertConfig, FlaxBertForSequenceClassification


def main():
    config = BertConfig(
        vocab_size=20,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=24,
        max_position_embeddings=12,
        num_labels=3,
    )
    model = FlaxBertForSequenceClassification(config, seed=1)
    ids = jnp.arange(10).reshape(2, 5)
    mask = jnp.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
    logits = model(ids, attention_mask=mask).logits

    def loss(params):
        out = model(ids, attention_mask=mask, params=params, train=False).logits
        return -jnp.mean(jax.nn.log_softmax(out)[:, 0])

    value, gradient = jax.value_and_grad(loss)(model.params)
    return logits, value, jax.tree.map(jnp.linalg.norm, gradient)
