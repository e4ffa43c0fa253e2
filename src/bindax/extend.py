"""The door for packages that bring operations, containers, backends or transformations."""

from bindax_core.extend import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_core.extend import public_names as _public_names

vars()["__all__"] = [*_public_names(vars()), "rules"]
