"""The generalized normal distribution, ``exp(-|x| ** beta)`` normalized."""

from bindax_scipy.stats.gennorm import *  # noqa: F403 -- everything there is public
from bindax_scipy.stats.gennorm import __all__ as __all__
