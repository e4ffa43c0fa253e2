"""The primitives declared in this process, by name, offered by a plugin or not.

There is one of each name that a module declares: copies and pickles find it by the two.
"""

from __future__ import annotations

import copyreg
from importlib import import_module
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core._site import is_declared_again
from bindax_core.errors import DuplicateRuleError, PluginConflictError, PluginError
from bindax_core.kernel._primitive import Primitive

declared_primitives: dict[str, list[Primitive]] = {}
"""Every primitive declared in this process, by name; more than one where packages clash."""


def declare(primitive: Primitive) -> None:
    """Remember a primitive under its name.

    Two packages may declare one name, and each computes with its own primitive; the error comes
    when something is looked up by the name.

    Raises:
        DuplicateRuleError: when one run of a module declares two of the name.
    """
    declared = declared_primitives.setdefault(primitive.name, [])
    before = list(declared)
    kept = [one for one in before if one.site.module != primitive.site.module]
    for old in before:
        if old not in kept and not is_declared_again(old, primitive):
            here, there = (runtime.plugins.describe_site(one.site) for one in (primitive, old))
            raise DuplicateRuleError(
                f"the primitive {primitive.name!r} from {here} is already declared by {there}. "
                f"Jaxprs, pickles and plugins find a primitive by its name: rename one of them."
            )
    declared[:] = [*kept, primitive]
    on_rollback(lambda: forget(primitive, before))


def forget(primitive: Primitive, before: list[Primitive] | None = None) -> None:
    """Take back a declaration that failed, and put back what it replaced."""
    declared = declared_primitives.get(primitive.name, [])
    if primitive in declared:
        declared[:] = (
            [one for one in declared if one is not primitive] if before is None else before
        )


def find_declared(name: str) -> Primitive | None:
    """The primitive declared under a name in this process, whether a plugin offers it or not.

    Raises:
        PluginConflictError: when more than one package declared it.
    """
    declared = declared_primitives.get(name, [])
    if len(declared) > 1:
        places = " and by ".join(runtime.plugins.describe_site(one.site) for one in declared)
        raise PluginConflictError(
            f"the primitive {name!r} is declared by {places}. Rename one of them, or uninstall a "
            f"package."
        )
    return declared[0] if declared else None


def _reduced(primitive: Primitive) -> Any:
    if primitive in declared_primitives.get(primitive.name, ()):
        from bindax_core.registry._provenance import distribution_of  # which reads the manifest

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
