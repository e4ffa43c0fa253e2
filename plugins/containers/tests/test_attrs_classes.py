"""attrs classes as pytree nodes, by decorator and by inspection."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

import bindax_transforms
from bindax_containers import attrs_definition, register_attrs, static
from bindax_core import errors, tree
from bindax_core.extend import keystr
from bindax_core.tree_util import (
    is_registered,
    register_node,
    registered_by,
    scoped_registration,
)
from bindax_testing import check_pytree

pytestmark = pytest.mark.smoke


def to_array(value: Any) -> Any:
    return np.asarray(value, np.float64)


operations = pytest.mark.skipif(
    importlib.util.find_spec("bindax_lax_basic") is None,
    reason="the functions that are transformed here need operations of arrays",
)


@register_attrs
@attrs.define
class Layer:
    """Converts and validates, which no transformation may trigger."""

    weights: Any = attrs.field(converter=to_array, validator=attrs.validators.min_len(1))
    bias: Any = attrs.field(converter=to_array)
    name: str = static(default="layer")
    size: int = attrs.field(init=False, metadata={"static": True})

    def __attrs_post_init__(self) -> None:
        self.size = len(self.weights)


@register_attrs(static=["unit"])
@attrs.frozen(cache_hash=True)
class Quantity:
    value: Any
    unit: str


@attrs.define(slots=False)
class OfAnotherLibrary:
    x: Any
    _hidden: Any
    tag: str = "t"


@pytest.fixture
def scope() -> Iterator[None]:
    with scoped_registration():
        yield


def layer() -> Layer:
    return Layer([1.0, 2.0], 0.5, "first")


def apply(layer: Layer, x: Any) -> Any:
    return ((layer.weights * x).sum() + layer.bias) * layer.size


def test_round_trip_keeps_everything() -> None:
    leaves, structure = tree.flatten(layer())
    assert str(structure) == "PyTreeDef(CustomNode(Layer[('first', 2)], [*, *]))"
    made = tree.unflatten(structure, leaves)
    assert (made.name, made.size) == ("first", 2)
    assert made.weights is leaves[0]
    assert pickle.loads(pickle.dumps(structure)) == structure


def test_paths_name_the_fields() -> None:
    paths = [keystr(path) for path, _ in tree.leaves_with_path([layer()])]
    assert paths == ["[0].weights", "[0].bias"]


def test_conformance(scope: None) -> None:
    register_attrs(OfAnotherLibrary, static=["tag"])
    report = check_pytree([layer(), Quantity(np.ones(2), "m"), OfAnotherLibrary(1.0, (2.0, None))])
    assert report.ok, str(report)
    assert not report.of_status("skipped")


def test_frozen_class_with_cached_hash_can_be_hashed_after_a_round_trip() -> None:
    quantity = Quantity(2.0, "m")
    made = tree.map(lambda x: x, quantity)
    assert made == quantity
    assert hash(made) == hash(quantity)


@operations
def test_jit() -> None:
    calls = []

    @bindax_transforms.jit
    def f(layer: Layer, x: Any) -> Any:
        calls.append(layer.name)
        return apply(layer, x), tree.map(lambda w: w * 2.0, layer)

    value, doubled = f(layer(), np.float64(3.0))
    assert float(value) == 19.0
    assert isinstance(doubled, Layer)
    np.testing.assert_array_equal(np.asarray(doubled.weights), [2.0, 4.0])
    f(layer(), np.float64(4.0))
    assert calls == ["first"]
    f(attrs.evolve(layer(), name="second"), np.float64(3.0))
    assert calls == ["first", "second"]


@operations
def test_grad() -> None:
    gradient = bindax_transforms.grad(apply)(layer(), np.float64(3.0))
    assert isinstance(gradient, Layer)
    assert gradient.name == "first"
    np.testing.assert_array_equal(np.asarray(gradient.weights), [6.0, 6.0])
    assert float(gradient.bias) == 2.0


@operations
def test_vmap() -> None:
    layers = Layer([[1.0, 2.0], [3.0, 4.0]], [0.0, 1.0])
    result = bindax_transforms.vmap(apply, in_axes=(0, None))(layers, np.float64(3.0))
    np.testing.assert_array_equal(np.asarray(result), [18.0, 44.0])
    mapped = bindax_transforms.vmap(lambda layer: layer)(layers)
    assert isinstance(mapped, Layer)
    assert mapped.name == "layer"


@operations
def test_jacobian_of_a_function_from_tree_to_tree() -> None:
    jacobian = bindax_transforms.jacobian(lambda q: Quantity(q.value * 2.0, q.unit))(
        Quantity(np.arange(2.0), "m")
    )
    np.testing.assert_array_equal(np.asarray(jacobian.value.value), 2.0 * np.eye(2))


def test_inspection_of_a_class_of_another_library(scope: None) -> None:
    value = OfAnotherLibrary(1.0, [2.0], "tag")
    assert tree.leaves(value) == [value]
    assert register_attrs(OfAnotherLibrary, static=["tag"]) is OfAnotherLibrary
    assert tree.leaves(value) == [1.0, 2.0]
    assert [keystr(path) for path, _ in tree.leaves_with_path(value)] == [".x", "._hidden[0]"]


def test_definition_for_a_hook(scope: None) -> None:
    definition = attrs_definition(OfAnotherLibrary, static=["tag"])
    assert not is_registered(OfAnotherLibrary)
    register_node(definition)
    assert tree.leaves(OfAnotherLibrary(1.0, 2.0)) == [1.0, 2.0]


def test_registration_is_reported_where_it_was_made(scope: None) -> None:
    register_attrs(OfAnotherLibrary)
    provenance = registered_by(OfAnotherLibrary)
    assert provenance is not None
    assert provenance.file == __file__
    assert registered_by(Layer).file == __file__  # type: ignore[union-attr]
    assert provenance.distribution != "bindax-containers"


def test_field_that_is_not_set() -> None:
    bare = Layer.__new__(Layer)
    with pytest.raises(errors.TreeError, match=r"fields \['weights', .*\] of this .* are not set"):
        tree.leaves(bare)


def test_bad_arguments() -> None:
    class Plain:
        pass

    with pytest.raises(
        errors.TreeError, match=r"needs a class made with attrs, got <class .*Plain"
    ):
        register_attrs(Plain)
    with pytest.raises(errors.TreeError, match=r"static names \['nam'\], but the fields are"):
        register_attrs(OfAnotherLibrary, static=["nam"])
    with pytest.raises(errors.TreeError, match="must be a sequence of names of fields, got 'tag'"):
        register_attrs(OfAnotherLibrary, static="tag")
