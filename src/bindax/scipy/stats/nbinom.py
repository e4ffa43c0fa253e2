"""The negative binomial distribution: failures before ``n`` successes of probability ``p``."""

from bindax_scipy.stats.nbinom import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.nbinom import __all__ as __all__
