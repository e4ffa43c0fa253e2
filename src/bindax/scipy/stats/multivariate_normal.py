"""The normal distribution of vectors."""

from bindax_scipy.stats.multivariate_normal import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.multivariate_normal import __all__ as __all__
