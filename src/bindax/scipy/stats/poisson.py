"""Poisson's distribution of mean ``mu``."""

from bindax_scipy.stats.poisson import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.poisson import __all__ as __all__
