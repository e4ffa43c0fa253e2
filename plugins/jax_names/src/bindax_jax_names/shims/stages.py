"""``jax.stages``: the classes of compiled functions."""

from __future__ import annotations

from typing import Any

from bindax_transforms import JittedFunction as Wrapped
from bindax_transforms.compilation.ahead_of_time import Compiled as Compiled
from bindax_transforms.compilation.ahead_of_time import Lowered as Lowered

__all__ = ["Compiled", "CompilerOptions", "Lowered", "Wrapped"]

CompilerOptions = dict[str, Any]
