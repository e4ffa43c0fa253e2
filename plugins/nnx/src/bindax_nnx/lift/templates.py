"""The arguments of a call around other leaves, with states in the place of objects."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from bindax_core.extend import tree_structure, tree_unflatten
from bindax_nnx.graph import iter_variables
from bindax_nnx.lift.structure import Arguments, CallScope
from bindax_nnx.modes import Mode
from bindax_nnx.state import state_of_part


class Template:
    """The arguments of a call, to be filled with one array for each of its leaves.

    It is made before the call, which may change the objects. With updates of graphs, states stand
    for objects; a variable that is in several is in the state of the first.
    """

    def __init__(self, arguments: Arguments, mode: Mode = Mode.UPDATES) -> None:
        self._form, self._has_states = arguments.form, mode is Mode.UPDATES
        sized = zip(arguments.variables, arguments.sizes, accumulate(arguments.sizes), strict=True)
        places = {id(x): (end - size, tree_structure(x._value)) for x, size, end in sized}
        self._parts: list[list[Any]] = []
        for root in arguments.roots if self._has_states else ():
            found = [(path, x, places.pop(id(x), None)) for path, x in iter_variables(root)]
            self._parts.append([(path, x.copy(), *place) for path, x, place in found if place])

    def fill(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, by position and by name; states lack variables whose leaves are None."""
        form = self._form
        if not self._has_states:
            return CallScope(form, leaves).arguments  # type: ignore[no-any-return]
        parts, arrays = iter(self._parts), iter(leaves[form.structure.size :])
        filled = [_filled(next(parts), leaves) if x else next(arrays) for x in form.is_root]
        return tree_unflatten(form.tree, filled)  # type: ignore[no-any-return]


def _filled(part: Sequence[Any], leaves: Sequence[Any]) -> Any:
    found = {}
    for path, x, start, tree in part:
        own = leaves[start : start + tree.num_leaves]
        if not any(leaf is None for leaf in own):
            found[path] = x.replace(tree_unflatten(tree, own))
    return state_of_part(found)
