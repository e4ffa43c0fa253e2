"""The gamma distribution of shape ``a``."""

from bindax_scipy.stats.gamma import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.gamma import __all__ as __all__
