"""Signals, with JAX's names and semantics; public as ``bindax.scipy.signal``."""

from bindax_core.extend import public_names as _public_names
from bindax_scipy.signal.convolution import convolve as convolve
from bindax_scipy.signal.convolution import convolve2d as convolve2d
from bindax_scipy.signal.convolution import correlate as correlate
from bindax_scipy.signal.convolution import correlate2d as correlate2d
from bindax_scipy.signal.convolution import detrend as detrend
from bindax_scipy.signal.convolution import fftconvolve as fftconvolve
from bindax_scipy.signal.stft import csd as csd
from bindax_scipy.signal.stft import istft as istft
from bindax_scipy.signal.stft import stft as stft
from bindax_scipy.signal.stft import welch as welch

vars()["__all__"] = _public_names(vars())
