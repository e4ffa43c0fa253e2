"""Compilation and execution of bindax programs with XLA.

Install the package, and ``jit`` compiles with it. Importing it imports no ``jaxlib``.
"""

from __future__ import annotations

from bindax_core.extend import register_internal
from bindax_xla_backend._cache import compilation_cache_dir, set_compilation_cache_dir

__all__ = ["compilation_cache_dir", "set_compilation_cache_dir"]

register_internal(__file__)
