"""Gumbel's distribution of the smallest of many numbers."""

from bindax_scipy.stats.gumbel_l import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.gumbel_l import __all__ as __all__
