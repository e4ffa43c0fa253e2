"""Elementwise operations as functions in MLIR's dialect ``linalg``, where IREE's are not right.

IREE takes ``log1p(x)`` and ``expm1(x)`` of float64 for ``log(1 + x)`` and ``exp(x) - 1``. It leaves
open what numbers become that are beyond the range of the integer type they are converted to.
"""

from __future__ import annotations

from collections.abc import Sequence

from bindax_iree import _linalg
from bindax_iree._linalg import Tensor

_WIDER = {"f16": "f32", "bf16": "f32", "f32": "f32", "f64": "f64"}
"""Types of floats, each with the one that numbers are compared in."""


def log1p(x: Tensor) -> str | None:
    """``log(1 + x)``, precise near 0; None unless it is of float64.

    The error of ``u = 1 + x`` is made up for by the factor ``x / (u - 1)``: W. Kahan, in HP-15C
    Advanced Functions Handbook, appendix (1982).
    """
    if x.element != "f64":
        return None
    lines = [
        *_constants(x.element, one=1.0, zero=0.0),
        "%u = arith.addf %one, %a : f64",
        "%d = arith.subf %u, %one : f64",
        "%log = math.log %u : f64",
        "%ratio = arith.divf %a, %d : f64",
        "%far = arith.mulf %log, %ratio : f64",
        "%is_small = arith.cmpf oeq, %d, %zero : f64",
        *_unless_infinite("u", "far", "small"),
        "%y = arith.select %is_small, %a, %small : f64",
    ]
    return _elementwise(x, x, lines)


def expm1(x: Tensor) -> str | None:
    """``exp(x) - 1``, precise near 0, as for ``log1p``; None unless it is of float64."""
    if x.element != "f64":
        return None
    lines = [
        *_constants(x.element, one=1.0, minus=-1.0),
        "%u = math.exp %a : f64",
        "%d = arith.subf %u, %one : f64",
        "%log = math.log %u : f64",
        "%ratio = arith.divf %a, %log : f64",
        "%near = arith.mulf %d, %ratio : f64",
        "%is_small = arith.cmpf oeq, %u, %one : f64",
        "%is_least = arith.cmpf oeq, %d, %minus : f64",
        *_unless_infinite("u", "near", "finite"),
        "%large = arith.select %is_least, %minus, %finite : f64",
        "%y = arith.select %is_small, %a, %large : f64",
    ]
    return _elementwise(x, x, lines)


def _unless_infinite(number: str, value: str, name: str) -> list[str]:
    """The lines that name a value, or an infinite number in its place."""
    return [
        "%inf = arith.constant 0x7FF0000000000000 : f64",
        f"%is_infinite = arith.cmpf oeq, %{number}, %inf : f64",
        f"%{name} = arith.select %is_infinite, %inf, %{value} : f64",
    ]


def convert(x: Tensor, out: Tensor) -> str | None:
    """A conversion of floats to integers; None for other types.

    Numbers are rounded towards zero. Those beyond the range become its end, and nan becomes 0.
    """
    element = x.element.removeprefix("complex<").removesuffix(">")
    if element not in _WIDER or not out.element.startswith("i") or out.element == "i1":
        return None
    wide, bits = _WIDER[element], int(out.element.removeprefix("i"))
    least, end = (0, 2**bits) if out.is_unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1))
    most = -1 if out.is_unsigned else end - 1  # as bits
    name, comparison = ("fptoui", "ole") if out.is_unsigned else ("fptosi", "olt")
    lines, value = [], "%a"
    if x.element != element:
        lines, value = [f"%real = complex.re %a : {x.element}"], "%real"
    if wide != element:
        lines, value = [*lines, f"%wide = arith.extf {value} : {element} to {wide}"], "%wide"
    lines += [
        *_constants(wide, end=float(end), low=-1.0 if out.is_unsigned else float(least)),
        *_constants(out.element, most=most, least=least, nothing=0),
        f"%inside = arith.{name} {value} : {wide} to {out.element}",
        f"%is_high = arith.cmpf oge, {value}, %end : {wide}",
        f"%is_low = arith.cmpf {comparison}, {value}, %low : {wide}",
        f"%is_nan = arith.cmpf uno, {value}, {value} : {wide}",
        f"%below = arith.select %is_high, %most, %inside : {out.element}",
        f"%number = arith.select %is_low, %least, %below : {out.element}",
        f"%y = arith.select %is_nan, %nothing, %number : {out.element}",
    ]
    return _elementwise(x, out, lines)


def _constants(element: str, **values: float) -> list[str]:
    return [f"%{name} = arith.constant {x!r} : {element}" for name, x in values.items()]


def _elementwise(x: Tensor, out: Tensor, lines: Sequence[str]) -> str:
    """A function that computes ``%y`` of each element ``%a``."""
    whole = [f"d{axis}" for axis in range(len(x.sizes))]
    generic = _linalg.loop([whole, whole], whole, reduced=())
    return _linalg.function(
        [x],
        out,
        [
            *_linalg.open_sizes(out, [(0, axis) for axis in range(len(whole))], [x]),
            _linalg.empty(out),
            f"%out = {generic} ins(%0 : {x}) outs(%empty : {out}) {{",
            f"^bb0(%a: {x.element}, %b: {out.element}):",
            *lines,
            f"linalg.yield %y : {out.element}",
            f"}} -> {out}",
        ],
    )
