"""The binomial distribution with a probability from the beta distribution."""

from bindax_scipy.stats.betabinom import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.betabinom import __all__ as __all__
