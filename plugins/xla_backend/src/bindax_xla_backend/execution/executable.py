"""Calling a compiled program: from operands to buffers, and from results to arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from bindax_core.errors import PlacementError
from bindax_core.extend import (
    Array,
    BackendError,
    DeletedArrayError,
    PlacedElsewhereError,
    ShapedArray,
    check_transfer,
    config,
    fast_paths,
    sharding_of,
    typeof,
    unwrapped,
)
from bindax_core.sharding import Format, Layout
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._errors import FORKED, ArgumentError, ExecutionError
from bindax_xla_backend.distributed.failures import agreed, failure_elsewhere
from bindax_xla_backend.execution import async_dispatch, sharded_buffers
from bindax_xla_backend.execution.host_operands import HostOperands, put_on
from bindax_xla_backend.execution.out_of_memory import run_failure
from bindax_xla_backend.execution.placement import (
    ProgramPlacements,
    in_own_memory,
    is_same,
    place_of,
)
from bindax_xla_backend.lowering.program import LoweredProgram

if TYPE_CHECKING:
    from bindax_xla_backend.execution.backend import XlaBackend
    from bindax_xla_backend.lowering.layout import Layout as DeviceLayout


_EXCHANGE = re.compile(r" (all-(reduce|gather|to-all)|reduce-scatter|collective-\w+)(-start)?\(")
"""The operations by which the devices of a compiled program exchange values."""


class Executable:
    """A compiled program on a device. Call it with one operand for each of ``in_avals``.

    Operands are arrays, NumPy arrays or scalars. Those that are on the device already are used
    where they are; results stay there until somebody looks at them. ``run_unchecked`` is a call for
    operands in a sequence that are known to have the right types: XLA would reinterpret the bytes
    of others. ``run_known`` looks at their types first, and gives None for others; where that is
    not done in one step, it is None itself.
    """

    def __init__(
        self, backend: XlaBackend, program: LoweredProgram, loaded: Any, places: ProgramPlacements
    ) -> None:
        self.name: str = program.name
        self.in_avals: tuple[ShapedArray, ...] = program.in_avals
        self.out_avals: tuple[ShapedArray, ...] = program.out_avals
        self._avals = list(program.in_avals)
        self._backend = backend
        self._callbacks = program.callbacks
        self._loaded = loaded
        self._run = loaded.execute_sharded
        several = program.layout is not None and len(program.layout.devices) > 1
        if program.callbacks:
            self._run = async_dispatch.tracked(loaded, wait=program.has_effects or several)
            if several:
                self._run = async_dispatch.after_others(self._run)
                self._run = self._all_or_nothing(self._run, program.layout)
        elif several and backend.platform == "cpu" and _EXCHANGE.search(self.as_text()):
            self._run = async_dispatch.in_turn(loaded)
        self._run = agreed(self._run, program)
        if several:
            self._run = sharded_buffers.on_living_buffers(self._run)
        self._constants = [
            places.constants.put(array, typeof(array), copy=True) for array in program.constants
        ]
        everything = program.kept == tuple(range(len(program.in_avals)))
        self._kept = None if everything else program.kept
        self._donated = program.donated
        own = backend.default_placement
        is_own = all(place is own for place in (places.constants, *places.operands))
        self._places = None if is_own else places.operands
        self._results = list(places.results)
        self._handlers = [
            _jaxlib.result_handler(place.raw(aval.ndim), aval, Array.wrapper(aval, place))
            for aval, place in zip(program.out_avals, places.results, strict=True)
        ]
        self.size: int = len(program.bytecode)
        self._host = HostOperands(backend, self._avals)
        self.run_unchecked: Callable[[Any], list[Array]] = self.accelerated(_unchecked(self))
        self.run_known: Callable[[Any], list[Array] | None] | None = None
        if self._places is None and self._is_plain:
            self.run_known = _known(self)
        backend.executables.add(self)

    def __call__(self, *operands: Any) -> list[Array]:
        """Run the program; many of its failures show when a result is looked at."""
        try:
            return self.call(operands)
        except PlacedElsewhereError as error:
            return self._elsewhere(operands, error)

    def call(self, operands: Sequence[Any]) -> list[Array]:
        """Do the same, but raise ``PlacedElsewhereError`` for operands bound to other places."""
        try:
            # Types are interned, so this compares identities. XLA checks no types itself: it
            # would reinterpret the bytes.
            if [x.aval for x in operands] == self._avals:
                used = operands if self._kept is None else [operands[i] for i in self._kept]
                if self._places is None:
                    buffers = Array.buffers_on(used, self._backend)
                else:
                    buffers = Array.buffers_at(used, self._places)
            else:
                buffers = self._buffers(operands)
        except AttributeError:
            buffers = self._buffers(operands)
        return self._run_on(buffers, operands)

    def _run_on(self, buffers: list[Any], operands: Sequence[Any]) -> list[Array]:
        if self._constants:
            buffers = self._constants + buffers
        if self._donated:
            self._check_donated(operands)
        try:
            results = self._run(buffers)
        except _jaxlib.RuntimeFailure as error:
            self._raise_failure(error, operands)
        # XLA keeps a donated buffer alive when a host view of it exists. That an array can or
        # cannot be used after its donation must not depend on that.
        for i in self._donated:
            if isinstance(operands[i], Array):
                operands[i].delete()
        arrays: list[Array] = results.consume_with_handlers(self._handlers)
        return arrays

    def __repr__(self) -> str:
        types = ", ".join(aval.str_short() for aval in self.in_avals)
        results = ", ".join(aval.str_short() for aval in self.out_avals)
        return f"Executable({self.name}: ({types}) -> ({results}))"

    def as_text(self) -> str:
        """The program that XLA made, as HLO text."""
        return "\n\n".join(module.to_string() for module in self._loaded.hlo_modules())

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates: ``"flops"``, ``"bytes accessed"``, ``"transcendentals"`` and others."""
        estimates: dict[str, float] = {}
        for module in self._loaded.hlo_modules():
            estimates |= _jaxlib.cost_analysis(self._backend.client(), module)
        estimates |= self._loaded.cost_analysis()
        return estimates

    def memory_analysis(self) -> dict[str, int]:
        """The bytes that a run needs: for arguments, outputs, temporaries, reused ones, code."""
        return _jaxlib.planned_memory(self._loaded)

    def runtime_executable(self) -> Any:
        """The loaded executable of PJRT, an object that no version of jaxlib promises to keep."""
        return self._loaded

    def input_shardings(self) -> list[Any]:
        """Where the operands are expected; None for operands that are not used."""
        found = {i: sharding_of(place) for i, place in self._taken()}
        return [found.get(i) for i in range(len(self.in_avals))]

    def output_shardings(self) -> list[Any]:
        """Where the results are left."""
        return [sharding_of(place) for place in self._results]

    def input_formats(self) -> list[Format]:
        """The formats in which operands are expected; an empty one for those not used."""
        found = {i: _format(self._avals[i], place) for i, place in self._taken()}
        return [found.get(i, Format()) for i in range(len(self.in_avals))]

    def output_formats(self) -> list[Format]:
        """The formats in which results are left."""
        return [_format(*pair) for pair in zip(self.out_avals, self._results, strict=True)]

    def _taken(self) -> Iterable[tuple[int, Any]]:
        """The positions of the operands that the program takes, each with its place."""
        kept = range(len(self._avals)) if self._kept is None else self._kept
        return zip(kept, self._places or [self._backend.default_placement] * len(kept), strict=True)

    def abandon(self) -> Callable[..., NoReturn]:
        """Have every call raise, in a process that has none of the threads that would run it."""
        self._run = self.run_unchecked = _refuse
        return _refuse

    def accelerated(self, run: Callable[[Any], list[Array]]) -> Callable[[Any], list[Array]]:
        """A function that runs the program, or faster code that calls it for unusual operands."""
        if fast_paths.runner is None or self._places is not None or not self._is_plain:
            return run
        own = self._backend.default_placement
        return fast_paths.runner(own, self, self._handlers, run, self._failed)

    @property
    def _is_plain(self) -> bool:
        """True if all operands are given to the program as they are, and nothing else."""
        return not self._constants and not self._donated and self._kept is None

    # ------------------------------------------------------------------------- slow paths

    def _failed(self, error: Exception, operands: Sequence[Any]) -> NoReturn:
        if isinstance(error, _jaxlib.RuntimeFailure):
            self._raise_failure(error, operands)
        raise error

    def _all_or_nothing(
        self, run: Callable[..., Any], layout: DeviceLayout | None
    ) -> Callable[..., Any]:
        """The same function, which raises what a host function raised on one of several devices."""
        for callback in self._callbacks:
            callback.goes_on = True

        def checked(buffers: Sequence[Any]) -> Any:
            results = run(buffers)
            failed = [
                f"the host callback {callback.name} raised {callback.failure!r}"
                for callback in self._callbacks
                if callback.failure is not None
            ]
            elsewhere = failure_elsewhere(layout, "".join(failed[:1]))
            self._raise_failure_of_callback()
            if elsewhere:
                raise ExecutionError(
                    f"the compiled program {self.name} failed, because {elsewhere}. Its results "
                    f"mean nothing."
                )
            return results

        return checked

    def _raise_failure_of_callback(self) -> None:
        for callback in self._callbacks:
            cause, callback.failure = callback.failure, None
            if cause is not None and not isinstance(cause, Exception):
                raise cause  # KeyboardInterrupt and SystemExit are no errors of the program
            if cause is not None:
                raise ExecutionError(
                    f"the compiled program {self.name} failed, because the host callback "
                    f"{callback.name} raised {type(cause).__name__}: {cause}"
                ) from cause

    def _elsewhere(self, operands: Sequence[Any], error: Exception) -> list[Array]:
        """Bring the operands here, or say why that cannot be."""
        operands = in_own_memory(operands)
        for i, place in self._taken():
            own = place_of(operands[i])
            if own is None or is_same(own, place):
                continue
            there, wanted = [_format(self._avals[i], one) for one in (own, place)]
            differ = "layout" if there.sharding == wanted.sharding else "sharding"
            raise PlacementError(
                f"operand {i} of the compiled program {self.name} is on "
                f"{getattr(there, differ)!r}, but the program was compiled for it on "
                f"{getattr(wanted, differ)!r}. Move it with device_put, or compile for where it is."
            ) from error
        return self._run_on(self._buffers(operands, bring=True), operands)

    def _buffers(self, operands: Sequence[Any], *, bring: bool = False) -> list[Any]:
        """Check every operand, and put those that are not on the device there.

        With ``bring``, what is bound to no device is brought to places for what is.
        """
        if len(operands) != len(self._avals):
            raise ArgumentError(
                f"the compiled program {self.name} takes {len(self._avals)} operands, but got "
                f"{len(operands)}."
            )
        for i, (x, aval) in enumerate(zip(operands, self._avals, strict=True)):
            self._check(i, x, aval)
        return self._put_buffers(operands, bring=bring)

    def _put_buffers(self, operands: Sequence[Any], *, bring: bool = False) -> list[Any]:
        """``_buffers`` of operands whose types are known to be right."""
        avals = self._avals
        return [self._buffer(operands[i], avals[i], place, bring) for i, place in self._taken()]

    def _buffer(self, x: Any, aval: ShapedArray, place: Any, bring: bool) -> Any:
        x = x if isinstance(x, Array) else unwrapped(x)
        if bring and isinstance(x, Array) and x.committed and is_same(x.placement, place):
            return x._buffer  # bound to where it would be brought
        if self._places is None and isinstance(x, Array):
            return x.buffer_on(self._backend)
        if isinstance(x, Array) and (x.placement is place or not (place.committed and bring)):
            return x.buffer_at(place)
        if self._places is not None and place.committed and not bring:
            raise PlacedElsewhereError("a value is bound to no device.")
        if config.transfer_guard_host_to_device != "allow":
            check_transfer("host_to_device", aval)
        return put_on(place, x.physical().numpy() if isinstance(x, Array) else x, aval)

    def _check(self, i: int, x: Any, aval: ShapedArray) -> None:
        if not isinstance(x, Array) and hasattr(x, "aval"):
            raise ArgumentError(
                f"operand {i} of the compiled program {self.name} is a traced value ({x!r:.80}); "
                f"a compiled program runs, it cannot be transformed. Call the jit function."
            )
        given = typeof(x)
        if given.shape == aval.shape and given.dtype == aval.dtype:
            return
        if type(x) in _SCALARS and aval.shape == () and aval.dtype.kind in _SCALARS[type(x)]:
            return
        raise ArgumentError(
            f"operand {i} of the compiled program {self.name} is {given.str_short()}, but it was "
            f"compiled for {aval.str_short()}. Convert the operand, or compile for its type."
        )

    def _check_donated(self, operands: Sequence[Any]) -> None:
        if len(set(map(id, operands))) == len(operands):
            return
        for i in self._donated:
            if any(x is operands[i] for j, x in enumerate(operands) if j != i):
                raise ArgumentError(
                    f"operand {i} of {self.name} is donated and is another operand of the same "
                    f"call too; pass a copy, or do not donate it."
                )

    def _raise_failure(self, error: Exception, operands: Sequence[Any]) -> NoReturn:
        for i, x in enumerate(operands):
            if isinstance(x, Array) and x.is_deleted():
                raise DeletedArrayError(
                    f"operand {i} of {self.name}, {x.aval.str_short()}, was deleted or donated to "
                    f"an earlier call; use the result of that call, or do not donate it."
                ) from error
        self._raise_failure_of_callback()
        what = f"the compiled program {self.name} failed"
        raise run_failure(what, error, self._backend, self) from error


def _format(aval: ShapedArray, place: Any) -> Format:
    return Format(place.layout or Layout.default(aval.ndim), place.sharding)


def _refuse(*operands: Any) -> NoReturn:
    raise BackendError(FORKED)


_SCALARS = {bool: "b", int: "iufcV", float: "fcV", complex: "c"}
"""The kinds of dtype that a Python scalar can become; ``ml_dtypes`` are of kind V."""


def _known(executable: Executable) -> Callable[[Sequence[Any]], list[Array] | None]:
    """The shortest way from operands to results: one function, whose variables are bound once."""
    start, handlers, expected = executable._run, executable._handlers, executable._avals
    array_type, own = Array, executable._backend.default_placement
    put_known = executable._host.known_buffers

    def run(operands: Sequence[Any]) -> list[Array] | None:
        avals, buffers = [], []
        for x in operands:
            if type(x) is not array_type or x._placement is not own or x._buffer is None:
                break
            avals.append(x.aval)
            buffers.append(x._buffer)
        if avals != expected:
            put = put_known(operands)
            if put is None:
                return None
            buffers = put
        try:
            return start(buffers).consume_with_handlers(handlers)  # type: ignore[no-any-return]
        except _jaxlib.RuntimeFailure as error:
            executable._raise_failure(error, operands)

    return run


def _unchecked(executable: Executable) -> Callable[[Sequence[Any]], list[Array]]:
    start, handlers, places = executable._run, executable._handlers, executable._places
    read = executable._host.buffers if places is None else partial(_buffers_at, executable, places)

    def run(operands: Sequence[Any]) -> list[Array]:
        try:
            return start(read(operands)).consume_with_handlers(handlers)  # type: ignore[no-any-return]
        except _jaxlib.RuntimeFailure as error:
            executable._raise_failure(error, operands)

    return run if executable._is_plain else executable.call


def _buffers_at(executable: Executable, places: Sequence[Any], operands: Sequence[Any]) -> Any:
    try:
        return Array.buffers_at(operands, places)
    except AttributeError:  # an operand is no Array yet
        return executable._put_buffers(operands)
