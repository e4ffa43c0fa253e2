"""Compilation of a program whose equations are marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

from bindax_core.extend import BackendError, find_backend, lower_program
from bindax_inspect.compiled.absorption import absorb
from bindax_inspect.compiled.hlo import Module, parse_hlo
from bindax_inspect.compiled.marks import marked
from bindax_inspect.program.equations import Program


@dataclass
class Compiled:
    """The forms of a program that a compiler makes.

    Attributes:
        program: the program.
        backend: the backend that compiled it.
        lowered: the program in the compiler's language.
        executable: the program after its optimizations.
    """

    program: Program
    backend: Any
    lowered: Any
    executable: Any

    @cached_property
    def stablehlo(self) -> str:
        """The program in StableHLO, with marks in its locations."""
        return str(self.lowered.as_text(debug_info=True))

    @cached_property
    def module(self) -> Module:
        """The optimized program."""
        module = parse_hlo(str(self.executable.as_text()))
        absorb(self.program, module)
        return module

    @property
    def planned_bytes(self) -> int:
        """The bytes that the compiler plans for arguments, results and what is between them."""
        plan = self.executable.memory_analysis()
        parts = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")
        return sum(int(plan[part]) for part in parts) - int(plan["alias_size_in_bytes"])


def compile_marked(
    program: Program, backend_name: str, in_shardings: Sequence[Any] | None = None
) -> Compiled:
    """Compile a program with marks.

    Args:
        program: the program.
        backend_name: the name of the backend that compiles it.
        in_shardings: where each operand is, or None; None when nothing is known of any.

    Raises:
        BackendError: when the backend interprets programs.
        BindaxError: what the compiler raises.
    """
    backend = find_backend(backend_name)
    jaxpr = marked(program)
    lowered = lower_program(
        jaxpr,
        backend,
        # Compilers keep what they compiled by its text, which has no names of operations.
        name=f"{program.name}_{sha256(repr(program.jaxpr).encode()).hexdigest()[:12]}",
        donated=(False,) * len(jaxpr.in_avals),
        keep_unused=True,
        in_shardings=in_shardings,
    )
    if not hasattr(lowered, "compiler_ir"):
        raise BackendError(
            f"the backend {backend.name!r} interprets programs, so there is no StableHLO, no "
            f"optimized program and no profile. Install a compiler, as with bindax[xla]."
        )
    return Compiled(program, backend, lowered, lowered.compile())
