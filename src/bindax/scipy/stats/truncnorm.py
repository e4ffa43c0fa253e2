"""The normal distribution cut off at ``a`` and ``b`` standard deviations from ``loc``."""

from bindax_scipy.stats.truncnorm import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.truncnorm import __all__ as __all__
