"""Optimizers: pairs of functions that turn gradients into updates of parameters."""

from bindax_optimizers import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_optimizers import __all__ as __all__
