"""The errors that bindax raises; those that JAX has, too, have the names they have there."""

from bindax_core.errors import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_core.extend import public_names as _public_names

vars()["__all__"] = _public_names(vars())
