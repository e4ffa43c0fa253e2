"""The report of one program."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bindax_core.errors import BindaxError
from bindax_core.extend import BackendError, ClosedJaxpr, find_backend
from bindax_inspect.compiled.compilation import Compiled, compile_marked
from bindax_inspect.memory.liveness import Memory, memory_of
from bindax_inspect.program.equations import Program
from bindax_inspect.report.by_line import LineRecord, lines_of
from bindax_inspect.timing.measurement import Time, measure

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

    from bindax_transforms import Recompilations


class CostSummary(NamedTuple):
    """The work of one call of a program.

    Attributes:
        operations: the arithmetic operations, from the rules of the kind ``cost``.
        bytes: the bytes that equations read and write, before any fusion.
        guessed: the operations of primitives that have no rule: one for each element.
        compiler: the compiler's own analysis of the program before its optimizations, by name;
            empty without a compiler.
    """

    operations: float
    bytes: float
    guessed: float
    compiler: dict[str, float]

    @property
    def compiler_operations(self) -> float | None:
        """The operations that the compiler counts, transcendental functions included."""
        if not self.compiler:
            return None
        return sum(max(self.compiler.get(name, 0.0), 0.0) for name in ("flops", "transcendentals"))


class Report:
    """The report of a program, for arguments of the types that it was inspected with.

    It is made as it is asked: compiling and running the program wait until something of it is used.

    Attributes:
        program: the equations, with numbers, lines, names and costs.
        shows_values: whether constants are shown.
        recompilations: the programs that the function was compiled to before, where it is under
            ``jit``; else None.

    >>> import bindax_lax_basic as lax
    >>> import numpy as np
    >>> from bindax_inspect import inspect
    >>> report = inspect(lambda x: lax.sin(x) * 2.0)(np.ones(8, np.float32))
    >>> report.cost.operations, report.memory.peak
    (16.0, 96)
    """

    def __init__(
        self,
        program: Program,
        operands: Sequence[Any],
        *,
        shardings: Sequence[Any] | None = None,
        runs: int = 10,
        values: bool = False,
        recompilations: Recompilations | None = None,
    ) -> None:
        self.program: Program = program
        self._operands = operands
        self._shardings = shardings
        self._runs = runs
        self._backend = find_backend().name
        self.shows_values: bool = values
        self.recompilations: Recompilations | None = recompilations
        self._missing: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"Report({self.program.name}: {len(self.program.equations)} equations)"

    def __str__(self) -> str:
        from rich.console import Console

        console = Console(width=_width(), highlight=False, color_system=None)
        with console.capture() as captured:
            console.print(self)
        return captured.get().rstrip()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from bindax_inspect.report.table import table

        yield table(self, options.max_width)

    def __reduce__(self) -> Any:
        raise TypeError(
            f"{self!r} cannot be pickled: it holds the program and its arguments. Write it with "
            f"save('report.html')."
        )

    @property
    def jaxpr(self) -> ClosedJaxpr:
        """The program as it was staged."""
        return self.program.jaxpr

    @property
    def missing(self) -> tuple[str, ...]:
        """The parts that the report lacks, each with the reason."""
        _ = self.time
        return tuple(self._missing.values())

    @cached_property
    def compiled(self) -> Compiled | None:
        """The compiled forms, whose operations have the numbers of equations; None without."""
        try:
            return compile_marked(self.program, self._backend, self._shardings)
        except BindaxError as error:
            self._missing["compiled"] = f"the compiled program: {error}"
            return None

    @property
    def stablehlo(self) -> str | None:
        """The program in StableHLO, or None without a compiler."""
        return None if self.compiled is None else str(self.compiled.lowered.as_text())

    @property
    def optimized(self) -> str | None:
        """The program after the compiler's optimizations, or None without a compiler."""
        if self.compiled is None:
            return None
        return "\n".join(line.text for line in self.compiled.module.lines(values=True))

    @cached_property
    def cost(self) -> CostSummary:
        """The operations and bytes of one call."""
        equations = self.program.equations
        analysis = {} if self.compiled is None else self.compiled.lowered.cost_analysis()
        return CostSummary(
            sum(one.operations for one in equations),
            sum(one.bytes for one in equations),
            sum(one.operations for one in equations if not one.cost.known),
            dict(analysis),
        )

    @cached_property
    def memory(self) -> Memory:
        """The bytes that are alive over the run of the program, equation by equation."""
        planned = None if self.compiled is None else self.compiled.planned_bytes
        return memory_of(self.program)._replace(planned=planned)

    @cached_property
    def time(self) -> Time | None:
        """The measured time, by equation; None where the program cannot be run and profiled."""
        compiled, effects = self.compiled, self.program.jaxpr.jaxpr.effects
        if compiled is None:
            return None
        if not self._runs:
            self._missing["time"] = "the time: it was not asked for (runs=0)."
        elif effects:
            shown = ", ".join(sorted({effect.name for effect in effects}))
            self._missing["time"] = (
                f"the time: the program does more than compute its results ({shown}), so it was "
                f"not run again."
            )
        else:
            return self._measured(compiled)
        return None

    def _measured(self, compiled: Compiled) -> Time | None:
        try:
            return measure(compiled, self._operands, self._runs)
        except (BackendError, RuntimeError) as error:
            self._missing["time"] = f"the time: {error}"
            return None

    @cached_property
    def lines(self) -> list[LineRecord]:
        """The work, memory and time of each of the user's lines, the most expensive first."""
        return lines_of(self.program, self.memory, self.time)

    def as_dict(self) -> dict[str, Any]:
        """Return the sums and the record of each line, as JSON can hold them.

        >>> import bindax_lax_basic as lax
        >>> from bindax_inspect import inspect
        >>> inspect(lax.sin, runs=0)(1.0).as_dict()["operations"]
        1.0
        """
        cost, memory, time = self.cost, self.memory, self.time
        return {
            "name": self.program.name,
            "equations": len(self.program.equations),
            "operations": cost.operations,
            "compiler_operations": cost.compiler_operations,
            "bytes": cost.bytes,
            "peak_bytes": memory.peak,
            "kept_bytes": memory.kept_bytes,
            "seconds": None if time is None else time.wall,
            "attributed": None if time is None else time.attributed,
            "programs": None if self.recompilations is None else self.recompilations.programs,
            "missing": list(self.missing),
            "lines": [one.as_dict() for one in self.lines],
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one file of HTML, which needs no network.

        Args:
            path: the file, such as ``"report.html"``.
        """
        from bindax_inspect.page.html import page_of

        Path(path).write_text(page_of(self), encoding="utf-8")

    def _repr_html_(self) -> str:
        from bindax_inspect.page.html import frame_of

        return frame_of(self)

    def trace(self, path: str | os.PathLike[str]) -> None:
        """Write the run of each instruction to a file that ui.perfetto.dev opens.

        Args:
            path: the file, such as ``"trace.json"``.

        Raises:
            BackendError: when no time was measured; the message says why.
        """
        from bindax_inspect.timing.trace_file import write_trace

        if self.time is None or self.compiled is None:
            raise BackendError(f"there is no trace to write. Missing is {'; '.join(self.missing)}")
        write_trace(Path(path), self.program, self.compiled.module, self.time)


def _width() -> int:
    import shutil

    return shutil.get_terminal_size((120, 24)).columns


def zeros_for(avals: Sequence[Any]) -> list[Any]:
    """Return operands of types, for a program whose arguments are known by type alone."""
    return [np.zeros(aval.shape, aval.dtype) for aval in avals]
