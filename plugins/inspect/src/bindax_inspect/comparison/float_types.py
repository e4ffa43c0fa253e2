"""Equations in other float types: what they compute with more digits, or with fewer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from bindax_core.extend import Array, JaxprEqn, ShapedArray, Var, subjaxprs

FLOAT_TYPES = ("float64", "float32", "float16", "bfloat16")

_COMPLEX: dict[str, np.dtype[Any]] = {
    "float64": np.dtype(np.complex128),
    "float32": np.dtype(np.complex64),
}
_FLOATS = frozenset(FLOAT_TYPES)

Run = Callable[[JaxprEqn, Sequence[Any]], list[Any]]


def converted(x: Array, name: str) -> Array:
    """An array with another float type; one of integers as it is."""
    dtype = other_type(x.dtype, name)
    return x if dtype == x.dtype else Array.from_numpy(x.numpy().astype(dtype))


@cache
def other_type(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """The type that takes the place of another one.

    >>> other_type(np.dtype(np.complex64), "float64").name
    'complex128'
    """
    if dtype.kind == "c":
        return _COMPLEX.get(name, dtype)
    if dtype.name not in _FLOATS:
        return dtype
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def retyped_equation(eqn: JaxprEqn, operands: Sequence[Any], name: str, run: Run) -> list[Any]:
    """The results of an equation in another float type.

    One that makes floats of integers, looks at their bits or has programs is run in its own type,
    and its results are converted.

    Args:
        eqn: the equation, as it is in the program.
        operands: values in the other type.
        name: the other type.
        run: runs an equation.
    """
    other = _retyped(eqn, name)
    if other is None:
        own = [_to_type(x, v.aval) for x, v in zip(operands, eqn.invars, strict=True)]
        return [converted(x, name) for x in run(eqn, own)]
    return run(other, operands)


def _retyped(eqn: JaxprEqn, name: str) -> JaxprEqn | None:
    """An equation with other types; None where it has no meaning in them."""
    made_of_integers = not any(_is_float(x.aval) for x in eqn.invars)
    if subjaxprs(eqn.params) or (made_of_integers and any(_is_float(v.aval) for v in eqn.outvars)):
        return None
    invars = [Var(_other_aval(x.aval, name)) for x in eqn.invars]
    outvars = [Var(_other_aval(v.aval, name)) for v in eqn.outvars]
    params = {key: _other_parameter(value, name) for key, value in eqn.params.items()}
    try:
        given = eqn.primitive.out_avals(tuple([v.aval for v in invars]), params)
    except (TypeError, ValueError):
        return None
    if [_plain(aval) for aval in given] != [_plain(v.aval) for v in outvars]:
        return None
    return eqn.replace(invars=invars, outvars=outvars, params=params)


def _other_parameter(value: Any, name: str) -> Any:
    if isinstance(value, np.dtype):
        return other_type(value, name)
    return _other_aval(value, name) if isinstance(value, ShapedArray) else value


def _to_type(x: Any, aval: Any) -> Any:
    return x if x.dtype == aval.dtype else Array.from_numpy(x.numpy().astype(aval.dtype))


def _other_aval(aval: Any, name: str) -> Any:
    return aval.update(dtype=other_type(aval.dtype, name)) if _is_float(aval) else aval


def _is_float(aval: Any) -> bool:
    dtype = getattr(aval, "dtype", None)
    return isinstance(dtype, np.dtype) and (dtype.kind == "c" or dtype.name in _FLOATS)


def _plain(aval: Any) -> Any:
    return aval.strip_weak_type() if isinstance(aval, ShapedArray) else aval
