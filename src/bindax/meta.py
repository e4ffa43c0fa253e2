"""Boxes that carry what is known of each axis of an array through transformations."""

from bindax_axis_metadata import *  # noqa: F403 -- the package says in __all__ what is public
from bindax_axis_metadata import __all__ as __all__
