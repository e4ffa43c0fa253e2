"""Families of calls that are made with bindax and with JAX, in the same words, and compared.

JAX's results are stored in `references.npz`, which `make_references.py` writes. The calls are made
with operands of 32 bits, and again with operands and defaults of 64.
"""

import functools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from jax_calls import WIDER, split_calls

import bindax_core as bx
import bindax_numpy as jnp
import bindax_transforms as bt
from bindax_core.extend import tree_leaves, typeof

# Relative to the largest element, as errors of decompositions are.
TOLERANCE = {2: 1e-2, 4: 1e-4, 8: 1e-10}


def operand(shape: Any, dtype: str, seed: int, scale: float = 1.0) -> Any:
    """Random numbers of a dtype; integers from -4 to 4."""
    drawn = np.random.default_rng(seed).normal(size=shape) * scale
    kind = np.dtype(dtype).kind
    if kind == "b":
        return drawn > 0
    if kind == "c":
        drawn = drawn + 1j * np.random.default_rng(seed + 100).normal(size=shape) * scale
    if kind in "iu":
        drawn = np.clip(np.round(drawn * 2), 0 if kind == "u" else -4, 4)
    return drawn.astype(dtype)


class Family:
    """Calls, and the operands that they name.

    Args:
        calls: the calls, with the names of the namespace and of the operands.
        operands: arrays by name; those of 32 bits are made wider for the calls in 64 bits.
        gradients: which calls are differentiated with respect to A; None means none.
        unmapped: calls that are not mapped over A, as they need values.
    """

    def __init__(
        self, calls: str, operands: dict[str, Any], gradients: str = "", unmapped: str = ""
    ) -> None:
        self.calls = split_calls(calls)
        self.gradients = split_calls(gradients)
        skipped = split_calls(unmapped)
        assert set(skipped) <= {*self.calls, *self.gradients}
        everything = dict.fromkeys([*self.calls, *self.gradients])
        self.mapped = [c for c in everything if re.search(r"\bA\b", c) and c not in skipped]
        self._operands = operands
        self.staged = functools.cache(self._staged)

    def operands(self, bits: int = 32) -> dict[str, Any]:
        """The operands, wider ones for 64 bits."""
        if bits == 32:
            return self._operands
        return {k: v.astype(WIDER.get(v.dtype.name, v.dtype)) for k, v in self._operands.items()}

    def _staged(self, backend: str | None) -> dict[str, Any]:
        """The results of one staged program."""
        program = functools.partial(make, self.calls, jnp)
        staged = bt.jit(program, backend=backend) if backend else bt.jit(program)
        return dict(zip(self.calls, staged(self.operands()), strict=True))

    def gradient(self, call: str) -> Any:
        """The derivative of a call with respect to A, in 64 bits."""
        operands = self.operands(64)
        with bx.config.override(default_dtype_bits=64):
            return bt.grad(loss(call, jnp, operands))(operands["A"])


def evaluate(call: str, module: Any, operands: dict[str, Any]) -> Any:
    """The result of a call with the names of a namespace."""
    return eval(call, {**vars(module), "np": np, **operands})


def make(chosen: list[str], module: Any, operands: dict[str, Any]) -> list[Any]:
    """The results of several calls."""
    return [evaluate(call, module, operands) for call in chosen]


def evaluated(call: str, operands: dict[str, Any], bits: int = 32) -> Any:
    """The result of a call with bindax, evaluated."""
    with bx.config.override(default_dtype_bits=bits):
        return evaluate(call, jnp, operands)


def loss(call: str, module: Any, operands: dict[str, Any]) -> Any:
    """A number that depends on every element of the results of a call, as a function of A."""

    def function(A: Any) -> Any:
        out = evaluate(call, module, {**operands, "A": A})
        leaves = out if isinstance(out, (list, tuple)) else [out]
        total = 0.0
        for x in leaves:
            if np.dtype(x.dtype).kind in "fc":
                weights = np.cos(np.arange(math.prod(x.shape))).reshape(x.shape)
                total = total + module.sum(weights * (module.real(x) + 0.5 * module.imag(x)))
        return total

    return function


def check_same(got: Any, wanted: Any, *, values: bool = True) -> None:
    """Compare the shapes, dtypes and values of results."""
    mine, theirs = list(flat(got)), list(flat(wanted))
    assert len(mine) == len(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert (tuple(np.shape(a)), np.dtype(typeof(a).dtype)) == (
            tuple(b.shape),
            np.dtype(b.dtype),
        )
        if values:
            check_close(a, b)


def check_close(got: Any, wanted: Any) -> None:
    """Compare values: integers exactly, others relative to the largest of them."""
    a, b = np.asarray(got), np.asarray(wanted)
    if a.dtype.kind in "biu":
        np.testing.assert_array_equal(a, b)
        return
    size = a.dtype.itemsize // (2 if a.dtype.kind == "c" else 1)
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    finite = abs(b[np.isfinite(b)])
    tolerance = TOLERANCE[size]
    np.testing.assert_allclose(
        a, b, rtol=tolerance, atol=tolerance * max(finite.max(initial=0.0), 1e-3)
    )


def flat(results: Any) -> Iterator[Any]:
    """All arrays in nested results."""
    if isinstance(results, (list, tuple)):
        for x in results:
            yield from flat(x)
    else:
        yield results


def check_mapped(family: Family, call: str) -> None:
    """Mapping a call over A gives what a loop does."""
    operands = family.operands()
    stacked = np.stack([operands["A"], operands["A"][::-1]])
    got = bt.vmap(lambda A: evaluate(call, jnp, {**operands, "A": A}))(stacked)
    each = [tree_leaves(evaluate(call, jnp, {**operands, "A": A})) for A in stacked]
    for i, x in enumerate(tree_leaves(got)):
        check_close(x, np.stack([np.asarray(row[i]) for row in each]))
