"""Losses: elementwise functions of predictions and targets, to be averaged by the caller."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic import stop_gradient


def squared_error(predictions: Any, targets: Any | None = None) -> Array:
    """The square of each difference.

    Args:
        predictions: an array of floats.
        targets: an array that broadcasts with it; by default zeros.

    >>> import numpy as np
    >>> squared_error(np.float32([1, 3]), np.float32([1, 1]))
    Array([0., 4.], dtype=float32)
    """
    errors = predictions if targets is None else jnp.subtract(predictions, targets)
    return jnp.square(errors)


def l2_loss(predictions: Any, targets: Any | None = None) -> Array:
    """Half the square of each difference.

    >>> import numpy as np
    >>> l2_loss(np.float32([1, 3]), np.float32([1, 1]))
    Array([0., 2.], dtype=float32)
    """
    return 0.5 * squared_error(predictions, targets)


def huber_loss(predictions: Any, targets: Any | None = None, delta: float = 1.0) -> Array:
    """Half the square of each difference up to ``delta``, and linear beyond (Huber, 1964).

    Args:
        predictions: an array of floats.
        targets: an array that broadcasts with it; by default zeros.
        delta: the difference at which the loss becomes linear, positive.

    >>> import numpy as np
    >>> huber_loss(np.float32([0.5, 3]))
    Array([0.125, 2.5  ], dtype=float32)
    """
    errors = jnp.asarray(predictions if targets is None else jnp.subtract(predictions, targets))
    # What is cut off is constant beyond delta, so that the derivative there is delta.
    quadratic = jnp.clip(errors, -delta, delta)
    return quadratic * (errors - 0.5 * quadratic)


def softmax_cross_entropy(logits: Any, labels: Any, axis: int = -1) -> Array:
    """The cross entropy of the softmax of logits, for probabilities as targets.

    Args:
        logits: an array with the classes along ``axis``, not normalized.
        labels: probabilities of the same shape.
        axis: the axis of the classes, which the result does not have.

    >>> import numpy as np
    >>> softmax_cross_entropy(np.zeros((1, 4)), np.full((1, 4), 0.25))
    Array([1.38629436], dtype=float64)
    """
    return -jnp.sum(jnp.multiply(labels, _log_softmax(logits, axis)), axis=axis)


def softmax_cross_entropy_with_integer_labels(logits: Any, labels: Any, axis: int = -1) -> Array:
    """The cross entropy of the softmax of logits, for the numbers of classes as targets.

    Args:
        logits: an array with the classes along ``axis``, not normalized.
        labels: integers of the shape of the logits without that axis, from 0 to the number of
            classes less 1.
        axis: the axis of the classes, which the result does not have.

    Raises:
        TypeError: the labels are no integers.
        ValueError: the labels do not have that shape.

    >>> import numpy as np
    >>> softmax_cross_entropy_with_integer_labels(np.zeros((1, 4)), np.array([2]))
    Array([1.38629436], dtype=float64)
    """
    logits, labels = jnp.asarray(logits), jnp.asarray(labels)
    if not jnp.issubdtype(labels.dtype, jnp.integer):
        raise TypeError(
            f"softmax_cross_entropy_with_integer_labels: the labels are {labels.dtype.name}, and "
            f"should be integers; for probabilities use softmax_cross_entropy."
        )
    axis = axis % logits.ndim
    expected = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    if labels.shape != expected:
        raise ValueError(
            f"softmax_cross_entropy_with_integer_labels: for logits of shape {logits.shape} and "
            f"axis {axis} the labels should have the shape {expected}, but have {labels.shape}."
        )
    chosen = jnp.expand_dims(labels, axis)
    return -jnp.take_along_axis(_log_softmax(logits, axis), chosen, axis=axis).squeeze(axis)


def sigmoid_binary_cross_entropy(logits: Any, labels: Any) -> Array:
    """The cross entropy of the logistic function of logits, for probabilities as targets.

    Args:
        logits: an array, the logarithms of odds.
        labels: probabilities of the same shape.

    >>> import numpy as np
    >>> sigmoid_binary_cross_entropy(np.float32([0, 100]), np.float32([1, 1])).round(3)
    Array([0.693, 0.   ], dtype=float32)
    """
    logits = jnp.asarray(logits)
    return jnp.logaddexp(logits, 0) - jnp.multiply(labels, logits)


def _log_softmax(logits: Any, axis: int) -> Any:
    shifted = logits - stop_gradient(jnp.max(logits, axis=axis, keepdims=True))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=axis, keepdims=True))
