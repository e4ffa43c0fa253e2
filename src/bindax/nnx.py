"""Modules with reference semantics: layers, models and their state through transformations."""

from bindax_nnx import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_nnx import __all__ as __all__
