"""Pooling over windows of spatial axes, with features last."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array, typeof
from bindax_nnx.layers._common import array_of

Padding = str | Sequence[tuple[int, int]]


def _pool(
    x: Any,
    initial: Any,
    reduce: Callable[[Any, Any], Any],
    window: Sequence[int],
    strides: Sequence[int] | None,
    padding: Padding,
) -> Any:
    x = array_of(x)
    shape = typeof(x).shape
    rank = len(window)
    if len(shape) < rank + 1:
        raise ValueError(
            f"pooling over windows of {rank} axes needs {rank} spatial axes and features, but got "
            f"the shape {shape}."
        )
    batch = shape[: -rank - 1]
    flat = jnp.reshape(x, (math.prod(batch), *shape[-rank - 1 :]))
    steps = (1, *(strides or (1,) * rank), 1)
    pads = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]
    y = lax.reduce_window(flat, initial, reduce, (1, *window, 1), steps, pads)
    return jnp.reshape(y, (*batch, *y.shape[1:]))


def _limits(x: Any) -> tuple[Any, Any]:
    """The least and the greatest number of the dtype of an array."""
    dtype = np.dtype(typeof(array_of(x)).dtype)
    if dtype.kind not in "iu":
        return np.asarray(-np.inf, dtype), np.asarray(np.inf, dtype)
    return np.asarray(np.iinfo(dtype).min, dtype), np.asarray(np.iinfo(dtype).max, dtype)


def max_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
) -> Array:
    """The maxima of windows.

    >>> import numpy as np
    >>> max_pool(np.arange(4.0, dtype=np.float32).reshape(1, 4, 1), (2,), (2,)).ravel()
    Array([1., 3.], dtype=float32)
    """
    least = _limits(inputs)[0]
    return _pool(inputs, least, lax.max, window_shape, strides, padding)


def min_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
) -> Array:
    """The minima of windows.

    >>> import numpy as np
    >>> min_pool(np.arange(4.0).reshape(1, 4, 1), (2,), strides=(2,))[0, :, 0].tolist()
    [0.0, 2.0]
    """
    greatest = _limits(inputs)[1]
    return _pool(inputs, greatest, lax.min, window_shape, strides, padding)


def avg_pool(
    inputs: Any,
    window_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    padding: Padding = "VALID",
    count_include_pad: bool = True,
) -> Array:
    """The means of windows.

    Args:
        inputs: an array of batch axes, spatial axes and features.
        window_shape: the sizes of the windows.
        strides: the distance between windows; 1 by default.
        padding: ``"VALID"``, ``"SAME"``, or a pair of numbers for each spatial axis.
        count_include_pad: whether padding counts in the means.

    >>> import numpy as np
    >>> avg_pool(np.arange(4.0, dtype=np.float32).reshape(1, 4, 1), (2,), (2,)).ravel()
    Array([0.5, 2.5], dtype=float32)
    """
    zero = np.zeros((), typeof(array_of(inputs)).dtype)
    total = _pool(inputs, zero, lax.add, window_shape, strides, padding)
    if count_include_pad:
        return total / math.prod(window_shape)
    counts = _pool(jnp.ones_like(array_of(inputs)), zero, lax.add, window_shape, strides, padding)
    return total / counts
