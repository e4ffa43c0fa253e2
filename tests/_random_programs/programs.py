"""Programs: steps one after the other, and the scalar that says what they computed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import arrays, contractions, control_flow, elementwise, reductions
from .operands import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    Operands,
    Perturb,
    Step,
    cast,
    constant,
    named,
    real_dtype,
)

Function = Callable[..., Any]


def _steps(*families: dict[str, Step]) -> dict[str, Step]:
    flat = {name: step for family in families for name, step in family.items()}
    loops = control_flow.steps_around(flat)
    nested = control_flow.steps_around(loops)
    return {**flat, **loops, **{f"{name} of loops": step for name, step in nested.items()}}


_COMMON = (
    elementwise.STEPS,
    arrays.STEPS,
    reductions.STEPS,
    contractions.PRODUCTS,
    control_flow.STEPS,
)
# XLA refuses Fourier transforms of matrices in the order of LAPACK, in programs of JAX too, so that
# a program has the ones or the others.
STEPS = {
    "fourier": _steps(*_COMMON, contractions.FOURIER),
    "lapack": _steps(*_COMMON, contractions.LAPACK),
}


class Program(NamedTuple):
    """What to do with a matrix, a vector, and two integers.

    Attributes:
        steps: Names and seeds of choices.
        dtype: Of the matrix, which the derivatives are taken in, and of the real vector.
        shape: Of the matrix.
        library: ``"fourier"`` or ``"lapack"``, the steps there are.
    """

    steps: Sequence[tuple[str, int]]
    dtype: str
    shape: tuple[int, int]
    library: str

    def arguments(self, seed: int) -> tuple[Any, Any, Any]:
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(self.shape)
        if self.dtype in COMPLEX:
            x = x + 1j * rng.standard_normal(self.shape)
        y = rng.standard_normal(3).astype(real_dtype(self.dtype))
        return x.astype(named(self.dtype)), y, rng.integers(-3, 9, 2).astype(np.int32)

    @property
    def result_dtype(self) -> np.dtype[Any]:
        """Results have at least single precision, so that sums of narrow types do not round."""
        wide = self.dtype in ("float64", "complex128")
        return np.dtype(np.float64 if wide else np.float32)

    def function(
        self,
        api: Any,
        *,
        reverse: bool,
        perturb: Perturb = lambda place, x: x,
        values: list[Any] | None = None,
    ) -> Function:
        """The program as a function to a scalar.

        Args:
            api: ``bindax`` or ``jax``.
            reverse: Whether reverse mode will pass.
            perturb: Changes the results of steps, as rounding does.
            values: A list that takes every value, in order.
        """

        def run(x: Any, y: Any, k: Any) -> Any:
            ops = api.lax
            x, y, k = (ops.optimization_barrier(z) for z in (x, y, k))
            found = [k, k > 2, *Operands(api, [], 0, reverse, perturb).results([y, x])]
            for name, seed in self.steps:
                operands = Operands(api, found, seed, reverse, perturb)
                found += operands.results(STEPS[self.library][name](operands))
            if values is not None:
                values.extend(found)
            return self._measure(ops, found)

        return run

    def _measure(self, ops: Any, values: list[Any]) -> Any:
        """A sum in which each element of the last values counts by another amount."""
        total = np.zeros((), self.result_dtype)
        for names, count in ((FLOATS, 4), (COMPLEX, 2), ((*INTEGERS, "bool"), 2)):
            for value in [x for x in values if str(x.dtype) in names][-count:]:
                value = cast(ops, _real_part(ops, value), self.result_dtype)
                total = total + (value * constant(value.shape, value.dtype, 0.5, 1.0)).sum()
        return total


def _real_part(ops: Any, x: Any) -> Any:
    """A real number of moderate size that says what the number is."""
    if str(x.dtype) in COMPLEX:
        turned = x * constant(x.shape, x.dtype, 0.5, 1.0)
        return ops.real(turned) - ops.imag(turned) * 0.6
    if str(x.dtype) in INTEGERS:
        return cast(ops, ops.rem(x, np.asarray(101, x.dtype)), np.dtype(np.float32)) * 2.0**-5
    return x
