"""Signals."""

from bindax_scipy.signal import *  # noqa: F403 -- everything there is public
from bindax_scipy.signal import __all__ as __all__
