"""The errors that bindax raises; those that JAX has, too, have the names they have there."""

from bindax_core import errors as _errors
from bindax_core.errors import *  # noqa: F403 -- the module says in __all__ what is public

vars()["__all__"] = vars(_errors)["__all__"]
