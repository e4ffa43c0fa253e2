"""Types for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bindax_core import Array as Array

__all__ = ["Array", "ArrayLike", "DTypeLike"]

ArrayLike: TypeAlias = Array | np.ndarray[Any, Any] | np.generic | bool | int | float | complex
"""The type of operands. Traced values have the interface of ``Array``."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any]
"""The type of what names a dtype."""
