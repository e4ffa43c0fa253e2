"""The logistic distribution around ``loc``."""

from bindax_scipy.stats.logistic import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.logistic import __all__ as __all__
