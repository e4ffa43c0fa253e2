"""Losses of numbers: functions of the difference between predictions and targets."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_numpy.extend import root


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


def huber_loss(predictions: Any, targets: Any | None = None, delta: Any = 1.0) -> Array:
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


def log_cosh(predictions: Any, targets: Any | None = None) -> Array:
    """The logarithm of the hyperbolic cosine of each difference: smooth, and linear far away.

    Args:
        predictions: an array of floats.
        targets: an array that broadcasts with it; by default zeros.

    >>> import numpy as np
    >>> log_cosh(np.float32([0, 100])).round(2)
    Array([ 0.  , 99.31], dtype=float32)
    """
    errors = jnp.asarray(predictions if targets is None else jnp.subtract(predictions, targets))
    return jnp.logaddexp(errors, -errors) - jnp.log(jnp.asarray(2, errors.dtype))


def cosine_similarity(
    predictions: Any, targets: Any, *, epsilon: Any = 0.0, axis: Any = -1, where: Any = None
) -> Array:
    """The cosine of the angle between vectors.

    Args:
        predictions: an array of vectors along ``axis``.
        targets: an array that broadcasts with it.
        epsilon: the least squared norm that is divided by the root of.
        axis: the axis of the vectors, or several or None for all.
        where: booleans, of the elements that count.

    >>> import numpy as np
    >>> cosine_similarity(np.float32([3, 0]), np.float32([5, 5])).round(3)
    Array(0.707, dtype=float32)
    """
    a, b = jnp.asarray(predictions), jnp.asarray(targets)

    def unit(x: Any) -> Any:
        square = jnp.sum(jnp.square(x), axis=axis, where=where, keepdims=True)
        return x / root(jnp.maximum(square, epsilon))

    return jnp.sum(unit(a) * unit(b), axis=axis, where=where)


def cosine_distance(
    predictions: Any, targets: Any, *, epsilon: Any = 0.0, axis: Any = -1, where: Any = None
) -> Array:
    """One less ``cosine_similarity``.

    Args:
        predictions: as for ``cosine_similarity``, as the others.
        targets: as there.
        epsilon: as there.
        axis: as there.
        where: as there.

    >>> import numpy as np
    >>> cosine_distance(np.float32([3, 0]), np.float32([5, 0])).item()
    0.0
    """
    similarity = cosine_similarity(predictions, targets, epsilon=epsilon, axis=axis, where=where)
    return 1 - similarity
