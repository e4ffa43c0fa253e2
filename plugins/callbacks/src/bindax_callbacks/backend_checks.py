"""The check of how often, and in which order, backends call host functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bindax_callbacks.io_callback import io_callback
from bindax_callbacks.pure_callback import pure_callback
from bindax_core import ShapeDtypeStruct, effects_barrier
from bindax_testing import BackendCall, BackendCheck, Mismatch, backend_check
from bindax_testing.extend import require_same

_X = np.array([0.5, -1.5, 2.0])
_KIND = ShapeDtypeStruct((3,), np.float64)
_TEXT = "the host function refuses 0.5"


def checks_of_callbacks() -> Iterator[BackendCheck]:
    """Host functions of both kinds, and one that raises an error."""
    yield backend_check("callbacks", _called)
    yield backend_check("errors of callbacks", _raised)


def _called(call: BackendCall) -> None:
    """Each application calls its function once, ordered ones in their order."""
    seen: list[tuple[str, float]] = []

    def noting(name: str) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            seen.append((name, float(np.asarray(x)[0])))
            return np.asarray(x) * 2.0

        return function

    def pure(x: Any) -> list[Any]:
        return [pure_callback(noting("pure"), _KIND, x) + x]

    def ordered(x: Any) -> list[Any]:
        y = io_callback(noting("first"), _KIND, x, ordered=True)
        z = io_callback(noting("second"), _KIND, x * 3.0, ordered=True)
        return [y + z]

    for function, wanted in (
        (pure, [("pure", 0.5)]),
        (ordered, [("first", 0.5), ("second", 1.5)]),
    ):
        expected = call.expected(function, _X)
        seen.clear()
        (got,) = call.results(function, _X)
        effects_barrier()
        require_same("the result of host functions", got, expected[0])
        if seen != wanted:
            raise Mismatch(f"the calls of host functions are {seen}, and not {wanted}.")


def _raised(call: BackendCall) -> None:
    """An error of a host function reaches the caller, at the latest when it waits."""

    def refuse(x: Any) -> Any:
        raise ValueError(_TEXT)

    for name, function in (
        ("pure_callback", lambda x: [pure_callback(refuse, _KIND, x)]),
        ("io_callback", lambda x: [io_callback(refuse, _KIND, x, ordered=True)]),
    ):
        call.require_error(f"{name} whose function raises", _TEXT, function, _X)
    (after,) = call.results(lambda x: [x + x], _X)
    require_same("a result after an error of a host function", after, _X + _X)
