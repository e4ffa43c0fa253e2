"""Memory for computation: ``checkpoint``, its policies, and what a derivative saves."""

from bindax_core.extend import public_names as _public_names
from bindax_transforms import checkpoint as checkpoint
from bindax_transforms import checkpoint_name as checkpoint_name
from bindax_transforms import checkpoint_policies as checkpoint_policies
from bindax_transforms import print_saved_residuals as print_saved_residuals
from bindax_transforms import saved_residuals as saved_residuals

remat = checkpoint
"""Another name of ``checkpoint``: rematerialization."""

vars()["__all__"] = [*_public_names(vars()), "checkpoint_policies"]
