"""Modules with reference semantics: layers, models and their state through transformations."""

from bindax_core.extend import public_names as _public_names
from bindax_nnx import *  # noqa: F403 -- everything there is public

vars()["__all__"] = [*_public_names(vars()), "initializers", "metrics"]
