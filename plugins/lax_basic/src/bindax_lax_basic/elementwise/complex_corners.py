"""NumPy's functions of complex numbers as compilers compute them at infinities, NaN and zeros.

C99's annex G says what they give there. XLA does not follow it everywhere, and eager results are
those of compiled programs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import LoweringContext
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.conversion import compare
from bindax_lax_basic.rules.evaluation import NumPyArray, NumPyFunction
from bindax_lax_basic.rules.lowering import full


def from_above(function: NumPyFunction, at_zero: bool = False) -> NumPyFunction:
    """A function that takes what is left of its branch cut for a limit from above.

    Args:
        function: NumPy's, for which the sign of a zero tells the sides apart.
        at_zero: whether zero, too, lies on the cut; minus infinity does in any case.
    """

    def run(x: NumPyArray) -> Any:
        if x.dtype.kind != "c":
            return function(x)
        on_cut = (x.imag == 0) & ((x.real == -np.inf) | (at_zero & (x.real == 0)))
        if on_cut.any():
            x = x.copy()
            x.imag[...] = np.where(on_cut, 0, x.imag)
        return function(x)

    return run


def square_root(x: NumPyArray) -> Any:
    """``sqrt(x)``, where NaN beside an infinity stays NaN."""
    out = from_above(np.sqrt)(x)
    if x.dtype.kind == "c":
        out = np.where(np.isnan(x.real), out.dtype.type(complex(np.nan, np.nan)), out)
    return out


def reciprocal_square_root(x: NumPyArray) -> Any:
    """``1 / sqrt(x)``, zero where the modulus is infinite."""
    out = x.dtype.type(1) / np.sqrt(x)
    return np.where(np.isinf(x.imag), out.dtype.type(0), out) if x.dtype.kind == "c" else out


def direction(x: NumPyArray) -> Any:
    """``x / |x|`` of complex numbers, by parts; zero at zero."""
    modulus = np.abs(x)
    out = np.empty_like(x)
    safe = np.where(modulus == 0, modulus.dtype.type(1), modulus)
    out.real, out.imag = x.real / safe, x.imag / safe
    return out


def lowered(ctx: LoweringContext, x: Any, name: str, part: str) -> Any:
    """A circular function of which one part vanishes on the imaginary axis, at infinities, too.

    Args:
        ctx: the context of the lowering.
        x: the operand.
        name: the operation.
        part: the part that vanishes, ``"real"`` or ``"imag"``.
    """
    (aval,) = ctx.avals_in
    (out,) = ctx.op(name, [x], result_avals=[aval])
    if not dtypes.is_complex(aval.dtype):
        return out
    real = aval.update(dtype=dtypes.real_dtype(aval.dtype))
    (a,) = ctx.op("stablehlo.real", [x], result_avals=[real])
    zero = full(ctx, real, 0)
    on_axis = compare(ctx, "EQ", a, zero, real)
    parts = []
    for each in ("real", "imag"):
        (value,) = ctx.op(f"stablehlo.{each}", [out], result_avals=[real])
        if each == part:
            (value,) = ctx.op("stablehlo.select", [on_axis, zero, value], result_avals=[real])
        parts.append(value)
    return ctx.op("stablehlo.complex", parts, result_avals=[aval])[0]
