"""The place of an element along named axes, and their sizes."""

from __future__ import annotations

from math import prod
from typing import Any

from bindax_core.extend import Array
from bindax_parallel._collective import find_axes, joint_index

__all__ = ["axis_index", "axis_size"]


def axis_index(axis_name: Any) -> Array:
    """The index of each element along a named axis.

    Args:
        axis_name: the name, or a tuple of names: the index then counts the elements of all these
            axes, those of the last name fastest.

    Returns:
        A scalar int32.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x * axis_index("i"), axis_name="i")(np.ones(3, np.float32))
    Array([0., 1., 2.], dtype=float32)
    """
    axes = find_axes("axis_index", axis_name)
    if not axes:
        raise ValueError("axis_index: axis_name must hold a name, but is empty.")
    return joint_index(axes)  # type: ignore[no-any-return]


def axis_size(axis_name: Any) -> int:
    """The number of elements along a named axis, or along several together.

    Args:
        axis_name: the name, or a tuple of names.

    Raises:
        NameError: when no ``vmap`` around the caller gives a name.

    >>> import numpy as np
    >>> from bindax_transforms import vmap
    >>> vmap(lambda x: x / axis_size("i"), axis_name="i")(np.ones(4, np.float32))
    Array([0.25, 0.25, 0.25, 0.25], dtype=float32)
    """
    return prod(axis.size for axis in find_axes("axis_size", axis_name))
