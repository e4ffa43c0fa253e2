"""``jax.numpy``: functions that take arguments of JAX for several devices."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax.numpy as jnp
from bindax_core.extend import float0
from bindax_jax_names._table import release_numbers
from bindax_jax_names.shims._tolerant import tolerant
from bindax_jax_names.shims.dtypes import issubdtype as issubdtype

_array, _zeros = jnp.array, jnp.zeros


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """The cross products of vectors, which have three elements in releases since 0.12.

    Raises:
        ValueError: when vectors have another size.
    """
    first, second = (axisa, axisb) if axis is None else (axis, axis)
    sizes = jnp.shape(a)[first], jnp.shape(b)[second]
    if sizes != (3, 3) and release_numbers() >= (0, 12):
        raise ValueError(f"cross: vectors must have 3 elements, but they have {sizes}.")
    return jnp.cross(a, b, axisa, axisb, axisc, axis)


def array(object: Any, dtype: Any = None, *more: Any, **options: Any) -> Any:
    """An array of a value; in releases since 0.12 other arguments are given by keyword alone.

    Raises:
        TypeError: when more than the value and its dtype are given by position.
    """
    if more and release_numbers() >= (0, 12):
        raise TypeError(
            f"array() takes from 1 to 2 positional arguments, but {2 + len(more)} were given; give "
            f"copy, order and ndmin by name."
        )
    return _array(object, dtype, *more, **options)


def zeros(shape: Any, dtype: Any = None, **options: Any) -> Any:
    """An array of zeros; those of tangents that do not exist are on the host."""
    if dtype is not None and dtype == float0:
        return np.zeros(shape, float0)
    return _zeros(shape, dtype, **options)


def __getattr__(name: str) -> Any:
    return tolerant("bindax.numpy", name)
