"""What the documents about pytrees print, as far as it needs pytrees alone."""

from __future__ import annotations

import dataclasses
import functools
from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np
import pytest

from bindax_core import tree
from bindax_core.tree_util import (
    register_dataclass,
    register_pytree_node,
    register_pytree_node_class,
    tree_flatten,
    tree_structure,
    tree_unflatten,
)

pytestmark = pytest.mark.smoke

Point = namedtuple("Point", ["x", "y"])


class Special:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class RegisteredSpecial(Special):
    def __repr__(self) -> str:
        return f"RegisteredSpecial(x={self.x}, y={self.y})"


register_pytree_node(
    RegisteredSpecial, lambda v: ((v.x, v.y), None), lambda _, xs: RegisteredSpecial(*xs)
)


@register_pytree_node_class
class RegisteredSpecial2(Special):
    def tree_flatten(self) -> Any:
        return (self.x, self.y), None

    @classmethod
    def tree_unflatten(cls, aux_data: Any, children: Any) -> Any:
        return cls(*children)


class Container(NamedTuple):
    name: str
    a: Any
    b: Any


@functools.partial(register_dataclass, data_fields=["a", "b"], meta_fields=["name"])
@dataclasses.dataclass
class Data:
    name: str
    a: Any
    b: Any


@pytest.mark.parametrize(
    ("value", "leaves", "text"),
    [
        ([1.0, (2.0, 3.0)], [1.0, 2.0, 3.0], "PyTreeDef([*, (*, *)])"),
        ((1.0, [2.0, 3.0]), [1.0, 2.0, 3.0], "PyTreeDef((*, [*, *]))"),
        ((1.0, {"b": 2.0, "a": 3.0}), [1.0, 3.0, 2.0], "PyTreeDef((*, {'a': *, 'b': *}))"),
        (1.0, [1.0], "PyTreeDef(*)"),
        (None, [], "PyTreeDef(None)"),
        (Point(1.0, 2.0), [1.0, 2.0], "PyTreeDef(CustomNode(namedtuple[Point], [*, *]))"),
        (
            RegisteredSpecial(1.0, 2.0),
            [1.0, 2.0],
            "PyTreeDef(CustomNode(RegisteredSpecial[None], [*, *]))",
        ),
        (
            RegisteredSpecial2(1.0, 2.0),
            [1.0, 2.0],
            "PyTreeDef(CustomNode(RegisteredSpecial2[None], [*, *]))",
        ),
    ],
)
def test_flattened_structures_print_as_in_the_documents(
    value: Any, leaves: list[Any], text: str
) -> None:
    flat, structure = tree_flatten(value)
    assert flat == leaves
    assert str(structure) == text
    rebuilt = tree_unflatten(structure, flat)
    assert type(rebuilt) is type(value)
    assert tree_flatten(rebuilt) == (leaves, structure)


def test_unregistered_classes_are_leaves() -> None:
    leaves = [Special(0, 1), Special(2, 4)]
    assert tree.leaves(leaves) == leaves
    with pytest.raises(TypeError, match="unsupported operand"):
        tree.map(lambda x: x + 1, leaves)


def test_registered_classes_are_traversed() -> None:
    mapped = tree.map(lambda x: x + 1, [RegisteredSpecial(0, 1), RegisteredSpecial(2, 4)])
    assert repr(mapped) == "[RegisteredSpecial(x=1, y=2), RegisteredSpecial(x=3, y=5)]"


def test_all_fields_of_a_named_tuple_are_leaves_and_those_of_a_dataclass_as_registered() -> None:
    assert tree.leaves([Container("Alice", 1, 2), Container("Bob", 4, 5)]) == [
        "Alice",
        1,
        2,
        "Bob",
        4,
        5,
    ]
    assert tree.leaves([Data("apple", 5.3, 1.2), Data("banana", -1.0, 0.0)]) == [
        5.3,
        1.2,
        -1.0,
        0.0,
    ]


def test_arrays_are_leaves() -> None:
    array = np.zeros(2)
    (leaf,), structure = tree_flatten(array)
    assert leaf is array
    assert str(structure) == "PyTreeDef(*)"


class Converting:
    def __init__(self, a: Any) -> None:
        self.a = np.asarray(a, dtype=float)


def test_an_init_that_converts_raises_its_own_error_with_the_path_in_a_note() -> None:
    register_pytree_node(Converting, lambda t: ((t.a,), None), lambda _, xs: Converting(*xs))
    structure = tree_structure({"k": [Converting([1.0])]})
    with pytest.raises(TypeError) as info:
        structure.unflatten([object()])
    assert any("Converting" in note and "['k'][0]" in note for note in info.value.__notes__)


def test_both_remedies_for_initialization_with_unexpected_values() -> None:
    class Lenient:
        def __init__(self, a: Any) -> None:
            if not (type(a) is object or a is None or isinstance(a, Lenient)):
                a = np.asarray(a)
            self.a = a

    class Bare:
        def __init__(self, a: Any) -> None:
            self.a = np.asarray(a)

    def unflatten_bare(aux_data: Any, children: Any) -> Any:
        made = object.__new__(Bare)
        made.a = children[0]
        return made

    register_pytree_node(Lenient, lambda t: ((t.a,), None), lambda _, xs: Lenient(*xs))
    register_pytree_node(Bare, lambda t: ((t.a,), None), unflatten_bare)
    for kind in (Lenient, Bare):
        structure = tree_structure(kind(np.arange(5.0)))
        sentinel = object()
        assert structure.unflatten([sentinel]).a is sentinel
        nested = structure.unflatten([kind(1.0)])
        assert isinstance(nested.a, kind)
