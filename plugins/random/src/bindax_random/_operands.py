"""The arguments of random functions: keys, shapes, dtypes, parameters."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, is_extended, typeof
from bindax_lax_basic import broadcast_shapes, convert_element_type
from bindax_lax_basic.axes import broadcast_to
from bindax_lax_basic.dtypes import DType, canonical_dtype, default_dtype, kind_of
from bindax_lax_basic.extend import shape_argument

Shape = tuple[int, ...]


def float_dtype(name: str, dtype: Any) -> DType:
    """The float dtype that an argument names; the default one for None.

    Raises:
        ValueError: when it names another kind of dtype.
    """
    if dtype is None:
        return default_dtype("float")
    found = canonical_dtype(dtype)
    if kind_of(found) != "float":
        raise ValueError(f"{name}: dtype must be a float dtype, but got {found.name}.")
    return found


def integer_dtype(name: str, dtype: Any) -> DType:
    """The integer dtype that an argument names; the default one for None.

    Raises:
        TypeError: when it names another kind of dtype.
    """
    if dtype is None:
        return default_dtype("int")
    found = canonical_dtype(dtype)
    if kind_of(found) not in ("signed integer", "unsigned integer"):
        raise TypeError(f"{name}: dtype must be an integer dtype, but got {found.name}.")
    return found


def shape_of(x: Any) -> Shape:
    """The shape of a legal operand."""
    return x.aval.shape if type(x) is Array else typeof(x).shape


def result_shape(name: str, shape: Any, *parameters: Any) -> Shape:
    """The shape of the numbers: the one that is asked for, or that of the parameters together.

    Raises:
        ValueError: when the parameters cannot be broadcast to the shape.
    """
    shapes = [shape_of(x) for x in parameters]
    if shape is None:
        return broadcast_shapes(*shapes) if shapes else ()
    asked = shape_argument(name, shape)
    for i, given in enumerate(shapes):
        padded = (1,) * (len(asked) - len(given)) + given
        if len(given) > len(asked) or any(
            own not in (1, size) for own, size in zip(padded, asked, strict=True)
        ):
            raise ValueError(
                f"{name}: parameter {i} of shape {given} cannot be broadcast to the shape {asked} "
                f"that is asked for."
            )
    return asked


def parameter(x: Any, dtype: DType, shape: Shape) -> Any:
    """A parameter of a distribution in a dtype and shape."""
    return broadcast_to(convert_element_type(x, dtype), shape)


def is_key(x: Any) -> bool:
    """Whether something is an array of typed keys."""
    dtype = getattr(getattr(x, "aval", None), "dtype", None)
    return dtype is not None and is_extended(dtype)


def is_arraylike(x: Any) -> bool:
    """Whether something is an array, but no typed key."""
    return hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic))
