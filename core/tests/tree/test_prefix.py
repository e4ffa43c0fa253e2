"""Prefixes, and the trees that part from them."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest

from bindax_core.errors import TreeError
from bindax_core.tree._prefix import flatten_prefix
from bindax_core.tree_util import (
    NodeDefinition,
    scoped_registration,
    tree_broadcast,
    tree_map,
    tree_map_with_path,
    tree_structure,
    tree_transpose,
)

Point = namedtuple("Point", "x y")


class Box:
    def __init__(self, content: Any, tag: Any = None) -> None:
        self.content, self.tag = content, tag


BOX = NodeDefinition(Box, lambda b: ((b.content,), b.tag), lambda t, xs: Box(xs[0], t))
ARGUMENTS = (1.0, {"k1": 2.0, "k2": 3.0})


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ((None, {"k1": None, "k2": 0}), [None, None, 0]),
        ((None, 0), [None, 0, 0]),
        (0, [0, 0, 0]),
        (None, [None, None, None]),
        ((0, {"k2": 1, "k1": 2}), [0, 2, 1]),
    ],
)
def test_prefixes_of_the_documents(prefix: Any, expected: list[Any]) -> None:
    assert flatten_prefix(prefix, ARGUMENTS) == expected
    assert flatten_prefix(prefix, tree_structure(ARGUMENTS)) == expected


def test_none_in_the_full_tree_has_no_leaves() -> None:
    assert flatten_prefix((0, None), ((1, None, [2]), None)) == [0, 0]
    assert flatten_prefix((0, 1), (None, (2,))) == [1]


def test_custom_nodes_and_named_tuples() -> None:
    with scoped_registration(BOX):
        assert flatten_prefix(Box(0, "t"), Box((1, 2), "t")) == [0, 0]
        assert flatten_prefix([Point(0, 1)], [Point([1, 2], 3)]) == [0, 0, 1]
        with pytest.raises(
            TreeError, match=r"with metadata 'u', but the full tree .* metadata 't'"
        ):
            flatten_prefix(Box(0, "u"), Box(1, "t"))


@pytest.mark.parametrize(
    ("prefix", "message"),
    [
        (
            (0, {"k1": 0}),
            r"in_axes is not a tree prefix of the full tree: at path in_axes\[1\], .*keys \['k1'\]",
        ),
        ((0,), r"at in_axes, in_axes has a tuple of length 1 \(\(0,\)\), but .* length 2"),
        (
            [0, 0],
            r"has a node of type list \(\[0, 0\]\), but the full tree has a node of type tuple",
        ),
        (((0, 1), 0), r"at path in_axes\[0\], .* node of type tuple .* has a leaf there"),
        ((0, {"k1": (0,), "k2": 0}), r"at path in_axes\[1\]\['k1'\]"),
        ((0, OrderedDict(k1=0, k2=0)), "OrderedDict .* but the full tree has a node of type dict"),
    ],
)
def test_prefixes_that_do_not_match(prefix: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        flatten_prefix(prefix, ARGUMENTS)


def test_the_arguments_are_named() -> None:
    with pytest.raises(
        TreeError, match=r"out_axes is not a tree prefix of the result: at out_axes"
    ):
        flatten_prefix((0, 1), [1], "out_axes", full_name="the result")


@pytest.mark.parametrize(
    ("tree", "other", "message"),
    [
        ([1], (1,), r"Expected list, got \(1,\) of type tuple, at the root"),
        (
            {"a": [1, 2]},
            {"a": [1]},
            r"list arity mismatch at path \['a'\]: expected 2 children, got 1",
        ),
        (
            {"a": {"b": 1}},
            {"a": {"c": 1}},
            r"mismatch at path \['a'\]: expected keys .*; missing \['b'\]; unexpected \['c'\]",
        ),
        (
            (1, None),
            (1, 2),
            r"Expected None, got 2 of type int, at path \[1\].*is_leaf=lambda x: x is",
        ),
        (Point(1, 2), (1, 2), r"Expected .*test_prefix.Point, got \(1, 2\)"),
        (
            [Box(1, "t")],
            [Box(1, "u")],
            r"metadata of .*Box differs at path \[0\]: expected 't', got",
        ),
        (
            [Box([1])],
            [Box(1)],
            r"Expected list, got 1 of type int, at path \[0\]\[<flat index 0>\]",
        ),
        (
            OrderedDict(a=1, b=2),
            OrderedDict(b=1, a=2),
            r"metadata of collections.OrderedDict differs at the root",
        ),
    ],
)
def test_trees_that_part(tree: Any, other: Any, message: str) -> None:
    with scoped_registration(BOX):
        for function in (tree_map, tree_map_with_path):
            with pytest.raises(TreeError, match=message):
                function(lambda *args: args, tree, other)


def test_map_takes_subtrees() -> None:
    assert tree_map(lambda x, y: (x, y), [1, 2], [(3, 4), None]) == [(1, (3, 4)), (2, None)]


def test_broadcast() -> None:
    assert tree_broadcast((1, 2), ([3, 4], {"a": 5})) == ([1, 1], {"a": 2})
    with pytest.raises(TreeError, match=r"Expected list, got \(1, 2\) .* at path \['x'\]"):
        tree_broadcast({"x": [1]}, {"x": (1, 2)})


def test_transpose() -> None:
    outer, inner = tree_structure([0, 0]), tree_structure((0, {"a": 0}))
    value = [(1, {"a": 2}), (3, {"a": 4})]
    assert tree_transpose(outer, inner, value) == ([1, 3], {"a": [2, 4]})
    assert tree_transpose(outer, None, value) == ([1, 3], {"a": [2, 4]})
    assert tree_transpose(tree_structure([]), tree_structure((0, 0)), []) == ([], [])
    with pytest.raises(TypeError, match="Mismatch"):
        tree_transpose(outer, tree_structure((0,)), value)
    with pytest.raises(TreeError, match="pass inner_treedef"):
        tree_transpose(tree_structure([]), None, [])
