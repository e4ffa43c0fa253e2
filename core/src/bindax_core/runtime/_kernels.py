"""Who has kernels of other languages, for programs that name them and were made elsewhere."""

from __future__ import annotations

from collections.abc import Callable

kernel_sources: list[Callable[[str, str], bool]] = []
"""Functions of the name of a kernel and of a platform.

Each tells whether there is such a kernel, and has the compiler know it. A package that registers
kernels only when its own primitives are lowered adds one.
"""
