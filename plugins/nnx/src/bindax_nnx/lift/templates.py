"""The arguments of a call around other leaves, with states in the place of objects."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from bindax_core.extend import tree_structure, tree_unflatten
from bindax_nnx._mutation_counter import current_trace
from bindax_nnx.lift.structure import Arguments, CallScope
from bindax_nnx.modes import Mode
from bindax_nnx.state import state_of_part
from bindax_nnx.variables import Variable, restore_variable


class Template:
    """The arguments of a call, to be filled with one array for each of its leaves.

    It is made before the call, which may change the objects. With updates of graphs, states stand
    for objects; a variable that is in several is in the state of the first.
    """

    def __init__(self, arguments: Arguments, mode: Mode = Mode.UPDATES) -> None:
        self._form, self._has_states = arguments.form, mode is Mode.UPDATES
        starts = accumulate(arguments.sizes, initial=0)
        self._parts: list[list[Any]] = []
        for found in arguments.parts() if self._has_states else ():
            placed = [(*part, start) for part, start in zip(found, starts, strict=False)]
            variables = [part for part in placed if isinstance(part[1], Variable)]
            self._parts.append([(p, x.token, i, tree_structure(x._value)) for p, x, i in variables])

    def fill(self, leaves: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments, by position and by name; states lack variables whose leaves are None."""
        form = self._form
        if not self._has_states:
            return CallScope(form, leaves).arguments  # type: ignore[no-any-return]
        parts, arrays = iter(self._parts), iter(leaves[form.structure.size :])
        filled = [_filled(next(parts), leaves) if x else next(arrays) for x in form.is_root]
        return tree_unflatten(form.tree, filled)  # type: ignore[no-any-return]


def _filled(part: Sequence[Any], leaves: Sequence[Any]) -> Any:
    found, context = {}, current_trace()
    for path, token, start, tree in part:
        own = leaves[start : start + tree.num_leaves]
        if not any(leaf is None for leaf in own):
            found[path] = restore_variable(token, tree_unflatten(tree, own), context)
    return state_of_part(found)
