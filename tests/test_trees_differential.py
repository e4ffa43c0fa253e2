"""Pytree functions beside those of JAX and of optree, on random trees of all container types."""

from __future__ import annotations

import dataclasses
import functools
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bindax_core import tree_util as ours
from bindax_core.errors import TreeError

optree: Any = pytest.importorskip("optree", reason="optree is a reference of differential tests")
jax_trees: Any = pytest.importorskip(
    "jax.tree_util", reason="JAX is the reference of differential tests"
)

Point = namedtuple("Point", ["x", "y"])


class Box:
    """A container with children and metadata, registered everywhere."""

    def __init__(self, children: tuple[Any, ...], tag: Any) -> None:
        self.children, self.tag = children, tag

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.children, self.tag) == (other.children, other.tag)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Box({self.children}, {self.tag!r})"


@dataclasses.dataclass
class Data:
    """A dataclass with metadata, registered everywhere."""

    a: Any
    b: Any
    name: str


for library in (ours, jax_trees):
    library.register_pytree_node(
        Box, lambda b: (b.children, b.tag), lambda tag, xs: Box(tuple(xs), tag)
    )
    library.register_dataclass(Data, ["a", "b"], ["name"])
optree.register_pytree_node(
    Box, lambda b: (b.children, b.tag), lambda tag, xs: Box(tuple(xs), tag), namespace="bindax"
)
optree.register_pytree_node(
    Data,
    lambda d: ((d.a, d.b), d.name, ("a", "b")),
    lambda name, xs: Data(*xs, name),
    namespace="bindax",
)

leaves = st.one_of(st.integers(-9, 9), st.floats(allow_nan=False), st.text(max_size=2), st.binary())
words = st.text("abcxyz", max_size=3)
mixed_keys = st.one_of(st.integers(-5, 5), words, st.none(), st.tuples(st.integers(0, 2), words))


def containers(children: st.SearchStrategy[Any], keys: Any) -> st.SearchStrategy[Any]:
    few = st.lists(children, max_size=4)
    pairs = st.lists(st.tuples(keys, children), max_size=4)
    return st.one_of(
        few,
        few.map(tuple),
        pairs.map(dict),
        pairs.map(OrderedDict),
        pairs.map(functools.partial(defaultdict, list)),
        st.builds(Point, children, children),
        st.builds(Box, few.map(tuple), words),
        st.builds(Data, children, children, words),
    )


def trees(keys: Any = words, *, with_none: bool = True) -> st.SearchStrategy[Any]:
    bottom = st.one_of(leaves, st.none()) if with_none else leaves
    return st.recursive(bottom, lambda xs: containers(xs, keys), max_leaves=25)


def same(x: Any, y: Any) -> bool:
    """Equality that tells types and the order of keys apart."""
    if type(x) is not type(y):
        return False
    if isinstance(x, dict):
        return list(x) == list(y) and all(same(x[key], y[key]) for key in x)
    if isinstance(x, list | tuple | deque):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, Box):
        return same(x.children, y.children) and same(x.tag, y.tag)
    if isinstance(x, Data):
        return same((x.a, x.b, x.name), (y.a, y.b, y.name))
    return repr(x) == repr(y)


def outcome(function: Any, *args: Any) -> Any:
    """What a function returns, or that it raises."""
    try:
        return function(*args)
    except (ValueError, TypeError):
        return "raises"


@given(trees())
def test_flatten_and_unflatten_as_jax_does(tree: Any) -> None:
    own, own_def = ours.tree_flatten(tree)
    theirs, their_def = jax_trees.tree_flatten(tree)
    assert own == theirs
    assert str(own_def) == str(their_def)
    assert (own_def.num_leaves, own_def.num_nodes) == (their_def.num_leaves, their_def.num_nodes)
    assert [str(c) for c in own_def.children()] == [str(c) for c in their_def.children()]
    assert own_def.node_data() == their_def.node_data()
    made = own_def.unflatten(own)
    assert made == their_def.unflatten(theirs)
    assert same(made, tree)


@given(trees())
def test_paths_as_jax_gives_them(tree: Any) -> None:
    own, own_def = ours.tree_flatten_with_path(tree)
    theirs, _ = jax_trees.tree_flatten_with_path(tree)
    assert own_def == ours.tree_structure(tree)
    assert [leaf for _, leaf in own] == [leaf for _, leaf in theirs]
    assert [ours.keystr(path) for path, _ in own] == [jax_trees.keystr(path) for path, _ in theirs]
    assert [ours.keystr(path, simple=True, separator="/") for path, _ in own] == [
        jax_trees.keystr(path, simple=True, separator="/") for path, _ in theirs
    ]


@given(trees(), trees())
def test_equality_as_jax_sees_it(first: Any, second: Any) -> None:
    for x, y in ((first, second), (first, first), (second, first)):
        own, other = ours.tree_structure(x), ours.tree_structure(y)
        equal = jax_trees.tree_structure(x) == jax_trees.tree_structure(y)
        assert (own == other) is equal
        if equal:
            assert hash(own) == hash(other)


@given(trees(), trees())
def test_prefixes_as_jax_matches_them(prefix: Any, tree: Any) -> None:
    own = outcome(ours.tree_structure(prefix).flatten_up_to, tree)
    assert own == outcome(jax_trees.tree_structure(prefix).flatten_up_to, tree)
    broadcast = outcome(ours.tree_broadcast, prefix, tree)
    assert broadcast == outcome(jax_trees.tree_broadcast, prefix, tree)


@given(st.data())
def test_prefixes_made_by_cutting(data: st.DataObject) -> None:
    tree = data.draw(trees())
    decisions = data.draw(st.lists(st.booleans(), min_size=60, max_size=60))
    chosen = iter(decisions)
    prefix = ours.tree_map(lambda _: 0, tree, is_leaf=lambda _: next(chosen, True))
    assert ours.tree_broadcast(prefix, tree) == jax_trees.tree_broadcast(prefix, tree)
    structure = ours.tree_structure(prefix)
    assert structure.is_prefix(ours.tree_structure(tree))
    parts = structure.flatten_up_to(tree)
    assert parts == jax_trees.tree_structure(prefix).flatten_up_to(tree)
    assert [leaf for part in parts for leaf in ours.tree_leaves(part)] == ours.tree_leaves(tree)


@given(trees(), trees())
def test_map_reduce_and_transpose_as_jax_does(tree: Any, inner: Any) -> None:
    assert ours.tree_map(repr, tree) == jax_trees.tree_map(repr, tree)
    for library in (ours, jax_trees):
        assert library.tree_reduce(lambda n, _: n + 1, tree, 0) == len(ours.tree_leaves(tree))
    assert ours.tree_all(tree) == jax_trees.tree_all(tree)
    stop = functools.partial(lambda types, x: isinstance(x, types), (tuple, Box, type(None)))
    assert ours.tree_leaves(tree, stop) == jax_trees.tree_leaves(tree, stop)
    outer_def, inner_def = ours.tree_structure(tree), ours.tree_structure(inner)
    composed = outer_def.compose(inner_def)
    theirs = jax_trees.tree_structure(tree).compose(jax_trees.tree_structure(inner))
    assert str(composed) == str(theirs)
    if composed.num_leaves:
        value = composed.unflatten(range(composed.num_leaves))
        assert ours.tree_transpose(outer_def, inner_def, value) == jax_trees.tree_transpose(
            jax_trees.tree_structure(tree), jax_trees.tree_structure(inner), value
        )


@given(st.recursive(st.one_of(leaves, st.none()), lambda xs: containers(xs, mixed_keys) | st.lists(
    xs, max_size=3).map(deque), max_leaves=25))  # fmt: skip
@settings(max_examples=2 * settings().max_examples)
def test_trees_with_keys_of_mixed_types_and_deques_beside_optree(tree: Any) -> None:
    own, own_def = ours.tree_flatten(tree)
    theirs, their_def = optree.tree_flatten(tree, namespace="bindax")
    assert sorted(map(repr, own)) == sorted(map(repr, theirs))
    assert own_def.num_leaves == their_def.num_leaves
    made = own_def.unflatten(own)
    assert same(made, tree)
    assert ours.tree_leaves(made) == own
    mapped = ours.tree_map(repr, tree)
    assert same(mapped, optree.tree_map(repr, tree, namespace="bindax"))
    assert [leaf for _, leaf in ours.tree_flatten_with_path(tree)[0]] == own


@given(trees(mixed_keys))
def test_text_and_pickle_round_trips(tree: Any) -> None:
    import pickle

    structure = ours.tree_structure(tree)
    again = ours.PyTreeDef.deserialize(structure.serialize())
    pickled = pickle.loads(pickle.dumps(structure))
    for other in (again, pickled):
        assert other == structure
        assert hash(other) == hash(structure)
        assert same(other.unflatten(ours.tree_leaves(tree)), tree)


@given(trees(), st.randoms(use_true_random=False))
def test_damaged_text_raises_or_gives_a_structure(tree: Any, random: Any) -> None:
    text = ours.tree_structure(tree).serialize()
    start = random.randrange(len(text))
    damaged = text[:start] + random.choice('[]{}",:019-ne*') + text[start + random.randint(0, 3) :]
    try:
        structure = ours.PyTreeDef.deserialize(damaged)
    except TreeError:
        return
    structure.unflatten([0] * structure.num_leaves)


@given(trees(with_none=False))
def test_hot_trees_are_flattened_as_cold_ones(tree: Any) -> None:
    expected = ours.tree_flatten(tree)
    for _ in range(100):
        leaves, structure = ours.tree_flatten(tree)
        made = structure.unflatten(leaves)
    assert (leaves, structure) == expected
    assert same(made, tree)
