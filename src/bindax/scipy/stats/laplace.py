"""Laplace's distribution around ``loc``, an exponential one to both sides."""

from bindax_scipy.stats.laplace import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.laplace import __all__ as __all__
