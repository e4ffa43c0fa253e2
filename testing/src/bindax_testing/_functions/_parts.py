"""The applications of primitives behind a function, each with concrete operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import (
    Jaxpr,
    JaxprEqn,
    Var,
    float0,
    is_differentiable,
    is_extended,
    subjaxprs,
    typeof,
)
from bindax_testing._cases import Call, Case, plain
from bindax_testing._checks._base import direction
from bindax_testing._compare import real_size
from bindax_testing._functions._extensions import host_functions_of
from bindax_transforms import make_jaxpr

_CUSTOM = ("custom_vjp_call", "custom_jvp_call")
_DEPTH = 8


@attrs.frozen(eq=False)
class Part:
    """An application of a primitive inside a function.

    Attributes:
        eqn: the equation.
        case: the primitive on the operands that reach it.
        depth: how many programs it is inside of.
        compiler: the backend that compiles it where checks do, None without one.
    """

    eqn: JaxprEqn
    case: Case
    depth: int
    compiler: str | None = None

    @property
    def user_functions(self) -> dict[str, Callable[..., Any]]:
        """The functions of the user that it calls, by their roles."""
        name, params = self.eqn.primitive.name, self.eqn.params
        if name in _CUSTOM:
            return dict(params["call"].user_functions())
        return host_functions_of(name, params)

    @property
    def is_custom(self) -> bool:
        """True if it is a call with rules of its own."""
        return self.eqn.primitive.name in _CUSTOM

    @property
    def site(self) -> str:
        """The line of the user's program that binds it."""
        return str(self.eqn.source_info or "")


def parts_of(call: Call, compiler: str | None = None) -> list[Part]:
    """The applications behind a call; those that cannot be evaluated end the list."""
    closed = make_jaxpr(call.fresh())(*call.avals)
    found: list[Part] = []
    draws = [list(closed.consts) + list(row) for row in call.draws]
    inputs = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    with suppress(Exception):  # the last one of the list is what fails
        _walk(closed.jaxpr, inputs, draws, call, 0, found)
    return [attrs.evolve(part, compiler=compiler) for part in found]


def narrowest(call: Call) -> int:
    """The bytes of the narrowest real numbers that are computed behind a call; 8 if none are."""
    found, left = 8, [make_jaxpr(call.fresh())(*call.avals).jaxpr]
    while left:
        for eqn in left.pop().eqns:
            dtypes = [var.aval.dtype for var in eqn.outvars]
            found = min([found, *(real_size(one) for one in dtypes if is_differentiable(one))])
            left += [inner.jaxpr for _, inner in subjaxprs(eqn.params)]
    return found


def _walk(
    jaxpr: Jaxpr,
    inputs: Sequence[Var],
    draws: Sequence[Sequence[Any]],
    call: Call,
    depth: int,
    found: list[Part],
) -> None:
    known = [dict(zip(inputs, row, strict=True)) for row in draws]
    for eqn in jaxpr.eqns:
        rows = [
            [plain(one[x] if isinstance(x, Var) else x.val) for x in eqn.invars] for one in known
        ]
        case = Case(eqn.primitive, rows, eqn.params, call.label, {}, call.seed)
        found.append(Part(eqn, case, depth))
        for _, inner in subjaxprs(eqn.params) if depth < _DEPTH else ():
            given = [_fitting(inner.jaxpr.invars, row, call.rng()) for row in rows]
            consts = list(inner.consts)
            inside = [*inner.jaxpr.constvars, *inner.jaxpr.invars]
            _walk(inner.jaxpr, inside, [consts + row for row in given], call, depth + 1, found)
        for one, row in zip(known, rows, strict=True):
            outs = eqn.primitive.bind(*row, **eqn.params)
            one.update(
                zip(eqn.outvars, outs if eqn.primitive.multiple_results else [outs], strict=True)
            )


def _fitting(invars: Sequence[Var], operands: Sequence[Any], rng: np.random.Generator) -> list[Any]:
    """Operands of an inner program: those of the equation, or their rows, or random ones."""
    last = list(operands[len(operands) - len(invars) :]) if len(invars) <= len(operands) else []
    found = []
    for i, var in enumerate(invars):
        given = last[i] if last else None
        found.append(_fitted(given, var.aval, rng))
    return found


def _fitted(x: Any, aval: Any, rng: np.random.Generator) -> Any:
    if x is not None:
        found = typeof(x)
        if (found.shape, found.dtype) == (aval.shape, aval.dtype):
            return x
        if found.dtype == aval.dtype and found.shape[1:] == aval.shape and found.shape[:1] > (0,):
            return x[0]
    if aval.dtype == float0 or is_extended(aval.dtype) or aval.dtype.kind not in "fc":
        return np.zeros(aval.shape, aval.dtype)
    return direction(rng, aval)
