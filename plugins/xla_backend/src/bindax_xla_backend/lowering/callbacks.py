"""Host functions that compiled programs call, and the lowering of primitives that have none."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bindax_core.errors import DerivedRuleNotice
from bindax_core.extend import (
    MissingRuleError,
    Primitive,
    ShapedArray,
    config,
    float0,
    impl,
    lowering,
    warn_user,
)
from bindax_xla_backend._element_types import storage_dtype
from bindax_xla_backend._errors import CallbackResultError

_noticed: set[Primitive] = set()


class _ThisThread(threading.local):
    """The state of the current thread: in how many host callbacks it is."""

    callbacks = 0


this_thread: _ThisThread = _ThisThread()


@dataclass(eq=False)
class HostCallback:
    """A host function with the types it was announced with.

    XLA does not check what a callback returns: an array of a wrong size would leave the result
    uninitialized, so it is checked here. In a program on several devices it ``goes_on`` with zeros
    when it raises: the others would wait for the one that failed, until XLA ends the process. The
    failure is raised when all have ended.

    XLA calls it in threads of its own, where no ``with`` block of the program is: it takes the
    settings of the block in which the program was compiled.
    """

    function: Callable[..., Any]
    avals_in: tuple[ShapedArray, ...]
    avals_out: tuple[ShapedArray, ...]
    ordered: bool = False  # whether it takes and gives a token first
    failure: BaseException | None = None  # what it raised last, until somebody takes it
    goes_on: bool = False
    settings: dict[str, Any] = field(default_factory=config.in_blocks)

    @property
    def name(self) -> str:
        """The name of the function, for messages."""
        return str(getattr(self.function, "__name__", repr(self.function)))

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        """Call the function with NumPy arrays; check what it returns."""
        token = (None,) if self.ordered else ()  # it comes and goes as None
        this_thread.callbacks += 1
        try:
            with config.override(**self.settings) if self.settings else nullcontext():
                return *token, *self._call(arrays[len(token) :])
        except BaseException as error:
            self.failure = error
            if not self.goes_on:
                raise
            zeros = [np.zeros(a.shape, storage_dtype(a.dtype)) for a in self.avals_out]
            return *token, *zeros
        finally:
            this_thread.callbacks -= 1

    def _call(self, arrays: Sequence[Any]) -> tuple[np.ndarray[Any, Any], ...]:
        operands = [
            np.zeros(aval.shape, float0) if aval.dtype == float0 else array
            for aval, array in zip(self.avals_in, arrays, strict=True)
        ]
        results = self.function(*operands)
        if len(results) != len(self.avals_out):
            raise CallbackResultError(
                f"the host callback {self.name} returned {len(results)} results, but "
                f"{len(self.avals_out)} were announced; return one array for each."
            )
        checked = []
        for i, (result, aval) in enumerate(zip(results, self.avals_out, strict=True)):
            array = np.asarray(result)
            if array.shape != aval.shape or array.dtype != aval.dtype:
                raise CallbackResultError(
                    f"the host callback {self.name} returned "
                    f"{array.dtype.name}{list(array.shape)} as result {i}, but {aval.str_short()} "
                    f"was announced; convert it before returning it."
                )
            if aval.dtype == float0:
                array = np.zeros(aval.shape, storage_dtype(float0))
            checked.append(np.asarray(array, order="C"))
        return tuple(checked)


def callback_attributes(index: int, pure: bool) -> dict[str, str]:
    """The attributes of the call of the host function of a number."""
    return {
        "call_target_name": '"xla_ffi_python_cpu_callback"',
        "api_version": "4 : i32",
        "has_side_effect": "false" if pure else "true",
        "backend_config": f"{{index = {index} : ui64}}",
    }


def callback_lowering(primitive: Primitive) -> Callable[..., Any]:
    """A lowering rule for a primitive that has none: call its ``impl`` on the host."""
    evaluate = impl.find(primitive)
    if evaluate is None or config.derived_rules == "error":
        lowering["stablehlo"].get(primitive)  # raises the error that says what is missing
        raise MissingRuleError(f"{primitive.name} has no lowering.stablehlo rule.")
    if config.derived_rules == "notice" and primitive not in _noticed:
        _noticed.add(primitive)
        warn_user(
            f"{primitive.name} has no lowering.stablehlo rule: compiled programs call its impl "
            f"rule on the host, once for each application, which is slow. Bring a rule with "
            f'extend({primitive.name}_p, lowering["stablehlo"](...)), or silence this notice '
            f'with config.derived_rules = "silent".',
            DerivedRuleNotice,
        )

    def rule(ctx: Any, *values: Any, **params: Any) -> list[Any]:
        def on_host(*arrays: Any) -> Any:
            results = evaluate(*arrays, **params)
            return results if primitive.multiple_results else [results]

        on_host.__name__ = f"impl of {primitive.name}"
        results: list[Any] = ctx.callback(on_host, values, ctx.avals_out, pure=True)
        return results

    return rule
