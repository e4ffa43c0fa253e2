"""Losses whose predictions are sparse, and losses that come from a maximum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nn import sparse_plus
from bindax_optimizers.projections import projection_simplex
from bindax_transforms import vmap


def sparsemax_loss(logits: Any, labels: Any) -> Array:
    """The loss whose derivative is the sparse logistic function (Martins and Astudillo, 2016).

    Args:
        logits: an array.
        labels: 0 or 1, of the same shape.

    >>> import numpy as np
    >>> sparsemax_loss(np.float32([0, 2]), np.int32([1, 1])).tolist()
    [0.25, 0.0]
    """
    return sparse_plus(jnp.where(jnp.asarray(labels) != 0, jnp.negative(logits), logits))


def multiclass_sparsemax_loss(scores: Any, labels: Any) -> Array:
    """The loss whose predictions are projections to the simplex (Martins and Astudillo, 2016).

    Args:
        scores: of shape (batch, classes).
        labels: integers of shape (batch,).

    >>> import numpy as np
    >>> multiclass_sparsemax_loss(np.float32([[0, 0]]), np.array([0])).tolist()
    [0.25]
    """

    def one(scores: Any, label: Any) -> Any:
        shares = projection_simplex(scores)
        above = scores - scores[label]
        return jnp.sum(shares * above) + 0.5 * (1 - jnp.sum(shares * shares))

    result: Array = vmap(one)(jnp.asarray(scores), jnp.asarray(labels))
    return result


def make_fenchel_young_loss(max_fun: Callable[..., Any]) -> Callable[..., Array]:
    """The loss of a maximum: it less the score of the targets (Blondel et al., 2020).

    Args:
        max_fun: from a vector of scores to a number, convex.

    Returns:
        A function of scores and targets with the vectors along their last axes, and of more
        arguments of ``max_fun``.

    >>> import numpy as np
    >>> from bindax import nn
    >>> loss = make_fenchel_young_loss(nn.logsumexp)
    >>> loss(np.zeros(2), np.array([1.0, 0.0])).round(3).item()
    0.693
    """

    def loss(scores: Any, targets: Any, *args: Any, **kwargs: Any) -> Array:
        def largest(scores: Any) -> Any:
            return max_fun(scores, *args, **kwargs)

        score = jnp.sum(jnp.multiply(targets, scores), axis=-1)
        result: Array = jnp.vectorize(largest, signature="(n)->()")(scores) - score
        return result

    return loss
