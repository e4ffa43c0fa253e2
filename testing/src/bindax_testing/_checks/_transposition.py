"""Transposes: the dot-product test on every set of operands that a primitive is linear in."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bindax_core.extend import float0, typeof
from bindax_testing._cases import Case
from bindax_testing._checks._base import (
    check,
    differentiable,
    direction,
    unless_absent,
    value,
    with_operands,
)
from bindax_testing._checks._derivatives import inner_product, require_adjoint
from bindax_testing._checks._keeping import require_forgotten
from bindax_testing._compare import (
    Mismatch,
    NotApplicable,
    require_same,
    require_type,
    tolerance,
    wide,
)
from bindax_transforms import make_jaxpr
from bindax_transforms.rules import transpose
from bindax_transforms.zeros import UndefPrimal, Zero, instantiate_zeros


def _vector(rng: np.random.Generator, case: Case, subset: Sequence[int]) -> list[Any]:
    return [direction(rng, case.avals[i]) for i in subset]


def is_linear(case: Case, subset: Sequence[int]) -> bool:
    """Tell whether a few values show a primitive to be linear in some operands together."""
    function = with_operands(case, subset)
    rng = np.random.default_rng(case.seed + 3)
    for _ in range(2):
        x, y = _vector(rng, case, subset), _vector(rng, case, subset)
        combined = [
            value(2.0 * wide(a) - 3.0 * wide(b), case.avals[i])
            for i, a, b in zip(subset, x, y, strict=True)
        ]
        for at_x, at_y, both in zip(function(*x), function(*y), function(*combined), strict=True):
            if not differentiable([both]):
                return False
            wanted = 2.0 * wide(at_x) - 3.0 * wide(at_y)
            scale = np.abs(wide(at_x)) + np.abs(wide(at_y)) + 1e-3
            limit = 20 * max(tolerance(typeof(v).dtype) for v in (both, *x))
            if not np.all(np.abs(wide(both) - wanted) <= limit * scale):
                return False
    return True


def _subsets(case: Case) -> list[tuple[int, ...]]:
    positions = case.positions
    if len(positions) > 4:
        return [(i,) for i in positions] + [tuple(positions)]
    counts = range(1, len(positions) + 1)
    return [s for n in counts for s in itertools.combinations(positions, n)]


def apply(case: Case, subset: Sequence[int], cotangents: Sequence[Any]) -> list[Any]:
    """Apply the transpose rule for some linear operands, and check the form of its result."""
    operands = [
        UndefPrimal(aval) if i in subset else x
        for i, (x, aval) in enumerate(zip(case.operands, case.avals, strict=True))
    ]
    result = transpose.get(case.primitive)(cotangents, *operands, **case.params)
    if not isinstance(result, list | tuple) or len(result) != len(operands):
        raise Mismatch(
            f"should return one entry for each of the {len(operands)} operands, None where it is "
            f"not linear, but returned {result!r:.80}."
        )
    found = []
    for i, ct in enumerate(result):
        if i in subset:
            aval = case.avals[i].tangent_aval()
            ct = instantiate_zeros(Zero(aval) if ct is None else ct)
            require_type(f"the cotangent of operand {i}", typeof(ct), aval, weak=False)
            found.append(ct)
        elif ct is not None and type(ct) is not Zero:
            raise Mismatch(f"returned a cotangent for operand {i}, which is not being transposed.")
    return found


@check("transpose", "transpose", rank=2, why_not=unless_absent(transpose))
def _transpose(case: Case, compiler: str | None) -> None:
    rng = np.random.default_rng(case.seed + 4)
    linear = [s for s in _subsets(case) if is_linear(case, s)]
    if not linear:
        raise NotApplicable("it is not linear in any operand of this sample")
    for subset in linear:
        x = _vector(rng, case, subset)
        outs = with_operands(case, subset)(*x)
        if not (any(typeof(v).size for v in outs) and any(typeof(v).size for v in x)):
            _transpose_nothing(case, subset, outs)
            continue
        avals = [typeof(out).tangent_aval() for out in outs]
        cotangents = [direction(rng, aval) for aval in avals]
        try:
            back = apply(case, subset, cotangents)
        except TypeError:
            if _ignores_one(case, subset, x):
                continue
            raise
        rtol = 4 * max(tolerance(typeof(v).dtype) for v in (*x, *outs))
        what = f"is not the transpose for operands {list(subset)}"
        require_adjoint(what, inner_product(cotangents, outs), inner_product(back, x), rtol)
        scaled = [value(-2.0 * wide(ct), aval) for ct, aval in zip(cotangents, avals, strict=True)]
        for i, a, b in zip(subset, apply(case, subset, scaled), back, strict=True):
            what = f"the cotangent of operand {i} for -2 times a cotangent"
            require_same(what, a, value(-2.0 * wide(b), typeof(a)), scale=4.0)
        zeros: list[Any] = [Zero(aval) for aval in avals]
        for i, ct in zip(subset, apply(case, subset, zeros), strict=True):
            if typeof(ct).dtype != float0 and np.any(wide(ct) != 0):
                raise Mismatch(f"the cotangent of operand {i} for a zero cotangent is not zero.")
        staged = make_jaxpr(lambda *cts, subset=subset: apply(case, subset, cts))
        require_forgotten(case, transpose, partial(staged, *cotangents))


def _ignores_one(case: Case, subset: Sequence[int], x: Sequence[Any]) -> bool:
    """Tell whether no result depends on some operand, in which it is linear by accident alone."""
    function = with_operands(case, subset)
    outs = function(*x)
    for i in range(len(subset)):
        moved = [value(-2.0 * wide(v), typeof(v)) if i == j else v for j, v in enumerate(x)]
        others = function(*moved)
        if all(np.array_equal(wide(a), wide(b)) for a, b in zip(outs, others, strict=True)):
            return True
    return False


def _transpose_nothing(case: Case, subset: Sequence[int], outs: Sequence[Any]) -> None:
    """Without elements, values do not tell what a primitive is linear in; the rule may refuse."""
    zeros = [value(np.zeros(aval.shape), aval) for aval in (typeof(out) for out in outs)]
    try:
        apply(case, subset, zeros)
    except TypeError:
        return
