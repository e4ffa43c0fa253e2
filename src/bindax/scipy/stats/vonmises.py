"""The distribution of von Mises of angles around 0, of concentration ``kappa``."""

from bindax_scipy.stats.vonmises import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.vonmises import __all__ as __all__
