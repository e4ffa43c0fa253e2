"""Gumbel's distribution of the largest of many numbers."""

from bindax_scipy.stats.gumbel_r import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.gumbel_r import __all__ as __all__
