"""The uniform distribution from ``loc`` to ``loc + scale``."""

from bindax_scipy.stats.uniform import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.uniform import __all__ as __all__
