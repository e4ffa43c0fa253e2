"""Operands of functions: promoted to one float dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from ml_dtypes import finfo

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_core.extend import canonicalize_dtype, typeof
from bindax_lax_basic.extend import convert, promote_dtypes
from bindax_numpy.extend import inexact, require_values


def promoted(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of one float or complex dtype and one shape, weak if all of them are."""
    try:
        made = inexact(name, *operands)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    if all(typeof(x).weak_type for x in made):
        return made
    return tuple(
        lax.convert_element_type(x, typeof(x).dtype) if typeof(x).weak_type else x for x in made
    )


def one_dtype(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of one float or complex dtype, and the shapes that they have."""
    require_values(name, *operands)
    made = [promoted(name, x)[0] for x in promote_dtypes(*operands)]
    return tuple(promote_dtypes(*made))


def aligned(*operands: Any) -> tuple[Any, ...]:
    """Operands of one shape, dtypes and weak types unchanged."""
    shape = lax.broadcast_shapes(*(typeof(x).shape for x in operands))
    rank = len(shape)
    return tuple(
        x
        if typeof(x).shape == shape
        else _spread(x, shape, tuple(range(rank - typeof(x).ndim, rank)))
        for x in operands
    )


def _spread(x: Any, shape: tuple[int, ...], places: tuple[int, ...]) -> Any:
    sizes = typeof(x).shape
    kept = [i for i, place in enumerate(places) if sizes[i] == shape[place]]
    squeezed = lax.reshape(x, tuple(sizes[i] for i in kept))
    return lax.broadcast_in_dim(squeezed, shape, tuple(places[i] for i in kept))


def real(name: str, *operands: Any) -> tuple[Any, ...]:
    """Operands of one float dtype and one shape, complex ones refused; scalars stay scalars."""
    made = promoted(name, *operands)
    for x in made:
        aval = typeof(x)
        if jnp.issubdtype(aval.dtype, np.complexfloating):
            raise ValueError(
                f"{name} is not defined for complex numbers, but an operand is {aval.str_short()}."
            )
    return made


def settled(*operands: Any) -> tuple[Any, ...]:
    """Operands that are Python numbers take the default dtype, which the result then has."""
    return tuple(
        lax.convert_element_type(jnp.asarray(x), typeof(jnp.asarray(x)).dtype)
        if typeof(x).weak_type
        else x
        for x in operands
    )


def in_single(function: Callable[..., Any], *xs: Any) -> Any:
    """Apply a function of numbers with 32 bits or more to others, and round its results to these.

    Their complex numbers, which it computes with, have no dtype.
    """
    dtype = typeof(xs[0]).dtype
    if dtype.itemsize >= 4:
        return function(*xs)
    out = function(*(lax.convert_element_type(x, np.float32) for x in xs))
    if isinstance(out, tuple):
        return tuple(lax.convert_element_type(part, dtype) for part in out)
    return lax.convert_element_type(out, dtype)


def in_double(function: Callable[..., Any], *operands: Any) -> Any:
    """Apply a function to numbers in double precision, and round its results to their dtype.

    Where the settings have no 64-bit dtypes, it computes in single precision.
    """
    aval, wide = typeof(operands[0]), canonicalize_dtype(np.dtype(np.float64))
    out = function(*(convert(x, wide, aval.weak_type) for x in operands))
    if isinstance(out, tuple):
        return tuple(convert(part, aval.dtype, aval.weak_type) for part in out)
    return convert(out, aval.dtype, aval.weak_type)


def log_probability(p: Any) -> Any:
    """The logarithm of probabilities; that of 0 does not change with what makes them."""
    zero = p == 0
    return jnp.where(zero, -np.inf, jnp.log(jnp.where(zero, 1.0, p)))


def epsilon(x: Any) -> float:
    """The distance from 1 to the next number of the dtype of an array."""
    return float(finfo(typeof(x).dtype).eps)  # type: ignore[no-untyped-call]


def largest(x: Any) -> float:
    """The largest finite number of the dtype of an array."""
    return float(finfo(typeof(x).dtype).max)  # type: ignore[no-untyped-call]


def is_double(x: Any) -> bool:
    """Tell whether an array has 64 bits for each real number."""
    return epsilon(x) < 1e-10
