"""Memory for computation: ``checkpoint``, its policies, and what a derivative saves."""

from bindax_transforms import checkpoint as checkpoint
from bindax_transforms import checkpoint_name as checkpoint_name
from bindax_transforms import checkpoint_policies as checkpoint_policies
from bindax_transforms import print_saved_residuals as print_saved_residuals
from bindax_transforms import saved_residuals as saved_residuals

__all__ = [
    "checkpoint",
    "checkpoint_name",
    "checkpoint_policies",
    "print_saved_residuals",
    "remat",
    "saved_residuals",
]

remat = checkpoint
"""Another name of ``checkpoint``: rematerialization."""
