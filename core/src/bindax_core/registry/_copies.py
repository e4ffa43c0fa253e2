"""Copies and pickles of primitives: there is one of each name that a module declares."""

from __future__ import annotations

import copyreg
from importlib import import_module
from typing import Any

from bindax_core.errors import PluginError
from bindax_core.kernel._primitive import Primitive
from bindax_core.registry._declared import declared_primitives
from bindax_core.registry._provenance import distribution_of


def _reduced(primitive: Primitive) -> Any:
    if primitive in declared_primitives.get(primitive.name, ()):
        owner = distribution_of(primitive.site.module)
        label = "" if owner is None else owner.label
        return _declared_in, (primitive.site.module, primitive.name, label)
    return primitive.name  # a copy of one that was replaced is itself; its pickle is refused


def _declared_in(module: str, name: str, label: str = "") -> Primitive:
    """The primitive that a module declares; ``label`` is the distribution where it was pickled."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if f"{module}.".startswith(f"{error.name}."):
            raise PluginError(_not_installed(module, name, label)) from error
        raise
    for primitive in declared_primitives.get(name, ()):
        if primitive.site.module == module:
            return primitive
    written = f" It was pickled with {label}." if label else ""
    raise LookupError(
        f"the module {module} declares no primitive {name!r}; is it another version?{written}"
    )


def _not_installed(module: str, name: str, label: str) -> str:
    if not label:
        return (
            f"a pickle needs the primitive {name!r} of the module {module!r}, which is not "
            f"installed here. Put its file on sys.path, or install the package that has it."
        )
    return (
        f"a pickle needs the primitive {name!r} of {label} (module {module}), which is not "
        f"installed here. Install it: pip install {label.partition(' ')[0]}."
    )


copyreg.pickle(Primitive, _reduced)
