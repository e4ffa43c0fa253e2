"""Values at paths of a graph: where a new one can be, and how it gets there."""

from __future__ import annotations

from typing import Any

from bindax_nnx.filters import Path
from bindax_nnx.graph import children_of
from bindax_nnx.object import Object
from bindax_nnx.state import State
from bindax_nnx.variables import Variable


def put_at(node: Any, path: Path, value: Any) -> None:
    """Put a value in the attribute, or in the list or dictionary, that a path leads to."""
    for key in path[:-1]:
        node = _child(node, key)
    if isinstance(node, list | dict | State):
        node[path[-1]] = value
    else:
        setattr(node, str(path[-1]), value)


def _child(node: Any, key: Any) -> Any:
    return next((child for name, child in children_of(node) if name == key), None)


def holder_at(node: Any, path: Path, value: Any) -> Any:
    """The object that can take a new variable at a path; None if there is none."""
    if not isinstance(value, Variable) or not path or not isinstance(path[-1], str):
        return None
    for key in path[:-1]:
        node = _child(node, key)
    return node if isinstance(node, Object) and path[-1] not in node.__dict__ else None
