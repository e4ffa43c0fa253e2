"""``PyTreeDef``: the structure of a pytree without its leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import Any

from bindax_core._packages import package_for
from bindax_core.errors import TreeError
from bindax_core.tree._compare import same_node, treedef_hash, treedefs_equal
from bindax_core.tree._construction import Record, from_node_data, from_records
from bindax_core.tree._flatten_up_to import flatten_up_to
from bindax_core.tree._node_definition import NodeDefinition, short
from bindax_core.tree._paths import fold, postorder, treedef_text
from bindax_core.tree._unflatten import build


class PyTreeDef:
    """The structure of a pytree: its node types, their metadata and the positions of the leaves.

    Made by ``tree_structure`` and ``tree_flatten``; immutable. Two of them are equal if the types
    of the nodes, the metadata and the positions of the leaves are; the order in which the keys of a
    dict were inserted is remembered for ``unflatten`` and does not count for equality. A
    ``PyTreeDef`` keeps the definitions of its node types that were in force when it was made.

    >>> from bindax_core.tree_util import tree_structure
    >>> structure = tree_structure({"b": (1.0, [2.0]), "a": None})
    >>> structure
    PyTreeDef({'a': None, 'b': (*, [*])})
    >>> structure.num_leaves, structure.num_nodes
    (2, 6)
    >>> structure.unflatten(["x", "y"])
    {'b': ('x', ['y']), 'a': None}
    """

    __slots__ = (
        "__weakref__",
        "_build",
        "_builds",
        "_children",
        "_data",
        "_definition",
        "_flat",
        "_hash",
        "_order",
        "_postorder",
        "_takes",
        "num_leaves",
        "take",
    )

    _definition: NodeDefinition | None
    _data: Any
    _order: tuple[Any, ...] | None
    _children: tuple[PyTreeDef, ...]
    _flat: bool
    """True if all children are leaves."""
    _hash: int | None
    _postorder: tuple[PyTreeDef, ...] | None
    _build: Callable[[list[Any]], Any] | None
    _builds: int
    _takes: int
    num_leaves: int
    """The number of leaves."""
    take: Callable[[Any], list[Any] | None] | None
    """From a tree to what it has in the places of the leaves, or None if it may have other nodes
    above these; None itself until structures like this one have come up often."""

    def __init__(self) -> None:
        raise TypeError(
            "PyTreeDef cannot be constructed directly; use bindax.tree.structure(tree), or "
            "PyTreeDef.from_node_data_and_children."
        )

    @property
    def num_nodes(self) -> int:
        """The number of nodes, counting leaves and ``None``."""
        return len(postorder(self))

    def children(self) -> list[PyTreeDef]:
        """The structures of the children of the root; empty for a leaf.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure((1, [2])).children()
        [PyTreeDef(*), PyTreeDef([*])]
        """
        return list(self._children)

    def node_data(self) -> tuple[type, Any] | None:
        """The type and the metadata of the root; None for a leaf.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure({"b": 1, "a": 2}).node_data()
        (<class 'dict'>, ['a', 'b'])
        """
        definition = self._definition
        if definition is None:
            return None
        data = list(self._data) if definition.kind == "dict" else self._data
        return definition.type, data

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Build the pytree of this structure that has the given leaves.

        Args:
            leaves: as many values as ``num_leaves``, in the order of flattening.

        Raises:
            TreeError: too few or too many leaves.
        """
        if type(leaves) is not list:
            leaves = list(_iterable(leaves))
        if len(leaves) != self.num_leaves:
            raise _wrong_count(self, len(leaves))
        try:
            if self._build is not None:
                return self._build(leaves)
        except Exception:
            pass
        return build(self, leaves)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The subtrees of a tree at the leaves of this structure, which is a prefix of its own.

        Args:
            tree: a pytree with the nodes of this structure, and any subtree in place of a leaf.

        Raises:
            TreeError: the tree parts from this structure; the message names the path.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure((1, [2])).flatten_up_to(("x", [("y", "z")]))
        ['x', ('y', 'z')]
        """
        return flatten_up_to(self, tree)

    def compose(self, inner: PyTreeDef) -> PyTreeDef:
        """Replace each leaf of this structure by the structure ``inner``.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure([1, 2]).compose(tree_structure((3, 4)))
        PyTreeDef([(*, *), (*, *)])
        """

        def rebuilt(node: PyTreeDef, children: list[PyTreeDef]) -> PyTreeDef:
            return node_of(node._definition, node._data, node._order, tuple(children))

        composed: PyTreeDef = fold(self, [inner] * self.num_leaves, rebuilt)
        return composed

    def is_prefix(self, other: PyTreeDef, *, strict: bool = False) -> bool:
        """Tell whether ``other`` can be had from this structure by replacing leaves by structures.

        Args:
            other: the structure that may be deeper.
            strict: whether equal structures count as no prefix.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure((1, 2)).is_prefix(tree_structure(([1], 2)))
        True
        """
        stack = [(self, other)]
        deeper = False
        while stack:
            ours, theirs = stack.pop()
            if ours._definition is None:
                deeper = deeper or theirs._definition is not None
            elif not same_node(self, ours, theirs):
                return False
            else:
                stack.extend(zip(ours._children, theirs._children, strict=True))
        return deeper or not strict

    def is_suffix(self, other: PyTreeDef, *, strict: bool = False) -> bool:
        """Tell whether ``other`` is a prefix of this structure."""
        return other.is_prefix(self, strict=strict)

    def walk(
        self,
        f_node: Callable[[Any, Any], Any],
        f_leaf: Callable[[Any], Any] | None,
        leaves: Iterable[Any],
    ) -> Any:
        """Combine what functions return, from the leaves to the root; the result at the root.

        Args:
            f_node: called for every node that is not a leaf with the tuple of its children's
                results and its metadata.
            f_leaf: called for every leaf; None keeps the leaves.
            leaves: one value per leaf.

        Raises:
            TreeError: too few or too many leaves.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure([1, (2, 3)]).walk(lambda xs, _: sum(xs), None, [1, 10, 100])
        111
        """
        values = list(_iterable(leaves))
        if len(values) != self.num_leaves:
            raise _wrong_count(self, len(values))

        def visit(node: PyTreeDef, children: list[Any]) -> Any:
            return f_node(tuple(children), (node.node_data() or (None, None))[1])

        return fold(self, values if f_leaf is None else map(f_leaf, values), visit)

    def from_iterable_tree(self, tree: Any) -> Any:
        """Build a pytree of this structure from one whose nodes are any iterables.

        Args:
            tree: iterables nested as this structure's nodes are.

        Raises:
            TreeError: an iterable has another number of elements than its node has children.

        >>> from bindax_core.tree_util import tree_structure
        >>> tree_structure({"a": [1, 2], "b": 3}).from_iterable_tree(((1, 2), 3))
        {'a': [1, 2], 'b': 3}
        """
        leaves: list[Any] = []
        stack: list[tuple[PyTreeDef, Any]] = [(self, tree)]
        while stack:
            node, value = stack.pop()
            if node._definition is None:
                leaves.append(value)
                continue
            count = len(node._children)
            children = [] if value is None and not count else list(_iterable(value))
            if len(children) != count:
                raise TreeError(
                    f"from_iterable_tree: expected an iterable of {count} elements for "
                    f"{node!r}, got {len(children)}: {short(value)}."
                )
            stack.extend(zip(reversed(node._children), reversed(children), strict=True))
        return self.unflatten(leaves)

    @staticmethod
    def from_node_data_and_children(
        node_data: tuple[type, Any] | None, children: Iterable[PyTreeDef]
    ) -> PyTreeDef:
        """The inverse of ``node_data`` and ``children``.

        Args:
            node_data: the type and the metadata of the root; None for a leaf.
            children: the structures of the root's children.

        Raises:
            TreeError: the type is not registered, or the children do not fit the metadata.

        >>> from bindax_core.tree_util import tree_structure
        >>> s = tree_structure({"a": [1], "b": 2})
        >>> PyTreeDef.from_node_data_and_children(s.node_data(), s.children()) == s
        True
        """
        children = tuple(children)
        for child in children:
            if not isinstance(child, PyTreeDef):
                raise TreeError(f"The children must be PyTreeDef objects, got {short(child)}.")
        return from_node_data(node_data, children, _node)

    def records(self) -> tuple[Record, ...]:
        """The nodes in postorder, for pickles and files, where depth must not matter.

        Each is a tuple of its definition (None for a leaf), its metadata, the order in which its
        keys were inserted (None where it is that of the children) and the number of its children.
        """
        nodes = postorder(self)
        return tuple([(n._definition, n._data, n._order, len(n._children)) for n in nodes])

    @staticmethod
    def from_records(records: Iterable[Record]) -> PyTreeDef:
        """The inverse of ``records``.

        Raises:
            TreeError: the records are not those of one structure.

        >>> from bindax_core.tree_util import tree_structure
        >>> structure = tree_structure({"b": 1, "a": (2, None)})
        >>> PyTreeDef.from_records(structure.records()) == structure
        True
        """
        return from_records(records, _node)

    def serialize(self) -> str:
        """Write the structure as text, for ``PyTreeDef.deserialize`` in another process.

        The package ``bindax-text`` does it.

        Raises:
            TreeError: metadata or a type that has no stable written form; the message names the
                path and the type.
        """
        text: str = package_for("PyTreeDef.serialize", "bindax_text").treedef_to_text(self)
        return text

    @staticmethod
    def deserialize(text: str) -> PyTreeDef:
        """Read what ``serialize`` wrote. It is checked; reading never imports a module by name.

        Raises:
            TreeError: the text is damaged, of an unknown version, or names a type that is not
                registered here.
        """
        package = package_for("PyTreeDef.deserialize", "bindax_text")
        structure: PyTreeDef = package.treedef_from_text(text)
        return structure

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        return treedefs_equal(self, other)

    def __hash__(self) -> int:
        result = self._hash
        return treedef_hash(self) if result is None else result

    def __repr__(self) -> str:
        return f"PyTreeDef({treedef_text(self)})"

    def __copy__(self, memo: Any = None) -> PyTreeDef:
        return self

    __deepcopy__ = __copy__

    def __reduce__(self) -> Any:
        return from_state, (self.records(),)


_new = object.__new__


def make(
    definition: NodeDefinition | None,
    data: Any,
    order: tuple[Any, ...] | None,
    children: tuple[PyTreeDef, ...],
    num_leaves: int,
    flat: bool = False,
) -> PyTreeDef:
    """Make a node; the caller has checked that the arguments fit together.

    ``order`` holds the keys of a mapping as they were inserted, if that is not the order of its
    leaves. With ``flat``, all children are leaves, which lets ``unflatten`` take a short cut.
    """
    node = _new(PyTreeDef)
    node._definition = definition
    node._data = data
    node._order = order
    node._children = children
    node._flat = flat
    node.num_leaves = num_leaves
    node._hash = None
    node._postorder = None
    node._build = node.take = None
    node._builds = node._takes = 0
    return node


LEAF = make(None, None, None, (), 1)
"""The structure of every leaf."""
LEAF._build = itemgetter(0)


def node_of(
    definition: NodeDefinition | None,
    data: Any,
    order: tuple[Any, ...] | None,
    children: tuple[PyTreeDef, ...],
) -> PyTreeDef:
    """Make a node of which the number of leaves is not known yet."""
    count = sum([child.num_leaves for child in children])
    flat = count == len(children) and all(child is LEAF for child in children)
    return make(definition, data, order, children, count, flat)


def _node(*parts: Any) -> PyTreeDef:
    return node_of(*parts) if parts else LEAF


from_state = PyTreeDef.from_records
"""The name in pickles."""


def _iterable(leaves: Any) -> Iterator[Any]:
    try:
        return iter(leaves)
    except TypeError:
        raise TreeError(
            f"Expected an iterable of leaves, got {short(leaves)} of type {type(leaves).__name__}."
        ) from None


def _wrong_count(structure: PyTreeDef, count: int) -> TreeError:
    which = "few" if count < structure.num_leaves else "many"
    return TreeError(
        f"Too {which} leaves for {short(structure)}; expected {structure.num_leaves}, got {count}."
    )
