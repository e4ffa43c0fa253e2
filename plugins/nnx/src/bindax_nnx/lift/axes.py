"""Descriptions of how parts of objects are transformed: axes, carries, and filters for them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

from bindax_core.extend import tree_flatten, typeof
from bindax_nnx.array_attributes import content_of
from bindax_nnx.errors import AliasingError
from bindax_nnx.filters import Path, PathIn
from bindax_nnx.graph import is_reference, iter_data, iter_variables
from bindax_nnx.lift._names import named_after, with_positions
from bindax_nnx.lift.by_filter import ByFilter
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.prefixes import axes_of, flatten_for_roots, has_parts
from bindax_nnx.lift.structure import Arguments, CallScope
from bindax_nnx.state import State
from bindax_nnx.variables import PARTITION_NAME, Variable

T = TypeVar("T")

Occurrences = dict[int, list[tuple[Path, Any]]]
"""The paths of variables, by their identity, with the axes there."""


class _Carry(enum.Enum):
    CARRY = "Carry"

    def __repr__(self) -> str:
        return "Carry"

    __str__ = __repr__


Carry = _Carry.CARRY
"""In ``in_axes`` and ``out_axes`` of ``scan``: what is passed on from step to step."""


class StateAxes(ByFilter):
    """The axes along which the parts of an object are mapped or scanned.

    Args:
        parts: for each filter an axis, None for what is the same for all elements, or ``Carry``.

    >>> from bindax_nnx import BatchStat, Param
    >>> StateAxes({Param: 0, BatchStat: None})
    StateAxes({Param: 0, BatchStat: None})
    """


class StateSharding(ByFilter):
    """The shardings of the parts of an object, for ``jit`` and ``shard_map``.

    Args:
        parts: for each filter a sharding or a ``PartitionSpec``, None for what is not divided; or
            a state with such, as ``get_partition_spec`` and ``get_named_sharding`` return.

    >>> from bindax_core.sharding import PartitionSpec
    >>> from bindax_nnx import Param
    >>> StateSharding({Param: PartitionSpec("data"), ...: None})
    StateSharding({Param: P('data'), Ellipsis: None})
    """

    def __init__(self, parts: Any = ()) -> None:
        if isinstance(parts, State):
            flat = parts.flat_state().items()
            parts = {PathIn(path): getattr(x, "raw_value", x) for path, x in flat}
        super().__init__(parts)


class Axes:
    """The axis of each variable and each other array of a call."""

    __slots__ = ("_sizes", "_what", "arrays", "prefixes", "variables")

    def __init__(self, arguments: Arguments, prefix: Any, what: str) -> None:
        form = arguments.form
        self._what = what
        flat = flatten_for_roots(prefix, form.tree, what)
        self.arrays: list[Any] = [p for p, root in zip(flat, form.is_root, strict=True) if not root]
        self._sizes = arguments.sizes
        require_axes(self.arrays, what)
        self.prefixes: list[Any] = [p for p, root in zip(flat, form.is_root, strict=True) if root]
        first = self.prefixes[0] if self.prefixes else None
        if not has_parts(first) and all(p == first for p in self.prefixes[1:]):
            self.variables: list[Any] = [first] * len(arguments.variables)
            return
        if form.structure.has_sharing:
            self._occurrences(arguments.roots)
        self.variables = variable_axes(arguments, self.prefixes, what)

    def _occurrences(self, roots: Sequence[Any]) -> Occurrences:
        """The axis of each variable at each place where it is; several are an error."""
        found: Occurrences = {}
        for root, prefix in zip(roots, self.prefixes, strict=True):
            add_occurrences(found, root, prefix)
        return found

    def of_leaves(self) -> list[Any]:
        """The axes of the arguments of a call: of the values of the variables, then the arrays."""
        return repeated(self.variables, self._sizes) + self.arrays

    def of_results(
        self, scope: CallScope, prefix: Any, count: int, what: str = "out_axes"
    ) -> list[Any]:
        """The axes of the results of a call: of the changed and new variables, then the arrays.

        The first ``count`` variables are old; ``what`` is the argument of the prefix, for messages.
        """
        flat = flatten_for_roots(prefix, scope.tree, what)
        self._check_results(scope, flat)
        if scope.new:
            found = self._occurrences(scope.roots)
            for leaf, axis in zip(scope.leaves, flat, strict=True):
                if is_reference(leaf):
                    add_occurrences(found, leaf, axis)
        arrays = [p for x, p in zip(scope.leaves, flat, strict=True) if not is_reference(x)]
        require_axes(arrays, what)
        axes = [self.variables[i] for i, _ in scope.changed]
        new = zip(scope.origins, zip(scope.paths, scope.new, strict=True), strict=True)
        for (number, is_root), group in groupby(new, key=itemgetter(0)):
            given, roots = (self.prefixes, scope.roots) if is_root else (flat, scope.leaves)
            parts = [(path, content_of(x)) for _, (path, x) in group]
            axes += axes_of(given[number], roots[number], parts, what)
        return repeated(axes, scope.sizes) + arrays

    def _check_results(self, scope: CallScope, flat: Sequence[Any]) -> None:
        roots = [(x, p) for x, p in zip(scope.leaves, flat, strict=True) if is_reference(x)]
        if not roots or not scope.variables:
            return
        axis_of = {id(x): p for x, p in zip(scope.variables, self.variables, strict=True)}
        for root, prefix in roots:
            found = list(iter_data(root))
            for (_, x), axis in zip(found, axes_of(prefix, root, found, self._what), strict=True):
                if axis_of.get(id(x), axis) != axis:
                    add_occurrences(self._occurrences(scope.roots), root, prefix)


def variable_axes(arguments: Arguments, prefixes: Sequence[Any], what: str) -> list[Any]:
    """Entries of prefixes for each variable of the arguments, and each array that is in none.

    Args:
        arguments: the arguments; a variable that several have counts where it is first.
        prefixes: what is said of each object.
        what: the parameter, for messages.
    """
    parts = zip(prefixes, arguments.roots, arguments.parts(), strict=True)
    return [axis for part in parts for axis in axes_of(*part, what)]


def add_occurrences(occurrences: Occurrences, root: Any, prefix: Any) -> None:
    """Note the axes of the variables of a root; one that was noted with another is an error."""
    found = list(iter_data(root))
    for (path, x), axis in zip(found, axes_of(prefix, root, found, "prefix"), strict=True):
        if not isinstance(x, Variable):
            continue
        noted = occurrences.setdefault(id(x), [])
        noted.append((path, axis))
        if noted[0][1] != axis:
            listed = "\n".join(f"  {'/'.join(map(str, p)) or '<root>'}: {a}" for p, a in noted)
            error = AliasingError(
                f"Inconsistent aliasing detected. The following nodes have different prefixes:\n"
                f"Node: {type(x)}\n{listed}"
            )
            error.add_note(
                f"The {type(x).__name__} is part of several arguments or results, here of a "
                f"{type(root).__name__}; give the same axis wherever it appears."
            )
            raise error


def require_axes(axes: Sequence[Any], what: str) -> None:
    """Raise where a ``StateAxes`` stands for an array that is no part of an object."""
    for axis in axes:
        if isinstance(axis, ByFilter):
            raise ValueError(
                f"{what}: {axis!r} stands for an array, but it says what becomes of the variables "
                f"of objects; write the axis of the array in its place."
            )


# ---------------------------------------------------------------------------- axes and metadata


def with_axes(
    name: str, f: Callable[..., Any], axes: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by position, where axes are said by position; there must be as many."""
    if isinstance(axes, tuple):
        args, kwargs = with_positions(f, args, kwargs)
        if len(axes) != len(args):
            raise ValueError(
                f"in_axes of {name} has {len(axes)} entries for {len(args)} positional arguments: "
                f"in_axes={axes!r}."
            )
    return args, kwargs


def remove_axes(scope: CallScope, axes: Sequence[Any], metadata: Mapping[str, Any]) -> None:
    """Tell the variables inside of a transformation that their mapped axes are gone."""
    if PARTITION_NAME in metadata:
        for variable, axis in zip(scope.variables, axes, strict=True):
            _rename(variable, axis, metadata, variable.without_axis, variable.remove_axis)


def restore_axes(
    scope: CallScope, result: Any, entry: Axes, out_axes: Any, metadata: Mapping[str, Any]
) -> None:
    """Tell the variables that leave that they have the mapped axis again."""
    if PARTITION_NAME not in metadata:
        return
    pairs = list(zip(scope.variables, entry.variables, strict=True))
    old = {id(x) for x in scope.variables}
    found: Occurrences = {}
    new: dict[int, Any] = {}
    leaves, tree = tree_flatten(result, is_leaf=is_reference)
    wanted = zip(leaves, flatten_for_roots(out_axes, tree, "out_axes"), strict=True)
    roots = [*zip(scope.roots, entry.prefixes, strict=True), *wanted]
    for root, prefix in roots:
        if not is_reference(root):
            continue
        fresh = {id(x): x for _, x in iter_variables(root) if id(x) not in old}
        if fresh:
            new.update(fresh)
            add_occurrences(found, root, prefix)
    pairs += [(x, found[key][0][1]) for key, x in new.items()]
    for variable, axis in pairs:
        _rename(variable, axis, metadata, variable.with_axis, variable.add_axis)


def _rename(
    variable: Variable[Any],
    axis: Any,
    metadata: Mapping[str, Any],
    renamed: Callable[..., Any],
    change: Callable[[int, Any], None],
) -> None:
    """Follow the removal or insertion of an axis in the metadata of a variable."""
    if not isinstance(axis, int):
        return
    # Counted from the front: the value has one axis less than outside.
    index = axis if axis >= 0 else axis + 1 + len(typeof(variable._value).shape)
    for field, name in metadata.items():
        if field != PARTITION_NAME and isinstance(variable.get_metadata(field, None), tuple):
            variable.set_metadata(field, renamed(field, index, name))
    change(index, metadata[PARTITION_NAME])


def mapped(
    call: Call, entry: Axes, out: Any, metadata: Mapping[str, Any], what: str = "out_axes"
) -> tuple[Callable[[Sequence[Any]], list[Any]], list[Any]]:
    """A call as a function of a flat list for a flat list, and the axes of its results.

    Args:
        call: the call.
        entry: the axes of its arguments.
        out: those of its result, where they are given.
        metadata: the names of the axis in the metadata of variables.
        what: the parameter that ``out`` is, for messages.

    Returns:
        The function and a list, which is filled while the function runs.
    """
    exits: list[Any] = []

    def flat(leaves: Sequence[Any]) -> list[Any]:
        scope = call.enter(leaves)
        remove_axes(scope, entry.variables, metadata)
        result = call.run(scope)
        restore_axes(scope, result, entry, out, metadata)
        outs = call.leave(scope, result, paths=True)
        exits[:] = entry.of_results(scope, out, len(outs), what)
        return outs

    return named_after(flat, call.fun), exits


def repeated(items: Iterable[T], sizes: Iterable[int]) -> list[T]:
    """An entry for each value, from one for each variable and the sizes of these."""
    return [item for item, size in zip(items, sizes, strict=True) for _ in range(size)]
