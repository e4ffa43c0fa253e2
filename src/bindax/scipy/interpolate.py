"""Values between the points of a grid."""

from bindax_scipy.interpolate import *  # noqa: F403 -- everything there is public
from bindax_scipy.interpolate import __all__ as __all__
