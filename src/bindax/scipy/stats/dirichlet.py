"""Dirichlet's distribution of numbers that are positive and add up to 1."""

from bindax_scipy.stats.dirichlet import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.dirichlet import __all__ as __all__
