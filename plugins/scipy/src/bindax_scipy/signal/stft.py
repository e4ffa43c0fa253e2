"""Spectra of signals: Fourier transforms of windows that move along an axis."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_scipy._operands import one_dtype
from bindax_scipy.signal.convolution import detrend as remove_trend


def _named_window(name: Any, size: int) -> Any:
    """The factors of a window of a name, periodic, in double precision."""
    kind, *parameters = (name,) if isinstance(name, str) else tuple(name)
    angle = 2 * math.pi * np.arange(size) / size
    if kind in ("hann", "hanning"):
        return 0.5 - 0.5 * np.cos(angle)
    if kind == "hamming":
        return 0.54 - 0.46 * np.cos(angle)
    if kind == "blackman":
        return 0.42 - 0.5 * np.cos(angle) + 0.08 * np.cos(2 * angle)
    if kind == "bartlett":
        return 1 - np.abs(2 * np.arange(size) / size - 1)
    if kind == "boxcar":
        return np.ones(size)
    if kind == "cosine":
        return np.sin(math.pi * (np.arange(size) + 0.5) / (size + 1))
    if kind == "kaiser" and parameters:
        return np.kaiser(size + 1, parameters[0])[:-1]
    if kind == "gaussian" and parameters:
        return np.exp(-0.5 * ((np.arange(size) - size / 2) / parameters[0]) ** 2)
    raise ValueError(
        f"window must be 'hann', 'hamming', 'blackman', 'bartlett', 'boxcar', 'cosine', "
        f"('kaiser', beta), ('gaussian', std) or an array, but it is {name!r:.60}."
    )


class _Frames(NamedTuple):
    """The frames that a signal is cut into."""

    window: Any
    size: int
    overlap: int
    transform: int


def _integer(name: str, argument: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"{name}: {argument} must be an integer that is known before the program runs, but it "
            f"is {value!r:.60}."
        ) from None


def _frames(
    name: str, window: Any, nperseg: Any, noverlap: Any, nfft: Any, length: int, dtype: Any
) -> _Frames:
    named = isinstance(window, (str, tuple))
    if nperseg is None:
        size = 256 if named else int(jnp.shape(window)[0])
    else:
        size = _integer(name, "nperseg", nperseg)
    if size < 1:
        raise ValueError(f"{name}: nperseg must be positive, but it is {size}.")
    if named:
        size = min(size, length)
        factors = jnp.array(_named_window(window, size), dtype)
    else:
        factors = jnp.asarray(window)
        if factors.shape != (size,) or size > length:
            raise ValueError(
                f"{name}: window must be a vector of nperseg elements, {size}, and not longer than "
                f"the signal, {length}, but it has shape {factors.shape}."
            )
    overlap = size // 2 if noverlap is None else _integer(name, "noverlap", noverlap)
    transform = size if nfft is None else _integer(name, "nfft", nfft)
    if overlap >= size or transform < size:
        raise ValueError(
            f"{name}: noverlap must be below nperseg and nfft not below it, but they are "
            f"{overlap}, {size} and {transform}."
        )
    return _Frames(factors, size, overlap, transform)


_BOUNDARIES: dict[str | None, str] = {"even": "reflect", "constant": "edge", "zeros": "constant"}


def _extended(name: str, x: Any, n: int, boundary: str | None) -> Any:
    if boundary is None:
        return x
    widths = [(0, 0)] * (x.ndim - 1) + [(n, n)]
    if boundary == "odd":
        return jnp.pad(x, widths, mode="reflect", reflect_type="odd")
    if boundary not in _BOUNDARIES:
        raise ValueError(
            f"{name}: boundary must be 'even', 'odd', 'constant', 'zeros' or None, but it is "
            f"{boundary!r:.60}."
        )
    return jnp.pad(x, widths, mode=_BOUNDARIES[boundary])


def _transformed(x: Any, frames: _Frames, trend: Callable[[Any], Any], onesided: bool) -> Any:
    """The transforms of all frames, an axis of frames before the last one."""
    step = frames.size - frames.overlap
    count = (x.shape[-1] - frames.overlap) // step
    places = np.arange(count)[:, None] * step + np.arange(frames.size)
    cut = jnp.asarray(trend(jnp.take(x, places, axis=-1)))
    cut = cut * jnp.expand_dims(frames.window, range(cut.ndim - 1))
    if onesided:
        return jnp.fft.rfft(cut, n=frames.transform)
    return jnp.fft.fft(cut, n=frames.transform)


def _trend(name: str, detrend: Any) -> Callable[[Any], Any]:
    if isinstance(detrend, str):
        return lambda x: remove_trend(x, type=detrend)
    if callable(detrend):
        return detrend
    if not detrend:
        return lambda x: x
    raise ValueError(
        f"{name}: detrend must be 'linear', 'constant', a function or False, but it is "
        f"{detrend!r:.60}."
    )


def _same_length(x: Any, y: Any) -> tuple[Any, Any]:
    n = max(x.shape[-1], y.shape[-1])
    return tuple(  # type: ignore[return-value]
        jnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, n - v.shape[-1])]) for v in (x, y)
    )


def _spectrum(
    name: str,
    x: Any,
    y: Any,
    fs: Any,
    window: Any,
    sizes: tuple[Any, Any, Any],
    detrend: Any,
    onesided: bool,
    scaling: str,
    axis: int,
    density: bool,
    boundary: str | None = None,
    padded: bool = False,
) -> tuple[Any, Any, Any]:
    """Frequencies, times, and products of transforms with an axis of frames at the end."""
    arrays = one_dtype(name, jnp.asarray(x), *(() if y is None else (jnp.asarray(y),)))
    signals = [jnp.moveaxis(v, axis, -1) for v in arrays]
    if y is not None:
        signals = list(_same_length(*signals))
    length = signals[0].shape[-1]
    real_dtype = jnp.real(signals[0]).dtype
    frames = _frames(name, window, *sizes, length, real_dtype)
    signals = [_extended(name, v, frames.size // 2, boundary) for v in signals]
    if padded:
        step = frames.size - frames.overlap
        rest = -(signals[0].shape[-1] - frames.size) % step % frames.size
        signals = [jnp.pad(v, [(0, 0)] * (v.ndim - 1) + [(0, rest)]) for v in signals]
    if scaling not in ("density", "spectrum"):
        raise ValueError(
            f"{name}: scaling must be 'density' or 'spectrum', but it is {scaling!r:.60}."
        )
    factors = frames.window
    if scaling == "density":
        scale = 1 / (fs * jnp.sum(factors * factors))
    else:
        scale = 1 / jnp.sum(factors) ** 2
    onesided = onesided and not any(jnp.iscomplexobj(v) for v in (*signals, factors))
    trend = _trend(name, detrend)
    found = [_transformed(v, frames, trend, onesided) for v in signals]
    scale = scale.astype(found[0].dtype)
    if density:
        out = jnp.conj(found[0]) * found[-1] * scale
        out = out if y is not None else jnp.real(out)
    else:
        out = found[0] * jnp.sqrt(scale)
    if onesided and density:
        out = _with_other_half(out, frames.transform)
    n = frames.transform
    frequencies = np.fft.rfftfreq(n) if onesided else np.fft.fftfreq(n)
    total = signals[0].shape[-1]
    half = frames.size / 2
    times = np.arange(half, total - half + 1, frames.size - frames.overlap)
    times = times - half if boundary is not None else times
    return (
        jnp.array(frequencies, real_dtype) * fs,
        jnp.array(times, real_dtype) / fs,
        jnp.moveaxis(jnp.swapaxes(out, -1, -2), -2, axis if axis >= 0 else axis - 1),
    )


def _with_other_half(out: Any, size: int) -> Any:
    """The densities of frequencies of both signs, which are at the positive ones."""
    last = size // 2 + 1 - (size + 1) % 2
    twice = (np.arange(out.shape[-1]) >= 1) & (np.arange(out.shape[-1]) < last)
    doubled = jnp.array(np.where(twice, 2.0, 1.0), out.dtype)
    return out * jnp.expand_dims(doubled, range(out.ndim - 1))


def stft(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int = 256,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = False,
    return_onesided: bool = True,
    boundary: str | None = "zeros",
    padded: bool = True,
    axis: int = -1,
) -> tuple[Array, Array, Array]:
    """The transforms of windows that move along an axis.

    Args:
        x: an array.
        fs: the number of elements in a unit of time.
        window: ``"hann"`` and others by name, or the factors.
        nperseg: the size of the windows.
        noverlap: how many elements two windows share; half of them by default.
        nfft: the size of the transforms; that of the windows by default.
        detrend: ``"linear"``, ``"constant"``, a function of the windows, or False.
        return_onesided: leave the frequencies below 0 out for real signals.
        boundary: what the signal is extended with by half a window: ``"zeros"``, ``"even"``,
            ``"odd"``, ``"constant"`` or None.
        padded: add zeros so that all of the signal is in windows.
        axis: the axis of time.

    Returns:
        Frequencies, times, and the transforms, with the axis of times at the end.

    >>> frequencies, times, values = signal.stft(jnp.ones(8), nperseg=4)
    >>> values.shape
    (3, 5)
    """
    sizes, how = (nperseg, noverlap, nfft), (detrend, return_onesided, "spectrum")
    return _spectrum("stft", x, None, fs, window, sizes, *how, axis, False, boundary, padded)


def csd(
    x: Any,
    y: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The cross spectrum of two signals, by Welch's method.

    Args:
        x: an array.
        y: an array, or None for the spectrum of ``x``.
        fs: the number of elements in a unit of time.
        window: as for ``stft``.
        nperseg: the size of the windows; 256, or as many as there are.
        noverlap: how many elements two windows share; half of them by default.
        nfft: the size of the transforms; that of the windows by default.
        detrend: as for ``stft``.
        return_onesided: leave the frequencies below 0 out for real signals.
        scaling: ``"density"`` or ``"spectrum"``.
        axis: the axis of time.
        average: ``"mean"`` or ``"median"`` over the windows.

    Returns:
        Frequencies and the spectrum.

    >>> signal.csd(jnp.arange(8.0), jnp.arange(8.0), nperseg=8)[1].shape
    (5,)
    """
    if average not in ("mean", "median"):
        raise ValueError(f"csd: average must be 'mean' or 'median', but it is {average!r:.60}.")
    sizes = (nperseg, noverlap, nfft)
    frequencies, _, values = _spectrum(
        "csd", x, y, fs, window, sizes, detrend, return_onesided, scaling, axis, True
    )
    if average == "mean":
        return frequencies, jnp.mean(values, axis=-1)
    count = values.shape[-1]
    # The median of exponentially distributed numbers is below their mean by this.
    bias = 1 + sum(1 / (k + 1) - 1 / k for k in range(2, 2 * ((count - 1) // 2) + 1, 2))
    middle = jnp.median(jnp.real(values), axis=-1)
    if y is not None:
        middle = middle + 1j * jnp.median(jnp.imag(values), axis=-1)
    return frequencies, middle / bias


def welch(
    x: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    detrend: Any = "constant",
    return_onesided: bool = True,
    scaling: str = "density",
    axis: int = -1,
    average: str = "mean",
) -> tuple[Array, Array]:
    """The spectrum of a signal, by Welch's method; arguments as for ``csd``.

    >>> signal.welch(jnp.arange(8.0), nperseg=8)[1].shape
    (5,)
    """
    sizes = nperseg, noverlap, nfft
    return csd(x, None, fs, window, *sizes, detrend, return_onesided, scaling, axis, average)


def istft(
    Zxx: Any,
    fs: Any = 1.0,
    window: Any = "hann",
    nperseg: int | None = None,
    noverlap: int | None = None,
    nfft: int | None = None,
    input_onesided: bool = True,
    boundary: bool = True,
    time_axis: int = -1,
    freq_axis: int = -2,
) -> tuple[Array, Array]:
    """The signal whose ``stft`` is given.

    Args:
        Zxx: the transforms.
        fs: the number of elements in a unit of time.
        window: that of ``stft``.
        nperseg: that of ``stft``; by default what the number of frequencies tells.
        noverlap: that of ``stft``.
        nfft: that of ``stft``.
        input_onesided: the transforms are of real signals, without frequencies below 0.
        boundary: the signal was extended.
        time_axis: the axis of times.
        freq_axis: the axis of frequencies.

    Returns:
        Times and the signal.

    >>> _, _, values = signal.stft(jnp.arange(8.0), nperseg=4)
    >>> jnp.round(signal.istft(values)[1], 4)
    Array([0., 1., 2., 3., 4., 5., 6., 7.], dtype=float32)
    """
    z = _with_frequencies_last(jnp.asarray(Zxx), time_axis, freq_axis)
    default = 2 * (z.shape[-1] - 1) if input_onesided else z.shape[-1]
    size = default if nperseg is None else _integer("istft", "nperseg", nperseg)
    if nfft is None and input_onesided and size == default + 1:
        default += 1
    length = default if nfft is None else nfft
    frames = _frames("istft", window, size, noverlap, length, size, jnp.real(z).dtype)
    back = jnp.fft.irfft if input_onesided else jnp.fft.ifft
    cut = back(z, n=frames.transform)[..., :size] * jnp.sum(frames.window)
    step = size - frames.overlap
    x = _overlapped(cut * jnp.expand_dims(frames.window, range(cut.ndim - 1)), step)
    squares = jnp.broadcast_to(frames.window**2, (z.shape[-2], size))
    norm = _overlapped(squares, step)
    if boundary:
        end = x.shape[-1] - size // 2
        x, norm = x[..., size // 2 : end], norm[..., size // 2 : end]
    x = x / jnp.where(norm > 1e-10, norm, 1.0)
    times = jnp.arange(x.shape[-1], dtype=jnp.real(z).dtype) / fs
    if x.ndim > 1:
        place = time_axis % z.ndim
        x = jnp.moveaxis(x, -1, place - (freq_axis % z.ndim < place))
    return times, x


def _with_frequencies_last(z: Any, time_axis: int, freq_axis: int) -> Any:
    """Complex transforms with the axes of times and frequencies at the end, in this order."""
    if z.ndim < 2 or time_axis % z.ndim == freq_axis % z.ndim:
        raise ValueError(
            f"istft: Zxx must have two axes or more, and time_axis and freq_axis differ, but its "
            f"shape is {z.shape} and they are {time_axis} and {freq_axis}."
        )
    z = z.astype(np.promote_types(z.dtype, np.complex64))
    return jnp.moveaxis(z, (freq_axis, time_axis), (-1, -2))


def _overlapped(frames: Any, step: int) -> Any:
    """The sum of frames, each begun so many elements after the one before it."""
    count, size = frames.shape[-2:]
    parts = math.ceil(size / step)
    wide = jnp.pad(frames, [(0, 0)] * (frames.ndim - 1) + [(0, parts * step - size)])
    wide = jnp.reshape(wide, (*frames.shape[:-1], parts, step))
    total = jnp.zeros((*frames.shape[:-2], count + parts - 1, step), frames.dtype)
    for i in range(parts):
        total = total.at[..., i : i + count, :].add(wide[..., i, :])
    flat = jnp.reshape(total, (*frames.shape[:-2], -1))
    return flat[..., : step * (count - 1) + size]
