"""The checks of functions and primitives that are exported, written, read and called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bindax_core import config
from bindax_core.errors import BindaxError
from bindax_core.extend import is_extended
from bindax_export._export import export
from bindax_export._parse import symbolic_shape
from bindax_export._reading import deserialize
from bindax_testing import Case, FunctionCall, FunctionCheck, NotApplicable, function_check
from bindax_testing.extend import require_same
from bindax_transforms import jit

_LOWERING = "lowering.stablehlo"


def checks_of_export() -> Iterator[FunctionCheck]:
    """The checks that exported programs compute what the function does."""
    yield function_check("export", _round_trip, in_double=False, rule=_LOWERING)
    yield function_check("symbolic dimensions", _symbolic, in_double=False, rule=_LOWERING)


def _round_trip(call: FunctionCall | Case) -> None:
    try:
        _compare(call, call.operands, "the exported program")
    except BindaxError as error:
        raise NotApplicable(f"it cannot be exported: {error!s:.100}") from error


def _symbolic(call: FunctionCall | Case) -> None:
    """One program for all sizes: what is exported for variables is called with numbers."""
    sizes = sorted({n for aval in call.avals for n in aval.shape if n > 1})
    if not sizes:
        raise NotApplicable("no argument has an axis of more than one element")
    if any(is_extended(aval.dtype) for aval in call.avals):
        raise NotApplicable("an argument is of an extended dtype")
    names = [f"size_{n}" for n in sizes]
    constraints = [f"{name} >= 2" for name in names]
    variables = symbolic_shape(", ".join(names), constraints=constraints)
    known = dict(zip(sizes, variables, strict=True))
    avals = [aval.update(shape=tuple(known.get(n, n) for n in aval.shape)) for aval in call.avals]
    try:
        _compare(call, avals, "the program exported for all sizes")
    except AssertionError:
        raise
    except Exception as error:  # rules may need the numbers, and say so in many ways
        raise NotApplicable(f"it takes no symbolic dimensions: {error!s:.100}") from error


def _compare(call: FunctionCall | Case, arguments: Sequence[Any], what: str) -> None:
    wanted = call.call(*call.operands)
    with config.override(backend=None):
        exported = export(jit(call.fresh()))(*arguments)
        outs = deserialize(exported.serialize()).call(*call.operands)
    for i, (got, one) in enumerate(zip(outs, wanted, strict=True)):
        require_same(f"result {i} of {what}", got, one, types=False, scale=5.0)
