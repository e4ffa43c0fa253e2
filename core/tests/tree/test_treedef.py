"""Tree definitions: comparing, copying, storing."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import numpy as np
import pytest

from bindax_core.errors import TreeError, UnhashableMetadataNotice
from bindax_core.tree._treedef import LEAF
from bindax_core.tree_util import (
    NodeDefinition,
    PyTreeDef,
    scoped_registration,
    tree_flatten,
    tree_map,
    tree_structure,
    treedef_tuple,
)

Point = namedtuple("Point", "x y")


class Box:
    def __init__(self, content: Any, tag: Any = None) -> None:
        self.content, self.tag = content, tag


def box_definition(**kwargs: Any) -> NodeDefinition:
    return NodeDefinition(
        Box, lambda b: ((b.content,), b.tag), lambda tag, xs: Box(xs[0], tag), **kwargs
    )


TREES: list[Any] = [
    1,
    None,
    [],
    {"b": 1, "a": [2, (3, None)]},
    {1: "x", "1": {"z": 0, (1, "y"): ()}, None: 2, 2.5: 3, b"k": 4, False: 5},
    OrderedDict([("b", 1), ("a", [2])]),
    defaultdict(list, {"b": 1, "a": [2]}),
    defaultdict(None, {"b": 1}),
    deque([1, [2], 3], maxlen=5),
    [Point(1, [2])],
    Box(Box(1, ("a", 1, 2.5, float("inf"))), frozenset({1, 2})),
    Box(1, np.dtype("float32")),
    Box(1, (1j, b"x", [1], {"k": slice(1, None)}, ..., int, -0.0, "\ud800ü")),
]


# ------------------------------------------------------------------------ pickle and copies


@pytest.mark.parametrize("tree", TREES[:9], ids=lambda t: repr(t)[:30])
def test_pickle_and_copy(tree: Any) -> None:
    structure = tree_structure(tree)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(structure, protocol))
        assert again == structure
        assert hash(again) == hash(structure)
        assert repr(again) == repr(structure)
    assert copy.copy(structure) is structure
    assert copy.deepcopy([structure])[0] is structure


def test_pickled_custom_nodes_need_their_registration() -> None:
    with scoped_registration(box_definition()):
        data = pickle.dumps(tree_structure(Box(1, "t")))
        assert pickle.loads(data) == tree_structure(Box(2, "t"))
    with pytest.raises(TreeError, match="Box is not registered as a pytree node type"):
        pickle.loads(data)


def test_damaged_pickles() -> None:
    from bindax_core.tree._treedef import from_state

    definition = tree_structure([1])._definition
    for state, message in [
        (5, "no sequence of nodes"),
        ([5], "holds 5 in place of a node"),
        ([(5, None, None, 0)], "5 in place of a node definition"),
        ([(definition, None, None, 3)], "has 3 children, but 0"),
        ([], "0 roots"),
    ]:
        with pytest.raises(TreeError, match=message):
            from_state(state)  # type: ignore[arg-type]


# -------------------------------------------------------------------- equality and metadata


def test_equality() -> None:
    assert tree_structure([1, 2]) == tree_structure(["a", object()])
    assert tree_structure([1, 2]) != tree_structure((1, 2))
    assert tree_structure([1, 2]) != tree_structure([1, 2, 3])
    assert tree_structure({"a": 1}) != tree_structure({"b": 1})
    assert tree_structure({"a": 1}) != tree_structure(OrderedDict(a=1))
    assert tree_structure(Point(1, 2)) != tree_structure((1, 2))
    assert tree_structure([None]) != tree_structure([1])
    assert tree_structure(1) != 1
    assert tree_structure(1) is LEAF
    ordered = OrderedDict([("a", 1), ("b", 2)]), OrderedDict([("b", 2), ("a", 1)])
    assert tree_structure(ordered[0]) != tree_structure(ordered[1])


ARRAYS = [
    np.zeros(3),
    np.zeros(1),
    (np.zeros(3), 1),
    ("a", [np.zeros(2)]),
    {"k": np.zeros(3)},
]


@pytest.mark.parametrize("metadata", ARRAYS, ids=repr)
@pytest.mark.parametrize("warm", [0, 200])
def test_arrays_in_metadata_raise_whenever_the_structure_is_used(metadata: Any, warm: int) -> None:
    with scoped_registration(box_definition()):
        value = {"a": [0, Box(1, metadata)]}
        for _ in range(warm):
            tree_flatten(value)
        first, second = tree_structure(value), tree_structure(value)
        assert tree_map(lambda x: x, value)["a"][1].tag is metadata
        for _ in range(2):
            with pytest.raises(TreeError, match="cannot be hashed") as info:
                hash(first)
            assert "test_treedef.Box at path ['a'][1]" in str(info.value)
            assert "Flatten arrays as children" in str(info.value)
            with pytest.raises(TreeError, match=r"(cannot be compared|instead of a bool)") as info:
                assert first == second
            assert "test_treedef.Box at path ['a'][1]" in str(info.value)


def test_metadata_that_cannot_be_hashed_can_be_compared() -> None:
    with scoped_registration(box_definition()):
        first, second = (tree_structure(Box(1, {"a": [1, 2]})) for _ in range(2))
        assert first == second
        assert first != tree_structure(Box(1, {"a": [1, 3]}))
        with pytest.warns(UnhashableMetadataNotice, match=r"Box cannot be hashed, so jit finds"):
            assert hash(first) == hash(second)
        assert hash(first) == hash(tree_structure(Box(1, {"a": [1, 2]})))  # and no second notice
        assert {first: 1}[second] == 1


def test_metadata_whose_comparison_raises() -> None:
    class Bad:
        def __eq__(self, other: object) -> bool:
            raise ZeroDivisionError("no")

        def __hash__(self) -> int:
            return 1

    with (
        scoped_registration(box_definition()),
        pytest.raises(TreeError, match=r"cannot be compared \(ZeroDivisionError: no\)") as info,
    ):
        assert tree_structure([Box(1, Bad())]) == tree_structure([Box(1, Bad())])
    assert isinstance(info.value.__cause__, ZeroDivisionError)


# ----------------------------------------------------------------------------------- methods


def test_methods() -> None:
    structure = tree_structure({"a": [1, 2], "b": (3, None)})
    assert structure.num_leaves == 3
    assert structure.num_nodes == 7
    assert structure.children() == [tree_structure([1, 2]), tree_structure((3, None))]
    assert structure.node_data() == (dict, ["a", "b"])
    assert tree_structure(1).node_data() is None
    assert PyTreeDef.from_node_data_and_children(
        *[structure.node_data(), structure.children()]
    ) == (structure)
    assert PyTreeDef.from_node_data_and_children(None, []) is LEAF
    assert treedef_tuple([structure, LEAF]) == tree_structure(({"a": [1, 2], "b": (3, None)}, 1))
    visited: list[Any] = []
    structure.walk(lambda *node: visited.append(node), visited.append, [1, 2, 3])
    assert visited[0:2] == [1, 2]
    assert visited[-1][1] == ["a", "b"]
    for bad in ((5, []), ((int, None), []), ((list, None), [5]), (None, [LEAF])):
        with pytest.raises(TreeError):
            PyTreeDef.from_node_data_and_children(*bad)  # type: ignore[arg-type]
    with pytest.raises(TreeError, match="Too few leaves"):
        structure.walk(lambda *node: None, None, [1])
    with pytest.raises(TreeError, match="expected an iterable of 2 elements"):
        structure.from_iterable_tree(((1, 2), (3, None), 4))
    with pytest.raises(TreeError, match=r"element 0 must be a PyTreeDef, .* but it is 5"):
        treedef_tuple([5])  # type: ignore[list-item]


def test_prefixes_of_structures() -> None:
    outer, inner = tree_structure([1, (2, 3)]), tree_structure([1, ((2, None), {"a": 3})])
    assert outer.is_prefix(inner)
    assert not inner.is_prefix(outer)
    assert inner.is_suffix(outer)
    assert outer.is_prefix(outer)
    assert not outer.is_prefix(outer, strict=True)
    assert LEAF.is_prefix(tree_structure(None))
