"""The loss of sequences of labels that are not aligned with the inputs (Graves et al., 2006)."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_control_flow import scan
from bindax_core.extend import Array
from bindax_nn import log_softmax


def ctc_loss(
    logits: Any,
    logit_paddings: Any,
    labels: Any,
    label_paddings: Any,
    *,
    blank_id: int = 0,
    log_epsilon: Any = -100000.0,
) -> Array:
    """Connectionist temporal classification: the negative log-likelihood of label sequences.

    Args:
        logits: of shape (batch, time, classes), not normalized.
        logit_paddings: of shape (batch, time): 1 where there is no input, 0 elsewhere.
        labels: integers of shape (batch, labels).
        label_paddings: of shape (batch, labels): 1 where there is no label, 0 elsewhere.
        blank_id: the class that is no label.
        log_epsilon: stands for the logarithm of 0.

    Returns:
        The loss of each sequence.

    Raises:
        ValueError: the shapes do not fit.

    >>> import numpy as np
    >>> labels = np.array([[1]])
    >>> ctc_loss(np.zeros((1, 1, 2)), np.zeros((1, 1)), labels, np.zeros((1, 1))).round(3).tolist()
    [0.693]
    """
    return ctc_loss_with_forward_probs(
        logits,
        logit_paddings,
        labels,
        label_paddings,
        blank_id=blank_id,
        log_epsilon=log_epsilon,
    )[0]


def ctc_loss_with_forward_probs(
    logits: Any,
    logit_paddings: Any,
    labels: Any,
    label_paddings: Any,
    *,
    blank_id: int = 0,
    log_epsilon: Any = -100000.0,
) -> tuple[Array, Array, Array]:
    """``ctc_loss``, and the logarithms of the forward probabilities.

    Args:
        logits: as for ``ctc_loss``, as the others.
        logit_paddings: as there.
        labels: as there.
        label_paddings: as there.
        blank_id: as there.
        log_epsilon: as there.

    Returns:
        The losses; the log-probabilities of being between labels, of shape (time, batch,
        labels + 1); and those of being at a label, of shape (time, batch, labels).

    Raises:
        ValueError: the shapes do not fit.

    >>> import numpy as np
    >>> args = np.zeros((1, 3, 2)), np.zeros((1, 3)), np.array([[1, 1]]), np.zeros((1, 2))
    >>> [x.shape for x in ctc_loss_with_forward_probs(*args)]
    [(1,), (3, 1, 3), (3, 1, 2)]
    """
    logits, labels = jnp.asarray(logits), jnp.asarray(labels)
    paddings, label_paddings = jnp.asarray(logit_paddings), jnp.asarray(label_paddings)
    _check(logits, paddings, labels, label_paddings)
    batch, length = labels.shape
    logs, dtype = jnp.moveaxis(log_softmax(logits), 1, 0), logits.dtype  # by time
    index = jnp.broadcast_to(labels, (len(logs), batch, length))
    log_label = jnp.take_along_axis(logs, index, axis=-1)
    log_blank = logs[..., blank_id, None]
    # Between equal labels there must be a blank.
    repeats = jnp.pad(labels[:, :-1] == labels[:, 1:], ((0, 0), (0, 1))).astype(dtype)

    def step(state: Any, inputs: Any) -> tuple[Any, Any]:
        (between, at), (of_label, of_blank, padding) = state, inputs
        ready = _entered(between, at + log_epsilon * repeats)
        next_at = jnp.logaddexp(ready[:, :-1] + of_label, at + of_label)
        next_between = _entered(ready + of_blank, at + of_blank + log_epsilon * (1 - repeats))
        stays = padding[:, None]
        between = stays * between + (1 - stays) * next_between
        at = stays * at + (1 - stays) * next_at
        return (between, at), (between, at)

    first = jnp.full((batch, length + 1), log_epsilon, dtype).at[:, 0].set(0)
    start = (first, jnp.full((batch, length), log_epsilon, dtype))
    inputs = (log_label, log_blank, jnp.moveaxis(paddings.astype(dtype), 1, 0))
    _, (between, at) = scan(step, start, inputs)
    last = _entered(between[-1], at[-1])
    counts = length - jnp.sum(label_paddings, axis=1).astype("int32")
    loss = -jnp.take_along_axis(last, counts[:, None], axis=-1)[:, 0]
    return loss, between.at[-1].set(last), at


def _entered(between: Any, arriving: Any) -> Any:
    """The log-probabilities of being between labels, with those who arrive there from a label."""
    return jnp.concatenate([between[:, :1], jnp.logaddexp(between[:, 1:], arriving)], axis=-1)


def _check(logits: Any, paddings: Any, labels: Any, label_paddings: Any) -> None:
    fits = logits.ndim == 3 and labels.ndim == 2 and logits.shape[0] == labels.shape[0]
    if not fits or paddings.shape != logits.shape[:2] or label_paddings.shape != labels.shape:
        raise ValueError(
            f"ctc_loss needs logits of shape (batch, time, classes) with paddings (batch, time), "
            f"and labels of shape (batch, labels) with paddings of the same, but got "
            f"{logits.shape} with {paddings.shape}, and {labels.shape} with {label_paddings.shape}."
        )
