"""Structures of pytrees as text."""

from __future__ import annotations

import json
import random
from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import numpy as np
import pytest

from bindax_core.errors import TreeError
from bindax_core.tree_util import (
    NodeDefinition,
    PyTreeDef,
    scoped_registration,
    tree_flatten,
    tree_structure,
)

pytestmark = pytest.mark.smoke

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


def test_deep_structures() -> None:
    tree: Any = 1
    for _ in range(20_000):
        tree = [tree]
    structure = tree_structure(tree)
    assert PyTreeDef.deserialize(structure.serialize()) == structure
