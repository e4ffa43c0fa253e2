"""Tree definitions: comparing, copying, storing."""

from __future__ import annotations

import copy
import json
import pickle
import random
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


@pytest.mark.parametrize("tree", TREES, ids=lambda t: repr(t)[:30])
def test_text_round_trip(tree: Any) -> None:
    with scoped_registration(box_definition()):
        structure = tree_structure(tree)
        text = structure.serialize()
        again = PyTreeDef.deserialize(text)
        assert again.serialize() == text
        assert repr(again) == repr(structure)
        assert again == structure
        leaves = list(range(structure.num_leaves))
        assert repr(tree_flatten(again.unflatten(leaves))) == repr((leaves, structure))


def test_text_keeps_the_order_of_insertion() -> None:
    structure = PyTreeDef.deserialize(tree_structure({"b": 1, "a": 2}).serialize())
    assert list(structure.unflatten([1, 2])) == ["b", "a"]


def test_the_text_format_is_stable() -> None:
    assert tree_structure({"b": 1, "a": (2, None)}).serialize() == (
        '{"format":"bindax.treedef","version":1,"nodes":["*",["NoneType",0,null,null],'
        '["tuple",2,null,null],"*",["dict",2,{"tuple":["a","b"]},{"tuple":["b","a"]}]]}'
    )


def test_names_in_text_can_be_chosen_and_metadata_encoded() -> None:
    definition = box_definition(
        serialized_name="box", encode_metadata=sorted, decode_metadata=frozenset
    )
    with scoped_registration(definition):
        structure = tree_structure(Box(1, frozenset("ba")))
        text = structure.serialize()
        assert '["box",1,{"list":["a","b"]},null]' in text
        assert PyTreeDef.deserialize(text) == structure
        with pytest.raises(TreeError, match="decode_metadata of box raised TypeError"):
            PyTreeDef.deserialize(text.replace('{"list":["a","b"]}', "5"))
    with pytest.raises(TreeError, match="'box' is not registered as a pytree node type"):
        PyTreeDef.deserialize(text)


def test_metadata_without_a_written_form() -> None:
    with scoped_registration(box_definition()):
        structure = tree_structure([0, {"k": Box(1, object())}])
        with pytest.raises(
            TreeError, match=r"at path \[1\]\['k'\].*Box.*type object has no stable"
        ):
            structure.serialize()


def document(*nodes: Any, **changes: Any) -> str:
    return json.dumps({"format": "bindax.treedef", "version": 1, "nodes": nodes} | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is damaged: Expecting value"),
        ("[" * 100_000, "damaged"),
        ("5", "is not a serialized tree definition"),
        (document("*", version=2), "has version 2 of the format; .* reads version 1"),
        (document("*", version=True), "has version True"),
        (document("*", more=1), "no list of nodes"),
        (document(), "it has 0 roots"),
        (document("*", "*"), "it has 2 roots"),
        (document(["list", 1, None, None]), "list has 1 children, but 0 are there"),
        (document("*", ["list", -1, None, None]), "-1 children"),
        (document("*", ["list", True, None, None]), "True children"),
        (document("*", ["list", 1.0, None, None]), "1.0 children"),
        (document("*", ["list", 1, 3, None]), "list has no metadata, got 3"),
        (document("*", ["list", 1, None]), "node 1 is"),
        (document("*", ["NoneType", 1, None, None]), "NoneType has 0 children, got 1"),
        (document("*", ["dict", 1, {"tuple": []}, None]), "needs 1 different keys"),
        (document("*", "*", ["dict", 2, {"tuple": ["a", "a"]}, None]), "2 different keys"),
        (document("*", "*", ["dict", 2, {"tuple": ["b", "a"]}, None]), "order of flattening"),
        (document("*", ["dict", 1, {"tuple": [{"list": []}]}, None]), "hashable"),
        (document("*", ["dict", 1, 5, None]), "tuple of hashable keys"),
        (
            document("*", ["dict", 1, {"tuple": ["a"]}, {"tuple": ["b"]}]),
            r"has the keys \('a',\), inserted as \('b',\)",
        ),
        (document("*", ["dict", 1, {"tuple": ["a"]}, {"tuple": [{"list": []}]}]), "inserted as"),
        (document("*", ["tuple", 1, None, {"tuple": ["b"]}]), "keeps no order"),
        (document("*", "*", ["deque", 2, 1, None]), "cannot hold 2 elements with maxlen=1"),
        (document("*", ["defaultdict", 1, {"tuple": [5, {"tuple": ["a"]}]}, None]), "function"),
        (document(["os:system", 0, None, None]), "'os:system' is not registered"),
        (document(["subprocess:Popen", 0, None, None]), "not registered"),
        (document(["namedtuple nowhere:P", 0, [], None]), "not a named tuple"),
        (document(["list", 0, {"float": "x"}, None]), "not an encoded value"),
        (document(["list", 0, {"what": "x"}, None]), "'what' is not a kind of value"),
        (document(["list", 0, {"type": "eval"}, None]), "not an encoded value"),
        (document(["list", 0, {"dtype": "i4,i4"}, None]), "not the name of a dtype"),
        ('{"format":"bindax.treedef","format":"x"}', "a field is there twice"),
    ],
)
def test_damaged_text(text: str, message: str) -> None:
    with pytest.raises(TreeError, match=message):
        PyTreeDef.deserialize(text)


def test_text_must_be_text() -> None:
    with pytest.raises(TreeError, match="is a str, got b'x' of type bytes"):
        PyTreeDef.deserialize(b"x")  # type: ignore[arg-type]


def test_named_tuples_whose_fields_changed() -> None:
    text = tree_structure(Point(1, 2)).serialize()
    with pytest.raises(TreeError, match=r"has the fields \['x', 'y'\] here"):
        PyTreeDef.deserialize(text.replace('"y"', '"z"'))


def test_any_damage_is_an_error_or_another_structure() -> None:
    """Random edits of text either raise TreeError or give a structure that works."""
    generator = random.Random(0)
    with scoped_registration(box_definition()):
        texts = [tree_structure(tree).serialize() for tree in TREES]
        alphabet = '[]{}",:*0129-.eEnulltruefalse\\u\x00 ' + "tuplelistdictfloat"
        for _ in range(4000):
            text = generator.choice(texts)
            for _ in range(generator.randint(1, 4)):
                start = generator.randrange(len(text) + 1)
                stop = min(len(text), start + generator.choice([0, 0, 1, 1, 2, 10]))
                piece = "".join(generator.choices(alphabet, k=generator.choice([0, 1, 1, 3])))
                text = text[:start] + piece + text[stop:]
            try:
                structure = PyTreeDef.deserialize(text)
            except TreeError:
                continue
            structure.unflatten([0] * structure.num_leaves)
            assert repr(structure).startswith("PyTreeDef(")


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
    with pytest.raises(TreeError, match="element 0 is 5"):
        treedef_tuple([5])  # type: ignore[list-item]


def test_prefixes_of_structures() -> None:
    outer, inner = tree_structure([1, (2, 3)]), tree_structure([1, ((2, None), {"a": 3})])
    assert outer.is_prefix(inner)
    assert not inner.is_prefix(outer)
    assert inner.is_suffix(outer)
    assert outer.is_prefix(outer)
    assert not outer.is_prefix(outer, strict=True)
    assert LEAF.is_prefix(tree_structure(None))
