"""Checks of what a program computes, whose failures are values that functions return."""

from bindax_core.extend import public_names as _public_names
from bindax_experimental.checkify import *  # noqa: F403 -- the package says what is public

vars()["__all__"] = _public_names(vars())
