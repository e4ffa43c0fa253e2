"""Functions generated for one structure: flattening and unflattening without looking around.

A program flattens the same structures again and again. For a structure that comes up often, a
function is generated that takes a tree apart in straight-line code and checks on the way that it
still has that structure. If it has not, the function returns None, and the tree is walked as usual.
Only names made here enter the generated source; keys, types and metadata enter as objects.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from bindax_core.tree._compare import has_hashable_metadata
from bindax_core.tree._node_definition import NodeDefinition
from bindax_core.tree._paths import fold, postorder
from bindax_core.tree._table import LEAF_TYPES, SPECIALIZED, lock, version

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

Flattener: TypeAlias = "Callable[[Any], tuple[list[Any], PyTreeDef] | None]"

MAX_NODES = 2_500
"""Compiling takes a tenth of a millisecond per node; larger trees are walked."""

_INLINE_DEPTH = 20
"""The depth to which generated code nests expressions; Python's parser has a limit."""
_FIRST = 64
"""Trees that are walked before a function is generated; doing so costs about as much."""
_FIRST_LARGE = 256
"""The same for large trees, where generating takes long enough to be noticed."""
_LARGE = 128
"""The number of leaves from which on a tree is large."""
_MAX_FUNCTIONS = 4
"""The number of structures whose roots may look alike."""
_MAX_ENTRIES = 512
"""Generated functions keep types and metadata alive, so that their number is limited."""


class Entry:
    """Facts about the trees whose roots look alike."""

    def __init__(self, num_leaves: int) -> None:
        self.functions: tuple[Flattener, ...] = ()
        self.misses = 0
        self.threshold = _FIRST if num_leaves < _LARGE else _FIRST_LARGE


def missed(key: Any, entry: Entry | None, structure: PyTreeDef) -> None:
    """Take note of a tree that had to be walked, and generate a function if it is time."""
    if entry is None:
        with lock:
            if len(SPECIALIZED) >= _MAX_ENTRIES:
                SPECIALIZED.clear()
            SPECIALIZED[key] = Entry(structure.num_leaves)
        return
    entry.misses += 1
    if entry.misses < entry.threshold:
        return
    entry.misses = 0
    # Roots that look alike above ever different trees must not cost a compilation each time.
    entry.threshold *= 4
    before = version[0]
    # What may change, as metadata without a hash may, cannot be recognized.
    if len(postorder(structure)) > MAX_NODES or not has_hashable_metadata(structure):
        return
    function = _Flattener(structure).compile()
    with lock:
        if version[0] == before:
            entry.functions = (function, *entry.functions[: _MAX_FUNCTIONS - 1])


def same_exactly(ours: Any, theirs: Any) -> bool:
    """Tell whether metadata is not only equal but interchangeable: ``1`` is equal to ``True``."""
    if ours is theirs:
        return True
    kind = type(ours)
    if kind is not type(theirs):
        return False
    if kind is tuple:
        return len(ours) == len(theirs) and all(map(same_exactly, ours, theirs))
    if kind is float or kind is complex or kind is frozenset:
        return False  # 0.0 and -0.0 are equal, and so are frozenset({1}) and frozenset({True})
    return (ours == theirs) is True


def _defined(name: str, lines: list[str], objects: dict[str, Any]) -> Callable[[Any], Any]:
    """The function that generated source defines."""
    exec("\n".join(lines), objects)
    function: Callable[[Any], Any] = objects[name]
    return function


class _Flattener:
    """Writes the function that flattens trees of one structure."""

    def __init__(self, root: PyTreeDef) -> None:
        self.root = root
        self.names = count()
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.objects: dict[str, Any] = {
            "leaf_types": LEAF_TYPES,
            "root": root,
            "same": same_exactly,
        }

    def compile(self) -> Flattener:
        stack = [(self.root, self.name("v"))]
        first = stack[0][1]
        while stack:
            node, variable = stack.pop()
            if node._definition is None:
                self.leaves.append(variable)
            else:
                stack.extend(reversed(self.node(node, node._definition, variable)))
        source = [
            f"def flatten({first}):",
            " try:",
            *self.lines,
            f"  leaves = [{', '.join(self.leaves)}]",
            "  if not leaf_types.issuperset(map(type, leaves)): return None",
            "  return leaves, root",
            # Whatever it was, walking the tree as usual finds it again and says where.
            " except Exception: return None",
        ]
        return _defined("flatten", source, self.objects)

    def name(self, prefix: str) -> str:
        return f"{prefix}{next(self.names)}"

    def object(self, value: Any) -> str:
        name = self.name("o")
        self.objects[name] = value
        return name

    def require(self, condition: str) -> None:
        self.lines.append(f"  if not ({condition}): return None")

    def node(
        self, node: PyTreeDef, definition: NodeDefinition, variable: str
    ) -> list[tuple[PyTreeDef, str]]:
        """Write the code that takes a node apart; returns its children and their variables."""
        kind = definition.kind
        if kind == "none":
            self.require(f"{variable} is None")
            return []
        self.require(f"type({variable}) is {self.object(definition.type)}")
        keys = definition.mapping_keys(node._data)
        if keys is not None:
            if kind == "defaultdict":
                factory = self.object(node._data[0])
                self.require(f"{variable}.default_factory is {factory}")
            return self.mapping(node, keys, variable)
        if kind in ("list", "tuple", "namedtuple"):
            self.require(f"len({variable}) == {len(node._children)}")
            return self.elements(node, variable)
        if definition._fields is not None:
            return self.attributes(node, definition._fields, variable)
        pair, children, data = self.name("v"), self.name("v"), self.name("v")
        self.lines.append(f"  {pair} = {self.object(definition.flatten)}({variable})")
        self.require(f"type({pair}) is tuple")
        self.lines.append(f"  {children}, {data} = {pair}")
        self.metadata(data, node._data)
        self.require(f"type({children}) is tuple and len({children}) == {len(node._children)}")
        return self.elements(node, children)

    def metadata(self, expression: str, data: Any) -> None:
        if data is None:
            self.require(f"{expression} is None")
            return
        name = self.object(data)
        self.require(f"{expression} is {name} or same({expression}, {name})")

    def attributes(
        self, node: PyTreeDef, fields: tuple[tuple[str, ...], tuple[str, ...], bool], variable: str
    ) -> list[tuple[PyTreeDef, str]]:
        for field, value in zip(fields[1], node._data, strict=True):
            name = self.name("v")
            self.lines.append(f"  {name} = {variable}.{field}")
            self.metadata(name, value)
        names = [self.name("v") for _ in fields[0]]
        for name, field in zip(names, fields[0], strict=True):
            self.lines.append(f"  {name} = {variable}.{field}")
        return list(zip(node._children, names, strict=True))

    def elements(self, node: PyTreeDef, variable: str) -> list[tuple[PyTreeDef, str]]:
        if not node._children:
            return []
        if node._flat:
            # One entry for all of them: the list of leaves is written with it spread out.
            return [(node._children[0], f"*{variable}")]
        names = [self.name("v") for _ in node._children]
        self.lines.append(f"  {', '.join(names)}, = {variable}")
        return list(zip(node._children, names, strict=True))

    def mapping(
        self, node: PyTreeDef, data: tuple[Any, ...], variable: str
    ) -> list[tuple[PyTreeDef, str]]:
        self.require(f"len({variable}) == {len(data)}")
        if not data:
            return []
        inserted = node._order or data
        keys = [self.name("k") for _ in inserted]
        self.lines.append(f"  {', '.join(keys)}, = {variable}")
        # Identity, not equality: 1, 1.0 and True are equal, and unflattening must tell them apart.
        pairs = zip(keys, inserted, strict=True)
        self.require(" and ".join([f"{name} is {self.object(key)}" for name, key in pairs]))
        if node._flat and node._order is None:
            return [(node._children[0], f"*{variable}.values()")]
        names = [self.name("v") for _ in inserted]
        self.lines.append(f"  {', '.join(names)}, = {variable}.values()")
        if node._order is None:
            return list(zip(node._children, names, strict=True))
        by_key = dict(zip(inserted, names, strict=True))
        return [(child, by_key[key]) for key, child in zip(data, node._children, strict=True)]


def compile_unflatten(root: PyTreeDef) -> Callable[[list[Any]], Any]:
    """Generate the function that builds trees of a structure from as many leaves as it has."""
    objects: dict[str, Any] = {}
    lines: list[str] = []
    leaves = [f"v{i}" for i in range(root.num_leaves)]

    def combine(node: PyTreeDef, children: list[tuple[str, int]]) -> tuple[str, int]:
        """The expression for a node, and the depth to which it nests others."""
        definition: Any = node._definition
        depth = 1 + max((level for _, level in children), default=0)
        text = _expression(node, definition, [part for part, _ in children], objects)
        if depth <= _INLINE_DEPTH and (definition.kind != "custom" or depth == 1):
            return text, depth
        # Foreign functions run in the order in which the tree is built from the leaves.
        name = f"t{len(lines)}"
        lines.append(f" {name} = {text}")
        return name, 0

    result, _ = fold(root, [(leaf, 0) for leaf in leaves], combine)
    unpack = [f" {', '.join(leaves)}, = leaves"] if leaves else []
    source = ["def unflatten(leaves):", *unpack, *lines, f" return {result}"]
    return _defined("unflatten", source, objects)


def _expression(
    node: PyTreeDef, definition: NodeDefinition, parts: list[str], objects: dict[str, Any]
) -> str:
    def constant(value: Any) -> str:
        name = f"o{len(objects)}"
        objects[name] = value
        return name

    kind = definition.kind
    if kind == "none":
        return "None"
    if kind == "list":
        return f"[{', '.join(parts)}]"
    if kind == "tuple":
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if kind == "dict":
        inserted = node._order or node._data
        by_key = dict(zip(node._data, parts, strict=True))
        return f"{{{', '.join([f'{constant(key)}: {by_key[key]}' for key in inserted])}}}"
    if kind == "namedtuple":
        return f"{constant(definition.type)}({', '.join(parts)})"
    if definition._fields is not None and definition._fields[2]:
        data, meta, _ = definition._fields
        values = [constant(value) for value in node._data] + parts
        arguments = [f"{n}={v}" for n, v in zip((*meta, *data), values, strict=True)]
        return f"{constant(definition.type)}({', '.join(arguments)})"
    children = f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if kind == "custom":
        return f"{constant(definition.unflatten)}({constant(node._data)}, {children})"
    return f"{constant(definition._assemble)}({constant(node)}, {children})"
