"""The backend of last resort, which interprets jaxprs by the primitives' ``impl`` rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_core.arrays._operands import as_array
from bindax_core.arrays._placement import HOST
from bindax_core.kernel._eval_jaxpr import eval_jaxpr
from bindax_core.kernel._jaxpr import ClosedJaxpr

Executable = Callable[..., Sequence[Any]]


class NumPyBackend:
    """Interprets jaxprs, operation by operation."""

    name = "numpy"
    priority = 0
    platform = "host"
    host_accessible = True

    def compile(self, jaxpr: ClosedJaxpr, **options: Any) -> Executable:
        def run(*operands: Any) -> list[Any]:
            return [as_array(x) for x in eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *operands)]

        return run

    def lower(self, jaxpr: ClosedJaxpr, **options: Any) -> Any:
        return InterpretedProgram(jaxpr, self.compile(jaxpr))

    def to_host(self, buffer: Any, aval: Any) -> np.ndarray[Any, Any]:
        return np.asarray(buffer)

    def put(self, array: np.ndarray[Any, Any], aval: Any, device: Any = None) -> Any:
        return array

    def block_until_ready(self, buffer: Any) -> None:
        return

    def delete(self, buffer: Any) -> None:
        return

    def is_deleted(self, buffer: Any) -> bool:
        return False

    def devices(self) -> Sequence[Any]:
        return [HOST]


class InterpretedProgram(NamedTuple):
    """A jaxpr "lowered" to itself, for use where no compiler is installed."""

    jaxpr: ClosedJaxpr
    executable: Executable

    def as_text(self) -> str:
        """Print the jaxpr."""
        return repr(self.jaxpr)

    def compile(self) -> InterpretedProgram:
        """Give the object itself, ready to be called."""
        return self

    def __call__(self, *operands: Any) -> Sequence[Any]:
        return self.executable(*operands)
