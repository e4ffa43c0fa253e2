"""Entries for arguments in ``with_refs`` of what ``vjp`` returns, and what is returned for them."""

from __future__ import annotations

from dataclasses import dataclass

from bindax_core.extend import NodeDefinition
from bindax_core.tree_util import register_node


@dataclass(frozen=True)
class GradValue:
    """An entry for an argument whose cotangent is returned."""


@dataclass(frozen=True)
class DontWant:
    """An entry for an argument whose cotangent is not computed."""


@dataclass(frozen=True)
class DidntWant:
    """The result in the place of a cotangent that was not wanted."""


@dataclass(frozen=True)
class GradRef:
    """The result in the place of a cotangent that was added to a reference."""


for _kind in (DidntWant, GradRef):  # results of compiled functions, too
    register_node(
        NodeDefinition(
            _kind, lambda node: ((), type(node)), lambda kind, children: kind(), attributes=()
        )
    )
