"""``jax.stages``: the classes of compiled functions."""

from __future__ import annotations

from typing import Any

from bindax_transforms import JittedFunction as Wrapped

__all__ = ["CompilerOptions", "Wrapped"]

CompilerOptions = dict[str, Any]
