"""The names for packages that bring operations, containers, backends or transformations."""

import typing as _typing

from bindax_core.extend import *  # noqa: F403 -- the module says in __all__ what is public
from bindax_core.extend import missing_attribute as _missing_attribute
from bindax_core.extend import public_names as _public_names

vars()["__all__"] = [*_public_names(vars()), "rules"]


def __getattr__(name: str) -> _typing.Any:
    raise _missing_attribute("bindax.extend", name, globals())
