"""Errors of values: how far two results of one equation are apart."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import Array, JaxprEqn, as_array

_PRODUCTS = frozenset(("dot_general", "conv_general_dilated"))
_SUMS = _PRODUCTS | {"reduce_sum", "cumsum", "reduce_window_sum", "scatter_add", "scatter_sub"}
_SMALL = 0.1
"""Elements below this part of the largest one are measured by the largest."""


class ErrorOfValue(NamedTuple):
    """The distance of two arrays.

    Attributes:
        relative: the largest relative error of an element; infinite where one is not a number, or
            where the types do not agree.
        bound: the largest relative error that counts as rounding.
        position: the element that has the largest error.
        values: that element in both arrays.
    """

    relative: float
    bound: float
    position: tuple[int, ...]
    values: tuple[Any, Any]

    @property
    def is_beyond(self) -> bool:
        """Tell whether the error is more than rounding."""
        return self.relative > self.bound

    @property
    def is_far(self) -> bool:
        """Tell whether the error is more than rounding that a whole program has added up."""
        return bool(self.relative > self.bound**0.5)

    def describe(self, a: str, b: str) -> str:
        """Show the element in both arrays, which have the names ``a`` and ``b``."""
        at = f"element {list(self.position)} is " if self.position else ""
        x, y = self.values
        return f"{at}{_shown(x)} with {a}, {_shown(y)} with {b}"

    def record(self) -> dict[str, Any]:
        """The same as numbers and texts, for JSON."""
        return {
            "index": list(self.position),
            "values": [_shown(x) for x in self.values],
            "error": json_number(self.relative),
            "bound": self.bound,
        }


def error_of(a: Any, b: Any, rtol: float | None = None, scale: float = 0.0) -> ErrorOfValue:
    """The error of two arrays, which may have different float types.

    Integers, booleans and random keys must be equal. The relative error of a float is its
    difference over its size; of one that is less than a tenth of the largest element, over that
    tenth.

    Args:
        a: one array.
        b: the other one.
        scale: the size of what was added up to the arrays: errors of less are measured by it.
        rtol: the bound; by default the 3/4 power of the unit roundoff of the coarser type, twice.

    >>> error_of(np.float32([1.0, 2.0]), np.float32([1.0, 2.5])).relative
    0.2
    """
    x, y = host(a), host(b)
    if x.shape != y.shape:
        return ErrorOfValue(np.inf, 0.0, (), (x, y))
    bound = default_bound(x.dtype, y.dtype) if rtol is None else rtol
    if not x.size:
        return ErrorOfValue(0.0, bound, (), ())  # type: ignore[arg-type]
    if not (is_float(x.dtype) or is_float(y.dtype)):
        bound, errors = 0.0, np.where(x == y, 0.0, np.inf)
    else:
        errors = _relative_errors(_wide(x), _wide(y), scale)
    index = tuple(int(i) for i in np.unravel_index(np.argmax(errors), errors.shape))
    return ErrorOfValue(float(errors[index]), bound, index, (x[index], y[index]))


def scale_of_sum(eqn: JaxprEqn, operands: Sequence[Any]) -> float:
    """The size of the terms that an equation adds up; 0 for one that adds up nothing.

    Terms that cancel leave their rounding, which is no difference of the runs.
    """
    name = eqn.primitive.name
    if name not in _SUMS:
        return 0.0
    sizes = [abs(_wide(x)) for x in map(host, operands) if is_float(x.dtype) and x.size]
    largest = [float(np.max(x, where=np.isfinite(x), initial=0.0)) for x in sizes]
    return float(np.prod(largest)) if name in _PRODUCTS else max(largest, default=0.0)


def host(x: Any) -> np.ndarray[Any, Any]:
    """The elements of a value; of a random key those of the array that represents it."""
    array = x if isinstance(x, Array) else as_array(x)
    return np.asarray(array.physical().numpy())


def is_float(dtype: np.dtype[Any]) -> bool:
    """Tell whether numbers of a type are rounded: floats and complex numbers."""
    return dtype.kind in "fc" or (dtype.kind == "V" and "float" in dtype.name)


@lru_cache
def default_bound(*dtypes: np.dtype[Any]) -> float:
    """The relative error that counts as rounding, for results of the given types.

    >>> f"{default_bound(np.dtype(np.float32)):.0e}"
    '1e-05'
    """
    return max(2.0 * float(_unit_roundoff(dtype) ** 0.75) for dtype in dtypes)


def _unit_roundoff(dtype: np.dtype[Any]) -> float:
    if not is_float(dtype):
        return 0.0
    epsilon = 1.0
    while complex(np.asarray(1.0 + epsilon / 2).astype(dtype)) != 1.0:
        epsilon /= 2
    return epsilon


def _wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _relative_errors(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], scale: float) -> Any:
    with np.errstate(all="ignore"):
        sizes = np.maximum(abs(x), abs(y))
        finite = sizes[np.isfinite(sizes)]
        floor = max(scale, _SMALL * float(finite.max()) if finite.size else 0.0)
        errors = abs(x - y) / np.maximum(sizes, floor)
        errors = np.where(np.isfinite(errors), errors, np.inf)
        same = (x == y) | (np.isnan(x) & np.isnan(y))
    return np.where(same, 0.0, errors)


def number_text(x: float) -> str:
    """An error for messages.

    >>> number_text(0.0), number_text(0.00123)
    ('0', '1.2e-03')
    """
    return "0" if x == 0 else f"{x:.1e}"


def json_number(x: float) -> float | str:
    """A number that JSON has, or the text of an infinite one."""
    return x if np.isfinite(x) else str(x)


def _shown(x: Any) -> str:
    return str(x) if np.ndim(x) == 0 else f"an array of the shape {np.shape(x)}"
