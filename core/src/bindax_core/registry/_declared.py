"""The primitives declared in this process, by name, offered by a plugin or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core._extension_points import runtime
from bindax_core._rollback import on_rollback
from bindax_core._site import is_declared_again
from bindax_core.errors import DuplicateRuleError, PluginConflictError

if TYPE_CHECKING:
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
