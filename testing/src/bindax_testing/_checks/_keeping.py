"""Rules keep nothing of a call: neither arrays, whose memory stays taken, nor traced values."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bindax_core.extend import RuleKind, Tracer
from bindax_testing._cases import Call, Case
from bindax_testing._checks._types import host_operands, run_impl
from bindax_testing._compare import Kept


def require_forgotten(case: Call, kind: RuleKind, run: Callable[[], Any]) -> None:
    """Raise when traced values that a rule was given are still there after ``run()`` ended."""
    if not isinstance(case, Case) or kind.find(case.primitive) is None:
        return
    given: list[weakref.ref[Any]] = []

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def noting(*args: Any, **params: Any) -> Any:
            given.extend(weakref.ref(x) for x in _tracers(args))
            return function(*args, **params)

        return noting

    with kind.wrapped(case.primitive, watched):
        run()
    if _alive(given):
        raise Kept(
            "keeps an operand after its call: a traced value that it was given is still held, so "
            "memory leaks, and its use is an error. Return what is needed later.",
            kind.name,
        )


def require_forgotten_arrays(case: Case) -> None:
    """Raise when the ``impl`` rule keeps an operand; a compiler may hold one for a while."""
    if case.primitive.takes_values:
        return
    operands = [x for x in host_operands(case) if isinstance(x, np.ndarray)]
    if len(operands) != len(case.operands):
        return
    given = [weakref.ref(x) for x in operands]
    run_impl(case, operands)
    operands.clear()
    if _alive(given):
        raise Kept("keeps an operand after its call, whose memory is never freed.", "impl")


def _tracers(x: Any) -> Iterator[Tracer]:
    if isinstance(x, Tracer):
        yield x
    elif isinstance(x, list | tuple):
        for one in x:
            yield from _tracers(one)


def _alive(given: list[weakref.ref[Any]]) -> bool:
    """Tell whether anything is left, once what refers to itself is collected, too."""
    for generation in range(3):  # what a call leaves is mostly found among the youngest
        if all(one() is None for one in given):
            return False
        gc.collect(generation)
    return any(one() is not None for one in given)
