"""The numbers are JAX's: answers that it gave are stored beside this file."""

import os
from pathlib import Path

import name_tables
import numpy as np
import pytest
from _cases import CASES, KEYS, SHAPE_PARAMETERS
from jax_calls import GOOD_COMPILER

import bindax_random as random
from bindax_core import Array, config
from bindax_transforms import grad, jit

ALL = os.environ.get("BINDAX_DIFFERENTIAL") == "all"
ANSWERS = np.load(Path(__file__).parent / "references.npz")
COMPILED = ["uniform_bounds", "normal", "gumbel", "randint", "permutation", "gamma", "rbg_normal"]
# Numbers of events by rejection: one rounding more or less in the loop exchanges all numbers.
EXCHANGED = {"poisson"}
# One rounding of the last step, which depends on what a compiler fuses.
NEARLY = {"maxwell", "double_sided_maxwell"}


def draw(name: str) -> Array:
    case = CASES[name]
    key = random.key(case.seed, impl=case.impl)
    return getattr(random, case.function)(key, *case.args, **case.options)


def answer(name: str, dtype: np.dtype) -> np.ndarray:
    stored = ANSWERS[name]
    return stored.view(dtype) if dtype.name == "bfloat16" else stored


def check_close(found: np.ndarray, expected: np.ndarray, roundings: float) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    if found.dtype.kind not in "fc":
        np.testing.assert_array_equal(found, expected)
        return
    eps = np.finfo(found.dtype).eps
    np.testing.assert_allclose(found, expected, rtol=roundings * eps, atol=roundings * eps)


@pytest.mark.parametrize("name", sorted(CASES.keys() - EXCHANGED))
def test_without_a_compiler(name):
    with config.override(backend="numpy"):
        found = np.asarray(draw(name))
    check_close(found, answer(name, found.dtype), 12)


@pytest.mark.parametrize("name", CASES if ALL else COMPILED)
def test_compiled(name):
    pytest.importorskip("bindax_xla_backend")
    found = np.asarray(jit(lambda: draw(name), compiler_options=GOOD_COMPILER)())
    expected = answer(name, found.dtype)
    if name in NEARLY:
        check_close(found, expected, 1)
    else:
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


@pytest.mark.parametrize("name", KEYS)
def test_keys(name):
    function, args, impl = KEYS[name]
    made = getattr(random, function)(random.key(42, impl=impl), *args)
    np.testing.assert_array_equal(random.key_data(made), ANSWERS[name])
    assert random.key_impl(made) == impl
    old = getattr(random, function)(random.key_data(random.key(42)), *args)
    if impl == "threefry2x32":
        assert old.dtype == np.uint32
        np.testing.assert_array_equal(old, ANSWERS[name])


def test_every_public_name_is_there():
    reference = pytest.importorskip("jax").random
    missing = {name for name in dir(reference) if not name.startswith("_")} - {*dir(random)}
    assert missing <= name_tables.absent("random")


@pytest.mark.parametrize("name", ["gamma", "loggamma"])
def test_derivatives_of_gamma_numbers(name):
    def total(a):
        return getattr(random, name)(random.key(3), a).sum()

    with config.override(backend="numpy"):
        found = grad(total)(SHAPE_PARAMETERS)
    np.testing.assert_allclose(found, ANSWERS[f"grad_{name}"], rtol=5e-5)
