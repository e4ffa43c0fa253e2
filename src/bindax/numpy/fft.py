"""Fourier transforms and their frequencies.

>>> import bindax.numpy.fft
>>> bindax.numpy.fft.fftfreq(4)
Array([ 0.  ,  0.25, -0.5 , -0.25], dtype=float32)
"""

from bindax_numpy.fft import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_numpy.fft import __all__ as __all__
