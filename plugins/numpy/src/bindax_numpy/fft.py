"""Discrete Fourier transforms of any axes.

Complex results have parts as wide as the elements, but of 32 bits at least.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import (
    axes_argument,
    canonical_dtype,
    convert,
    default_dtype,
    static_int,
    static_ints,
)
from bindax_numpy._operands import listed_axes, placed, strong_operand
from bindax_numpy.arithmetic import conj
from bindax_numpy.reshaping import moveaxis, roll

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_NORMS = (None, "backward", "ortho", "forward")
_MOST_AXES = 3


def _operand(name: str, a: Any) -> Any:
    x = strong_operand(name, a)
    dtype = dtypes.inexact_dtype(typeof(x).dtype)
    return convert(x, dtypes.float32 if dtype.itemsize < 4 else dtype, False)


def _axes(name: str, ndim: int, s: Any, axes: Any) -> tuple[int, ...]:
    if axes is None:
        if s is None:
            return tuple(range(ndim))
        axes = range(-len(static_ints(name, "s", s)), 0)
    found = listed_axes(name, axes, ndim, "axes")
    if len(set(found)) < len(found):
        raise ValueError(f"{name}: the axes {list(found)} name an axis twice.")
    return found


def _lengths(name: str, s: Any, sizes: Sequence[int]) -> list[int]:
    """Return the number of transformed elements of each axis; by default all."""
    found = list(sizes if s is None else static_ints(name, "s", s))
    if len(found) != len(sizes):
        raise ValueError(f"{name}: s has {len(found)} lengths for {len(sizes)} axes.")
    if any(n < 1 for n in found):
        raise ValueError(f"{name}: the lengths must be positive, but they are {found}.")
    return found


def _resized(x: Any, sizes: Sequence[int]) -> Any:
    """The last axes cut, or filled with zeros, to given sizes."""
    shape = typeof(x).shape
    edges = [(0, 0, 0)] * (len(shape) - len(sizes))
    edges += [(0, n - own, 0) for n, own in zip(sizes, shape[len(edges) :], strict=True)]
    if not any(high for _, high, _ in edges):
        return x
    return lax.pad(x, np.zeros((), typeof(x).dtype), edges)


def _scale(name: str, norm: str | None, count: int, inverse: bool) -> float:
    """Return the factor of a result; the inverse transforms have divided by the count."""
    if norm not in _NORMS:
        raise ValueError(f"{name}: norm must be one of {_NORMS}, but it is {norm!r}.")
    if norm == "ortho":
        return math.sqrt(count) if inverse else 1 / math.sqrt(count)
    if norm == "forward":
        return float(count) if inverse else 1.0 / count
    return 1.0


def _transform(name: str, kind: str, a: Any, s: Any, axes: Any, norm: str | None) -> Any:
    x = _operand(name, a)
    is_complex = dtypes.is_complex(typeof(x).dtype)
    if kind == "RFFT" and is_complex:
        raise TypeError(f"{name} takes real arrays, but got {typeof(x).str_short()}; see fft.")
    if kind != "RFFT" and not is_complex:
        x = convert(x, dtypes.complex_dtype(typeof(x).dtype), False)
    places = _axes(name, typeof(x).ndim, s, axes)
    if not places:
        return x
    last = range(typeof(x).ndim - len(places), typeof(x).ndim)
    x = moveaxis(x, places, last)
    sizes = list(typeof(x).shape[last[0] :])
    if kind == "IRFFT" and s is None:
        sizes[-1] = 2 * (sizes[-1] - 1)
    lengths = _lengths(name, s, sizes)
    half = lengths[-1] // 2 + 1
    x = _resized(x, [*lengths[:-1], half] if kind == "IRFFT" else lengths)
    out = _along_last(x, kind, lengths)
    factor = _scale(name, norm, math.prod(lengths), kind in ("IFFT", "IRFFT"))
    out = out if factor == 1.0 else out * factor
    return moveaxis(out, last, places)


def _along_last(x: Any, kind: str, lengths: Sequence[int]) -> Any:
    """The transform of the last axes: at once where one operation can, or else one by one."""
    if len(lengths) <= _MOST_AXES:
        return lax.fft(x, kind, lengths)
    ndim = typeof(x).ndim
    others = {"RFFT": "FFT", "IRFFT": "IFFT"}.get(kind, kind)
    places = list(zip(range(ndim - len(lengths), ndim), lengths, strict=True))
    # Real numbers become complex ones first, and complex ones real numbers last.
    for axis, length in reversed(places) if kind == "RFFT" else places:
        moved = moveaxis(x, axis, -1)
        out = lax.fft(moved, kind if axis == ndim - 1 else others, (length,))
        x = moveaxis(out, -1, axis)
    return x


def fft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along an axis.

    Args:
        a: an array.
        n: how many elements are transformed; what is missing is 0. By default all.
        axis: the axis.
        norm: which of the two transforms divides by the number of elements: the inverse one
            (None or "backward"), this one ("forward"), or both by its square root ("ortho").

    Returns:
        An array of complex numbers.

    Raises:
        ValueError: for other norms, and lengths that are not positive.

    >>> jnp.fft.fft(jnp.array([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("fft", "FFT", a, None if n is None else (n,), (axis,), norm)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of ``fft``; arguments as there.

    >>> jnp.fft.ifft(jnp.array([4.0, 0.0, 0.0, 0.0])).real
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _transform("ifft", "IFFT", a, None if n is None else (n,), (axis,), norm)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The first half of the Fourier transform of real numbers; arguments as for ``fft``.

    Returns:
        Complex numbers, ``n // 2 + 1`` along the axis. The others are their conjugates.

    >>> jnp.fft.rfft(jnp.array([1.0, 0.0, 0.0, 0.0]))
    Array([1.+0.j, 1.+0.j, 1.+0.j], dtype=complex64)
    """
    return _transform("rfft", "RFFT", a, None if n is None else (n,), (axis,), norm)


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of ``rfft``.

    Args:
        a: the first half of the frequencies.
        n: how many elements the result has; by default an even number.
        axis: as for ``fft``.
        norm: as for ``fft``.

    >>> jnp.fft.irfft(jnp.array([4.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return _transform("irfft", "IRFFT", a, None if n is None else (n,), (axis,), norm)


_REVERSED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}


def _reversed_norm(name: str, norm: str | None) -> str:
    _scale(name, norm, 1, inverse=False)
    return _REVERSED[norm]


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The Fourier transform, which is real, of a signal whose second half mirrors the first.

    The first half is given; other arguments are as for ``irfft``.

    >>> jnp.fft.hfft(jnp.array([1.0, 0.0, 0.0]))
    Array([1., 1., 1., 1.], dtype=float32)
    """
    return irfft(conj(_operand("hfft", a)), n, axis, _reversed_norm("hfft", norm))


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of ``hfft``; arguments as for ``rfft``.

    >>> jnp.fft.ihfft(jnp.array([1.0, 1.0, 1.0, 1.0])).real
    Array([1., 0., 0.], dtype=float32)
    """
    return conj(rfft(a, n, axis, _reversed_norm("ihfft", norm)))


def fftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The discrete Fourier transform along several axes.

    Args:
        a: an array.
        s: how many elements of each axis are transformed; what is missing is 0. By default all.
        axes: the axes; by default the last ones, as many as ``s`` has, or all.
        norm: as for ``fft``.

    >>> jnp.fft.fftn(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("fftn", "FFT", a, s, axes, norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of ``fftn``; arguments as there.

    >>> jnp.fft.ifftn(jnp.ones((2, 2))).real
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("ifftn", "IFFT", a, s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """``rfft`` along the last of several axes, and ``fft`` along the others, as ``fftn``.

    >>> jnp.fft.rfftn(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("rfftn", "RFFT", a, s, axes, norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of ``rfftn``; ``s`` are the sizes of the result.

    >>> jnp.fft.irfftn(jnp.ones((2, 2)))
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("irfftn", "IRFFT", a, s, axes, norm)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """``fftn`` along two axes, by default the last ones.

    >>> jnp.fft.fft2(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("fft2", "FFT", a, s, _two("fft2", axes), norm)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse of ``fft2``.

    >>> jnp.fft.ifft2(jnp.ones((2, 2))).real
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("ifft2", "IFFT", a, s, _two("ifft2", axes), norm)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """``rfftn`` along two axes, by default the last ones.

    >>> jnp.fft.rfft2(jnp.ones((2, 2))).real
    Array([[4., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("rfft2", "RFFT", a, s, _two("rfft2", axes), norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse of ``rfft2``.

    >>> jnp.fft.irfft2(jnp.ones((2, 2)))
    Array([[1., 0.],
           [0., 0.]], dtype=float32)
    """
    return _transform("irfft2", "IRFFT", a, s, _two("irfft2", axes), norm)


def _two(name: str, axes: Any) -> tuple[int, ...]:
    found = static_ints(name, "axes", axes)
    if len(found) != 2:
        raise ValueError(f"{name} takes two axes, but got {axes}.")
    return found


def _frequencies(name: str, n: int, d: Any, dtype: Any, device: Any, counts: Any) -> Array:
    size = static_int(name, "n", n)
    if size < 1:
        raise ValueError(f"{name}: n must be positive, but it is {size}.")
    wanted = default_dtype("float") if dtype is None else canonical_dtype(dtype)
    return placed(name, Array.from_numpy(counts(size).astype(wanted)) / (d * size), device)


def fftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the results of ``fft``, in cycles per unit of ``d``.

    Args:
        n: the number of elements.
        d: the distance of samples.
        dtype: the dtype of the result; by default the default float.
        device: where the result is to be.

    >>> jnp.fft.fftfreq(4)
    Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
    """
    return _frequencies(
        "fftfreq", n, d, dtype, device, lambda m: (np.arange(m) + m // 2) % m - m // 2
    )


def rfftfreq(n: int, d: Any = 1.0, *, dtype: Any = None, device: Any = None) -> Array:
    """The frequencies of the results of ``rfft``; arguments as for ``fftfreq``.

    >>> jnp.fft.rfftfreq(4)
    Array([0.  , 0.25, 0.5 ], dtype=float32)
    """
    return _frequencies("rfftfreq", n, d, dtype, device, lambda m: np.arange(m // 2 + 1))


def fftshift(x: Any, axes: Any = None) -> Array:
    """The elements moved so that the frequency 0 is in the middle.

    Args:
        x: an array.
        axes: an axis, several, or None for all.

    >>> jnp.fft.fftshift(jnp.fft.fftfreq(4))
    Array([-0.5 , -0.25,  0.  ,  0.25], dtype=float32)
    """
    return _shifted("fftshift", x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Array:
    """The inverse of ``fftshift``.

    >>> jnp.fft.ifftshift(jnp.array([-1.0, 0.0, 1.0]))
    Array([ 0.,  1., -1.], dtype=float32)
    """
    return _shifted("ifftshift", x, axes, -1)


def _shifted(name: str, a: Any, axes: Any, direction: int) -> Any:
    x = strong_operand(name, a)
    shape = typeof(x).shape
    places = axes_argument(name, axes, len(shape), "axes")
    return roll(x, tuple(direction * (shape[i] // 2) for i in places), places) if places else x
