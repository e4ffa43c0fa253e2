"""Numbers of steps, norms and roots that stay finite where optimizers meet the end of a range."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_map
from bindax_transforms import custom_vjp

__all__ = [
    "safe_increment",
    "safe_int32_increment",
    "safe_norm",
    "safe_root_mean_squares",
    "scale_gradient",
]


LAST = np.iinfo(np.int32).max


def zero_count() -> Any:
    """The number of the first step."""
    return jnp.zeros((), "int32")


def safe_increment(count: Any) -> Any:
    """The number of the next step; the largest one stays, where a sum would overflow.

    Raises:
        ValueError: the count is neither an integer nor a float.

    >>> import numpy as np
    >>> int(safe_increment(np.int32(3))), int(safe_increment(np.int8(127)))
    (4, 127)
    """
    count = jnp.asarray(count)
    if count.dtype == np.int32:  # of all states here
        return count + (count < LAST)
    if jnp.issubdtype(count.dtype, jnp.integer):
        largest = jnp.iinfo(count.dtype).max
    elif jnp.issubdtype(count.dtype, jnp.floating):
        largest = jnp.finfo(count.dtype).max
    else:
        raise ValueError(
            f"safe_increment counts with integers or floats, but the count is {count.dtype.name}."
        )
    return count + (count < largest).astype(count.dtype)


safe_int32_increment = safe_increment
"""The former name of ``safe_increment``."""


def abs_square(x: Any) -> Any:
    """The square of the absolute value, real also for complex numbers."""
    return jnp.square(jnp.real(x)) + jnp.square(jnp.imag(x)) if jnp.iscomplexobj(x) else x * x


def safe_norm(
    x: Any, min_norm: Any, ord: Any = None, axis: Any = None, keepdims: bool = False
) -> Array:
    """The norm of an array, at least ``min_norm``, with a derivative of zero below it.

    Args:
        x: an array.
        min_norm: the least norm.
        ord: the order, as for ``bindax.numpy.linalg.norm``.
        axis: the axes of the vectors or matrices; by default all.
        keepdims: whether these axes stay, with size 1.

    >>> import numpy as np
    >>> float(safe_norm(np.array([3.0, 4.0]), 1.0)), float(safe_norm(np.zeros(2), 1.0))
    (5.0, 1.0)
    """
    norms = jnp.linalg.norm(x, ord=ord, axis=axis, keepdims=True)
    away = jnp.where(norms <= min_norm, jnp.ones_like(x), x)
    below = norms if keepdims else jnp.squeeze(norms, axis=axis)
    norm = jnp.linalg.norm(away, ord=ord, axis=axis, keepdims=keepdims)
    return jnp.where(below <= min_norm, min_norm, norm)


def safe_root_mean_squares(x: Any, min_rms: Any) -> Array:
    """The root of the mean square, at least ``min_rms``, with a derivative of zero below it.

    >>> import numpy as np
    >>> float(safe_root_mean_squares(np.array([5.0, -5.0]), 1.0))
    5.0
    """
    is_small = jnp.mean(abs_square(x)) <= jnp.square(min_rms)
    away = jnp.where(is_small, jnp.ones_like(x), x)
    return jnp.where(is_small, min_rms, jnp.sqrt(jnp.mean(abs_square(away))))


def scale_gradient(inputs: Any, scale: Any) -> Any:
    """The inputs, whose derivative is multiplied by a number.

    Args:
        inputs: a tree of arrays.
        scale: the number.

    >>> import bindax
    >>> float(bindax.grad(lambda x: scale_gradient(x, 0.5) ** 2)(3.0))
    3.0
    """
    return tree_map(lambda x: _scaled(x, scale), inputs)


@custom_vjp
def _scaled(x: Any, scale: Any) -> Any:
    return x


def _keep_scale(x: Any, scale: Any) -> tuple[Any, Any]:
    return x, scale


def _scale_cotangent(scale: Any, cotangent: Any) -> tuple[Any, None]:
    return cotangent * scale, None


_scaled.defvjp(_keep_scale, _scale_cotangent)
