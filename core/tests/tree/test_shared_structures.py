"""Structures that come up again: the same object where trees are alike, and only there."""

import collections
import dataclasses
import enum
import weakref

import numpy as np
import pytest

from bindax_core import tree_util
from bindax_core.errors import TreeError
from bindax_core.tree_util import tree_flatten, tree_leaves, tree_map, tree_structure

OFTEN = 80
"""More than it takes until functions are generated for a structure."""


class Name(enum.StrEnum):
    A = "a"


class Text(str):
    pass


ALIKE = [
    ({"a": 1, "b": [2]}, {"b": 1, "a": [2]}),
    ({"a": 0}, {Name.A: 0}),
    ({"a": [0]}, {Text("a"): [0]}),
    ({1: [0], 2: 0}, {True: [0], 2: 0}),
    ({1: [0], 2: 0}, {1.0: [0], 2: 0}),
    ([1, (2,)], [1, [2]]),
    ([1, None], [None, 1]),
    (collections.OrderedDict(a=[1], b=2), collections.OrderedDict(b=2, a=[1])),
    (collections.defaultdict(None, a=[1], b=2), collections.defaultdict(None, b=2, a=[1])),
    (collections.defaultdict(int, a=[1]), collections.defaultdict(float, a=[1])),
    (collections.deque([1, [2]], 3), collections.deque([1, [2]], 4)),
]


@pytest.mark.parametrize("number", [1, OFTEN])
@pytest.mark.parametrize(("first", "second"), ALIKE)
def test_trees_that_look_alike_keep_what_is_their_own(first, second, number):
    for tree in (first, second, first):
        for _ in range(number):
            leaves, structure = tree_flatten(tree)
            built = structure.unflatten(leaves)
        assert built == tree
        assert type(built) is type(tree)
        if isinstance(tree, dict):
            assert [*map(type, built)] == [*map(type, tree)]
            assert [*built] == [*tree]
            assert getattr(built, "default_factory", 0) == getattr(tree, "default_factory", 0)
        assert getattr(built, "maxlen", 0) == getattr(tree, "maxlen", 0)


def test_trees_that_are_alike_have_one_structure():
    def made():
        return {f"layer{i}": {"w": [1, None], "b": (2.0, {"c": 3})} for i in range(3)}

    assert tree_structure(made()) is tree_structure(made())
    assert tree_structure(made())._children[0] is tree_structure(made())._children[1]


def test_maps_of_several_trees():
    first = {"a": [1, 2], "b": (3, {"c": 4})}
    for _ in range(OFTEN):
        assert tree_map(lambda *xs: xs, first, first, first)["b"][1]["c"] == (4, 4, 4)
    deeper = {"a": [1, [2, 3]], "b": (3, {"c": None})}
    assert tree_map(lambda x, y: y, first, deeper) == deeper
    reordered = {"b": (3, {"c": 4}), "a": [1, 2]}
    assert list(tree_map(lambda x, y: y, first, reordered)) == ["a", "b"]
    assert list(tree_map(lambda x, y: y, reordered, first)) == ["b", "a"]
    circle: list = []
    circle.append(circle)
    assert tree_map(lambda x, y: y is circle, [0], [circle]) == [True]
    with pytest.raises(TreeError, match=r"list arity mismatch at path \['a'\]"):
        tree_map(lambda x, y: y, first, {"a": [1], "b": (3, {"c": 4})})


KEYS = [f"key {i}" for i in range(100)]
Wide = collections.namedtuple("Wide", [f"field{i}" for i in range(100)])
Fields = dataclasses.make_dataclass("Fields", [f"field{i}" for i in range(100)])


@pytest.mark.parametrize("times", [1, OFTEN])
def test_wide_trees_of_leaves(times):
    with tree_util.scoped_registration():
        tree_util.register_dataclass(Fields, [f"field{i}" for i in range(100)], [])
        ordered = {key: i for i, key in enumerate(sorted(KEYS))}
        for tree in (
            ordered,
            {key: i for i, key in enumerate(KEYS)},
            collections.OrderedDict(ordered),
            collections.defaultdict(int, ordered),
            collections.deque(KEYS),
            Wide(*KEYS),
            Fields(*KEYS),
            KEYS,
            (ordered, KEYS),
        ):
            for _ in range(times):
                leaves, structure = tree_flatten(tree)
                rebuilt = structure.unflatten(leaves)
            assert repr(rebuilt) == repr(tree)
            assert rebuilt is not leaves


def test_metadata_is_not_kept_alive():
    class Function:
        def __call__(self):
            return 0

    function = Function()
    for _ in range(OFTEN // 2):
        tree_leaves(tree_util.Partial(function, [1]))
    alive = weakref.ref(function)
    del function
    assert alive() is None


def test_many_structures_are_not_kept():
    from bindax_core.tree._walkers import _nodes

    for number in range(300):
        tree_flatten({f"key{number}_{i}": [i, [i]] for i in range(100)})
    assert sum(map(len, _nodes)) <= _nodes.limit
    for number in range(0, 3000, 5):
        tree_flatten([[[]] * number])
    assert sum(map(len, _nodes)) <= 2 * _nodes.limit


@pytest.mark.parametrize("size", [0, 1, 300, 60_000])
def test_sizes(size):
    tree = {"a": [[i] for i in range(size)], "b": list(range(size)), "c": (np.float32(1),) * size}
    for _ in range(2):
        leaves, structure = tree_flatten(tree)
        assert len(leaves) == 3 * size
        assert structure.unflatten(leaves) == tree
