"""The binomial distribution: successes in ``n`` trials of probability ``p``."""

from bindax_scipy.stats.binom import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.binom import __all__ as __all__
