"""The chi-square distribution of ``df`` degrees of freedom."""

from bindax_scipy.stats.chi2 import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.chi2 import __all__ as __all__
