"""Linear algebra."""

from bindax_scipy.linalg import *  # noqa: F403 -- everything there is public
