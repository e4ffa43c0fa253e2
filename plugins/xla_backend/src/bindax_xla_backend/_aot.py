"""Ahead-of-time compilation: a program in StableHLO, before it is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core.extend import ShapedArray
from bindax_xla_backend._executable import Executable
from bindax_xla_backend._program import LoweredProgram

if TYPE_CHECKING:
    from bindax_xla_backend._backend import XlaBackend


class Lowered:
    """A program in StableHLO.

    Attributes:
        name: the name of the function.
        in_avals: the types of the operands.
        out_avals: the types of the results.
    """

    __slots__ = ("_backend", "_program")

    def __init__(self, backend: XlaBackend, program: LoweredProgram) -> None:
        self._backend = backend
        self._program = program

    def __repr__(self) -> str:
        return f"Lowered({self.name})"

    @property
    def name(self) -> str:
        """The name of the function that was lowered."""
        return self._program.name

    @property
    def in_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the operands."""
        return self._program.in_avals

    @property
    def out_avals(self) -> tuple[ShapedArray, ...]:
        """The types of the results."""
        return self._program.out_avals

    def as_text(self, *, debug_info: bool = False) -> str:
        """The StableHLO module.

        Args:
            debug_info: whether to show the place in the user's program that each operation
                comes from.
        """
        return self._program.text(debug_info=debug_info)

    def bytecode(self) -> bytes:
        """The StableHLO module as MLIR bytecode, locations included."""
        return self._program.bytecode

    def compile(self) -> Executable:
        """Compile for the backend's device.

        Raises:
            CompilationError: when XLA rejects the program.
        """
        return self._backend.compile_lowered(self._program)
