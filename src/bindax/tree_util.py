"""Functions on pytrees under their long names, key paths, and the registration of containers."""

from bindax_core.extend import public_names as _public_names
from bindax_core.tree_util import *  # noqa: F403 -- the module says in __all__ what is public

vars()["__all__"] = _public_names(vars())
