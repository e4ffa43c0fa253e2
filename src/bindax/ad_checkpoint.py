"""Memory for computation: ``checkpoint``, its policies, and what a derivative saves."""

from bindax_core import checkpoint as checkpoint
from bindax_core import checkpoint_name as checkpoint_name
from bindax_core import checkpoint_policies as checkpoint_policies
from bindax_core import print_saved_residuals as print_saved_residuals
from bindax_core import saved_residuals as saved_residuals

remat = checkpoint
"""Another name of ``checkpoint``: rematerialization."""
