"""Derivatives of functions: linear, of second order, of integers, and through checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.errors import MissingRuleError
from bindax_core.extend import (
    describe_function,
    float0,
    is_differentiable,
    is_value,
    typeof,
)
from bindax_testing._checks._base import (
    differentiable,
    direction,
    has_forward_mode,
    has_reverse_mode,
    require_derivative,
    value,
    with_operands,
)
from bindax_testing._checks._compositions import same_values
from bindax_testing._checks._derivatives import (
    differences,
    inner_product,
    require_close,
    tangents_of,
)
from bindax_testing._compare import Mismatch, NotApplicable, real_size, require_same, wide
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._checks._base import check
from bindax_testing._functions._parts import parts_of
from bindax_transforms import checkpoint, jvp, vjp


@check("integer cotangents", rank=2, as_given=True)
def _integer_cotangents(call: FunctionCall) -> None:
    """Backward rules give integers no cotangents; what they give would be dropped in silence."""
    applied = [one for one in parts_of(call) if one.eqn.primitive.name == "custom_vjp_call"]
    applied = [one for one in applied if len(one.case.positions) < len(one.case.operands)]
    if not applied:
        raise NotApplicable("no custom_vjp function takes integers")
    for part in applied:
        custom = part.eqn.params["call"]
        primals = part.case.operands[custom.num_consts :]
        outs = part.case.call(*part.case.operands)
        cotangents = [direction(call.rng(), typeof(x).tangent_aval()) for x in outs]
        returned = custom.cotangents_as_returned(primals, cotangents)
        for i, (x, ct) in enumerate(zip(primals, returned, strict=False)):
            if is_differentiable(typeof(x).dtype) or ct is None or not is_value(ct):
                continue
            if typeof(ct).dtype != float0 and np.any(wide(ct) != 0):
                functions = part.user_functions
                rule = f"the bwd rule {describe_function(functions['bwd rule'])} of the custom_vjp "
                rule += f"function {describe_function(functions['function'])}"
                raise Mismatch(
                    f"gives argument {i}, which is {typeof(x).str_short()}, a cotangent that is "
                    f"not zero. Integers have none: return None for it.",
                    "bwd",
                    rule,
                )


@check("linear", rank=2)
def _linear(call: FunctionCall) -> None:
    if not call.linear:
        raise NotApplicable("it was not said to be linear")
    rng = np.random.default_rng(call.seed + 3)
    function = with_operands(call, call.linear)
    x, y = ([direction(rng, call.avals[i]) for i in call.linear] for _ in range(2))
    both = [value(2.0 * wide(a) - 3.0 * wide(b), typeof(a)) for a, b in zip(x, y, strict=True)]
    for i, (a, b, got) in enumerate(zip(function(*x), function(*y), function(*both), strict=True)):
        if differentiable([got]):
            wanted = value(2.0 * wide(a) - 3.0 * wide(b), typeof(got))
            require_same(f"is not linear: result {i} of 2 x - 3 y", got, wanted, scale=20.0)


@check("linear derivatives", rank=3)
def _linear_derivatives(call: FunctionCall) -> None:
    """Tangents are linear in tangents, and cotangents in cotangents."""
    positions, keep = require_derivative(call)
    function = with_operands(call, positions)
    primals = [call.operands[i] for i in positions]
    rng = np.random.default_rng(call.seed + 5)
    if has_forward_mode(call):
        avals = [call.avals[i].tangent_aval() for i in positions]
        _require_linear("tangent", rng, avals, lambda ts: jvp(function, primals, ts)[1])
    if has_reverse_mode(call):
        outs, back = vjp(lambda *xs: [function(*xs)[i] for i in keep], *primals)
        avals = [typeof(out).tangent_aval() for out in outs]
        _require_linear("cotangent", rng, avals, lambda cts: back(list(cts)))


def _require_linear(what: str, rng: Any, avals: Sequence[Any], derivative: Any) -> None:
    x, y = ([direction(rng, aval) for aval in avals] for _ in range(2))
    both = [value(2.0 * wide(a) - 3.0 * wide(b), t) for a, b, t in zip(x, y, avals, strict=True)]
    results = zip(derivative(x), derivative(y), derivative(both), strict=True)
    for i, (a, b, got) in enumerate(results):
        if typeof(got).dtype == float0 or not np.all(np.isfinite(wide(a))):
            continue
        wanted = value(2.0 * wide(a) - 3.0 * wide(b), typeof(got))
        text = f"{what} {i} is not linear in the {what}s it is made from: of 2 a - 3 b it"
        require_same(text, got, wanted, types=False, scale=20.0)


@check("second order in reverse mode", rank=3)
def _second_reverse(call: FunctionCall) -> None:
    positions, keep = require_derivative(call)
    if not has_reverse_mode(call):
        raise NotApplicable("it has no derivative in reverse mode")
    function = with_operands(call, positions)
    primals = [call.operands[i] for i in positions]
    if any(typeof(x).dtype.itemsize < 8 for x in primals):
        raise NotApplicable("it does not take double precision")
    tangents = tangents_of(call, positions)

    def along(*xs: Any) -> list[Any]:
        outs, back = vjp(lambda *ys: [function(*ys)[i] for i in keep], *xs)
        cts = [value(np.full(typeof(x).shape, 0.7), typeof(x).tangent_aval()) for x in outs]
        return list(back(cts))

    estimates, trusted = differences(along, primals, tangents, 1e-3)
    try:
        outs, back = vjp(along, *primals)
        cotangents = [direction(call.rng(), typeof(x).tangent_aval()) for x in outs]
        found = back(cotangents)
    except MissingRuleError as error:
        raise NotApplicable(f"its rules have no derivative: {error!s:.80}") from error
    if not all(np.all(sure) for sure in trusted):
        raise NotApplicable("its gradient is not smooth here")
    got = sum(np.sum(wide(a) * wide(b)) for a, b in zip(found, tangents, strict=True))
    by_values = sum(np.sum(wide(a) * b) for a, b in zip(cotangents, estimates, strict=True))
    scale = sum(np.sum(np.abs(wide(a) * b)) for a, b in zip(cotangents, estimates, strict=True))
    require_close(
        "the second derivative in reverse mode", got, by_values, np.array(True), 1e-3, float(scale)
    )


@check("symmetry", rank=4)
def _symmetry(call: FunctionCall) -> None:
    """Second derivatives are the same in both orders of two directions, in any precision."""
    positions, keep = require_derivative(call)
    function = with_operands(call, positions)
    primals = [call.operands[i] for i in positions]
    rng = np.random.default_rng(call.seed + 7)
    first, second = ([direction(rng, call.avals[i]) for i in positions] for _ in range(2))
    used = [*primals, *(call.call(*call.operands)[i] for i in keep)]
    if any(real_size(typeof(x).dtype) < 4 for x in used):
        raise NotApplicable("half precision is too coarse")
    along = _forward_twice if has_forward_mode(call) else _reverse_twice
    if along is _reverse_twice and not has_reverse_mode(call):
        raise NotApplicable("it has no derivative")
    try:
        a = along(function, keep, primals, first, second)
        b = along(function, keep, primals, second, first)
    except MissingRuleError as error:
        raise NotApplicable(f"its rules have no derivative: {error!s:.80}") from error
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        if np.all(np.isfinite(wide(x))) and np.all(np.isfinite(wide(y))):
            text = f"the second derivative of result {keep[i]} along two directions, in one order"
            require_same(f"{text} and the other,", x, y, types=False, scale=100.0)


def _forward_twice(
    function: Any, keep: Sequence[int], primals: Sequence[Any], first: Any, second: Any
) -> list[Any]:
    def tangents(*xs: Any) -> list[Any]:
        found = jvp(function, xs, first)[1]
        return [found[i] for i in keep]

    return list(jvp(tangents, primals, second)[1])


def _reverse_twice(
    function: Any, keep: Sequence[int], primals: Sequence[Any], first: Any, second: Any
) -> list[Any]:
    """For each result, the cotangents of its gradient along one direction, along the other."""
    found = []
    for i in keep:

        def gradient(*xs: Any, i: int = i) -> list[Any]:
            outs, back = vjp(lambda *ys: [function(*ys)[i]], *xs)
            ct = value(np.ones(typeof(outs[0]).shape), typeof(outs[0]).tangent_aval())
            return list(back([ct]))

        cotangents = vjp(gradient, *primals)[1]([value(t, typeof(t)) for t in first])
        found.append(np.asarray(inner_product(cotangents, second)[0]))
    return found


@check("checkpoint", rank=4)
def _checkpoint(call: FunctionCall) -> None:
    inside = checkpoint(call.fresh())
    same_values("checkpoint", inside(*call.operands), call.call(*call.operands))
    if not call.positions or not has_reverse_mode(call):
        return
    _, keep = require_derivative(call)
    primals = [call.operands[i] for i in call.positions]
    found = []
    for function in (inside, call.call):
        outs, back = vjp(_some(function, call, keep), *primals)
        cts = [value(np.full(typeof(x).shape, 0.7), typeof(x).tangent_aval()) for x in outs]
        found.append(back(cts))
    same_values("the gradient through checkpoint", *found)


def _some(function: Any, call: FunctionCall, keep: Sequence[int]) -> Callable[..., list[Any]]:
    """A function of the differentiable operands alone, with some of its results."""
    positions = call.positions

    def part(*given: Any) -> list[Any]:
        full = list(call.operands)
        for i, x in zip(positions, given, strict=True):
            full[i] = x
        outs = function(*full)
        return [outs[i] for i in keep]

    return part
