"""Checks of functions inside loops and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from bindax_control_flow import cond, scan, while_loop
from bindax_core.extend import Array, is_differentiable, typeof
from bindax_testing import FunctionCall, FunctionCheck, function_check
from bindax_testing.extend import require_same
from bindax_transforms import jit, vjp


def checks_inside_loops() -> Iterator[FunctionCheck]:
    """The function in the body of a scan, in a branch, and in the body of a loop."""
    yield function_check("inside scan", _inside(_in_scan))
    yield function_check("inside cond", _inside(_in_cond))
    yield function_check("inside while_loop", _inside(_in_while, reverse=False))


def _in_scan(call: Callable[..., list[Any]], *operands: Any) -> list[Any]:
    _, outs = scan(lambda held, _: (held, call(*held)), operands, None, length=2)
    return [out[1] for out in outs]


def _in_cond(call: Callable[..., list[Any]], *operands: Any) -> list[Any]:
    flag = np.bool_(True)
    return list(jit(lambda flag, *xs: cond(flag, call, call, *xs))(flag, *operands))


def _in_while(call: Callable[..., list[Any]], *operands: Any) -> list[Any]:
    start = (np.int32(0), list(operands), call(*operands))
    end = while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1], call(*s[1])), start)
    return list(end[2])


def _inside(way: Callable[..., list[Any]], *, reverse: bool = True) -> Callable[[Any], None]:
    name = way.__name__.removeprefix("_in_")

    def check(call: FunctionCall) -> None:
        wanted = call.call(*call.operands)
        for i, (got, one) in enumerate(zip(way(call.call, *call.operands), wanted, strict=True)):
            require_same(f"result {i} inside {name}", got, one, types=False, scale=4.0)
        if reverse and call.positions and "reverse" not in call.skip:
            _same_gradients(call, way, name)

    return check


def _same_gradients(call: FunctionCall, way: Callable[..., list[Any]], name: str) -> None:
    positions = call.positions

    def part(run: Callable[..., Sequence[Any]]) -> Callable[..., list[Any]]:
        def function(*given: Any) -> list[Any]:
            full = list(call.operands)
            for i, x in zip(positions, given, strict=True):
                full[i] = x
            return [x for x in run(*full) if is_differentiable(typeof(x).dtype)]

        return function

    primals = [call.operands[i] for i in positions]
    found = []
    for run in (lambda *xs: way(call.call, *xs), call.call):
        outs, back = vjp(part(run), *primals)
        found.append(back([_weights(typeof(x).tangent_aval()) for x in outs]))
    for i, got, wanted in zip(positions, *found, strict=True):
        # Where it is infinite, as that of a square root at zero, a loop adds zero times infinity.
        a, b = np.array(got), np.array(wanted)
        a[~np.isfinite(b)] = b[~np.isfinite(b)] = 0
        what = f"the cotangent of operand {i} inside {name}"
        require_same(what, a, b, types=False, scale=4.0)


def _weights(aval: Any) -> Any:
    return Array.from_numpy(np.full(aval.shape, 0.7).astype(aval.dtype), aval)
