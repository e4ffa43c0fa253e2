"""Programs that are lowered or compiled for the device of the backend, and their calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core.extend import Array, ShapedArray, as_array, config, dtype_name
from bindax_iree._compile import compile_artifact
from bindax_iree._errors import dtype_error
from bindax_iree._lowering import Lowered
from bindax_iree._targets import target_of_driver

if TYPE_CHECKING:
    from bindax_iree._backend import IreeBackend
    from bindax_iree._runtime import Buffer


class LoweredProgram:
    """A program in StableHLO, for the device of a backend."""

    def __init__(
        self,
        backend: IreeBackend,
        lowered: Lowered,
        in_avals: Sequence[ShapedArray],
        out_avals: Sequence[ShapedArray],
    ) -> None:
        self.name: str = lowered.name
        self.in_avals: tuple[ShapedArray, ...] = tuple(in_avals)
        self.out_avals: tuple[ShapedArray, ...] = tuple(out_avals)
        self._backend = backend
        self._lowered = lowered

    def __repr__(self) -> str:
        return f"LoweredProgram({self.name})"

    def as_text(self) -> str:
        """The program as text of StableHLO."""
        return self._lowered.as_text()

    def compile(self, options: Mapping[str, Any] | None = None) -> Executable:
        """Compile for the device; the options are flags of ``iree-compile`` with their values."""
        flags = [*config.iree_flags.split(), *(f"--{k}={v}" for k, v in (options or {}).items())]
        runtime = self._backend.runtime()
        for aval in (*self.in_avals, *self.out_avals):
            if not runtime.has(aval):
                dtype = dtype_name(aval.dtype)
                raise dtype_error(self.name, dtype, self._lowered.primitives)
        target = target_of_driver(runtime.device.device_kind)
        module = compile_artifact(
            self._lowered.artifact,
            target,
            name=self.name,
            flags=flags,
            primitives=self._lowered.primitives,
        )
        return Executable(self._backend, self, module)


class Executable:
    """A compiled program, called with flat operands."""

    def __init__(self, backend: IreeBackend, program: LoweredProgram, module: bytes) -> None:
        lowered, runtime = program._lowered, backend.runtime()
        self.name: str = program.name
        self.size: int = len(module)
        self._backend = backend
        self._avals = program.in_avals
        self._kept = lowered.kept
        self._constants = [runtime.put(array) for array in lowered.constants]
        self._wrap = [Array.wrapper(aval, backend.default_placement) for aval in program.out_avals]
        self._run = runtime.load(module, program.name)

    def __repr__(self) -> str:
        return f"Executable({self.name})"

    def __call__(self, *operands: Any) -> list[Array]:
        """Run the program, and wait for its results."""
        buffers = [*self._constants, *(self._buffer(operands[i], i) for i in self._kept)]
        return [wrap(x) for wrap, x in zip(self._wrap, self._run(buffers), strict=True)]

    def _buffer(self, x: Any, i: int) -> Buffer:
        aval, array = self._avals[i], as_array(x)
        if array.aval.dtype == aval.dtype:
            return array.buffer_on(self._backend)  # type: ignore[no-any-return]
        return self._backend.put(np.asarray(array.numpy(), aval.dtype), aval)
