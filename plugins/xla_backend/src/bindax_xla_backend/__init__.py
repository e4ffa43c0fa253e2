"""Compilation and execution of bindax programs with XLA.

Install the package, and ``jit`` compiles with it. Importing it imports no ``jaxlib``.
"""

from __future__ import annotations

from bindax_core.extend import register_internal

__all__: list[str] = []

register_internal(__file__)
