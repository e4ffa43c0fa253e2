"""Dataclasses, Partial, keys, and the smaller functions."""

from __future__ import annotations

import dataclasses
import functools
import operator
import pickle
from typing import Any

import pytest

from bindax_core import tree
from bindax_core.errors import TreeError
from bindax_core.tree_util import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Partial,
    SequenceKey,
    keystr,
    register_dataclass,
    scoped_registration,
    tree_flatten,
    tree_flatten_with_path,
    tree_leaves_with_path,
    tree_map,
    tree_reduce,
    tree_reduce_associative,
    tree_structure,
)


@pytest.fixture(autouse=True)
def _scope() -> Any:
    with scoped_registration():
        yield


@dataclasses.dataclass
class Plain:
    a: Any
    b: Any = 2
    name: str = "n"


@dataclasses.dataclass(frozen=True)
class Marked:
    a: Any
    unit: str = tree.static(default="m")
    note: str = dataclasses.field(default="", metadata={"static": True})
    cache: Any = dataclasses.field(default=0, init=False)


@pytest.mark.parametrize("times", [1, 200])
def test_explicit_fields(times: int) -> None:
    register_dataclass(Plain, ["b", "a"], ["name"])
    for _ in range(times):
        leaves, structure = tree_flatten([Plain(1, (2,), "x")])
        made = structure.unflatten([5, 6])
    assert leaves == [2, 1]
    assert made == [Plain(6, (5,), "x")]
    assert structure == tree_structure([Plain(0, (0,), "x")])
    assert structure != tree_structure([Plain(0, (0,), "y")])
    assert tree_structure([Plain(0, 0, "x")]) != structure
    assert [keystr(path) for path, _ in tree_leaves_with_path([Plain(1)])] == ["[0].b", "[0].a"]


@pytest.mark.parametrize("times", [1, 200])
def test_fields_from_the_class(times: int) -> None:
    assert register_dataclass(Marked) is Marked
    for _ in range(times):
        leaves, structure = tree_flatten(Marked([1, 2], "s"))
        made = structure.unflatten([3, 4])
    assert leaves == [1, 2]
    assert made == Marked([3, 4], "s")
    assert str(structure) == "PyTreeDef(CustomNode(Marked[('s', '')], [[*, *]]))"


def test_dropped_fields_get_their_defaults() -> None:
    register_dataclass(Plain, ["a"], ["name"], drop_fields=["b"])
    assert tree_map(lambda x: x * 10, Plain(1, 5, "z")) == Plain(10, 2, "z")


def test_the_decorator_form() -> None:
    @functools.partial(register_dataclass, data_fields=["x"], meta_fields=[])
    @dataclasses.dataclass
    class Local:
        x: Any

    assert tree_map(lambda x: x + 1, Local(1)) == Local(2)


@pytest.mark.parametrize("times", [1, 200])
def test_validating_init(times: int) -> None:
    @dataclasses.dataclass(frozen=True)
    class Positive:
        x: Any
        kind: str = "k"
        derived: Any = dataclasses.field(default_factory=list, init=False)

        def __post_init__(self) -> None:
            if not self.x > 0:
                raise ValueError("must be positive")

    register_dataclass(Positive, ["x"], ["kind"], bypass_init=True)
    structure = tree_structure(Positive(1))
    sentinel = object()
    for _ in range(times):
        assert tree_structure(Positive(1)) == structure
        made = structure.unflatten([sentinel])
    assert made.x is sentinel
    assert (made.kind, made.derived) == ("k", [])
    with pytest.raises(ValueError, match="positive"):
        Positive(-1)


def test_classes_that_are_no_dataclasses() -> None:
    class Other:
        def __init__(self, a: Any, b: Any) -> None:
            self.a, self.b = a, b

    with pytest.raises(TreeError, match="are required, because the class is not a dataclass"):
        register_dataclass(Other)
    register_dataclass(Other, ["a"], ["b"])
    assert tree_map(lambda x: x + 1, Other(1, "s")).a == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["a"], ["b"]), r"Missing fields: \['name'\]. Put fields that are not wanted"),
        ((["a", "b", "c"], ["name"]), r"Unexpected fields: \['c'\]"),
        ((["a", "b"], ["name", "a"]), r"\['a'\] are there more than once"),
        ((["a", "b", 3], ["name"]), "names of fields must be strings, got 3"),
        ((["a"],), "give both data_fields and meta_fields, or neither"),
    ],
)
def test_fields_that_do_not_fit(arguments: Any, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        register_dataclass(Plain, *arguments)


def test_only_classes() -> None:
    with pytest.raises(TreeError, match="register_dataclass needs a class"):
        register_dataclass(Plain(1))  # type: ignore[type-var]


# ------------------------------------------------------------------------------- Partial


def test_partial() -> None:
    add = Partial(operator.add, 1)
    assert add(2) == 3
    leaves, structure = tree_flatten(Partial(max, 1, key=2))
    assert leaves == [1, 2]
    text = "PyTreeDef(CustomNode(Partial[<built-in function max>], [(*,), {'key': *}]))"
    assert str(structure) == text
    assert structure == tree_structure(Partial(max, 3, key=4))
    assert structure != tree_structure(Partial(min, 3, key=4))
    paths = [keystr(path) for path, _ in tree_flatten_with_path(Partial(max, 1, key=2))[0]]
    assert paths == [".args[0]", ".keywords['key']"]


def test_partial_of_partial_is_not_merged() -> None:
    inner = functools.partial(operator.sub, 10)
    outer = Partial(inner, 3)
    assert outer() == 7
    assert tree.leaves(outer) == [3]
    assert tree_map(lambda x: x + 1, outer)() == 6
    assert tree_structure(outer) == tree_structure(Partial(inner, 4))
    nested = Partial(Partial(operator.sub, 10), 3)
    assert nested() == 7
    assert hash(tree_structure(nested)) == hash(tree_structure(tree_map(lambda x: x, nested)))


# ---------------------------------------------------------------------------------- keys


def test_keys() -> None:
    path = (SequenceKey(0), DictKey("a"), GetAttrKey("x"), FlattenedIndexKey(3))
    assert keystr(path) == "[0]['a'].x[<flat index 3>]"
    assert keystr(path, simple=True, separator="/") == "0/a/x/3"
    assert keystr((1, "a"), simple=True, separator="/") == "1/a"
    assert keystr(()) == ""
    assert repr(path) == (
        "(SequenceKey(idx=0), DictKey(key='a'), GetAttrKey(name='x'), FlattenedIndexKey(key=3))"
    )
    assert pickle.loads(pickle.dumps(path)) == path
    assert len({*path, SequenceKey(0), DictKey(0)}) == 5
    assert SequenceKey(0) != DictKey(0)
    assert (path[0].idx, path[1].key, path[2].name, path[3].key) == (0, "a", "x", 3)


# ------------------------------------------------------------------------------- reducing


def test_reduce() -> None:
    assert tree_reduce(operator.add, {"b": 1, "a": [2, 3]}) == 6
    assert tree_reduce(operator.add, [], 7) == 7
    assert tree_reduce(operator.add, [[1], [2]], [], is_leaf=lambda x: x in ([1], [2])) == [1, 2]
    with pytest.raises(TypeError, match=r"reduce\(\) of empty iterable with no initial value"):
        tree_reduce(operator.add, [None])


def test_reduce_associative() -> None:
    def pair(x: Any, y: Any) -> Any:
        return x, y

    assert tree_reduce_associative(pair, [1, 2, 3, 4, 5, 6, 7]) == (
        (1, (2, 3)), ((4, 5), (6, 7)),
    )  # fmt: skip
    assert tree_reduce_associative(pair, [], identity=None) is None
    with pytest.raises(TypeError, match="needs identity"):
        tree_reduce_associative(pair, [])
