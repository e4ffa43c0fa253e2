"""Distributions and summaries of samples."""

from bindax_scipy.stats import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_scipy.stats import __all__ as __all__
