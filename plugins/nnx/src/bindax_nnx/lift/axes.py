"""Descriptions of how parts of objects are transformed: axes, carries, and filters for them."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bindax_core.extend import flatten_prefix, tree_flatten, typeof
from bindax_nnx.errors import AliasingError
from bindax_nnx.filters import Filter, Path, PathIn, check_order, to_predicate
from bindax_nnx.graph import is_reference, iter_variables
from bindax_nnx.lift.structure import Arguments, CallScope
from bindax_nnx.state import State
from bindax_nnx.variables import PARTITION_NAME, Variable


class _Carry(enum.Enum):
    CARRY = "Carry"

    def __repr__(self) -> str:
        return "Carry"

    __str__ = __repr__


Carry = _Carry.CARRY
"""In ``in_axes`` and ``out_axes`` of ``scan``: what is passed on from step to step."""


class ByFilter:
    """Something for each part of the variables of an object, the parts being told by filters."""

    def __init__(self, parts: Mapping[Filter, Any] | Iterable[tuple[Filter, Any]] = ()) -> None:
        try:
            pairs = tuple(dict(parts).items())
        except (TypeError, ValueError):
            raise TypeError(
                f"{type(self).__name__}: parts must map filters to values, but it is {parts!r:.60}."
            ) from None
        check_order(tuple(filter for filter, _ in pairs))
        self.filters: tuple[Filter, ...] = tuple(filter for filter, _ in pairs)
        self.values: tuple[Any, ...] = tuple(value for _, value in pairs)
        self._predicates = tuple(map(to_predicate, self.filters))

    def of(self, path: Path, variable: Variable[Any]) -> Any:
        """The entry for one variable, or an error when no filter takes it."""
        for predicate, value in zip(self._predicates, self.values, strict=True):
            if predicate(path, variable):
                return value
        raise ValueError(
            f"{self!r} has no filter for {'/'.join(map(str, path)) or 'the variable'}, a "
            f"{type(variable).__name__}; add one, or `...` as the last, for all others."
        )

    def __eq__(self, other: object) -> bool:
        return (
            type(other) is type(self)
            and self.filters == other.filters
            and self.values == other.values
        )

    def __hash__(self) -> int:
        return hash((type(self), self.filters, self.values))

    def __repr__(self) -> str:
        shown = (f"{_name(f)}: {v!r}" for f, v in zip(self.filters, self.values, strict=True))
        return f"{type(self).__name__}({{{', '.join(shown)}}})"


def _name(filter: Filter) -> str:
    if isinstance(filter, tuple):
        return f"({', '.join(map(_name, filter))})"
    return filter.__name__ if isinstance(filter, type) else repr(filter)


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

    __slots__ = ("_occurrences", "arrays", "prefixes", "variables")

    def __init__(self, arguments: Arguments, prefix: Any, what: str) -> None:
        form = arguments.form
        flat = flatten_prefix(prefix, form.tree, what)
        self.arrays: list[Any] = [p for p, root in zip(flat, form.is_root, strict=True) if not root]
        require_axes(self.arrays, what)
        self.prefixes: list[Any] = [p for p, root in zip(flat, form.is_root, strict=True) if root]
        self._occurrences: dict[int, list[tuple[Path, Any]]] = {}
        first = self.prefixes[0] if self.prefixes else None
        if not isinstance(first, ByFilter) and all(p == first for p in self.prefixes[1:]):
            self.variables: list[Any] = [first] * len(arguments.variables)
            return
        self._resolve(arguments.roots)
        self.variables = [self._occurrences[id(x)][0][1] for x in arguments.variables]

    def _resolve(self, roots: Sequence[Any]) -> None:
        """Find the axis of each variable at each place where it is; several are an error."""
        self._occurrences = {}
        for root, prefix in zip(roots, self.prefixes, strict=True):
            add_occurrences(self._occurrences, root, prefix)

    def of_results(
        self, scope: CallScope, prefix: Any, count: int, what: str = "out_axes"
    ) -> list[Any]:
        """The axes of the results of a call: of the changed and new variables, then the arrays.

        The first ``count`` variables are old; ``what`` is the argument of the prefix, for messages.
        """
        flat = flatten_prefix(prefix, scope.tree, what)
        self._check_results(scope, flat)
        found: dict[int, list[tuple[Path, Any]]] = {}
        if scope.new:
            for root, axis in zip(scope.roots, self.prefixes, strict=True):
                add_occurrences(found, root, axis)
            for leaf, axis in zip(scope.leaves, flat, strict=True):
                if is_reference(leaf):
                    add_occurrences(found, leaf, axis)
        if any(id(x) not in found for x in scope.new):
            self._add_detached(found, scope)
        arrays = [p for x, p in zip(scope.leaves, flat, strict=True) if not is_reference(x)]
        require_axes(arrays, what)
        numbers = [i for i, _ in scope.changed]
        axes = [self.variables[i] for i in numbers] + [found[id(x)][0][1] for x in scope.new]
        sized = zip(axes, scope.sizes, strict=True)
        return [axis for axis, size in sized for _ in range(size)] + arrays

    def _add_detached(self, found: dict[int, list[tuple[Path, Any]]], scope: CallScope) -> None:
        """Note the axes of new variables in objects that were taken out of the arguments."""
        start = 0
        for prefix, end in zip(self.prefixes, scope.ends, strict=True):
            for node in scope.references[start:end]:
                detached: dict[int, list[tuple[Path, Any]]] = {}
                add_occurrences(detached, node, prefix)
                for key, noted in detached.items():
                    found.setdefault(key, noted)
            start = end

    def _check_results(self, scope: CallScope, flat: Sequence[Any]) -> None:
        roots = [(x, p) for x, p in zip(scope.leaves, flat, strict=True) if is_reference(x)]
        if not roots or not scope.variables:
            return
        axis_of = {id(x): p for x, p in zip(scope.variables, self.variables, strict=True)}
        for root, prefix in roots:
            for path, variable in iter_variables(root):
                axis = prefix.of(path, variable) if isinstance(prefix, ByFilter) else prefix
                if axis_of.get(id(variable), axis) != axis:
                    self._resolve(scope.roots)
                    add_occurrences(self._occurrences, root, prefix)


def add_occurrences(occurrences: dict[int, list[tuple[Path, Any]]], root: Any, prefix: Any) -> None:
    """Note the axes of the variables of a root; one that was noted with another is an error."""
    for path, variable in iter_variables(root):
        axis = prefix.of(path, variable) if isinstance(prefix, ByFilter) else prefix
        noted = occurrences.setdefault(id(variable), [])
        noted.append((path, axis))
        if noted[0][1] != axis:
            listed = "\n".join(f"  {'/'.join(map(str, p)) or '<root>'}: {a}" for p, a in noted)
            error = AliasingError(
                f"Inconsistent aliasing detected. The following nodes have different prefixes:\n"
                f"Node: {type(variable)}\n{listed}"
            )
            error.add_note(
                f"The {type(variable).__name__} is part of several arguments or results, here of a "
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


def check_axes_count(name: str, axes: Any, args: Sequence[Any]) -> None:
    """Raise where a tuple of axes has not one entry for each positional argument."""
    if isinstance(axes, tuple) and len(axes) != len(args):
        raise ValueError(
            f"in_axes of {name} has {len(axes)} entries for {len(args)} positional arguments: "
            f"in_axes={axes!r}."
        )


def remove_axes(scope: CallScope, axes: Sequence[Any], metadata: Mapping[str, Any]) -> None:
    """Tell the variables inside of a transformation that their mapped axes are gone."""
    if PARTITION_NAME in metadata:
        for variable, axis in zip(scope.variables, axes, strict=True):
            if isinstance(axis, int):
                variable.remove_axis(_positive(axis, variable), metadata[PARTITION_NAME])


def restore_axes(
    scope: CallScope, result: Any, entry: Axes, out_axes: Any, metadata: Mapping[str, Any]
) -> None:
    """Tell the variables that leave that they have the mapped axis again."""
    if PARTITION_NAME not in metadata:
        return
    pairs = list(zip(scope.variables, entry.variables, strict=True))
    old = {id(x) for x in scope.variables}
    found: dict[int, list[Any]] = {}
    new: dict[int, Any] = {}
    leaves, tree = tree_flatten(result, is_leaf=is_reference)
    wanted = zip(leaves, flatten_prefix(out_axes, tree, "out_axes"), strict=True)
    roots = [*zip(scope.roots, entry.prefixes, strict=True), *wanted]
    for root, prefix in roots:
        if not is_reference(root):
            continue
        fresh = {id(x): x for _, x in iter_variables(root) if id(x) not in old}
        if fresh:
            new.update(fresh)
            add_occurrences(found, root, prefix)
    pairs += [(x, found[key][0][1]) for key, x in new.items()]
    name = metadata[PARTITION_NAME]
    for variable, axis in pairs:
        if isinstance(axis, int):
            variable.add_axis(_positive(axis, variable), name)


def _positive(axis: int, variable: Variable[Any]) -> int:
    """An axis counted from the front; the value has one less than outside."""
    return axis if axis >= 0 else axis + 1 + len(typeof(variable._value).shape)


def value_axes(arguments: Arguments, axes: Sequence[Any]) -> list[Any]:
    """An axis for each value, from one for each variable."""
    sized = zip(axes, arguments.sizes, strict=True)
    return [axis for axis, size in sized for _ in range(size)]
