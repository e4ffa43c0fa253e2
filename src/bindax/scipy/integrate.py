"""Integrals of samples."""

from bindax_scipy.integrate import *  # noqa: F403 -- everything there is public
from bindax_scipy.integrate import __all__ as __all__
