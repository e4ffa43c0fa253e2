"""The multinomial distribution: how often each of several results comes in ``n`` trials."""

from bindax_scipy.stats.multinomial import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.multinomial import __all__ as __all__
