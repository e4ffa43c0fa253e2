"""Ahead-of-time compilation: a program in StableHLO, before it is compiled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from bindax_xla_backend import _jaxlib, _mlir
from bindax_xla_backend._executable import Executable
from bindax_xla_backend._program import LoweredProgram

if TYPE_CHECKING:
    from bindax_xla_backend._backend import XlaBackend


class Lowered:
    """A program in StableHLO."""

    def __init__(self, backend: XlaBackend, program: LoweredProgram) -> None:
        self.name = program.name
        self.in_avals = program.in_avals
        self.out_avals = program.out_avals
        self._backend = backend
        self._program = program

    def __repr__(self) -> str:
        return f"Lowered({self.name})"

    def as_text(self, dialect: str = "stablehlo", *, debug_info: bool = False) -> str:
        """The program as text; ``debug_info`` shows where each operation comes from."""
        _check_dialect(dialect)
        if dialect == "hlo":
            return str(self.compiler_ir("hlo").as_hlo_text())
        return self._program.text(debug_info=debug_info)

    def compiler_ir(self, dialect: str | None = None) -> Any:
        """The program as an object of jaxlib's: an MLIR module, or an XLA computation."""
        _check_dialect(dialect or "stablehlo")
        if dialect == "hlo":
            return _mlir.to_computation(self._program.bytecode)
        return _mlir.Context().parse_module(self._program.bytecode)

    def cost_analysis(self) -> dict[str, float]:
        """XLA's estimates for the program before optimizations."""
        module = self.compiler_ir("hlo").get_hlo_module()
        return _jaxlib.cost_analysis(self._backend.client(), module)

    def bytecode(self) -> bytes:
        """The StableHLO module as MLIR bytecode, locations included."""
        return self._program.bytecode

    def compile(self, options: Mapping[str, Any] | None = None) -> Executable:
        """Compile for the backend's device, with options of XLA by name."""
        return self._backend.compile_lowered(self._program, options)


def _check_dialect(dialect: str) -> None:
    if dialect not in ("stablehlo", "hlo"):
        raise ValueError(
            f"there is no program in the dialect {dialect!r}; there is 'stablehlo' and 'hlo'."
        )
