"""Discrete cosine transforms."""

from bindax_scipy.fft import *  # noqa: F403 -- everything there is public
from bindax_scipy.fft import __all__ as __all__
