"""Windows: the factors by which a signal fades in and out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array
from bindax_lax_basic.extend import default_dtype, static_int
from bindax_numpy._operands import array_operand
from bindax_numpy.special import i0


def _window(name: str, M: int, factors: Callable[[int], Any]) -> Array:
    # Known before any program runs, and so computed by NumPy, in double precision.
    return Array.from_numpy(factors(static_int(name, "M", M)).astype(default_dtype("float")))


def bartlett(M: int) -> Array:
    """The triangular window of ``M`` factors.

    >>> jnp.bartlett(3)
    Array([0., 1., 0.], dtype=float32)
    """
    return _window("bartlett", M, np.bartlett)


def hanning(M: int) -> Array:
    """The window of von Hann, a raised cosine, of ``M`` factors.

    >>> jnp.hanning(3)
    Array([0., 1., 0.], dtype=float32)
    """
    return _window("hanning", M, np.hanning)


def hamming(M: int) -> Array:
    """Hamming's window, a raised cosine that does not reach 0, of ``M`` factors.

    >>> jnp.hamming(3)
    Array([0.08, 1.  , 0.08], dtype=float32)
    """
    return _window("hamming", M, np.hamming)


def blackman(M: int) -> Array:
    """Blackman's window, of two cosines, of ``M`` factors.

    >>> jnp.blackman(5)[1:4].round(2)
    Array([0.34, 1.  , 0.34], dtype=float32)
    """
    return _window("blackman", M, np.blackman)


def kaiser(M: int, beta: Any) -> Array:
    """Kaiser's window, by a Bessel function, of ``M`` factors; ``beta`` is how fast it fades.

    >>> jnp.kaiser(3, 2.0).round(4)
    Array([0.4387, 1.    , 0.4387], dtype=float32)
    """
    size = static_int("kaiser", "M", M)
    dtype = default_dtype("float")
    if size <= 1:
        return lax.full((max(size, 0),), 1, dtype)
    places = np.arange(size) * 2.0 / (size - 1) - 1
    height = Array.from_numpy(np.sqrt(1 - places**2).astype(dtype))
    width = array_operand("kaiser", beta)
    return i0(width * height) / i0(width)
