"""Discrete cosine transforms, of type 2."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic.extend import axis_argument
from bindax_scipy._operands import promoted

__all__ = ["dct", "dctn", "idct", "idctn"]


def _operand(name: str, x: Any, type: int, norm: str | None) -> Any:
    if type != 2:
        raise ValueError(f"{name}: type must be 2, the one that there is, but it is {type!r:.60}.")
    if norm not in (None, "backward", "ortho"):
        raise ValueError(
            f"{name}: norm must be None, 'backward' or 'ortho', but it is {norm!r:.60}."
        )
    (x,) = promoted(name, x)
    if not x.ndim:
        raise ValueError(f"{name}: x must have an axis, but it is a scalar.")
    return x


def _resized(x: Any, n: int | None, axis: int) -> Any:
    if n is None:
        return x
    n = operator.index(n)
    x = lax.slice_in_dim(x, 0, min(n, x.shape[axis]), axis=axis)
    widths = [(0, 0)] * x.ndim
    widths[axis] = (0, n - x.shape[axis])
    return jnp.pad(x, widths)


def _factors(n: int, ortho: bool) -> Any:
    """Return the divisor of each cosine for an orthonormal transform."""
    return np.sqrt(np.where(np.arange(n) == 0, 4.0, 2.0) * n) if ortho else np.ones(n)


def _forward(x: Any, axis: int, ortho: bool) -> Any:
    if jnp.iscomplexobj(x):
        return lax.complex(*(_forward(part, axis, ortho) for part in (x.real, x.imag)))
    x = jnp.moveaxis(x, axis, -1)
    n = x.shape[-1]
    # The even places, then the odd ones backwards: Makhoul, "A fast cosine transform", 1980.
    ordered = jnp.concatenate([x[..., ::2], x[..., 1::2][..., ::-1]], axis=-1)
    phases = 2 * np.exp(-0.5j * math.pi * np.arange(n) / n) / _factors(n, ortho)
    spectrum = jnp.fft.fft(ordered)
    turned = spectrum * jnp.array(phases, spectrum.dtype).reshape((1,) * (x.ndim - 1) + (-1,))
    return jnp.moveaxis(jnp.real(turned), -1, axis)


def _inverse(x: Any, axis: int, ortho: bool) -> Any:
    if jnp.iscomplexobj(x):
        return lax.complex(*(_inverse(part, axis, ortho) for part in (x.real, x.imag)))
    x = jnp.moveaxis(x, axis, -1)
    n = x.shape[-1]
    # Whose forward transform is x: the imaginary part of each term is that of its mirror image.
    mirrored = jnp.concatenate([jnp.zeros_like(x[..., :1]), x[..., :0:-1]], axis=-1)
    scale = _factors(n, ortho)
    other = np.concatenate([[1.0], scale[:0:-1]])
    last = (1,) * (x.ndim - 1) + (-1,)
    scales = [jnp.array(v, x.dtype).reshape(last) for v in (scale, other)]
    wide = lax.complex(x * scales[0], -mirrored * scales[1])
    phases = 0.5 * np.exp(0.5j * math.pi * np.arange(n) / n)
    ordered = jnp.real(jnp.fft.ifft(wide * jnp.array(phases, wide.dtype).reshape(last)))
    order = np.empty(n, int)
    order[::2], order[1::2] = np.arange((n + 1) // 2), np.arange(n - 1, (n + 1) // 2 - 1, -1)
    return jnp.moveaxis(jnp.take(ordered, order, axis=-1), -1, axis)


def dct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The discrete cosine transform of type 2 along an axis.

    Args:
        x: an array.
        type: must be 2.
        n: the size of the axis, cut off or filled with zeros; by default that of ``x``.
        axis: the axis.
        norm: ``"ortho"`` for an orthonormal transform, or ``"backward"``.

    >>> fft.dct(jnp.array([1.0, 1.0]))
    Array([4., 0.], dtype=float32)
    """
    x = _operand("dct", x, type, norm)
    place = axis_argument("dct", axis, x.ndim)
    return _forward(_resized(x, n, place), place, norm == "ortho")


def idct(
    x: Any, type: int = 2, n: int | None = None, axis: int = -1, norm: str | None = None
) -> Array:
    """The inverse of ``dct``; arguments as there.

    >>> fft.idct(fft.dct(jnp.array([1.0, 3.0])))
    Array([1., 3.], dtype=float32)
    """
    x = _operand("idct", x, type, norm)
    place = axis_argument("idct", axis, x.ndim)
    return _inverse(_resized(x, n, place), place, norm == "ortho")


def _along_all(
    name: str, transform: Callable[[Any, int, bool], Any], x: Any, s: Any, axes: Any, ortho: bool
) -> Any:
    sizes = None if s is None else [operator.index(n) for n in np.atleast_1d(s)]
    if sizes is not None and len(sizes) > x.ndim:
        raise ValueError(
            f"{name}: s must have at most {x.ndim} elements, as x has shape {x.shape}, but it is "
            f"{s!r:.60}."
        )
    if axes is None:
        chosen = list(range(x.ndim if sizes is None else len(sizes)))
        chosen = [i + x.ndim - len(chosen) for i in chosen]
    else:
        chosen = [
            axis_argument(name, operator.index(i), x.ndim, "axes") for i in np.atleast_1d(axes)
        ]
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"{name}: axes {axes!r:.60} name an axis twice.")
    for i, axis in enumerate(chosen):
        x = transform(_resized(x, None if sizes is None else sizes[i], axis), axis, ortho)
    return x


def dctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The discrete cosine transform of type 2 along several axes.

    Args:
        x: an array.
        type: must be 2.
        s: the sizes of the axes.
        axes: the axes; by default the last ones, or all.
        norm: ``"ortho"`` for an orthonormal transform, or ``"backward"``.

    >>> fft.dctn(jnp.ones((2, 2)))
    Array([[16.,  0.],
           [ 0.,  0.]], dtype=float32)
    """
    x = _operand("dctn", x, type, norm)
    return _along_all("dctn", _forward, x, s, axes, norm == "ortho")


def idctn(
    x: Any,
    type: int = 2,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str | None = None,
) -> Array:
    """The inverse of ``dctn``; arguments as there.

    >>> fft.idctn(fft.dctn(jnp.ones((2, 2))))
    Array([[1., 1.],
           [1., 1.]], dtype=float32)
    """
    x = _operand("idctn", x, type, norm)
    return _along_all("idctn", _inverse, x, s, axes, norm == "ortho")
