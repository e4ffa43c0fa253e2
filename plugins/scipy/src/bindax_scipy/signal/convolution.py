"""Convolution and correlation in any number of dimensions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_lax_basic.extend import axes_argument, axis_argument
from bindax_scipy._operands import one_dtype, promoted

_MODES = ("full", "same", "valid")
_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


def _operands(name: str, in1: Any, in2: Any, mode: str) -> tuple[Any, Any]:
    if mode not in _MODES:
        raise ValueError(f"{name}: mode must be one of {_MODES}, but it is {mode!r:.60}.")
    a, b = one_dtype(name, in1, in2)
    if a.ndim != b.ndim:
        raise ValueError(
            f"{name}: in1 and in2 must have the same number of axes, but their shapes are "
            f"{a.shape} and {b.shape}."
        )
    if a.size == 0 or b.size == 0:
        raise ValueError(
            f"{name}: in1 and in2 must not be empty, but their shapes are {a.shape} and {b.shape}."
        )
    return a, b


def _window(
    name: str, a: Any, b: Any, mode: str, axes: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Where the part of the full result begins that a mode gives, and its sizes."""
    full = [a.shape[i] + b.shape[i] - 1 if i in axes else a.shape[i] for i in range(a.ndim)]
    if mode == "full":
        sizes = full
    elif mode == "same":
        sizes = list(a.shape)
    else:
        differences = [a.shape[i] - b.shape[i] for i in axes]
        if min(differences, default=0) < 0 < max(differences, default=0):
            raise ValueError(
                f"{name}: in mode 'valid' one array must be at least as large as the other along "
                f"every axis, but their shapes are {a.shape} and {b.shape}."
            )
        sizes = [abs(a.shape[i] - b.shape[i]) + 1 if i in axes else full[i] for i in range(a.ndim)]
    return [(n - m) // 2 for n, m in zip(full, sizes, strict=True)], sizes


def _full(a: Any, b: Any, precision: Any) -> Any:
    """The full convolution, by the compiler's operation."""
    kernel = jnp.flip(b)
    padding = [(n - 1, n - 1) for n in b.shape]
    strides = (1,) * a.ndim
    out = lax.conv_general_dilated(
        a[None, None], kernel[None, None], strides, padding, precision=precision
    )
    return out[0, 0]


def _direct(name: str, a: Any, b: Any, mode: str, precision: Any) -> Any:
    starts, sizes = _window(name, a, b, mode, range(a.ndim))
    if a.ndim == 0:
        return a * b
    full = _full(a, b, lax.Precision.HIGHEST if precision is None else precision)
    return lax.dynamic_slice(full, starts, sizes)


def fftconvolve(in1: Any, in2: Any, mode: str = "full", axes: Any = None) -> Array:
    """The convolution of two arrays by Fourier transforms.

    Args:
        in1: an array.
        in2: an array of as many axes.
        mode: ``"full"``, ``"same"`` for the middle, of the shape of ``in1``, or ``"valid"`` for
            what does not depend on zeros outside.
        axes: the axes of the convolution; along others both have the same size.

    >>> jnp.round(signal.fftconvolve(jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0])))
    Array([1., 3., 2.], dtype=float32)
    """
    a, b = _operands("fftconvolve", in1, in2, mode)
    if axes is None:
        chosen = tuple(range(a.ndim))
    else:
        chosen = axes_argument("fftconvolve", axes, a.ndim, "axes")
    others = [i for i in range(a.ndim) if i not in chosen]
    if any(a.shape[i] != b.shape[i] for i in others):
        raise ValueError(
            f"fftconvolve: along axes that are not convolved both arrays must have the same size, "
            f"but their shapes are {a.shape} and {b.shape} and axes is {axes!r}."
        )
    starts, sizes = _window("fftconvolve", a, b, mode, chosen)
    lengths = [a.shape[i] + b.shape[i] - 1 for i in chosen]
    if not chosen:
        return a * b
    there, back = jnp.fft.rfftn, jnp.fft.irfftn
    if jnp.iscomplexobj(a):
        there, back = jnp.fft.fftn, jnp.fft.ifftn
    out = back(there(a, lengths, chosen) * there(b, lengths, chosen), lengths, chosen)
    return lax.dynamic_slice(out.astype(a.dtype), starts, sizes)


def convolve(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The convolution of two arrays.

    Args:
        in1: an array.
        in2: an array of as many axes.
        mode: ``"full"``, ``"same"`` for the middle, of the shape of ``in1``, or ``"valid"`` for
            what does not depend on zeros outside.
        method: ``"direct"``, ``"fft"``, or ``"auto"``, which is ``"direct"``.
        precision: the precision of the products; the highest by default.

    >>> signal.convolve(jnp.array([1.0, 2.0]), jnp.array([1.0, 1.0]))
    Array([1., 3., 2.], dtype=float32)
    """
    if method == "fft":
        return fftconvolve(in1, in2, mode)
    if method not in ("direct", "auto"):
        raise ValueError(
            f"convolve: method must be 'auto', 'direct' or 'fft', but it is {method!r:.60}."
        )
    a, b = _operands("convolve", in1, in2, mode)
    return _direct("convolve", a, b, mode, precision)


def correlate(
    in1: Any, in2: Any, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The correlation of two arrays: the convolution with the conjugate mirror image of one.

    Args:
        in1: an array.
        in2: an array of as many axes.
        mode: ``"full"``, ``"same"`` or ``"valid"``, as for ``convolve``.
        method: ``"direct"``, ``"fft"``, or ``"auto"``, which is ``"direct"``.
        precision: the precision of the products; the highest by default.

    >>> signal.correlate(jnp.array([1.0, 2.0]), jnp.array([1.0, 0.0]))
    Array([0., 1., 2.], dtype=float32)
    """
    in2 = jnp.asarray(in2)
    return convolve(in1, jnp.flip(jnp.conj(in2)), mode, method, precision)


def _two_dimensional(
    name: str,
    in1: Any,
    in2: Any,
    mode: str,
    boundary: str,
    fillvalue: float,
    precision: Any,
    later: int = 0,
) -> Any:
    a, b = _operands(name, in1, in2, mode)
    if a.ndim != 2:
        raise ValueError(
            f"{name}: in1 and in2 must have two axes, but their shapes are {a.shape} and {b.shape}."
        )
    if boundary not in _BOUNDARIES:
        raise ValueError(
            f"{name}: boundary must be one of {tuple(_BOUNDARIES)}, but it is {boundary!r:.60}."
        )
    if mode == "valid":
        return _direct(name, a, b, mode, precision)
    starts, sizes = _window(name, a, b, mode, (0, 1))
    if mode == "same":
        # Of an even size the middle is half an element before the one of a mirror image.
        starts = [(n - 1 + later) // 2 for n in b.shape]
    widths = [(n - 1, n - 1) for n in b.shape]
    extra = {"constant_values": fillvalue} if boundary == "fill" else {}
    wide = jnp.pad(a, widths, mode=_BOUNDARIES[boundary], **extra)
    inner = _direct(name, wide, b, "valid", precision)
    return lax.dynamic_slice(inner, starts, sizes)


def convolve2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The convolution of two matrices.

    Args:
        in1: a matrix.
        in2: a matrix.
        mode: ``"full"``, ``"same"`` or ``"valid"``, as for ``convolve``.
        boundary: what is outside of ``in1``: ``"fill"`` for a value, ``"wrap"`` for its
            repetition, ``"symm"`` for its mirror image.
        fillvalue: the value.
        precision: the precision of the products; the highest by default.

    >>> signal.convolve2d(jnp.ones((2, 2)), jnp.ones((1, 2)), "same")
    Array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    return _two_dimensional("convolve2d", in1, in2, mode, boundary, fillvalue, precision)


def correlate2d(
    in1: Any,
    in2: Any,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The correlation of two matrices; arguments as for ``convolve2d``.

    >>> signal.correlate2d(jnp.ones((2, 2)), jnp.ones((1, 2)), "valid")
    Array([[2.],
           [2.]], dtype=float32)
    """
    kernel = jnp.flip(jnp.conj(jnp.asarray(in2)))
    return _two_dimensional("correlate2d", in1, kernel, mode, boundary, fillvalue, precision, 1)


def detrend(
    data: Any, axis: int = -1, type: str = "linear", bp: Any = 0, overwrite_data: None = None
) -> Array:
    """Subtract the mean, or straight lines fitted by least squares, along an axis.

    Args:
        data: an array.
        axis: the axis.
        type: ``"linear"`` or ``"constant"``.
        bp: the indices at which new lines begin.
        overwrite_data: must be None.

    >>> signal.detrend(jnp.array([1.0, 2.0, 6.0])).round(3)
    Array([ 0.5, -1. ,  0.5], dtype=float32)
    """
    if overwrite_data is not None:
        raise ValueError("detrend: overwrite_data must be None, as arrays are immutable.")
    if type not in ("linear", "constant"):
        raise ValueError(f"detrend: type must be 'linear' or 'constant', but it is {type!r:.60}.")
    (x,) = promoted("detrend", jnp.asarray(data))
    axis_argument("detrend", axis, x.ndim)
    if type == "constant":
        return x - jnp.mean(x, axis, keepdims=True)
    n = x.shape[axis]
    ends = np.unique(np.concatenate([[0], np.atleast_1d(bp), [n]]).astype(int))
    if ends[0] < 0 or ends[-1] > n:
        raise ValueError(
            f"detrend: bp must be indices from 0 to {n}, the size of axis {axis}, but it is {bp!r}."
        )
    # The projection that leaves straight lines out is known before the program runs.
    keep = np.zeros((n, n))
    for low, high in itertools.pairwise(ends):
        size = int(high - low)
        lines = np.stack([np.ones(size), np.arange(1, size + 1) / size], axis=1)
        keep[low:high, low:high] = np.eye(size) - lines @ np.linalg.pinv(lines)
    moved = jnp.moveaxis(x, axis, -1)
    out = jnp.matmul(moved, jnp.array(keep, x.dtype), precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(out, -1, axis)
