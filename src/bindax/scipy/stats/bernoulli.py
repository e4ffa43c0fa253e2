"""Bernoulli's distribution: 1 with probability ``p``, else 0."""

from bindax_scipy.stats.bernoulli import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.bernoulli import __all__ as __all__
