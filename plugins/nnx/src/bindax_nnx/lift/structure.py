"""The mechanism of all lifted transformations: arguments apart, results together, state back.

A call takes its arguments apart once (`Arguments`): what is static becomes a hashable
``Structure``, the rest are lists of arrays. Inside of the transformation, ``CallScope`` builds
objects of the same structure around what the transformation passes, which the user's function may
change at will, and takes the result and the changes apart into arrays and ``Updates``. Outside,
``finish`` applies ``Updates`` to the original objects.
"""

from __future__ import annotations

import dataclasses
import weakref
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from bindax_core.extend import (
    Array,
    NodeDefinition,
    PyTreeDef,
    Tracer,
    is_value,
    tree_flatten,
    tree_unflatten,
)
from bindax_core.tree_util import is_tree_node, register_node
from bindax_nnx._mutation_counter import mutation_counter
from bindax_nnx._tokens import LEAF, Branch, Content, NodeToken, Seen, VariableToken, places_of
from bindax_nnx.array_attributes import ArrayAttribute
from bindax_nnx.graph import GraphTraversal, data_of_each, is_reference, traverse
from bindax_nnx.lift._names import changed_names
from bindax_nnx.modes import Mode
from bindax_nnx.object import Object
from bindax_nnx.reference_variables import all_loaded
from bindax_nnx.sharing import Path, require_own_results, require_unshared
from bindax_nnx.unflatten import Build
from bindax_nnx.variables import Variable, store_metadata, store_value


class Structure:
    """The tokens of the graphs in the arguments of a call; one object for equal ones.

    Attributes:
        tokens: what a traversal wrote.
        size: how many values the variables hold.
        changes_unseen: whether there are lists and the like, or nodes of foreign types.
        has_sharing: whether a node or variable appears twice.
    """

    __slots__ = ("__weakref__", "_places", "changes_unseen", "has_sharing", "size", "tokens")

    def __init__(self, tokens: tuple[Any, ...], size: int) -> None:
        self.tokens: tuple[Any, ...] = tokens
        self.size: int = size
        self.changes_unseen: bool = any(
            not (x.is_fixed if type(x) is Branch else issubclass(x.type, Object))
            for x in tokens
            if type(x) in (Branch, NodeToken)
        )
        self.has_sharing: bool = Seen in map(type, tokens)
        self._places: dict[tuple[int, str], int] | None = None

    def places(self) -> dict[tuple[int, str], int]:
        """The positions of the tokens of attributes, by the number of the node and their name."""
        if self._places is None:
            self._places = places_of(self.tokens)
        return self._places


_structures: weakref.WeakValueDictionary[tuple[Any, ...], Structure] = weakref.WeakValueDictionary()


def structure_of(traversal: GraphTraversal) -> Structure:
    """The structure that a traversal wrote."""
    return structure_of_tokens(traversal.structure(), len(traversal.values))


def structure_of_tokens(tokens: tuple[Any, ...], size: int) -> Structure:
    """The structure of what a traversal wrote, with the number of values that it collected."""
    found = _structures.get(tokens)
    if found is None:
        found = _structures[tokens] = Structure(tokens, size)
    return found


@dataclasses.dataclass(frozen=True, slots=True)
class Lift:
    """The way in which a transformation is lifted.

    Attributes:
        name: the transformation, for messages.
        mode: what becomes of sharing, and of changes in objects.
        returns_arguments: whether results may be, or hold, the variables of the arguments, where
            there are no updates of graphs; as the steps of loops do.
    """

    name: str
    mode: Mode
    returns_arguments: bool = False

    def traced_parts(self) -> tuple[Any, ...]:
        """Nothing that may change unseen, for those who remember traces."""
        return ()


UPDATES = Lift("lift", Mode.UPDATES)
"""The lift of graphs with updates."""


@dataclasses.dataclass(frozen=True, slots=True)
class Form:
    """All that is static about the arguments of a call.

    Attributes:
        tree: the containers around arrays and graphs.
        is_root: which leaves of the tree are graphs; the others are arrays.
        structure: the structure of the graphs, in their order.
    """

    tree: PyTreeDef
    is_root: tuple[bool, ...]
    structure: Structure


class Arguments:
    """The arguments of a call, taken apart.

    Attributes:
        form: what is static.
        roots: the graphs among the leaves.
        references: the nodes and variables in them.
        values: what the variables hold, flat.
        sizes: how many values each variable has.
        arrays: the other leaves.
    """

    __slots__ = ("_parts", "arrays", "form", "references", "roots", "sizes", "values", "variables")

    def __init__(
        self, arguments: Any, is_leaf: Callable[[Any], bool] | None = None, lift: Lift = UPDATES
    ) -> None:
        stop = is_reference if is_leaf is None else lambda x: is_reference(x) or is_leaf(x)
        leaves, tree = tree_flatten(arguments, is_leaf=stop)
        is_root = tuple(map(is_reference, leaves))
        self.roots: list[Any] = [x for x, root in zip(leaves, is_root, strict=True) if root]
        self.arrays: list[Any] = [x for x, root in zip(leaves, is_root, strict=True) if not root]
        traversal = traverse(self.roots)
        self.form: Form = Form(tree, is_root, structure_of(traversal))
        if lift.mode is Mode.TREE and self.form.structure.has_sharing:
            require_unshared(lift.name, args=arguments[0], kwargs=arguments[1])
        self.references: list[Any] = traversal.references
        self.variables: list[Variable[Any]] = traversal.variables
        self.values: list[Any] = traversal.values
        self.sizes: list[int] = traversal.sizes
        self._parts: list[list[tuple[Path, Any]]] = []
        for variable in traversal.variables:
            if type(variable._value) is not Array:
                variable._require_live(variable._value)

    @property
    def leaves(self) -> list[Any]:
        """The values of the variables, then the other arrays."""
        return [*self.values, *self.arrays]

    def parts(self) -> list[list[tuple[Path, Any]]]:
        """The variables of each graph, and arrays that are in none, with their paths; each once."""
        self._parts = self._parts or data_of_each(self.roots)
        return self._parts


@dataclasses.dataclass(frozen=True, slots=True)
class Updates:
    """All that is static about the outcome of a call.

    Attributes:
        tree: the containers around arrays and graphs in the result.
        tokens: the structure of the changed arguments, if they changed, and of the result.
        restructured: how many arguments and parts of them are written; None where no graph
            changed.
        changed: the variables with new values, by number, with the trees of those that hold any.
        size: how many values of variables are among the results.
        relabelled: the variables with new metadata, by number, with these.
        is_plain: whether there is nothing but arrays in the result, and no change.
        axes: of each result of ``scan`` the axis along which it is stacked, or ``Carry``.
    """

    tree: PyTreeDef
    tokens: tuple[Any, ...]
    restructured: int | None
    changed: tuple[tuple[int, PyTreeDef | None], ...]
    size: int
    relabelled: tuple[tuple[int, VariableToken], ...]
    is_plain: bool
    axes: tuple[Any, ...] = ()

    def structure(self) -> Any:
        """The parts that must be the same for the branches of a choice."""
        return self.tree, self.tokens, self.restructured, self.relabelled

    def describe(self) -> str:
        """The structure, for messages."""
        changed = "unchanged arguments and " if self.restructured is None else ""
        shown = [x for x in self.tokens if x is not LEAF]
        return f"{changed}{self.tree} of {shown[:12]!r}"


class Given:
    """The arguments of a call as a pytree: arrays, and the form in their structure."""

    __slots__ = ("form", "leaves")

    def __init__(self, form: Form, leaves: Sequence[Any]) -> None:
        self.form: Form = form
        self.leaves: Sequence[Any] = leaves


class Returned:
    """The results of a call as a pytree: arrays, and the outcome in their structure."""

    __slots__ = ("outcome", "outs")

    def __init__(self, outcome: Updates, outs: Sequence[Any]) -> None:
        self.outcome: Updates = outcome
        self.outs: Sequence[Any] = outs


register_node(NodeDefinition(Given, lambda x: (tuple(x.leaves), x.form), Given))
register_node(NodeDefinition(Returned, lambda x: (tuple(x.outs), x.outcome), Returned))


class CallScope:
    """The arguments of a call as the user's function sees them.

    Attributes:
        arguments: what to call the function with.
        roots: the graphs in them.
        references: their nodes and variables.
        ends: for each root, how many references there are up to it.
        variables: the variables.
        given: what they held at first.
        leaves: the leaves of the result, once there is one.
        tree: the containers around them.
        changed: the variables whose values are among the results, by number.
        new: the variables that the function made, and arrays that are in none.
        sizes: how many values each of these two has.
        paths: the path of each of ``new``, in what it was found in, if they were asked for.
        origins: for each of ``new`` the number of the root or of the leaf it was found in, and
            whether it is a root.
    """

    def __init__(self, form: Form, leaves: Sequence[Any], lift: Lift = UPDATES) -> None:
        structure = self._structure = form.structure
        self._lift = lift
        rest = iter(leaves)  # the values, then the arrays
        build = Build(structure.tokens, rest)
        self.roots: list[Any] = []
        self.ends: list[int] = []
        for _ in range(sum(form.is_root)):
            self.roots.append(build.next())
            self.ends.append(len(build.references))
        roots = iter(self.roots)
        parts = [next(roots) if root else next(rest) for root in form.is_root]
        self.references: list[Any] = build.references
        self.variables: list[Variable[Any]] = build.variables
        self.arguments: Any = tree_unflatten(form.tree, parts)
        self.given: list[Any] = self.contents()
        self._tokens = [x._token for x in self.variables]
        self._mark = mutation_counter.now
        self.new: list[Variable[Any]] = []
        self.paths: list[Path] = []
        self.origins: list[tuple[int, bool]] = []
        self.leaves: list[Any] = []
        self.sizes: list[int] = []
        self.tree: Any = None
        self.changed: tuple[tuple[int, PyTreeDef | None], ...] = ()

    def contents(self) -> list[Any]:
        """The values that the variables hold now."""
        return all_loaded([x._value for x in self.variables])

    def leave(
        self, result: Any, all_values: bool | frozenset[int] = False, *, paths: bool = False
    ) -> Returned:
        """Take the result and the changes apart; ``all_values`` as for ``Call``.

        The values of the variables come first, of the old ones before the new, then the other
        arrays. ``paths`` says whether to note the paths of new variables, which axes need.
        """
        self.leaves, self.tree = tree_flatten(result, is_leaf=is_reference)
        lift, has_updates = self._lift, self._lift.mode is Mode.UPDATES
        if not (has_updates or lift.returns_arguments):
            require_own_results(lift.name, self.arguments, result, lift.mode is Mode.TREE)
        values: list[Any] = []
        self.changed = tuple(self._changes(values, all_values))
        is_new = has_updates and self.is_restructured()
        knows = has_updates or lift.returns_arguments
        numbers = {id(x): i for i, x in enumerate(self.references)} if knows else None
        traversal = GraphTraversal(numbers, expand=is_new, paths=paths)
        restructured = self._write_graphs(traversal) if is_new else None
        arrays = []
        for number, leaf in enumerate(self.leaves):
            if is_reference(leaf):
                self._write(traversal, leaf, number, False)
            else:
                traversal.tokens.append(LEAF)
                arrays.append(leaf)
        self.new, self.paths = traversal.variables, traversal.paths or []
        self.sizes.extend(traversal.sizes)
        relabelled = tuple(
            (i, x.token)
            for i, (x, token) in enumerate(zip(self.variables, self._tokens, strict=True))
            if x._token is not token and x.token != token
        )
        changed = self.changed
        is_plain = not (changed or is_new or relabelled) and len(arrays) == len(self.leaves)
        tokens, size = traversal.structure(), len(values) + len(traversal.values)
        outcome = Updates(self.tree, tokens, restructured, changed, size, relabelled, is_plain)
        return Returned(outcome, [*values, *traversal.values, *arrays])

    def _changes(
        self, values: list[Any], all_values: bool | frozenset[int]
    ) -> Iterator[tuple[int, PyTreeDef | None]]:
        for i, (value, given) in enumerate(zip(self.contents(), self.given, strict=True)):
            if value is given and all_values is not True and not (all_values and i in all_values):
                continue
            kind = type(value)
            if is_tree_node(kind):
                leaves, tree = tree_flatten(value)
                values.extend(leaves)
                self.sizes.append(len(leaves))
                yield i, tree
            else:
                if value is not given and not (
                    kind is Array or isinstance(value, Tracer) or is_value(value)
                ):
                    raise TypeError(
                        f"{self.variables[i]._describe()} was given {value!r:.60}, of type "
                        f"{kind.__name__}, which is no array; a variable that a transformed "
                        f"function changes holds arrays and trees of arrays."
                    )
                values.append(value)
                self.sizes.append(1)
                yield i, None

    def is_restructured(self) -> bool:
        """Tell whether attributes or items of the arguments are others than before."""
        if mutation_counter.now is self._mark and not self._structure.changes_unseen:
            return False
        traversal = traverse(self.roots)
        return (
            len(traversal.references) != len(self.references)
            or any(x is not y for x, y in zip(traversal.references, self.references, strict=True))
            or not same_words(traversal.tokens, self._structure.tokens)
            or any(map(_is_other_array, traversal.variables, self.variables))
        )

    def describe_changes(self) -> str:
        """The places of the attributes that are others than before, for messages."""
        return ", ".join(changed_names(self.roots, self.references, self._structure))

    def _write_graphs(self, traversal: GraphTraversal) -> int:
        for number, root in enumerate(self.roots):
            self._write(traversal, root, number, True)
        count = len(self.roots)
        for i, node in enumerate(self.references):
            # What was taken out of the graphs may be in use outside.
            if not isinstance(node, Variable) and id(node) not in traversal.indices:
                self._write(traversal, node, bisect_right(self.ends, i), True)
                count += 1
        return count

    def _write(self, traversal: GraphTraversal, value: Any, number: int, is_root: bool) -> None:
        traversal.value(value)
        count = len(traversal.variables) - len(self.origins)
        self.origins.extend([(number, is_root)] * count)


def _is_other_array(x: Variable[Any], y: Variable[Any]) -> bool:
    return type(x) is ArrayAttribute and x._value is not y._value


def same_words(tokens: Sequence[Any], others: Sequence[Any]) -> bool:
    """Tell whether two structures are equal, the metadata and contents of variables aside."""
    ours = [x for x in map(_without_metadata, tokens) if x is not None]
    theirs = [x for x in map(_without_metadata, others) if x is not None]
    return ours == theirs


def _without_metadata(token: Any) -> Any:
    if type(token) is VariableToken:
        return (Variable, token.type)
    return None if type(token) is Content else token


class Graphs(Protocol):
    """The nodes and variables of some graphs, and the variables alone."""

    references: list[Any]
    variables: list[Variable[Any]]


def finish(outcome: Updates, graphs: Graphs, outs: Sequence[Any]) -> Any:
    """Apply an outcome to the objects that were the arguments of a call; gives its result.

    Nothing is changed when an object belongs to another trace.
    """
    if outcome.is_plain:
        return tree_unflatten(outcome.tree, outs)
    variables, references = graphs.variables, graphs.references
    for i, _ in outcome.changed:
        variables[i]._require_context()
    if outcome.restructured:
        for node in references:
            if isinstance(node, Object):
                node._require_context("attributes")
    rest = iter(outs[: outcome.size])
    for i, tree in outcome.changed:
        value = (
            next(rest)
            if tree is None
            else tree_unflatten(tree, [next(rest) for _ in range(tree.num_leaves)])
        )
        store_value(variables[i], value)
        if tree is not None:
            mutation_counter.advance_variables()  # the tree is structure
    for i, token in outcome.relabelled:
        store_metadata(variables[i], token)
    expand = outcome.restructured is not None
    build = Build(outcome.tokens, rest, iter(outs[outcome.size :]), references, expand)
    for _ in range(outcome.restructured or 0):
        build.next()
    return tree_unflatten(outcome.tree, [build.next() for _ in range(outcome.tree.num_leaves)])
