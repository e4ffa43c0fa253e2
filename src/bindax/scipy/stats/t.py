"""Student's distribution of ``df`` degrees of freedom."""

from bindax_scipy.stats.t import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.t import __all__ as __all__
