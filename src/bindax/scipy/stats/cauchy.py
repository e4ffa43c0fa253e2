"""Cauchy's distribution around ``loc``, of width ``scale``."""

from bindax_scipy.stats.cauchy import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.cauchy import __all__ as __all__
