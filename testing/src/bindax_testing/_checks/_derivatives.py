"""Derivatives: forward mode against differences, linearization and reverse mode against it.

Differences are of double precision, with Richardson extrapolation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import float0, is_differentiable, typeof
from bindax_testing._cases import Call, Case, replaced
from bindax_testing._checks._base import (
    check,
    differentiable,
    direction,
    has_forward_mode,
    has_reverse_mode,
    of_some,
    require_derivative,
    unless_absent,
    value,
    with_operands,
)
from bindax_testing._checks._keeping import require_forgotten
from bindax_testing._compare import (
    Mismatch,
    NotApplicable,
    real_size,
    require_same,
    require_type,
    tolerance,
    wide,
)
from bindax_transforms import jvp, linearize, make_jaxpr, vjp
from bindax_transforms.rules import jvp as jvp_rules
from bindax_transforms.rules import vjp as vjp_rules
from bindax_transforms.zeros import Zero

_MANY = 8
"""The number of operands from which not each of them is differentiated alone."""
_LARGE = 1024.0
"""Numbers beyond it get tangents in proportion."""
Values = list[np.ndarray[Any, Any]]


def widened(case: Call) -> Call:
    """The case in double precision; not applicable when its results are not of it even then."""
    rows = []
    for row in case.draws:
        full = list(row)
        for i in differentiable(row):
            full[i] = wide(row[i])
        rows.append(full)
    made = replaced(case, rows)
    try:
        made.out_avals()
        outs = made.call(*made.operands)
    except Exception as error:
        raise NotApplicable(f"it does not take double precision: {error!r:.80}") from error
    for out, narrow in zip(outs, case.call(*case.operands), strict=True):
        dtype = typeof(out).dtype
        if is_differentiable(typeof(narrow).dtype) and real_size(dtype) != 8:
            raise NotApplicable(f"it computes in {dtype.name} even for double precision")
    return made


def precise(case: Call) -> Call:
    """The case in double precision where it can, else in its own if that is enough."""
    try:
        return widened(case)
    except NotApplicable as reason:
        results = case.call(*case.operands)
        used = [case.operands[i] for i in case.positions]
        used += [results[i] for i in differentiable(results)]
        if any(real_size(typeof(x).dtype) < 4 for x in used):
            raise NotApplicable(f"half precision is too coarse, and {reason}") from reason
        return case


def step(values: Sequence[Any]) -> float:
    """The step of differences, for the precision of values."""
    least = min((real_size(typeof(x).dtype) for x in values), default=8)
    return 1e-3 if least == 8 else 3e-2


def differences(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    h: float,
) -> tuple[Values, Values]:
    """The derivatives of results along tangents, and where they can be trusted.

    They cannot where the extrapolation does not settle, at a kink, where those of the two sides
    differ, nor where numbers are too large to be moved by such a step.
    """
    limit = 1e-5 if h < 1e-2 else 1e-2
    is_resolved = True

    def along(s: float) -> Values:
        nonlocal is_resolved
        moved = []
        for x, t in zip(primals, tangents, strict=True):
            by = s * wide(t)
            moved.append(np.asarray(wide(x) + by).astype(typeof(x).dtype))
            off = np.abs(wide(moved[-1]) - wide(x) - by)
            is_resolved &= bool(np.all(off <= 0.1 * limit * np.max(np.abs(by), initial=0.0)))
        return [wide(out) for out in function(*moved)]

    here, *around = map(along, (0, h, -h, h / 2, -h / 2, h / 4, -h / 4))
    estimates, trusted = [], []
    for f, up, down, up2, down2, up4, down4 in zip(here, *around, strict=True):
        coarse, fine, finest = (up - down) / (2 * h), (up2 - down2) / h, (up4 - down4) / (h / 2)
        first, second = (4 * fine - coarse) / 3, (4 * finest - fine) / 3
        right, left = (4 * up4 - up2 - 3 * f) / (h / 2), (3 * f - 4 * down4 + down2) / (h / 2)
        size = np.maximum(np.abs(second), 1e-2)
        settled = np.abs(first - second) <= limit * size
        smooth = np.abs(right - left) <= 10 * limit * np.maximum(size, np.abs(right))
        estimates.append(second)
        trusted.append(np.isfinite(second) & settled & smooth & is_resolved)
    return estimates, trusted


def difference_tolerance(got: Any, h: float) -> float:
    """The relative error of a derivative that rounding explains."""
    own = {8: 1e-6, 4: 2e-4, 2: 1e-1, 1: 5e-1}[min(real_size(typeof(got).dtype), 8)]
    return own if h < 1e-2 else max(own, 1e-2)


# ----------------------------------------------------------------------------------------- checks


def subsets(positions: list[int]) -> list[list[int]]:
    """All operands at once, and each alone, because rules treat missing tangents apart."""
    if len(positions) < 2:
        return [positions]
    if len(positions) > _MANY:
        return [positions, positions[::2], positions[1::2]]
    return [positions, *([i] for i in positions)]


def tangents_of(case: Call, positions: Sequence[int]) -> list[Any]:
    """Random tangents for some operands, the same ones each time; large ones for large numbers."""
    rng = case.rng()
    drawn = {i: direction(rng, case.avals[i]) for i in case.positions}
    return [_in_proportion(drawn[i], case.operands[i]) for i in positions]


def _in_proportion(tangent: Any, x: Any) -> Any:
    """A tangent along which a step of differences changes numbers of any size."""
    size = np.abs(wide(x))
    if not np.any(size >= _LARGE):
        return tangent
    size = np.where(np.isfinite(size), np.maximum(size, _LARGE), _LARGE)
    return value(wide(tangent) * 2.0 ** np.floor(np.log2(size / _LARGE)), typeof(tangent))


@check("jvp", "jvp", rank=2, why_not=unless_absent(jvp_rules))
def _jvp(case: Call, compiler: str | None) -> None:
    positions = case.positions
    plain = case.call(*case.operands)
    if not positions:
        _without_tangents(case, plain)
        return
    compared = False
    for subset in subsets(positions):
        primals = [case.operands[i] for i in subset]
        tangents = tangents_of(case, subset)
        outs, out_tangents = jvp(with_operands(case, subset), primals, tangents)
        which = f"with tangents for operands {subset}"
        for i, (out, wanted, tangent) in enumerate(zip(outs, plain, out_tangents, strict=True)):
            require_same(f"the primal result {i} {which}", out, wanted)
            what, aval = f"the tangent of result {i} {which}", typeof(wanted).tangent_aval()
            require_type(what, typeof(tangent), aval, weak=False)
        compared |= _against_differences(case, subset, out_tangents, which)
    require_forgotten(case, jvp_rules, lambda: _staged_jvp(case, positions))
    if not compared:
        raise NotApplicable("types only: its values have no derivative to compare with here")


def _staged_jvp(case: Call, positions: list[int]) -> None:
    primals = [case.operands[i] for i in positions]
    tangents = tangents_of(case, positions)
    function = of_some(case.fresh(), case.operands, positions)
    make_jaxpr(lambda xs, ts: jvp(function, xs, ts))(primals, tangents)


def _without_tangents(case: Call, plain: Sequence[Any]) -> None:
    """Where no operand has a tangent, the rule passes the results on and gives none either."""
    declared = case.rule_of(jvp_rules)
    if not isinstance(case, Case) or declared is None or not declared.options.get("symbolic_zeros"):
        raise NotApplicable("no operand has a tangent")
    rule = jvp_rules.get(case.primitive)
    outs, tangents = rule(list(case.operands), [Zero.like(x) for x in case.operands], **case.params)
    for i, (out, wanted, tangent) in enumerate(zip(outs, plain, tangents, strict=True)):
        require_same(f"the primal result {i}", out, wanted)
        zero = type(tangent) is Zero or typeof(tangent).dtype == float0
        if not zero and np.any(np.asarray(tangent) != 0):
            raise Mismatch(f"the tangent of result {i} is not zero, though no operand has one.")


def _against_differences(
    case: Call, subset: list[int], out_tangents: Sequence[Any], which: str
) -> bool:
    if all(typeof(t).dtype == float0 for t in out_tangents):
        return True
    try:
        estimates, trusted, h = _by_differences(case, subset)
    except NotApplicable:
        return False
    compared = False
    for i, (got, wanted, sure) in enumerate(zip(out_tangents, estimates, trusted, strict=True)):
        if typeof(got).dtype == float0:
            continue
        compared |= bool(np.any(sure)) or not sure.size
        try:
            require_close(f"the tangent of result {i} {which}", got, wanted, sure, h)
        except Mismatch:
            if _is_differentiable(case, subset):
                raise
            return False
    return compared


def _is_differentiable(case: Call, subset: list[int]) -> bool:
    """Tell whether the differences along two directions add up to those along their sum.

    They do not where several smooth functions meet, as at equal eigenvalues or equal elements that
    are sorted, though along each direction there is a derivative.
    """
    given = [wide(t) for t in tangents_of(case, subset)]
    rng = np.random.default_rng(case.seed + 3)
    other = [wide(direction(rng, case.avals[i])) for i in subset]
    (a, sure, h), (b, _, _), (both, _, _) = (
        _by_differences(case, subset, along)
        for along in (given, other, [x + y for x, y in zip(given, other, strict=True)])
    )
    limit = 1e-4 if h < 1e-2 else 1e-1
    return all(
        np.all(np.abs(z - x - y)[s] <= limit * np.maximum(np.abs(x) + np.abs(y), 1e-2)[s])
        for x, y, z, s in zip(a, b, both, sure, strict=True)
    )


def is_smooth(case: Call) -> bool:
    """Tell whether a function has a derivative at the operands of a call, as differences say."""
    try:
        _, trusted, _ = _by_differences(case, case.positions)
    except NotApplicable:
        return True
    return all(map(np.all, trusted)) and _is_differentiable(case, case.positions)


def _by_differences(
    case: Call, subset: list[int], tangents: Sequence[Any] | None = None
) -> tuple[Values, Values, float]:
    """Tangents by differences, where they can be trusted, and the step."""
    exact = precise(case)
    function = with_operands(exact, subset)

    def call(*given: Any) -> list[Any]:
        return [out if differentiable([out]) else np.zeros(()) for out in function(*given)]

    primals = [exact.operands[i] for i in subset]
    h = step([*primals, *[x for x in exact.call(*exact.operands) if differentiable([x])]])
    if tangents is None:
        tangents = [wide(t) for t in tangents_of(case, subset)]
    return *differences(call, primals, tangents, h), h


def require_close(
    what: str, got: Any, wanted: Any, sure: Any, h: float, scale: float | None = None
) -> None:
    """Raise unless a derivative is what differences give, where these can be trusted."""
    exact = wide(got)
    rtol = difference_tolerance(got, h)
    if scale is None:
        scale = float(np.mean(np.abs(wanted[sure]))) if np.any(sure) else 0.0
    agree = np.isclose(exact, wanted, rtol=rtol, atol=rtol * max(scale, 1e-2)) | ~sure
    if not np.all(agree):
        index = tuple(int(i) for i in np.argwhere(~np.atleast_1d(agree))[0])[: exact.ndim]
        raise Mismatch(
            f"{what} should be {wanted[index]!r} at {index}, by differences of values, but is "
            f"{exact[index]!r}."
        )


@check("linearize", "jvp", why_not=unless_absent(jvp_rules))
def _linearize(case: Call, compiler: str | None) -> None:
    positions, _ = require_derivative(case)
    function = with_operands(case, positions)
    primals, tangents = [case.operands[i] for i in positions], tangents_of(case, positions)
    _, wanted = jvp(function, primals, tangents)
    outs, linear = linearize(function, *primals)
    every = zip(outs, function(*primals), wanted, linear(*tangents), strict=True)
    for i, (out, expected, tangent, got) in enumerate(every):
        require_same(f"result {i} under linearize", out, expected)
        aval, what = typeof(out).tangent_aval(), f"the tangent of result {i}"
        require_type(what, typeof(tangent), aval, weak=False)
        require_same(f"{what} by linearize", got, tangent, types=False)
        require_type(f"{what} by linearize", typeof(got), typeof(tangent), weak=False)


def inner_product(xs: Sequence[Any], ys: Sequence[Any]) -> tuple[float, float]:
    """The real part of the sum of products, and the sum of their sizes."""
    total, size = 0.0, 0.0
    for x, y in zip(xs, ys, strict=True):
        if float0 not in (typeof(x).dtype, typeof(y).dtype):
            product = wide(x) * wide(y)
            total += float(np.real(np.sum(product)))
            size += float(np.sum(np.abs(product)))
    return total, size


def require_adjoint(
    what: str,
    forward: tuple[float, float],
    backward: tuple[float, float],
    rtol: float,
    kind: str | None = None,
) -> None:
    """Raise unless both sides of the dot-product test agree."""
    difference = abs(forward[0] - backward[0])
    # A derivative that does not exist on both sides is none of this test's business.
    if np.isnan(forward[0]) and np.isnan(backward[0]):
        return
    if not difference <= rtol * max(forward[1], backward[1], 1e-6):
        raise Mismatch(
            f"{what}: the product of the cotangent with the tangent of the result is "
            f"{forward[0]:.10g}, but that of the operands' cotangents with their tangents is "
            f"{backward[0]:.10g}.",
            kind,
        )


@check("reverse", "jvp", why_not=unless_absent(jvp_rules))
def _reverse(case: Call, compiler: str | None) -> None:
    positions, _ = require_derivative(case)
    rng = np.random.default_rng(case.seed + 1)
    # One operand at a time first: a failure names the one whose cotangent is wrong.
    for subset in sorted(subsets(positions), key=len):
        function = with_operands(case, subset)
        primals, tangents = [case.operands[i] for i in subset], tangents_of(case, subset)
        outs, out_tangents = _forward(case, subset, function, primals, tangents)
        cotangents = [direction(rng, typeof(out).tangent_aval()) for out in outs]
        values, pullback = vjp(function, *primals)
        for i, (got, wanted) in enumerate(zip(values, outs, strict=True)):
            require_same(f"result {i} of the forward pass of reverse mode", got, wanted)
        back = pullback(cotangents)
        for i, ct in zip(subset, back, strict=True):
            aval = case.avals[i].tangent_aval()
            require_type(f"the cotangent of operand {i}", typeof(ct), aval, weak=False)
        used = [*primals, *[x for x in outs if differentiable([x])]]
        rtol = 4 * max(tolerance(typeof(x).dtype) for x in used)
        if not has_forward_mode(case):
            rtol = max(rtol, difference_tolerance(primals[0], step(used)))
        forward = inner_product(cotangents, out_tangents)
        what = f"reverse mode and forward mode disagree for operands {subset}"
        require_adjoint(what, forward, inner_product(back, tangents), rtol, _backward_kind(case))


def _backward_kind(case: Call) -> str | None:
    """The kind of the rule for reverse mode, where the primitive has one beside ``jvp``."""
    rule = case.rule_of(vjp_rules)
    return "vjp" if rule is not None and rule.is_given else None


def _forward(
    case: Call, subset: list[int], function: Any, primals: list[Any], tangents: list[Any]
) -> tuple[Sequence[Any], Sequence[Any]]:
    """Results and their tangents: by forward mode, or by differences where there is none."""
    if has_forward_mode(case):
        return jvp(function, primals, tangents)
    outs = function(*primals)
    found, trusted, _ = _by_differences(case, subset)
    if not all(np.all(sure) for sure in trusted):
        raise NotApplicable("it has no forward mode, and its values are not smooth here")
    return outs, [
        tangent if differentiable([out]) else np.zeros(typeof(out).shape, float0)
        for out, tangent in zip(outs, found, strict=True)
    ]


@check("second order", "jvp", why_not=unless_absent(jvp_rules))
def _second(case: Call, compiler: str | None) -> None:
    require_derivative(case)
    exact = widened(case)
    positions = exact.positions
    function = with_operands(exact, positions)
    primals, tangents = [exact.operands[i] for i in positions], tangents_of(exact, positions)
    keep = differentiable(exact.call(*exact.operands))

    def first(*xs: Any) -> list[Any]:
        found = jvp(function, xs, tangents)[1]
        return [found[i] for i in keep]

    rng = np.random.default_rng(case.seed + 2)
    along = [direction(rng, exact.avals[i]) for i in positions]
    got = jvp(first, primals, along)[1]
    h = 1e-3
    estimates, trusted = differences(first, primals, along, h)
    for i, (one, wanted, sure) in enumerate(zip(got, estimates, trusted, strict=True)):
        require_close(f"the second derivative of result {keep[i]}", one, wanted, sure, h)
    if not has_reverse_mode(case) or not all(np.all(np.isfinite(wide(x))) for x in got):
        return
    cotangents = [direction(rng, typeof(x).tangent_aval()) for x in got]
    over_forward = vjp(first, *primals)[1](cotangents)

    def reverse(*xs: Any) -> Any:
        outs, back = vjp(lambda *ys: [function(*ys)[i] for i in keep], *xs)
        return back([value(ct, typeof(out)) for ct, out in zip(cotangents, outs, strict=True)])

    over_reverse = jvp(reverse, primals, tangents)[1]
    for i, a, b in zip(positions, over_reverse, over_forward, strict=True):
        what = f"forward over reverse mode, against reverse over forward, for operand {i}"
        require_same(what, a, b, types=False, scale=100.0)
