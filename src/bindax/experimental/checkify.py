"""Checks of what a program computes, whose failures are values that functions return."""

from bindax_experimental.checkify import *  # noqa: F403 -- the package says what is public
from bindax_experimental.checkify import __all__ as __all__
