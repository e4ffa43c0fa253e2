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
from bindax_lax_basic.rules.lowering import Lowering, full


def from_above(function: NumPyFunction, at_zero: bool = False) -> NumPyFunction:
    """NumPy's function, whose values on the branch cut are limits from above for either zero."""

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
    if x.dtype.kind != "c":
        return out
    is_zero = np.isinf(x.imag) | (np.isinf(x.real) & np.isnan(x.imag))
    return np.where(is_zero, out.dtype.type(0), out)


def exponential(x: NumPyArray) -> Any:
    """``exp(x)``, NaN where the angle is infinite or NaN, however small the modulus is."""
    out = np.exp(x)
    if x.dtype.kind != "c":
        return out
    return np.where(np.isfinite(x.imag), out, out.dtype.type(complex(np.nan, np.nan)))


def arc_tangent(x: NumPyArray) -> Any:
    """``atan(x)``, a quarter turn where the imaginary part is infinite and the real one NaN."""
    out = np.arctan(x)
    if x.dtype.kind != "c":
        return out
    return np.where(np.isnan(x.real) & np.isinf(x.imag), out.dtype.type(-np.pi / 2), out)


def arc_tangent_hyperbolic(x: NumPyArray) -> Any:
    """``atanh(x)``, a quarter turn where the real part is infinite and the imaginary one NaN."""
    out = from_above(np.arctanh)(x)
    if x.dtype.kind != "c":
        return out
    turn = out.dtype.type(complex(0, -np.pi / 2))
    return np.where(np.isinf(x.real) & np.isnan(x.imag), turn, out)


def modulus(x: NumPyArray) -> Any:
    """``|x|``, NaN where a part is."""
    out = np.abs(x)
    return np.where(np.isnan(x), out.dtype.type(np.nan), out) if x.dtype.kind == "c" else out


def quotient(x: NumPyArray, y: NumPyArray) -> Any:
    """``x / y``; of complex numbers with the limits of annex G in place of NaN."""
    out = np.true_divide(x, y)
    if out.dtype.kind != "c":
        return out
    lost = np.isnan(out.real) & np.isnan(out.imag)
    return np.where(lost, _limit_of_quotient(x, y), out) if lost.any() else out


def _limit_of_quotient(x: NumPyArray, y: NumPyArray) -> Any:
    """Infinite where the divisor is zero or the dividend is infinite; zero where the divisor is."""
    infinite = np.isinf(x), np.isinf(y)
    by_zero = (y == 0) & ~(np.isnan(x.real) & np.isnan(x.imag))
    a, b, c, d = x.real, x.imag, y.real, y.imag
    real = np.full(np.broadcast(x, y).shape, np.nan, c.dtype)
    imag = real.copy()
    for where, factor, (left, above), (right, below) in (
        (by_zero, np.copysign(np.inf, c), (a, b), (np.ones_like(c), np.zeros_like(d))),
        (infinite[0] & np.isfinite(y), np.inf, (_unit(a), _unit(b)), (c, d)),
        (np.isfinite(x) & infinite[1], 0.0, (a, b), (_unit(c), _unit(d))),
    ):
        real = np.where(where, factor * (left * right + above * below), real)
        imag = np.where(where, factor * (above * right - left * below), imag)
    out = np.empty(real.shape, np.result_type(x, y))
    out.real, out.imag = real, imag
    return out


def _unit(part: NumPyArray) -> Any:
    """One for infinities and zero for all else, with the sign of each."""
    return np.copysign(np.isinf(part).astype(part.dtype), part)


def direction(x: NumPyArray) -> Any:
    """``x / |x|`` of complex numbers, by parts; zero at zero."""
    modulus = np.abs(x)
    out = np.empty_like(x)
    safe = np.where(modulus == 0, modulus.dtype.type(1), modulus)
    out.real, out.imag = x.real / safe, x.imag / safe
    return out


def circular(name: str, part: str) -> Lowering:
    """Lower to an operation, one part of which vanishes on the imaginary axis, infinities too."""

    def rule(ctx: LoweringContext, x: Any) -> Any:
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

    return rule
