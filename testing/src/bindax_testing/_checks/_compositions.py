"""Transformations of transformations, two deep, against loops and plain calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core import config
from bindax_core.extend import Primitive, float0, tree_leaves, typeof
from bindax_core.extend import jvp as jvp_rules
from bindax_testing._cases import DRAWS, Case, replaced
from bindax_testing._checks._base import (
    Check,
    Setting,
    differentiable,
    has_forward_mode,
    has_reverse_mode,
    require_derivative,
    value,
)
from bindax_testing._checks._batching import rows_of, stacked
from bindax_testing._checks._derivatives import tangents_of
from bindax_testing._compare import NotApplicable, host, require_same
from bindax_transforms import jit, jvp, linearize, vjp, vmap

Function = Callable[..., Any]


def _forward(case: Case, positions: list[int], tangents: Sequence[Any]) -> Function:
    """The tangents of the results, as a function of all operands."""

    def function(*operands: Any) -> list[Any]:
        def part(*given: Any) -> list[Any]:
            full = list(operands)
            for i, x in zip(positions, given, strict=True):
                full[i] = x
            return case.call(*full)

        return _real(jvp(part, [operands[i] for i in positions], tangents)[1])

    return function


def _linear(case: Case, positions: list[int], tangents: Sequence[Any]) -> Function:
    def function(*operands: Any) -> list[Any]:
        def part(*given: Any) -> list[Any]:
            full = list(operands)
            for i, x in zip(positions, given, strict=True):
                full[i] = x
            return case.call(*full)

        return _real(linearize(part, *[operands[i] for i in positions])[1](*tangents))

    return function


def _backward(case: Case, positions: list[int], cotangents: Sequence[Any]) -> Function:
    """The cotangents of the operands, as a function of all operands."""

    def function(*operands: Any) -> list[Any]:
        def part(*given: Any) -> list[Any]:
            full = list(operands)
            for i, x in zip(positions, given, strict=True):
                full[i] = x
            return case.call(*full)

        return list(vjp(part, *[operands[i] for i in positions])[1](list(cotangents)))

    return function


def _real(tangents: Sequence[Any]) -> list[Any]:
    return [t for t in tangents if typeof(t).dtype != float0]


def _parts(case: Case) -> dict[str, Function]:
    positions, _ = require_derivative(case)
    tangents = tangents_of(case, positions)
    outs = case.call(*case.operands)
    avals = [typeof(out).tangent_aval() for out in outs]
    cotangents = [
        np.zeros(aval.shape, float0)
        if aval.dtype == float0
        else value(np.full(aval.shape, 0.7), aval)
        for aval in avals
    ]
    parts = {}
    if has_forward_mode(case):
        parts["jvp"] = _forward(case, positions, tangents)
        parts["linearize"] = _linear(case, positions, tangents)
    if has_reverse_mode(case):
        parts["vjp"] = _backward(case, positions, cotangents)
    return parts


def _same(what: str, got: Any, wanted: Any) -> None:
    for a, b in zip(tree_leaves(got), tree_leaves(wanted), strict=True):
        require_same(what, a, b, types=False, scale=4.0)


def _jit(case: Case, setting: Setting) -> None:
    with config.override(backend="numpy"):
        for name, function in _parts(case).items():
            _same(f"jit of {name}", jit(function)(*case.operands), function(*case.operands))
        jitted = _jitted(case)
        inside = _parts_of_jitted(case, jitted)
        for name, function in _parts(case).items():
            wanted = function(*case.operands)
            _same(f"{name} of jit", inside[name](*case.operands), wanted)


def _jitted(case: Case) -> Function:
    return jit(case.fresh())


class _Jitted:
    """A case whose primitive is called under ``jit``."""

    def __init__(self, case: Case, function: Function) -> None:
        self._case = case
        self.call = function

    def __getattr__(self, name: str) -> Any:
        return getattr(self._case, name)


def _parts_of_jitted(case: Case, function: Function) -> dict[str, Function]:
    return _parts(_Jitted(case, function))  # type: ignore[arg-type]


def _vmap(case: Case, setting: Setting) -> None:
    if not case.operands:
        raise NotApplicable("it has no operand to map")
    case = case if len(case.draws) > 1 else replaced(case, case.draws * DRAWS)
    mapped = [True] * len(case.operands)
    rows = rows_of(case, mapped)
    batch = [stacked(case, i, 0) for i in range(len(mapped))]
    with config.override(backend="numpy"):
        outs = jit(vmap(case.call))(*batch)
        _same("jit of vmap", outs, vmap(case.call)(*batch))
        _same("vmap of jit", vmap(jit(case.fresh()))(*batch), outs)
    if not case.positions or not differentiable(case.call(*case.operands)):
        return
    for name, function in _parts(case).items():
        wanted = [tree_leaves(function(*row)) for row in rows]
        got = tree_leaves(vmap(function)(*batch))
        for i, out in enumerate(got):
            _same(f"vmap of {name}", out, np.stack([host(row[i]) for row in wanted]))


def _of_vmap(case: Case, setting: Setting) -> None:
    """Derivatives of the batched primitive are batches of its derivatives."""
    require_derivative(case)
    case = case if len(case.draws) > 1 else replaced(case, case.draws * DRAWS)
    mapped = [True] * len(case.operands)
    batched = vmap(case.call)
    batch = [stacked(case, i, 0) for i in range(len(mapped))]
    positions = case.positions
    tangents = tangents_of(case, positions)

    def part(*given: Any) -> list[Any]:
        full = list(batch)
        for i, x in zip(positions, given, strict=True):
            full[i] = x
        return list(batched(*full))

    repeated = [
        value(
            np.stack([np.asarray(t)] * len(rows_of(case, mapped))),
            case.avals[i].update(shape=(DRAWS, *case.avals[i].shape)),
        )
        for i, t in zip(positions, tangents, strict=True)
    ]
    primals = [batch[i] for i in positions]
    rows, parts = rows_of(case, mapped), _parts(case)
    if has_forward_mode(case):
        got = jvp(part, primals, repeated)[1]
        _same_rows("jvp of vmap", _real(got), [parts["jvp"](*row) for row in rows])
    if has_reverse_mode(case):
        outs, pullback = vjp(part, *primals)
        cotangents = [
            np.zeros(typeof(out).shape, float0)
            if not differentiable([out])
            else value(np.full(typeof(out).shape, 0.7), typeof(out))
            for out in outs
        ]
        wanted = [parts["vjp"](*row) for row in rows]
        _same_rows("vjp of vmap", pullback(cotangents), wanted)


def _same_rows(what: str, got: Sequence[Any], rows: Sequence[Sequence[Any]]) -> None:
    for i, out in enumerate(got):
        _same(what, out, np.stack([host(row[i]) for row in rows]))


def _has_no_jvp(primitive: Primitive, setting: Setting) -> str | None:
    return None if jvp_rules.find(primitive) is not None else "it has no jvp rule"


CHECKS = (
    Check("jit with derivatives", "jvp", _jit, rank=4, why_not=_has_no_jvp),
    Check("vmap of others", "vmap", _vmap, rank=4),
    Check("derivatives of vmap", "vmap", _of_vmap, rank=4, why_not=_has_no_jvp),
)
