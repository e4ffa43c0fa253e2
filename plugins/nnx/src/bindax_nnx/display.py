"""Objects, states and variables on the screen."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_nnx._text import describe


def display(*values: Any) -> None:
    """Print objects, states and variables with all below them, and the shapes of arrays.

    >>> import numpy as np
    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(np.ones((2, 3), np.float32))
    >>> display(Scale())
    Scale(
      factor=Param(
        value=Array(shape=(2, 3), dtype=float32)
      )
    )
    """
    for value in values:
        print(describe(value, _shown))  # noqa: T201 -- it is what it is for


def _shown(value: Any) -> str:
    """The shape and dtype of an array; anything else as it is."""
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if not isinstance(shape, tuple) or dtype is None or isinstance(value, np.generic):
        return repr(value)
    return f"Array(shape={shape}, dtype={getattr(dtype, 'name', dtype)})"
