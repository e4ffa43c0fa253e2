"""Functions of Python numbers, of short axes and of special values."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, typeof
from bindax_testing._cases import replaced
from bindax_testing._checks._base import (
    differentiable,
    value,
)
from bindax_testing._compare import Mismatch, NotApplicable, host, require_same, wide
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._checks._base import check
from bindax_transforms import jit, make_jaxpr

_ZEROS_AND_ONES = (0.0, -0.0, 1.0, -1.0, 1.0)


@check("weak types", rank=2, as_given=True)
def _weak(call: FunctionCall) -> None:
    scalars = [i for i in differentiable(call.operands) if not call.avals[i].shape]
    scalars = [i for i in scalars if call.avals[i].dtype.kind == "f"]
    if not scalars:
        raise NotApplicable("no argument is a real scalar")
    row = list(call.operands)
    for i in scalars:
        row[i] = float(np.asarray(row[i]))
    outs, wanted = call.call(*row), call.call(*call.operands)
    staged = make_jaxpr(call.fresh())(*[typeof(x) for x in row]).out_avals
    for i, (out, aval) in enumerate(zip(outs, staged, strict=True)):
        if typeof(out) != aval:
            raise Mismatch(
                f"result {i} for Python numbers is {typeof(out)!r} eagerly, but {aval!r} staged."
            )
        require_same(f"result {i} for Python numbers", out, wanted[i], types=False, scale=10.0)


@check("empty and singleton axes", rank=3, as_given=True)
def _axes(call: FunctionCall) -> None:
    sizes = sorted({n for aval in call.avals for n in aval.shape if n > 1})
    if not sizes:
        raise NotApplicable("no argument has an axis of more than one element")
    taken = False
    for size in sizes:
        for shorter in (1, 0):
            cut = replaced(call, [[_cut(x, size, shorter) for x in call.operands]])
            try:
                wanted = cut.call(*cut.operands)
            except Exception:  # it may need elements, or sizes that fit to each other
                continue
            taken = True
            what = f"for axes of size {shorter} in place of {size}"
            for i, (got, one) in enumerate(
                zip(jit(cut.fresh())(*cut.operands), wanted, strict=True)
            ):
                require_same(f"result {i} under jit {what}", got, one)
    if not taken:
        raise NotApplicable("it takes no axes of other sizes")


def _cut(x: Any, size: int, shorter: int) -> Any:
    if not isinstance(x, np.ndarray | Array) or size not in x.shape:
        return x
    return x[tuple(slice(0, shorter if n == size else n) for n in x.shape)]


@check("special values", rank=3, as_given=True)
def _special_values(call: FunctionCall) -> None:
    """Compare ``jit`` with evaluation at zeros, ones and ties, where these give numbers."""
    positions = [i for i in differentiable(call.operands) if call.avals[i].size]
    if not positions:
        raise NotApplicable("no floating-point argument with elements")
    row = list(call.operands)
    for i in positions:
        aval = call.avals[i]
        row[i] = value(np.resize(_ZEROS_AND_ONES, aval.shape), aval)
    try:
        wanted = call.call(*row)
    except Exception as error:
        raise NotApplicable(f"it refuses special values: {error!s:.80}") from error
    for i, (got, one) in enumerate(zip(jit(call.fresh())(*row), wanted, strict=True)):
        if typeof(one).dtype.kind == "f":
            _require_where_finite(f"result {i} for special values under jit", got, one)


def _require_where_finite(what: str, got: Any, wanted: Any) -> None:
    a, b = wide(host(got)), wide(host(wanted))
    finite = np.isfinite(b)
    allowed = 1e-3 * np.maximum(np.abs(b), 1e-2)
    wrong = finite & ~(np.abs(a - np.where(finite, b, 0.0)) <= allowed)
    if np.any(wrong):
        at = tuple(int(k) for k in np.argwhere(np.atleast_1d(wrong))[0])[: b.ndim]
        raise Mismatch(f"{what} should be {b[at]!r} at {at}, but is {a[at]!r}.")
