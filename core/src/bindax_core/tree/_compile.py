"""Functions generated for one structure: flattening and unflattening without looking around.

A structure that comes up often gets a function that takes such trees apart in straight-line code
and checks on the way that they still have it, and one that builds them. Only names made here enter
the generated source; keys, types and metadata enter as objects.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any

from bindax_core.tree._compare import EXACT_KEYS, same_as
from bindax_core.tree._node_definition import NodeDefinition
from bindax_core.tree._paths import fold, postorder
from bindax_core.tree._table import version

if TYPE_CHECKING:
    from bindax_core.tree._treedef import PyTreeDef

OFTEN = 64
"""The uses after which functions are generated, which costs about as much as these did."""

_MAX_NODES = 2_500
"""Generating takes a tenth of a millisecond per node; larger trees are walked."""

_FEW = 16
"""The most keys that are first looked at one by one: those of most dicts are the same objects."""

_WIDE = 64
"""The most keys that are written one by one into a new dict, and leaves that are named if no node
is between them and the root."""

_INLINE_DEPTH = 20
"""The depth to which generated code nests expressions; Python's parser has a limit."""


def generate_flatten(structure: PyTreeDef) -> None:
    """Give a structure its ``take``."""
    if len(postorder(structure)) <= _MAX_NODES:
        with suppress(Exception):  # of metadata without a hash, which may change unnoticed
            structure.take = _Flattener(structure).compile()


def _defined(name: str, lines: list[str], objects: dict[str, Any]) -> Callable[[Any], Any]:
    """The function that generated source defines."""
    exec("\n".join(lines), objects)
    function: Callable[[Any], Any] = objects[name]
    return function


class _Flattener:
    """Writes the function that flattens trees of one structure."""

    def __init__(self, root: PyTreeDef) -> None:
        self.root = root
        self.valid = version[0]
        self.names = count()
        self.lines: list[str] = []
        self.leaves: list[str] = []
        self.objects: dict[str, Any] = {
            "are_exact": EXACT_KEYS.issuperset,
            "version": version,
        }

    def compile(self) -> Callable[[Any], list[Any] | None]:
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
            f" if version[0] != {self.valid}: return None",
            " try:",
            *self.lines,
            f"  return [{', '.join(self.leaves)}]",
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
        else:
            self.require(f"{self.object(same_as(data))}({expression})")

    def attributes(
        self, node: PyTreeDef, fields: tuple[tuple[str, ...], tuple[str, ...], bool], variable: str
    ) -> list[tuple[PyTreeDef, str]]:
        def read(field: str) -> str:
            name = self.name("v")
            self.lines.append(f"  {name} = {variable}.{field}")
            return name

        for field, value in zip(fields[1], node._data, strict=True):
            self.metadata(read(field), value)
        return list(zip(node._children, map(read, fields[0]), strict=True))

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
        if not data:
            self.require(f"not {variable}")
            return []
        inserted = node._order or data
        same = "False"
        if EXACT_KEYS.issuperset(map(type, inserted)):
            same = f"(*{variable},) == {self.object(inserted)} and are_exact(map(type, {variable}))"
        if len(inserted) <= _FEW or same == "False":
            # Identity first: most keys are the same objects. 1, 1.0 and True are equal.
            names = [self.name("k") for _ in inserted]
            self.require(f"len({variable}) == {len(data)}")
            self.lines.append(f"  {', '.join(names)}, = {variable}")
            pairs = zip(names, inserted, strict=True)
            identical = [f"{name} is {self.object(key)}" for name, key in pairs]
            same = f"{' and '.join(identical)} or {same}"
        self.require(same)
        if node._flat and node._order is None:
            return [(node._children[0], f"*{variable}.values()")]
        names = [self.name("v") for _ in inserted]
        self.lines.append(f"  {', '.join(names)}, = {variable}.values()")
        by_key = dict(zip(inserted, names, strict=True))
        return [(child, by_key[key]) for key, child in zip(data, node._children, strict=True)]


def generate_unflatten(root: PyTreeDef) -> None:
    """Give a structure its ``_build``: from as many leaves as it has to the tree."""
    if len(postorder(root)) > _MAX_NODES:
        return
    objects: dict[str, Any] = {}
    lines: list[str] = []
    leaves = [f"v{i}" for i in range(root.num_leaves)]
    unpack = [f" {', '.join(leaves)}, = leaves"] if leaves else []

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

    definition: Any = root._definition
    if root._flat and len(leaves) > _WIDE and root._order is definition._fields is None:
        unpack, result = [], _expression(root, definition, ["*leaves"], objects)
    else:
        result, _ = fold(root, [(leaf, 0) for leaf in leaves], combine)
    source = ["def unflatten(leaves):", *unpack, *lines, f" return {result}"]
    root._build = _defined("unflatten", source, objects)


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
        if node._order is not None:
            by_key = dict(zip(node._data, parts, strict=True))
            parts = [by_key[key] for key in inserted]
        if len(inserted) > _WIDE:
            return f"dict(zip({constant(inserted)}, ({', '.join(parts)},)))"
        pairs = zip(map(constant, inserted), parts, strict=True)
        return f"{{{', '.join([f'{key}: {part}' for key, part in pairs])}}}"
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
