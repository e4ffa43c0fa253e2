"""Special functions."""

from bindax_scipy.special import *  # noqa: F403 -- everything there is public
from bindax_scipy.special import __all__ as __all__
