"""Functions on pytrees under their long names, key paths, and the registration of containers."""

from bindax_core.tree_util import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_core.tree_util import __all__ as __all__
