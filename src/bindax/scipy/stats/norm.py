"""The normal distribution; ``loc`` is the mean, ``scale`` the standard deviation."""

from bindax_scipy.stats.norm import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.norm import __all__ as __all__
