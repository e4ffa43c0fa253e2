"""Copies and pickles of primitives: there is one of each name that a module declares."""

from __future__ import annotations

import copyreg
from importlib import import_module
from typing import Any

from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._primitives_by_name import declared_primitives


def _reduced(primitive: Primitive) -> Any:
    if primitive in declared_primitives.get(primitive.name, ()):
        return _declared_in, (primitive.site.module, primitive.name)
    return primitive.name  # a copy of one that was replaced is itself; its pickle is refused


def _declared_in(module: str, name: str) -> Primitive:
    import_module(module)
    for primitive in declared_primitives.get(name, ()):
        if primitive.site.module == module:
            return primitive
    raise LookupError(f"the module {module} declares no primitive {name!r}; is it another version?")


copyreg.pickle(Primitive, _reduced)
