"""Minima of functions."""

from bindax_scipy.optimize import *  # noqa: F403 -- everything there is public
from bindax_scipy.optimize import __all__ as __all__
