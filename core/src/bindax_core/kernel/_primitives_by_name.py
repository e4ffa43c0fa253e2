"""The primitives declared in this process, by name, offered by a plugin or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core._extension_points import runtime
from bindax_core.errors import PluginConflictError
from bindax_core.kernel._rollback import record_undo

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

declared_primitives: dict[str, list[Primitive]] = {}
"""Every primitive declared in this process, by name; more than one where packages clash."""


def declare(primitive: Primitive) -> None:
    """Remember a primitive under its name.

    Two packages may declare one name, and each computes with its own primitive; the error comes
    when something is looked up by the name.
    """
    declared = declared_primitives.setdefault(primitive.name, [])
    # The same module again is a reload, or a notebook cell that was run twice.
    declared[:] = [one for one in declared if one.site.module != primitive.site.module]
    declared.append(primitive)
    record_undo(lambda: declared.remove(primitive))


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
