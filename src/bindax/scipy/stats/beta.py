"""The beta distribution of shapes ``a`` and ``b``, from ``loc`` to ``loc + scale``."""

from bindax_scipy.stats.beta import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.beta import __all__ as __all__
