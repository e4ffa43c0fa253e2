"""``jax.typing``: types for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bindax_core import AnyArray

__all__ = ["ArrayLike", "DTypeLike"]

_Numbers: TypeAlias = bool | int | float | complex
# Not of elements of some types: ``isinstance`` takes plain types alone.
ArrayLike: TypeAlias = AnyArray | np.ndarray | np.bool_ | np.number | _Numbers
"""Operands; packages ask with it, while tracing too, whether something is one."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any]
"""Names of dtypes, and dtypes."""
