"""The arguments of random functions: keys, shapes, dtypes, parameters."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bindax_core.extend import Array, as_array, config, is_extended, typeof, warn_user
from bindax_lax_basic import broadcast_shapes, convert_element_type
from bindax_lax_basic.extend import (
    DType,
    DtypeError,
    canonical_dtype,
    default_dtype,
    inexact_dtype,
    is_inexact,
    joined_dtype,
    kind_of,
    result_type,
    shape_argument,
)

Shape = tuple[int, ...]


def float_dtype(name: str, dtype: Any) -> DType:
    """The float dtype that an argument names; the default one for None."""
    found = default_dtype("float") if dtype is None else canonical_dtype(dtype)
    if kind_of(found) != "float":
        raise ValueError(f"{name}: dtype must be a float dtype, but got {found.name}.")
    return found


def inexact_argument(name: str, dtype: Any) -> DType:
    """The float or complex dtype that an argument names; the default float one for None."""
    found = default_dtype("float") if dtype is None else canonical_dtype(dtype)
    if not is_inexact(found):
        raise ValueError(f"{name}: dtype must be a float or complex dtype, but got {found.name}.")
    return found


def integer_dtype(name: str, dtype: Any) -> DType:
    """The integer dtype that an argument names; the default one for None."""
    found = default_dtype("int") if dtype is None else canonical_dtype(dtype)
    if kind_of(found) not in ("signed integer", "unsigned integer"):
        raise DtypeError(f"{name}: dtype must be an integer dtype, but got {found.name}.")
    return found


def shape_of(x: Any) -> Shape:
    """The shape of a legal operand."""
    return x.aval.shape if type(x) is Array else typeof(x).shape


def result_shape(name: str, shape: Any, **parameters: Any) -> Shape:
    """The shape of the numbers: the one that is asked for, or that of the parameters together."""
    return fitting_shape(name, shape, **{key: shape_of(x) for key, x in parameters.items()})


def fitting_shape(name: str, shape: Any, **shapes: Shape) -> Shape:
    """The shape that is asked for, to which others can be broadcast, or that of them together."""
    if shape is None:
        return broadcast_shapes(*shapes.values())
    asked = shape_argument(name, shape)
    for argument, given in shapes.items():
        padded = (1,) * (len(asked) - len(given)) + given
        if len(given) > len(asked) or any(
            own not in (1, size) for own, size in zip(padded, asked, strict=True)
        ):
            raise ValueError(
                f"{name}: {argument} of shape {given} cannot be broadcast to the shape {asked} "
                f"that is asked for."
            )
    return asked


def in_dtype(x: Any, dtype: DType) -> Any:
    """A parameter in a dtype; that of a Python number is kept, with its bytes on the device."""
    if type(x) is int or (type(x) is float and x):  # zeros have signs, which equality ignores
        return _number(x, dtype)
    if kind_of(typeof(x).dtype) == "complex" and kind_of(dtype) != "complex":
        raise TypeError(
            f"a parameter of type {typeof(x).str_short()} is no real number, as {dtype.name} has "
            f"them; take its real part."
        )
    return convert_element_type(x, dtype)


@lru_cache(maxsize=1024)
def _number(x: float, dtype: DType) -> Array:
    # No operation makes it: in a program that is traced, it would belong to that program.
    return as_array(np.asarray(x).astype(dtype))


def is_key(x: Any) -> bool:
    """Tell whether something is an array of typed keys."""
    dtype = getattr(getattr(x, "aval", None), "dtype", None)
    return dtype is not None and is_extended(dtype)


def is_arraylike(x: Any) -> bool:
    """Tell whether something is an array, but no typed key."""
    return hasattr(x, "aval") or isinstance(x, (np.ndarray, np.generic))


def float_parameters(name: str, dtype: DType, **parameters: Any) -> list[Any]:
    """Parameters of a distribution in the dtype that is drawn, which has to hold them."""
    converted = []
    for argument, x in parameters.items():
        aval = typeof(x)
        is_wrong = kind_of(aval.dtype) == "complex" and kind_of(dtype) != "complex"
        if is_wrong or (not aval.weak_type and joined_dtype(aval.dtype, dtype) != dtype):
            raise TypeError(
                f"{name}: {argument} is {aval.str_short()}, which does not fit into the dtype "
                f"{dtype.name} of the result; convert it, or ask for a wider dtype."
            )
        converted.append(in_dtype(x, dtype))
    return converted


def parameter_dtype(x: Any) -> DType:
    """The float dtype that goes with a parameter of any dtype; the default one with a number."""
    aval = typeof(x)
    return default_dtype("float") if aval.weak_type else inexact_dtype(aval.dtype)


def promoted_floats(*operands: Any) -> list[Any]:
    """Operands in one float dtype, that to which they promote."""
    found = inexact_dtype(result_type(*operands))
    return [convert_element_type(x, found) for x in operands]


def check_method(name: str, method: Any) -> None:
    """Raise an error unless a method of drawing numbers is one of the two there are."""
    if method not in ("exact", "approximate"):
        raise ValueError(f"{name}: method must be 'exact' or 'approximate', but it is {method!r}.")


def object_to_words(name: str, words: Any) -> None:
    """Warn of an old-style key, or raise, as ``config.legacy_prng_key`` says."""
    message = (
        f"{name}: the key is an array of words, {typeof(words).str_short()}, and "
        f"config.legacy_prng_key is {config.legacy_prng_key!r}: make keys with random.key, or of "
        f"words with random.wrap_key_data."
    )
    if config.legacy_prng_key == "error":
        raise ValueError(message)
    warn_user(message, UserWarning)
