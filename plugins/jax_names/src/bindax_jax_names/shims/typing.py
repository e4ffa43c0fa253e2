"""``jax.typing``: types for annotations."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

__all__ = ["DTypeLike"]

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any]
"""Names of dtypes, and dtypes."""
