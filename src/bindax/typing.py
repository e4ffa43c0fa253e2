"""Types for annotations.

>>> import numpy as np
>>> from bindax.typing import Array, ArrayLike, DTypeLike
>>> def ones_like(x: ArrayLike, dtype: DTypeLike = np.float32) -> Array:
...     import bindax.numpy as jnp
...     return jnp.ones(np.shape(x), dtype)
>>> ones_like([1, 2])
Array([1., 1.], dtype=float32)
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from bindax_core import Array as Array

__all__ = ["Array", "ArrayLike", "DTypeLike"]

ArrayLike: TypeAlias = Array | np.ndarray[Any, Any] | np.generic | bool | int | float | complex
"""The type of operands. Traced values have the interface of ``Array``."""

DTypeLike: TypeAlias = str | type[Any] | np.dtype[Any]
"""The type of what names a dtype."""
