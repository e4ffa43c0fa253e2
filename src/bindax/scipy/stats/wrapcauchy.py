"""Cauchy's distribution wrapped around a circle, for angles from 0 to 2 pi."""

from bindax_scipy.stats.wrapcauchy import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.wrapcauchy import __all__ as __all__
