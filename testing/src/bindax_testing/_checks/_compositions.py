"""Transformations of transformations, two deep, against loops and plain calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core import config
from bindax_core.extend import float0, tree_leaves, typeof
from bindax_testing._cases import Call
from bindax_testing._checks._base import (
    check,
    differentiable,
    has_forward_mode,
    has_reverse_mode,
    of_some,
    require_derivative,
    unless_absent,
    value,
)
from bindax_testing._checks._batching import batched
from bindax_testing._checks._derivatives import tangents_of
from bindax_testing._compare import NotApplicable, host, require_same
from bindax_transforms import jit, jvp, linearize, vjp, vmap
from bindax_transforms.rules import jvp as jvp_rules

Function = Callable[..., Any]


def _real(tangents: Sequence[Any]) -> list[Any]:
    return [t for t in tangents if typeof(t).dtype != float0]


def _cotangents(outs: Sequence[Any]) -> list[Any]:
    avals = [typeof(out).tangent_aval() for out in outs]
    return [
        np.zeros(aval.shape, float0)
        if aval.dtype == float0
        else value(np.full(aval.shape, 0.7), aval)
        for aval in avals
    ]


def _parts(case: Call, call: Function) -> dict[str, Function]:
    """The derivatives of the primitive, called in some way, as functions of all operands."""
    positions, _ = require_derivative(case)
    tangents = tangents_of(case, positions)
    cotangents = _cotangents(call(*case.operands))

    def of_all(derivative: Function) -> Function:
        def function(*operands: Any) -> Any:
            primals = [operands[i] for i in positions]
            return derivative(of_some(call, operands, positions), *primals)

        return function

    parts: dict[str, Function] = {}
    if has_forward_mode(case):
        parts["jvp"] = of_all(lambda f, *xs: _real(jvp(f, xs, tangents)[1]))
        parts["linearize"] = of_all(lambda f, *xs: _real(linearize(f, *xs)[1](*tangents)))
    if has_reverse_mode(case):
        parts["vjp"] = of_all(lambda f, *xs: list(vjp(f, *xs)[1](cotangents)))
    return parts


def same_values(what: str, got: Any, wanted: Any) -> None:
    """Raise unless the leaves of two results agree."""
    for a, b in zip(tree_leaves(got), tree_leaves(wanted), strict=True):
        require_same(what, a, b, types=False, scale=4.0)


@check("jit with derivatives", "jvp", rank=4, why_not=unless_absent(jvp_rules))
def _jit(case: Call, compiler: str | None) -> None:
    with config.override(backend="numpy"):
        inside = _parts(case, jit(case.fresh()))
        for name, function in _parts(case, case.call).items():
            wanted = function(*case.operands)
            same_values(f"jit of {name}", jit(function)(*case.operands), wanted)
            same_values(f"{name} of jit", inside[name](*case.operands), wanted)


@check("vmap of others", "vmap", rank=4)
def _vmap(case: Call, compiler: str | None) -> None:
    if not case.operands:
        raise NotApplicable("it has no operand to map")
    rows, batch = batched(case)
    with config.override(backend="numpy"):
        outs = jit(vmap(case.call))(*batch)
        same_values("jit of vmap", outs, vmap(case.call)(*batch))
        same_values("vmap of jit", vmap(jit(case.fresh()))(*batch), outs)
    if not case.positions or not differentiable(case.call(*case.operands)):
        return
    for name, function in _parts(case, case.call).items():
        wanted = [function(*row) for row in rows]
        _same_rows(f"vmap of {name}", vmap(function)(*batch), wanted)


@check("derivatives of vmap", "vmap", rank=4, why_not=unless_absent(jvp_rules))
def _of_vmap(case: Call, compiler: str | None) -> None:
    """Derivatives of the batched primitive are batches of its derivatives."""
    require_derivative(case)
    rows, batch = batched(case)
    positions = case.positions
    tangents = tangents_of(case, positions)
    part = of_some(vmap(case.call), batch, positions)
    repeated = [
        value(
            np.stack([np.asarray(t)] * len(rows)),
            case.avals[i].update(shape=(len(rows), *case.avals[i].shape)),
        )
        for i, t in zip(positions, tangents, strict=True)
    ]
    primals = [batch[i] for i in positions]
    parts = _parts(case, case.call)
    if has_forward_mode(case):
        got = jvp(part, primals, repeated)[1]
        _same_rows("jvp of vmap", _real(got), [parts["jvp"](*row) for row in rows])
        _of_vmap_of_one(case, rows, batch, tangents, parts["jvp"])
    if has_reverse_mode(case):
        outs, pullback = vjp(part, *primals)
        wanted = [parts["vjp"](*row) for row in rows]
        _same_rows("vjp of vmap", pullback(_cotangents(outs)), wanted)


def _of_vmap_of_one(
    case: Call,
    rows: Sequence[Sequence[Any]],
    batch: Sequence[Any],
    tangents: Sequence[Any],
    wanted: Function,
) -> None:
    """Forward mode of a batch of one operand alone, where results have a batch of their own."""
    for i in range(len(batch) if len(batch) > 1 else 0):
        operands = [*case.operands[:i], batch[i], *case.operands[i + 1 :]]
        axes = [0 if j == i else None for j in range(len(batch))]
        mapped = of_some(vmap(case.call, in_axes=axes), operands, case.positions)
        primals = [operands[j] for j in case.positions]
        moves = [
            value(np.stack([host(t)] * len(rows)), typeof(operands[i])) if j == i else t
            for j, t in zip(case.positions, tangents, strict=True)
        ]
        got = jvp(mapped, primals, moves)[1]
        alone = [[*case.operands[:i], row[i], *case.operands[i + 1 :]] for row in rows]
        _same_rows(f"jvp of vmap over operand {i}", _real(got), [wanted(*row) for row in alone])


def _same_rows(what: str, got: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
    for i, out in enumerate(got):
        same_values(what, out, np.stack([host(row[i]) for row in rows]))
