"""The rules of a primitive that holds a program, written with what is public alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Zero,
    abstract_eval,
    as_array,
    eval_jaxpr,
    full_lower,
    impl,
    is_undef_primal,
    jvp,
    lowering,
    partial_eval,
    partial_eval_jaxpr,
    primitive,
    transpose,
    vmap,
)

pytestmark = pytest.mark.usefixtures("toy_operations")

calls: list[int] = []
"""How many equations each program had that was evaluated."""


def evaluate(*operands: Any, program: ClosedJaxpr) -> list[Any]:
    calls.append(len(program.eqns))
    return [as_array(x) for x in eval_jaxpr(program.jaxpr, program.consts, *operands)]


def differentiate(primals: Any, tangents: Any, *, program: ClosedJaxpr) -> tuple[Any, Any]:
    made, nonzeros = bt.jvp_jaxpr(program, [type(t) is not Zero for t in tangents])
    given = [t for t in tangents if type(t) is not Zero]
    outs = call_p.bind(*primals, *given, program=made)
    rest = iter(outs[len(nonzeros) :])
    pairs = zip(nonzeros, program.out_avals, strict=True)
    return outs[: len(nonzeros)], [next(rest) if flag else Zero(aval) for flag, aval in pairs]


def evaluate_partially(trace: Any, tracers: Any, *, program: ClosedJaxpr) -> list[Any]:
    in_unknowns = [not t.is_known for t in tracers]
    parts = bt.partial_eval_jaxpr(program, in_unknowns)
    known_args = [full_lower(t.value) for t in tracers if t.is_known]
    outs = call_p.bind(*known_args, program=parts.known)
    known_outs, residuals = parts.residual_values(known_args, outs)
    unknown_outs = [trace.unknown(aval) for aval in parts.unknown.out_avals]
    unknown = [t for t in tracers if not t.is_known]
    trace.add_eqn(call_p, [*residuals, *unknown], unknown_outs, {"program": parts.unknown})
    return parts.merge_results(known_outs, unknown_outs)


def split(in_unknowns: Sequence[bool], eqn: JaxprEqn) -> Any:
    parts = bt.partial_eval_jaxpr(eqn.params["program"], in_unknowns)
    known, unknown, residuals = parts.split_equation(
        eqn, in_unknowns, {"program": parts.known}, {"program": parts.unknown}
    )
    return known, unknown, parts.out_unknowns, residuals


def transposed(cotangents: Any, *operands: Any, program: ClosedJaxpr) -> list[Any]:
    linear = [is_undef_primal(x) for x in operands]
    made, nonzeros = bt.transpose_jaxpr(program, linear, [type(c) is not Zero for c in cotangents])
    known = [x for x in operands if not is_undef_primal(x)]
    given = [c for c in cotangents if type(c) is not Zero]
    outs = iter(call_p.bind(*known, *given, program=made))
    flags = iter(nonzeros)
    return [next(outs) if flag and next(flags) else None for flag in linear]


call_p = primitive(
    "test.call",
    impl(evaluate, on_values=True),
    abstract_eval(lambda *avals, program: program.out_avals),
    jvp(differentiate, symbolic_zeros=True),
    vmap.absent("not needed here"),
    transpose(transposed, symbolic_zeros=True),
    lowering["stablehlo"].absent("not needed here"),
    partial_eval(evaluate_partially),
    partial_eval_jaxpr(split),
    multiple_results=True,
)


def function(x: Any, y: Any) -> Any:
    return toy.mul(toy.sin(toy.sin(x)), toy.sin(y)), toy.sin(y)


def called(x: Any, y: Any) -> Any:
    return tuple(call_p.bind(x, y, program=bt.make_jaxpr(function)(x, y)))


@pytest.mark.parametrize("staged", [False, True])
def test_derivatives_are_those_of_the_program(staged: bool) -> None:
    f = bt.jit(called) if staged else called
    found, f_lin = bt.linearize(f, 0.3, 0.7)
    expected, expected_lin = bt.linearize(function, 0.3, 0.7)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    np.testing.assert_allclose(f_lin(1.0, 2.0), expected_lin(1.0, 2.0), rtol=1e-15)
    for argnums in (0, 1, (0, 1)):
        gradient = bt.grad(lambda x, y: f(x, y)[0], argnums)(0.3, 0.7)
        wanted = bt.grad(lambda x, y: function(x, y)[0], argnums)(0.3, 0.7)
        np.testing.assert_allclose(gradient, wanted, rtol=1e-15)


def test_what_is_known_is_computed_once() -> None:
    _, f_lin = bt.linearize(called, 0.3, 0.7)
    calls.clear()
    f_lin(1.0, 2.0)
    (linear,) = calls
    f_lin(1.0, 2.0)
    assert calls == [linear, linear]
    whole = len(bt.jvp_jaxpr(bt.make_jaxpr(function)(0.3, 0.7), [True, True])[0].eqns)
    assert linear < whole - 4  # the three sines and a product at least are not among them
