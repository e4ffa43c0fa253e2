"""Values, dtypes, weak types and derivatives of every function, beside JAX's.

JAX's results are stored in `references.npz`. Types are compared for more dtypes than values.
"""

import functools
import warnings

import numpy as np
import pytest
from _jax_calls import FAMILIES, GRADIENTS, OPERANDS, calls, evaluate, loss, make, values_compared
from _references import about, check_each, stored

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import tree_leaves, typeof

TOLERANCE = {2: 2e-2, 4: 3e-5, 8: 1e-10}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@functools.cache
def staged(name):
    """The results of one staged program, interpreted: compilers have tests of their own."""
    program = bt.jit(functools.partial(make, FAMILIES[name], jnp), backend="numpy")
    return dict(zip(FAMILIES[name], program(OPERANDS), strict=True))


def assert_same_type(got, wanted):
    avals = [typeof(x) for x in tree_leaves(got)]
    assert [[list(a.shape), a.dtype.name, a.weak_type] for a in avals] == wanted


def assert_close(got, wanted):
    for a, b in zip(tree_leaves(got), tree_leaves(wanted), strict=True):
        assert_array_close(np.asarray(a), np.asarray(b))


def assert_array_close(a, b):
    if a.dtype.kind in "biu":
        np.testing.assert_array_equal(a, b)
        return
    size = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    tolerance = TOLERANCE[size]
    np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", FAMILIES)
def test_evaluated_and_staged(name):
    types, valued = about()["types"][name], set(values_compared(name))

    def check(call):
        got = evaluate(call, jnp, OPERANDS)
        assert_same_type(got, types[call])
        assert_same_type(staged(name)[call], types[call])
        if call in valued:
            assert_close(got, stored(f"{name} {call}"))
        assert_close(staged(name)[call], got)

    check_each(FAMILIES[name], check)


# JAX makes float32 of the one, and 64 bits of narrower integers of the other, whatever the default.
OTHER_DEFAULTS = {"tri(3)", "rint(I)"}


def test_default_dtypes_of_64_bits():
    def check(call):
        with bx.config.override(default_dtype_bits=64):
            got = evaluate(call, jnp, OPERANDS)
        assert_same_type(got, about()["wide types"][call])

    check_each([c for c in FAMILIES["defaults"] if c not in OTHER_DEFAULTS], check)


def test_compiled():
    chosen = calls("array([A, B]) where(K, A, B) einsum('bij,kj->bik', Q, I) var(A, 1) roll(A, 1)")
    got = bt.jit(functools.partial(make, chosen, jnp))(OPERANDS)
    for call, result in zip(chosen, got, strict=True):
        assert_close(result, evaluate(call, jnp, OPERANDS))


# ----------------------------------------------------------------------------------- derivatives


def test_gradients():
    def check(call):
        got = bt.grad(loss(call, jnp), argnums=(0, 1))(OPERANDS["A"], OPERANDS["B"])
        assert_close(got, stored(f"gradient {call}"))

    check_each(GRADIENTS, check)


@pytest.mark.parametrize(
    ("name", "x", "y", "wanted"),
    [
        ("logaddexp", 1.0, 1.0, (0.5, 0.5)),
        ("logaddexp", -np.inf, 2.0, (0.0, 1.0)),
        ("hypot", 0.0, 2.0, (0.0, 1.0)),
    ],
)
def test_derivatives_where_operands_are_infinite_or_equal(name, x, y, wanted):
    x, y = np.float32(x), np.float32(y)
    got = bt.grad(getattr(jnp, name), argnums=(0, 1))(x, y)
    assert_close(got, [np.float32(w) for w in wanted])
