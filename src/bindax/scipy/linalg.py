"""Linear algebra."""

from bindax_scipy.linalg import *  # noqa: F403 -- everything there is public
from bindax_scipy.linalg import __all__ as __all__
