"""The execution of a scan: step by step on the host, or as a loop of a compiled program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_control_flow.scan.loop import Loop, slice_aval
from bindax_control_flow.shared.compiled_evaluation import application_of, run_compiled
from bindax_core.extend import (
    Array,
    Dimension,
    Primitive,
    Region,
    ShapedArray,
    as_array,
    eval_jaxpr,
    find_backend,
)
from bindax_lax_basic.extend import compare, full

_COMPILE_AFTER = 2000
"""After so many interpreted operations, compiling a loop would have cost less."""


def evaluate(scan_p: Primitive, loop: Loop, operands: Sequence[Any]) -> Sequence[Any]:
    """Run a loop now.

    A loop of little work is interpreted, because that takes less time than compiling it; one of
    much work, or that comes again and again, is compiled if a compiler is installed.
    """
    backend = find_backend()
    if backend.name == "numpy":
        return interpret(loop, operands)
    program = application_of(scan_p, operands, loop.params)
    if backend.host_accessible:
        work = program.cache.get("work", 0) + loop.length * (1 + len(loop.jaxpr.eqns))
        program.cache["work"] = work
        if work < _COMPILE_AFTER:
            return interpret(loop, operands)
    return run_compiled(program, backend, operands)


def interpret(loop: Loop, operands: Sequence[Any]) -> list[Any]:
    """Run a loop step by step on the host."""
    consts, carry, xs = loop.operands([as_array(x) for x in operands])
    sequences = [(slice_aval(x.aval), x.numpy()) for x in xs]
    stacked = [np.empty(aval.shape, aval.dtype) for aval in loop.stacked_avals]
    jaxpr = loop.jaxpr.jaxpr
    for i in loop.steps():
        slices = [Array(aval, x[i, ...]) for aval, x in sequences]
        carry, ys = loop.results(eval_jaxpr(jaxpr, (), *consts, *carry, *slices))
        for out, y in zip(stacked, ys, strict=True):
            out[i] = as_array(y).numpy()
    results = [Array(a, y) for a, y in zip(loop.stacked_avals, stacked, strict=True)]
    return [*(as_array(x) for x in carry), *results]


class Lowering:
    """Builds a loop in a compiler's language: a ``while`` of a counter, the carry and the results.

    Each step reads its slices from the sequences and writes its results into the stacked ones,
    which the compiler does in place because the loop has nothing else of them.
    """

    def __init__(self, loop: Loop, operands: Sequence[Any]) -> None:
        self.loop = loop
        self.consts: list[Any]
        self.carry: list[Any]
        self.xs: list[Any]
        self.consts, self.carry, self.xs = loop.operands(operands)
        self.x_avals: list[Any] = loop.operands(loop.jaxpr.in_avals)[2]
        wide = isinstance(loop.length, Dimension) or loop.length > np.iinfo(np.int32).max
        self.index_aval: ShapedArray = ShapedArray((), np.int64 if wide else np.int32)

    def run(self, ctx: Any) -> list[Any]:
        """The results of the loop."""
        loop = self.loop
        empty = [_as_terms(ctx, full(ctx, aval, 0), aval) for aval in loop.stacked_avals]
        state = [*self.carry, *empty]
        rounds, rest = divmod(loop.length, loop.unroll)
        if isinstance(rounds, Dimension):
            return self._while(ctx, state, loop.length)
        if rounds > 1:
            state = self._while(ctx, state, loop.length - rest)
        else:
            rest = loop.length
        for i in range(loop.length - rest, loop.length):
            state = self._step(ctx, self._index(ctx, i), state)
        return state

    def _while(self, ctx: Any, state: list[Any], end: int) -> list[Any]:
        avals = [self.index_aval, *self.loop.carry_avals, *self.loop.stacked_avals]

        def not_done(inner: Any, i: Any, *state: Any) -> list[Any]:
            return [compare(inner, "LT", i, self._index(inner, end), self.index_aval)]

        def steps(inner: Any, i: Any, *state: Any) -> list[Any]:
            values = list(state)
            for _ in range(self.loop.unroll):
                values = self._step(inner, i, values)
                one = self._index(inner, 1)
                (i,) = inner.op("stablehlo.add", [i, one], [self.index_aval])
            return [i, *values]

        start = self._index(ctx, 0)
        regions = [Region(avals, not_done), Region(avals, steps)]
        return ctx.op("stablehlo.while", [start, *state], avals, regions=regions)[1:]  # type: ignore[no-any-return]

    def _index(self, ctx: Any, i: int | Dimension) -> Any:
        return ctx.constant(i if isinstance(i, Dimension) else self.index_aval.dtype.type(i))

    def _step(self, ctx: Any, i: Any, state: Sequence[Any]) -> list[Any]:
        loop = self.loop
        if loop.reverse:
            last = self._index(ctx, loop.length - 1)
            (i,) = ctx.op("stablehlo.subtract", [last, i], [self.index_aval])
        slices = [
            self._read(ctx, x, aval, i) for x, aval in zip(self.xs, self.x_avals, strict=True)
        ]
        carry, stacked = loop.results(state)
        carry, ys = loop.results(
            ctx.inline(loop.jaxpr, [*self.consts, *carry, *slices], "scan/body")
        )
        written = [
            self._write(ctx, out, y, aval, i)
            for out, y, aval in zip(stacked, ys, loop.stacked_avals, strict=True)
        ]
        return [*carry, *written]

    def _read(self, ctx: Any, x: Any, aval: Any, i: Any) -> Any:
        box = aval.update(shape=(1, *aval.shape))
        sizes = {"slice_sizes": f"array<i64: {', '.join(map(str, box.shape))}>"}
        sliced = ctx.op("stablehlo.dynamic_slice", [x, *self._start(ctx, i, box)], [box], sizes)
        return ctx.op("stablehlo.reshape", sliced, [aval])[0]

    def _write(self, ctx: Any, out: Any, y: Any, aval: Any, i: Any) -> Any:
        box = aval.without_axis(0).with_axis(0, 1)
        (boxed,) = ctx.op("stablehlo.reshape", [y], [box])
        boxed = _as_terms(ctx, boxed, box)
        start = self._start(ctx, i, box)
        (written,) = ctx.op("stablehlo.dynamic_update_slice", [out, boxed, *start], [aval])
        return _as_terms(ctx, written, aval)

    def _start(self, ctx: Any, i: Any, box: Any) -> list[Any]:
        return [i, *[self._index(ctx, 0)] * (len(box.shape) - 1)]


def _as_terms(ctx: Any, x: Any, aval: Any) -> Any:
    """A sum that is not added up yet, if its type says so; else the value as it is.

    Without it the compiler would add the terms up in each step.
    """
    if not aval.is_divided or not aval.placement.spec.unreduced:
        return x
    attributes = {"sharding": ctx.sharding(aval.placement, aval.ndim)}
    return ctx.op("sdy.sharding_constraint", [x], [aval], attributes)[0]
