"""The geometric distribution: trials of probability ``p`` up to the first success."""

from bindax_scipy.stats.geom import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.geom import __all__ as __all__
