"""Pareto's distribution: a power ``b`` from ``loc + scale`` on."""

from bindax_scipy.stats.pareto import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.pareto import __all__ as __all__
