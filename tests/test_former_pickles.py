"""Pickles that earlier versions wrote, by the names that modules had then."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx, sharding
from bindax.extend import Effect

FILES = Path(__file__).parent / "data/pickles"


def load(name: str) -> Any:
    return pickle.loads((FILES / f"{name}.pickle").read_bytes())


def values() -> dict[str, Any]:
    mesh = sharding.Mesh(np.array(bindax.devices()[:1]), ("x",))
    return {
        "aval": bindax.typeof(jnp.arange(3.0)),
        "effect": Effect("print", ordered=True),
        "dtype": bindax.random.key(0).dtype,
        "mesh": mesh,
        "named": sharding.NamedSharding(mesh, bindax.P("x")),
        "P": bindax.P("x"),
        "path": bindax.tree_util.tree_flatten_with_path({"a": [1]})[0][0][0],
        "primitive": bindax.find_primitive("sin"),
        "sds": bindax.ShapeDtypeStruct((2,), "float32"),
        "treedef": bindax.tree.structure({"a": [1, (2, None)]}),
    }


@pytest.mark.parametrize("name", sorted(values()))
def test_a_value_is_equal_to_a_new_one(name: str) -> None:
    assert load(name) == values()[name]


@pytest.mark.parametrize(
    ("name", "expected"), [("array", np.arange(3.0, dtype=np.float32)), ("bf16", np.ones(2))]
)
def test_an_array_has_its_elements(name: str, expected: Any) -> None:
    found = load(name)
    assert isinstance(found, bindax.Array)
    np.testing.assert_array_equal(found.astype(np.float32), expected)


def test_a_random_key_draws_what_it_drew() -> None:
    key = bindax.random.key(0)
    assert bindax.random.bits(load("key")) == bindax.random.bits(key)


def test_a_partial_is_called() -> None:
    assert load("partial")(3) == 3


def test_a_module_and_its_parts_are_those_of_a_new_one() -> None:
    x = jnp.ones((1, 2))
    expected = nnx.Linear(2, 3, rngs=nnx.Rngs(0))(x)
    np.testing.assert_array_equal(load("module")(x), expected)
    np.testing.assert_array_equal(nnx.merge(load("graphdef"), load("state"))(x), expected)


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("bindax_core.arrays._array_type", "AnyArray", bindax.Array),
        ("bindax_numpy.summation", "einsum", jnp.einsum),
        ("bindax_numpy.linalg.norms", "norm", jnp.linalg.norm),
    ],
)
def test_what_a_module_defines_is_found_after_the_module_was_renamed(
    module: str, name: str, expected: Any
) -> None:
    assert pickle.loads(f"c{module}\n{name}\n.".encode()) is expected
