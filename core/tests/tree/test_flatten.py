"""Flattening and unflattening."""

from __future__ import annotations

import gc
import os
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest

from bindax_core.errors import TreeError
from bindax_core.tree_util import (
    NodeDefinition,
    PyTreeDef,
    scoped_registration,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves,
    tree_map,
    tree_structure,
)

Point = namedtuple("Point", "x y")
Empty = namedtuple("Empty", "")


class Box:
    def __init__(self, *content: Any, tag: Any = None) -> None:
        self.content, self.tag = content, tag

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.content, self.tag) == (other.content, other.tag)

    __hash__ = None  # type: ignore[assignment]


BOX = NodeDefinition(Box, lambda b: (b.content, b.tag), lambda tag, xs: Box(*xs, tag=tag))


TREES = [
    1,
    None,
    [],
    (),
    {},
    (1,),
    [None, None],
    {"b": 1, "a": [2, (3, None)]},
    {2: "x", 1: {"z": 0, "y": ()}},
    OrderedDict([("b", 1), ("a", [2])]),
    defaultdict(list, {"b": 1, "a": [2]}),
    deque([1, [2], 3], maxlen=5),
    Point(1, [2]),
    Empty(),
    [Point(1, 2), {"k": deque([1])}],
    Box(1, [2], tag="t"),
    [Box(Box(), tag=(1, "a")), {"k": Box(None)}],
    list(range(1000)),
    {f"k{i}": (i, [i]) for i in range(300)},
]


def same(x: Any, y: Any) -> bool:
    """Equal, with the same types and the same order of keys."""
    if type(x) is not type(y):
        return False
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[k], y[k]) for k in x)
    if isinstance(x, list | tuple | deque):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, Box):
        return same(x.content, y.content) and same(x.tag, y.tag)
    return bool(x == y)


@pytest.mark.parametrize("value", TREES, ids=lambda t: repr(t)[:30])
@pytest.mark.parametrize("times", [1, 270], ids=["walked", "generated"])
def test_round_trip(value: Any, times: int) -> None:
    with scoped_registration(BOX):
        leaves, structure = tree_flatten(value)
        for _ in range(times):
            again, same_structure = tree_flatten(value)
            assert again == leaves
            assert same(structure.unflatten(again), value)
        assert same_structure == structure
        assert hash(same_structure) == hash(structure)
        assert repr(same_structure) == repr(structure)
        careful = tree_flatten(value, is_leaf=lambda _: False)
        assert careful == (leaves, structure)
        with_path, by_path = tree_flatten_with_path(value)
        assert [leaf for _, leaf in with_path] == leaves
        assert by_path == structure
        assert same(tree_map(lambda x: x, value), value)
        assert structure.num_leaves == len(leaves)


def test_leaves_are_any_objects() -> None:
    structure = tree_structure({"a": 1, "b": [2, 3]})
    objects = [object(), None, "x"]
    made = structure.unflatten(objects)
    assert made["a"] is objects[0]
    assert made["b"] == [None, "x"]


def test_subclasses_of_containers_are_leaves() -> None:
    class MyList(list):  # type: ignore[type-arg]
        pass

    class MyDict(dict):  # type: ignore[type-arg]
        pass

    assert tree_leaves([MyList([1]), MyDict(a=1)]) == [[1], {"a": 1}]


def test_generated_functions_notice_every_change() -> None:
    def tree(**changes: Any) -> Any:
        parts = {"a": 1, "b": (2, 3), "c": [4], "d": None, "p": Point(5, 6), "o": Box(7, tag="t")}
        return parts | changes

    with scoped_registration(BOX):
        for _ in range(200):
            tree_flatten(tree())
        others = [
            tree(a=(1,)), tree(b=(2, 3, 4)), tree(b=[2, 3]), tree(c=[[4]]), tree(c=[]), tree(d=4),
            tree(p=(5, 6)), tree(p=Point(5, None)), tree(o=Box(7, tag="u")), tree(o=Box(7, 8)),
            tree(o=Box(tag="t")), tree(e=1), {"a": 1}, dict(reversed(tree().items())),
            tree(o=Box(7, tag=1)), tree(o=Box(7, tag=True)),
        ]  # fmt: skip
        for other in others:
            leaves, structure = tree_flatten(other)
            assert (leaves, structure) == tree_flatten(other, is_leaf=lambda _: False)
            assert same(structure.unflatten(leaves), other)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({1: 0}, {True: 0}),
        (Box(0, tag=1), Box(0, tag=True)),
        (Box(0, tag=(1,)), Box(0, tag=(1.0,))),
        (Box(0, tag=0.0), Box(0, tag=-0.0)),
    ],
)
def test_equal_keys_and_metadata_of_other_types_are_not_mixed_up(first: Any, second: Any) -> None:
    with scoped_registration(BOX):
        for _ in range(200):
            tree_flatten(first)
        made = tree_map(lambda x: x, second)
        assert repr(made if isinstance(made, dict) else made.tag) == repr(
            second if isinstance(second, dict) else second.tag
        )


def test_a_type_registered_later_is_not_a_leaf_for_generated_functions() -> None:
    value = {"a": [Box(1), 2]}
    for _ in range(200):
        assert len(tree_leaves(value)) == 2
    with scoped_registration(BOX):
        assert tree_leaves(value) == [1, 2]
    assert len(tree_leaves(value)) == 2


def test_alternating_structures() -> None:
    values: list[Any] = [{"a": [0] * n} for n in range(8)]
    for _ in range(300):
        for n, value in enumerate(values):
            leaves, structure = tree_flatten(value)
            assert len(leaves) == n
            assert structure.unflatten(leaves) == value


def test_results_do_not_share_lists() -> None:
    value = [[1, 2], (3,)]
    for _ in range(100):
        first, structure = tree_flatten(value)
        second, _ = tree_flatten(value)
        assert first is not second
        assert structure.unflatten(first)[0] is not structure.unflatten(second)[0]


def test_flattening_takes_dicts_in_sorted_order_and_unflattening_in_that_of_insertion() -> None:
    value = {"b": 1, "a": {"d": 2, "c": 3}}
    assert tree_leaves(value) == [3, 2, 1]
    made = tree_map(lambda x: x, value)
    assert list(made) == ["b", "a"]
    assert list(made["a"]) == ["d", "c"]
    other = {"a": {"c": 3, "d": 2}, "b": 1}
    assert tree_structure(value) == tree_structure(other)
    assert hash(tree_structure(value)) == hash(tree_structure(other))


class Color:
    """A key that can be hashed but not ordered."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Color) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Color({self.name})"


@pytest.mark.parametrize(
    "keys",
    [
        [1, "a", None, 2.5, (1, "b"), (1, 2), b"x", False],
        [frozenset({1}), frozenset({2}), frozenset({1, 2})],
        [Color("r"), Color("g"), "b", 3],
        [(1, None), (1, "x"), (0, 5)],
        [1j, 2j],
    ],
    ids=str,
)
def test_keys_that_cannot_be_sorted_have_an_order_that_ignores_insertion(keys: list[Any]) -> None:
    forward = {key: i for i, key in enumerate(keys)}
    backward = dict(reversed(forward.items()))
    assert tree_leaves(forward) == tree_leaves(backward)
    assert tree_structure(forward) == tree_structure(backward)
    assert list(tree_map(lambda x: x, backward)) == list(backward)
    assert tree_leaves(forward) == [leaf for _, leaf in tree_flatten_with_path(forward)[0]]


# Far beyond the recursion limit.
DEPTH = 100_000 if os.environ.get("BINDAX_NIGHTLY") else 10_000


def deep() -> Any:
    value: Any = 7
    for _ in range(DEPTH):
        value = [value]
    return value


def test_deep_trees() -> None:
    value = deep()
    leaves, structure = tree_flatten(value)
    assert leaves == [7]
    assert structure.num_nodes == DEPTH + 1
    again = tree_structure(value)
    assert again == structure
    assert hash(again) == hash(structure)
    assert len(repr(structure)) > 2 * DEPTH
    ((path, leaf),), _ = tree_flatten_with_path(value)
    assert (len(path), leaf) == (DEPTH, 7)
    made = structure.unflatten([8])
    mapped = tree_map(lambda x: x + 1, made)
    for _ in range(DEPTH):
        (mapped,) = mapped
    assert mapped == 9
    assert structure.flatten_up_to(value) == [7]
    assert structure.compose(structure).num_nodes == 2 * DEPTH + 1
    del value, structure, again, made
    gc.collect()


def test_deep_trees_are_pickled() -> None:
    import pickle

    structure = tree_structure(deep())
    assert pickle.loads(pickle.dumps(structure)) == structure


@pytest.mark.parametrize("times", [1, 100])
def test_cycles(times: int) -> None:
    inner: dict[str, Any] = {}
    value = [1, {"k": inner}]
    for _ in range(times):
        tree_flatten(value)
    inner["back"] = value
    with pytest.raises(
        TreeError, match=r"contains itself: the list at path \[1\]\['k'\]\['back'\]"
    ):
        tree_flatten(value)
    with pytest.raises(TreeError, match="same object as the one at the root"):
        tree_flatten_with_path(value)
    assert tree_leaves(value, is_leaf=lambda x: isinstance(x, dict)) == [1, {"k": inner}]


def test_one_object_in_several_places_is_no_cycle() -> None:
    shared = [1]
    assert tree_leaves([shared, (shared, {"a": shared})], is_leaf=lambda _: False) == [1, 1, 1]


def test_endless_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bindax_core.tree._flatten_with_path._MAX_DEPTH", 20_000)

    class Endless:
        pass

    definition = NodeDefinition(Endless, lambda _: ((Endless(),), None), lambda _, xs: Endless())
    with (
        scoped_registration(definition),
        pytest.raises(TreeError, match=r"levels deep.*Endless"),
    ):
        tree_flatten([Endless()])


BAD = [
    (lambda _: None, "must return a tuple \\(children, metadata\\), got None"),
    (lambda _: (1,), r"got \(1,\) of type tuple"),
    (lambda _: [(1,), None], "of type list"),
    (lambda _: (5, None), "an iterable of children first, got 5 of type int"),
    (lambda _: ("ab", None), "an iterable of children first, got 'ab'"),
    (lambda _: 1 / 0, "ZeroDivisionError: division by zero"),
]


@pytest.mark.parametrize(("flatten", "message"), BAD)
def test_bad_flatten_functions(flatten: Any, message: str) -> None:
    definition = NodeDefinition(Box, flatten, lambda _, xs: None)
    with scoped_registration(definition):
        for function in (tree_flatten, tree_flatten_with_path, tree_leaves):
            with pytest.raises(TreeError, match=message) as info:
                function({"a": [0, Box()]})
            assert "at path ['a'][1]" in str(info.value)
            assert "test_flatten.Box" in str(info.value)
        with pytest.raises(TreeError, match=message):
            tree_structure({"a": Box()}, is_leaf=lambda x: False)


def test_bad_keys() -> None:
    definition = NodeDefinition(
        Box, lambda b: (b.content, None), lambda _, xs: Box(*xs), lambda b: ([1, 2], None)
    )
    with (
        scoped_registration(definition),
        pytest.raises(TreeError, match=r"pairs \(key, child\), got 1. This happened at path \[0\]"),
    ):
        tree_flatten_with_path([Box(1)])


def test_children_may_be_any_iterable() -> None:
    definition = NodeDefinition(Box, lambda b: (iter(b.content), None), lambda _, xs: Box(*xs))
    with scoped_registration(definition):
        for _ in range(100):
            assert tree_leaves([Box(1, [2])]) == [1, 2]


@pytest.mark.parametrize("times", [1, 100])
def test_wrong_number_of_leaves(times: int) -> None:
    structure = tree_structure({"a": [1, 2], "b": 3})
    for _ in range(times):
        structure.unflatten([1, 2, 3])
    with pytest.raises(TreeError, match=r"Too few leaves for PyTreeDef.*expected 3, got 1"):
        structure.unflatten([1])
    with pytest.raises(TreeError, match=r"Too many leaves for PyTreeDef.*expected 3, got 4"):
        structure.unflatten(iter(range(4)))
    with pytest.raises(TreeError, match="iterable of leaves, got 5 of type int"):
        structure.unflatten(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("times", [0, 100])
def test_what_unflatten_raises_keeps_its_type_and_gets_a_note(times: int) -> None:
    def unflatten(_: Any, children: Any) -> Any:
        if children[0] is None:
            raise KeyError("mine")
        return Box(*children)

    definition = NodeDefinition(Box, lambda b: (b.content, None), unflatten)
    with scoped_registration(definition):
        structure = tree_structure({"a": [0, Box(1)]})
        for _ in range(times):
            structure.unflatten([0, 1])
        with pytest.raises(KeyError, match="mine") as info:
            structure.unflatten([0, None])
        (note,) = info.value.__notes__
        assert "test_flatten.Box at path ['a'][1]" in note


def test_is_leaf() -> None:
    value = [(1, 2), None, {"a": (3,)}]
    assert tree_leaves(value, is_leaf=lambda x: isinstance(x, tuple)) == [(1, 2), (3,)]
    assert tree_leaves(value, is_leaf=lambda x: x is None) == [1, 2, None, 3]
    pairs, _ = tree_flatten_with_path(
        value, is_leaf=lambda path, _: len(path) == 1, is_leaf_takes_path=True
    )
    assert [leaf for _, leaf in pairs] == value
    with pytest.raises(TypeError, match="is_leaf must be a function from a node to a bool, got 3"):
        tree_leaves(value, is_leaf=3)  # type: ignore[arg-type]


def test_tree_definitions_cannot_be_made_by_hand() -> None:
    with pytest.raises(TypeError, match=r"use bindax\.tree\.structure"):
        PyTreeDef()
