"""Numbers of Python beside float64 arrays keep all of their digits, whatever the default dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp

ZERO = np.zeros(1)
HOLDS = np.ones(1, bool)
CALLS: dict[str, Any] = {
    "full": lambda m: m.full((1,), 0.1, dtype="float64"),
    "full_like": lambda m: m.full_like(ZERO, 0.1),
    "full_like of float32": lambda m: m.full_like(np.zeros(1, "f4"), 0.1, dtype="float64"),
    "pad": lambda m: m.pad(ZERO, 1, constant_values=0.1),
    "where": lambda m: m.where(HOLDS, 0.1, ZERO),
    "select": lambda m: m.select([HOLDS], [0.1], ZERO),
    "choose": lambda m: m.choose(np.zeros(1, int), [0.1, ZERO]),
    "piecewise": lambda m: m.piecewise(ZERO, [HOLDS], [0.1, 0.0]),
    "insert": lambda m: m.insert(ZERO, 0, 0.1),
    "append": lambda m: m.append(ZERO, 0.1),
    "stack": lambda m: m.stack([0.1, np.zeros(())]),
    "stack of numbers": lambda m: m.stack([0.1, 0.2], dtype="float64"),
    "vstack of numbers": lambda m: m.vstack([0.1, 0.2], dtype="float64"),
    "hstack of numbers": lambda m: m.hstack([0.1, 0.2], dtype="float64"),
    "concatenate of numbers": lambda m: m.concatenate([0.1, 0.2], axis=None, dtype="float64"),
    "astype": lambda m: m.astype(np.array(0.1) if m is np else 0.1, "float64"),
    "put": lambda m: _in_place(m, "put", ZERO, 0, 0.1),
    "place": lambda m: _in_place(m, "place", ZERO, HOLDS, 0.1),
    "fill_diagonal": lambda m: _in_place(m, "fill_diagonal", np.zeros((1, 1)), 0.1),
    "dot": lambda m: m.dot(0.1, np.ones(1)),
    "einsum": lambda m: m.einsum(",i->i", 0.1, np.ones(1)),
    "polyval": lambda m: m.polyval(np.array([1.0, 0.0]), 0.1),
    "quantile": lambda m: m.quantile(np.array([0.0, 1.0]), 0.1),
    "interp": lambda m: m.interp(0.1, np.array([0.0, 1.0]), np.array([0.0, 1.0])),
}


def _in_place(m: Any, name: str, a: Any, *args: Any) -> Any:
    """The changed array: NumPy changes its operand."""
    if m is jnp:
        return getattr(m, name)(a, *args, inplace=False)
    changed = a.copy()
    getattr(m, name)(changed, *args)
    return changed


@pytest.mark.parametrize("name", CALLS)
def test_the_digits_are_those_of_numpy(name: str) -> None:
    got, wanted = CALLS[name](jnp), CALLS[name](np)

    assert got.dtype == "float64"
    np.testing.assert_allclose(got, wanted, rtol=1e-15)


@pytest.mark.parametrize("function", [jnp.asarray, jnp.array])
@pytest.mark.parametrize("is_wide", [False, "explicit"])
def test_arrays_of_differentiated_numbers_are_arrays(function: Any, is_wide: Any) -> None:
    with bindax.config.override(enable_x64=is_wide):
        found = (*bindax.jvp(function, (1.0,), (2.0,)), bindax.linearize(function, 1.0)[0])
        assert [float(x) for x in found] == [1.0, 2.0, 1.0]
        assert all(isinstance(x, bindax.Array) for x in found)
        assert bindax.jvp(lambda x: x, (1.0,), (2.0,)) == (1.0, 2.0)
