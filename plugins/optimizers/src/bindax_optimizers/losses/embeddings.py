"""Losses of embeddings, of rankings, and of masks of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic import stop_gradient
from bindax_nn import log_softmax, sigmoid, softmax
from bindax_optimizers.losses.regression import cosine_similarity


def ntxent(embeddings: Any, labels: Any, temperature: Any = 0.07) -> Array:
    """The normalized temperature-scaled cross entropy of pairs (Chen et al., 2020).

    Args:
        embeddings: of shape (batch, features).
        labels: integers of shape (batch,), equal for what belongs together.
        temperature: divides similarities.

    Raises:
        ValueError: there is not one label for each embedding.

    >>> import numpy as np
    >>> ntxent(np.eye(3), np.array([0, 0, 1]), temperature=1.0).round(3).item()
    0.693
    """
    embeddings, labels = jnp.asarray(embeddings), jnp.asarray(labels)
    if labels.shape != embeddings.shape[:1]:
        raise ValueError(
            f"ntxent needs a label for each embedding, but got labels of shape {labels.shape} for "
            f"embeddings of shape {embeddings.shape}."
        )
    epsilon = jnp.finfo(embeddings.dtype).eps
    similarity = cosine_similarity(embeddings[None], embeddings[:, None], epsilon=epsilon)
    scaled = similarity / temperature
    same = labels[:, None] == labels[None]
    matches = same & ~jnp.eye(len(labels), dtype=bool)
    counted = ~same | matches
    lowest = jnp.where(counted, scaled, -jnp.inf)
    largest = stop_gradient(jnp.max(lowest, axis=1, keepdims=True))
    # Each pair is compared with all that do not match.
    shifted = jnp.where(counted, scaled - largest, 0)
    others = jnp.sum(jnp.where(same, 0, jnp.exp(shifted)), axis=1, keepdims=True)
    logs = shifted - jnp.log(jnp.where(matches, others + jnp.exp(shifted), 1))
    return -jnp.sum(jnp.where(matches, logs, 0)) / jnp.sum(matches)


def triplet_margin_loss(
    anchors: Any,
    positives: Any,
    negatives: Any,
    axis: int = -1,
    norm_degree: Any = 2,
    margin: Any = 1.0,
    eps: Any = 1e-6,
) -> Array:
    """The distance of the positive less that of the negative, from minus a margin on.

    Args:
        anchors: an array of vectors along ``axis``.
        positives: vectors that should be near, of the same shape.
        negatives: vectors that should be far, of the same shape.
        axis: the axis of the vectors.
        norm_degree: the order of the norm.
        margin: the margin.
        eps: added to powers of distances before the root.

    >>> import numpy as np
    >>> triplet_margin_loss(np.zeros(1), np.zeros(1), np.full(1, 0.25)).round(2).item()
    0.75
    """

    def distance(others: Any) -> Any:
        power = jnp.sum(jnp.power(jnp.subtract(anchors, others), norm_degree), axis=axis)
        return jnp.power(power + eps, 1 / norm_degree)

    return jnp.maximum(distance(positives) - distance(negatives) + margin, 0)


def ranking_softmax_loss(
    logits: Any,
    labels: Any,
    *,
    where: Any = None,
    weights: Any = None,
    reduce_fn: Callable[..., Any] | None = jnp.mean,
) -> Array:
    """The cross entropy of the softmax of scores with relevances (Cao et al., 2007).

    Args:
        logits: scores with the items of a list along the last axis.
        labels: relevances of the same shape.
        where: booleans, of the items that there are.
        weights: weights of the items.
        reduce_fn: from the losses of lists to their reduction, with a parameter ``where``; None
            for the losses themselves.

    >>> import numpy as np
    >>> ranking_softmax_loss(np.zeros((1, 4)), np.array([[0.0, 1.0, 0.0, 0.0]])).round(3).item()
    1.386
    """
    logits = jnp.asarray(logits)
    labels = jnp.asarray(labels).astype(logits.dtype)
    if weights is not None:
        labels = labels * weights
    logs = log_softmax(logits, axis=-1, where=where)
    losses = -jnp.sum(
        labels * (logs if where is None else jnp.where(where, logs, 0)), axis=-1, where=where
    )
    has_items = None if where is None else jnp.any(where, axis=-1)
    if reduce_fn is None:
        return losses if has_items is None else jnp.where(has_items, losses, 0)
    reduced = reduce_fn(losses, where=has_items)
    if reduce_fn is jnp.mean and has_items is not None:  # that of no list is 0
        reduced = jnp.where(jnp.any(has_items), reduced, 0)
    result: Array = reduced
    return result


def _with_classes(predictions: Any, targets: Any) -> tuple[Any, Any]:
    predictions, targets = jnp.asarray(predictions), jnp.asarray(targets)
    if predictions.ndim == targets.ndim - 1:
        predictions = predictions[..., None]
    if targets.ndim == predictions.ndim - 1:
        targets = targets[..., None]
    if predictions.shape != targets.shape:
        raise ValueError(
            f"dice_loss: predictions of shape {predictions.shape} need targets of the same, but "
            f"they have {targets.shape}."
        )
    return predictions, targets


def dice_loss(
    predictions: Any,
    targets: Any,
    *,
    class_weights: Any = None,
    smooth: Any = 1.0,
    alpha: Any = 0.5,
    beta: Any = 0.5,
    apply_softmax: bool = True,
    reduction: str = "mean",
    ignore_background: bool = False,
    axis: Any = None,
) -> Array:
    """One less the overlap of predicted and true masks (Milletari et al., 2016).

    Args:
        predictions: logits of shape (batch, ..., classes), or probabilities.
        targets: of the same shape, 1 in the mask of a class; either may be without the last axis.
        class_weights: weights of the classes.
        smooth: added to numerator and denominator.
        alpha: the weight of what is predicted wrongly; with ``beta`` other than 1/2 it is the loss
            of Tversky.
        beta: the weight of what is missed.
        apply_softmax: whether the predictions are logits.
        reduction: what is done over classes: ``"mean"``, ``"sum"`` or ``"none"``.
        ignore_background: whether class 0 is left out.
        axis: the axes of a mask; by default all but the first and the last.

    Raises:
        ValueError: the shapes differ, or the reduction is another one.

    >>> import numpy as np
    >>> dice_loss(np.full((1, 2, 1), 100.0), np.ones((1, 2, 1))).tolist()
    [0.0]
    """
    reductions = {"mean": jnp.mean, "sum": jnp.sum, "none": lambda x, axis: x}
    if reduction not in reductions:
        raise ValueError(
            f"dice_loss: reduction must be one of {[*reductions]}, but is {reduction!r}."
        )
    predictions, targets = _with_classes(predictions, targets)
    if apply_softmax:
        activation = sigmoid if predictions.shape[-1] == 1 else softmax
        predictions = activation(predictions)
    axis = tuple(range(1, predictions.ndim - 1)) if axis is None else axis
    common = jnp.sum(predictions * targets, axis=axis)
    wrong = jnp.sum(predictions, axis=axis) - common
    missed = jnp.sum(targets, axis=axis) - common
    loss = 1 - (common + smooth) / (common + alpha * wrong + beta * missed + smooth)
    if class_weights is not None:
        loss = loss * class_weights
    if ignore_background and predictions.shape[-1] > 1:
        loss = loss[..., 1:]
    reduced: Array = reductions[reduction](loss, axis=-1)
    return reduced


def binary_dice_loss(
    predictions: Any, targets: Any, *, smooth: Any = 1.0, apply_sigmoid: bool = True
) -> Array:
    """``dice_loss`` of one class.

    Args:
        predictions: logits, or probabilities.
        targets: 0 or 1, of the same shape.
        smooth: as for ``dice_loss``.
        apply_sigmoid: whether the predictions are logits.

    >>> import numpy as np
    >>> binary_dice_loss(np.full((1, 2), 100.0), np.ones((1, 2))).tolist()
    [0.0]
    """
    predictions, targets = jnp.asarray(predictions), jnp.asarray(targets)
    if predictions.ndim == targets.ndim and predictions.shape[-1] != 1:
        predictions, targets = predictions[..., None], targets[..., None]
    return dice_loss(predictions, targets, smooth=smooth, apply_softmax=apply_sigmoid)


def multiclass_generalized_dice_loss(
    predictions: Any,
    targets: Any,
    *,
    smooth: Any = 1.0,
    apply_softmax: bool = True,
    ignore_background: bool = False,
) -> Array:
    """``dice_loss`` with weights by which rare classes count more (Sudre et al., 2017).

    Args:
        predictions: as for ``dice_loss``, as the others.
        targets: as there.
        smooth: as there.
        apply_softmax: as there.
        ignore_background: as there.

    >>> import numpy as np
    >>> masks = np.eye(2)[None]
    >>> multiclass_generalized_dice_loss(1000 * masks, masks).round(3).item()
    0.0
    """
    targets = jnp.asarray(targets)
    counts = jnp.sum(targets, axis=tuple(range(targets.ndim - 1)))
    weights = 1 / (counts**2 + 1e-7)
    weights = weights / jnp.sum(weights) * len(weights)
    losses = dice_loss(
        predictions,
        targets,
        class_weights=weights,
        smooth=smooth,
        apply_softmax=apply_softmax,
        reduction="none",
        ignore_background=ignore_background,
    )
    return jnp.mean(losses)
