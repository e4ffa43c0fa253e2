"""The exponential distribution from ``loc`` on, with mean ``loc + scale``."""

from bindax_scipy.stats.expon import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.expon import __all__ as __all__
