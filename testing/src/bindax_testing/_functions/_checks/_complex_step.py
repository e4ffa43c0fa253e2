"""The complex step: derivatives without differences, of functions that take complex numbers.

For an analytic function that is real on real numbers, the imaginary part of ``f(x + i h t)`` is
``h`` times the derivative along ``t``, up to the square of ``h``. As nothing is subtracted, ``h``
can be so small that rounding alone is left (Squire and Trapp, SIAM Review 40, 1998).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import typeof
from bindax_testing._checks._base import (
    direction,
    has_forward_mode,
    has_reverse_mode,
    with_operands,
)
from bindax_testing._checks._derivatives import inner_product, require_adjoint, tangents_of
from bindax_testing._compare import Mismatch, NotApplicable, wide
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._checks._base import check
from bindax_transforms import jvp, vjp

_STEP, _OTHER_STEP = 1e-30, 1e-10
_RTOL = 1e-9
"""Some thousand roundings; differences leave a thousand times as much."""

Values = list[np.ndarray[Any, Any]]


@check("complex step", rank=4)
def _complex_step(call: FunctionCall) -> None:
    positions = [i for i in call.positions if call.avals[i].dtype == np.float64]
    outs = call.call(*call.operands)
    keep = [i for i, out in enumerate(outs) if typeof(out).dtype == np.float64]
    if not positions or not keep:
        raise NotApplicable("no operand and result are real numbers of double precision")
    function = with_operands(call, positions)

    def kept(*xs: Any) -> list[Any]:
        given = function(*xs)
        return [given[i] for i in keep]

    primals, tangents = [call.operands[i] for i in positions], tangents_of(call, positions)
    wanted = _analytic_tangents(kept, primals, tangents)
    if has_forward_mode(call):
        for i, got, one in zip(keep, jvp(kept, primals, tangents)[1], wanted, strict=True):
            _require_close(f"the tangent of result {i}", wide(got), one)
    elif has_reverse_mode(call):
        values, pullback = vjp(kept, *primals)
        cotangents = [direction(call.rng(), typeof(x).tangent_aval()) for x in values]
        forward = inner_product(cotangents, wanted)
        back = inner_product(pullback(cotangents), tangents)
        require_adjoint("reverse mode and the complex step disagree", forward, back, _RTOL)
    else:
        raise NotApplicable("it has no derivative")


def _analytic_tangents(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> Values:
    """Tangents by the complex step; not applicable where the function is not analytic."""

    def at(z: complex) -> Values:
        moved = [np.asarray(wide(x) + z * wide(t)) for x, t in zip(primals, tangents, strict=True)]
        return [np.asarray(out) for out in function(*moved)]

    try:
        found, again = at(1j * _STEP), at(1j * _OTHER_STEP)
        is_analytic = all(map(_same, map(np.real, found), function(*primals)))
        is_analytic = is_analytic and _is_analytic(at, found)
    except Exception as error:
        raise NotApplicable(f"it takes no complex numbers: {error!s:.80}") from error
    if not is_analytic:
        raise NotApplicable("it is no analytic function of complex numbers")
    estimates = [out.imag / _STEP for out in found]
    others = [out.imag / _OTHER_STEP for out in again]
    if any(np.any(_differ(a, b, _RTOL / 10)) for a, b in zip(estimates, others, strict=True)):
        raise NotApplicable("small imaginary parts of its results are not precise")
    return estimates


def _is_analytic(at: Callable[[complex], Values], found: Values) -> bool:
    """Tell whether the equations of Cauchy and Riemann hold nearby, and all values are finite."""
    if not all(x.dtype.kind == "c" and np.all(np.isfinite(x)) for x in found):
        return False
    h, middle = 1e-4, 1e-3j
    real = [(a - b) / (2 * h) for a, b in zip(at(middle + h), at(middle - h), strict=True)]
    ahead, behind = at(middle + 1j * h), at(middle - 1j * h)
    imaginary = [(a - b) / (2j * h) for a, b in zip(ahead, behind, strict=True)]
    return all(map(_same, real, imaginary))


def _same(a: Any, b: Any) -> bool:
    return bool(np.allclose(np.asarray(a), np.asarray(b), rtol=1e-4, atol=1e-6))


def _differ(got: Any, wanted: Any, rtol: float) -> Any:
    """The places where values are further from each other than rounding explains."""
    scale = float(np.mean(np.abs(wanted))) if wanted.size else 0.0
    return ~np.isclose(got, wanted, rtol=rtol, atol=rtol * max(scale, 1e-3))


def _require_close(what: str, got: Any, wanted: Any) -> None:
    wrong = _differ(got, wanted, _RTOL)
    if np.any(wrong):
        at = tuple(int(k) for k in np.argwhere(np.atleast_1d(wrong))[0])[: wanted.ndim]
        raise Mismatch(
            f"{what} should be {wanted[at]!r} at {at}, by a complex step, but is {got[at]!r}."
        )
