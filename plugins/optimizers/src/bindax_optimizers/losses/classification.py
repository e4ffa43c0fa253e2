"""Losses of classes: entropies, hinges and divergences."""

from __future__ import annotations

import math
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic import stop_gradient
from bindax_nn import log_softmax, logsumexp, sigmoid, softmax


def _expanded(where: Any, axis: Any, ndim: int) -> Any:
    """A mask with the axes of the classes, where it was given without."""
    if where is None:
        return None
    where = jnp.asarray(where)
    return where if where.ndim == ndim else jnp.expand_dims(where, axis)


def softmax_cross_entropy(logits: Any, labels: Any, axis: Any = -1, where: Any = None) -> Array:
    """The cross entropy of the softmax of logits, for probabilities as targets.

    Args:
        logits: an array with the classes along ``axis``, not normalized.
        labels: probabilities of the same shape.
        axis: the axis of the classes, or several or None for all, which the result does not have.
        where: booleans, of what counts: of the shape of the logits, or without ``axis``.

    >>> import numpy as np
    >>> softmax_cross_entropy(np.zeros((1, 4)), np.full((1, 4), 0.25))
    Array([1.38629436], dtype=float64)
    """
    logits = jnp.asarray(logits)
    where = _expanded(where, axis, logits.ndim)
    logs = log_softmax(logits, axis, where=where)
    if where is not None:  # the logarithm of 0 is no number to multiply with
        logs = jnp.where(where, logs, 0)
    return -jnp.sum(jnp.multiply(labels, logs), axis=axis, where=where)


def softmax_cross_entropy_with_integer_labels(
    logits: Any, labels: Any, axis: Any = -1, where: Any = None
) -> Array:
    """The cross entropy of the softmax of logits, for the numbers of classes as targets.

    Args:
        logits: an array with the classes along ``axis``, not normalized.
        labels: integers of the shape of the logits without that axis, from 0 to the number of
            classes less 1.
        axis: the axis of the classes, which the result does not have; or several, whose classes
            are numbered in their order.
        where: booleans, of what counts: of the shape of the logits, or without ``axis``.

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
    axes = tuple(i % logits.ndim for i in ((axis,) if isinstance(axis, int) else axis))
    others = tuple(i for i in range(logits.ndim) if i not in axes)
    expected = tuple(logits.shape[i] for i in others)
    if labels.shape != expected:
        raise ValueError(
            f"softmax_cross_entropy_with_integer_labels: for logits of shape {logits.shape} and "
            f"axis {axis} the labels should have the shape {expected}, but have {labels.shape}."
        )

    def classes_last(x: Any) -> Any:
        return jnp.transpose(x, others + axes).reshape(*expected, -1)

    where = _expanded(where, axis, logits.ndim)
    mask = None if where is None else classes_last(jnp.broadcast_to(where, logits.shape))
    logits = classes_last(logits)
    # The largest one is subtracted first, so that the difference of large logits is exact.
    shifted = logits - stop_gradient(jnp.max(logits, axis=-1, keepdims=True))
    chosen = jnp.take_along_axis(shifted, labels[..., None], axis=-1)[..., 0]
    loss = logsumexp(shifted, axis=-1, where=mask) - chosen
    return loss if mask is None else jnp.where(jnp.any(mask, axis=-1), loss, 0)


def safe_softmax_cross_entropy(logits: Any, labels: Any) -> Array:
    """``softmax_cross_entropy`` where logits may be minus infinity for labels of 0.

    Args:
        logits: an array with the classes along its last axis, not normalized.
        labels: probabilities of the same shape.

    >>> import numpy as np
    >>> safe_softmax_cross_entropy(np.array([0.0, -np.inf]), np.array([1.0, 0.0])).item() + 0.0
    0.0
    """
    logits = jnp.asarray(logits)
    is_used = jnp.asarray(labels) != 0
    # Impossible classes are finite where they do not count, so that derivatives are, too.
    is_lowest = jnp.isneginf(logits)
    below = jnp.where(is_lowest, jnp.finfo(logits.dtype).min, logits)
    logs = log_softmax(below, axis=-1)
    logs = jnp.where(is_lowest, -jnp.inf, logs)
    return -jnp.sum(jnp.where(is_used, labels * jnp.where(is_used, logs, 0), 0), axis=-1)


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


def sigmoid_focal_loss(logits: Any, labels: Any, *, alpha: Any = None, gamma: Any = 2.0) -> Array:
    """The cross entropy of the logistic function, less for what is easy (Lin et al., 2017).

    Args:
        logits: an array, the logarithms of odds.
        labels: 0 or 1, or probabilities, of the same shape.
        alpha: the weight of label 1; label 0 has the rest. By default both have 1.
        gamma: how much less what is easy counts; 0 for not less.

    >>> import numpy as np
    >>> sigmoid_focal_loss(np.float32([0.0, 5.0]), np.float32([1, 1])).round(3)
    Array([0.173, 0.   ], dtype=float32)
    """
    logits = jnp.asarray(logits)
    labels = jnp.asarray(labels).astype(logits.dtype)
    of_wrong = labels * sigmoid(-logits) + (1 - labels) * sigmoid(logits)
    loss: Array = sigmoid_binary_cross_entropy(logits, labels) * of_wrong**gamma
    weights: Any = 1 if alpha is None else alpha * labels + (1 - alpha) * (1 - labels)
    weighted: Array = weights * loss
    return weighted


def poly_loss_cross_entropy(
    logits: Any, labels: Any, *, epsilon: Any = 2.0, axis: Any = -1, where: Any = None
) -> Array:
    """``softmax_cross_entropy`` and a multiple of the probability of other classes (Leng, 2022).

    Args:
        logits: an array with the classes along ``axis``, not normalized.
        labels: probabilities of the same shape.
        epsilon: the multiple.
        axis: the axis of the classes.
        where: booleans, of what counts, of the shape of the logits.

    >>> import numpy as np
    >>> poly_loss_cross_entropy(np.zeros(2), np.array([1.0, 0.0])).round(3).item()
    1.693
    """
    logits = jnp.asarray(logits)
    others = labels * (1 - softmax(logits, axis=axis, where=where))
    loss = softmax_cross_entropy(logits, labels, axis, where)
    total: Array = loss + epsilon * jnp.sum(others, axis=axis, where=where)
    return total


def smooth_labels(labels: Any, alpha: Any, *, axis: Any = -1, where: Any = None) -> Array:
    """Probabilities between labels and equal ones (Müller et al., 2019).

    Args:
        labels: probabilities with the classes along ``axis``.
        alpha: the share of equal probabilities.
        axis: the axis of the classes, or several or None for all.
        where: booleans, of the classes that there are.

    >>> import numpy as np
    >>> smooth_labels(np.float32([1, 0]), 0.5).tolist()
    [0.75, 0.25]
    """
    labels = jnp.asarray(labels)
    if where is None:
        axes = range(labels.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
        count: Any = math.prod(labels.shape[i] for i in axes)
    else:
        count = jnp.sum(where, axis=axis, keepdims=True)
    smoothed: Array = (1 - alpha) * labels + alpha / count
    return smoothed


def hinge_loss(predictor_outputs: Any, targets: Any) -> Array:
    """The distance of scores from a margin of 1.

    Args:
        predictor_outputs: the scores.
        targets: -1 or 1, of the same shape.

    >>> import numpy as np
    >>> hinge_loss(np.float32([2, 0.5]), np.float32([1, 1])).tolist()
    [0.0, 0.5]
    """
    return jnp.maximum(0, 1 - jnp.multiply(predictor_outputs, targets))


def perceptron_loss(predictor_outputs: Any, targets: Any) -> Array:
    """The distance of scores on the wrong side (Rosenblatt, 1958).

    Args:
        predictor_outputs: the scores.
        targets: -1 or 1, of the same shape.

    >>> import numpy as np
    >>> perceptron_loss(np.float32([2, 0.5]), np.float32([1, -1])).tolist()
    [0.0, 0.5]
    """
    return jnp.maximum(0, -jnp.multiply(predictor_outputs, targets))


def multiclass_hinge_loss(scores: Any, labels: Any) -> Array:
    """The distance of the score of the right class from a margin of 1 to the others.

    Args:
        scores: an array with the classes along its last axis.
        labels: integers of the shape of the scores without that axis.

    >>> import numpy as np
    >>> multiclass_hinge_loss(np.float32([2, 1.5]), np.int32(0)).item()
    0.5
    """
    scores = jnp.asarray(scores)
    is_other = jnp.arange(scores.shape[-1]) != jnp.expand_dims(labels, -1)
    margin: Array = jnp.max(scores + is_other, axis=-1) - _of_label(scores, labels)
    return margin


def multiclass_perceptron_loss(scores: Any, labels: Any) -> Array:
    """The distance of the score of the right class from the largest one.

    Args:
        scores: an array with the classes along its last axis.
        labels: integers of the shape of the scores without that axis.

    >>> import numpy as np
    >>> multiclass_perceptron_loss(np.float32([2, 1.5]), np.int32(1)).item()
    0.5
    """
    scores = jnp.asarray(scores)
    below: Array = jnp.max(scores, axis=-1) - _of_label(scores, labels)
    return below


def _of_label(scores: Any, labels: Any) -> Any:
    return jnp.take_along_axis(scores, jnp.expand_dims(labels, -1), axis=-1)[..., 0]


def kl_divergence(log_predictions: Any, targets: Any, axis: Any = -1, where: Any = None) -> Array:
    """The Kullback-Leibler divergence of probabilities from targets.

    Args:
        log_predictions: the logarithms of probabilities, with the classes along ``axis``.
        targets: probabilities of the same shape.
        axis: the axis of the classes, or several or None for all.
        where: booleans, of what counts.

    >>> import numpy as np
    >>> kl_divergence(np.log([0.5, 0.5]), np.array([1.0, 0.0])).round(3).item()
    0.693
    """
    targets = jnp.asarray(targets)
    is_zero = targets == 0
    logs = jnp.where(is_zero, 0, jnp.log(jnp.where(is_zero, 1, targets)))
    return jnp.sum(targets * (logs - log_predictions), axis=axis, where=where)


def kl_divergence_with_log_targets(
    log_predictions: Any, log_targets: Any, axis: Any = -1, where: Any = None
) -> Array:
    """``kl_divergence`` where the targets are logarithms, too.

    Args:
        log_predictions: the logarithms of probabilities, with the classes along ``axis``.
        log_targets: the same of the targets.
        axis: the axis of the classes, or several or None for all.
        where: booleans, of what counts.

    >>> import numpy as np
    >>> kl_divergence_with_log_targets(np.log([0.5, 0.5]), np.log([0.5, 0.5])).item()
    0.0
    """
    differences = jnp.subtract(log_targets, log_predictions)
    return jnp.sum(jnp.exp(log_targets) * differences, axis=axis, where=where)


def generalized_kl_divergence(
    log_predictions: Any, targets: Any, axis: Any = -1, where: Any = None
) -> Array:
    """``kl_divergence`` of what need not sum to 1, convex in the predictions.

    Args:
        log_predictions: the logarithms of positive numbers, with the classes along ``axis``.
        targets: numbers of the same shape, not negative.
        axis: the axis of the classes, or several or None for all.
        where: booleans, of what counts.

    >>> import numpy as np
    >>> generalized_kl_divergence(np.log([0.5, 0.5]), np.array([1.0, 0.0])).round(3).item()
    0.693
    """
    excess = jnp.sum(jnp.exp(log_predictions) - targets, axis=axis, where=where)
    return kl_divergence(log_predictions, targets, axis, where) + excess


convex_kl_divergence = generalized_kl_divergence
"""The former name of ``generalized_kl_divergence``."""
