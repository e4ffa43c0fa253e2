"""Types of arrays: shape, dtype and weak type."""

from __future__ import annotations

import math
from functools import cache, partial
from operator import index
from typing import Any, Final

import numpy as np

from bindax_core.arrays._extended_dtypes import as_extended, is_extended
from bindax_core.kernel._aval import AbstractValue, typeof

float0: Final = np.dtype([("float0", np.void, 0)])
"""The dtype of tangents of values that have no derivative, such as integers and booleans."""


class Dimension:
    """Base of sizes that are known as expressions, and stand in shapes where integers do."""

    __slots__ = ()


class ShapedArray(AbstractValue):
    """The set of all arrays with one shape and one dtype.

    Instances are immutable and interned: there is one for each type, compared by identity.

    Args:
        shape: the sizes of the axes.
        dtype: the NumPy dtype of the elements.
        weak_type: whether the dtype came from a Python scalar and yields to that of others.
        sharding: the sharding requested by the user; always None on traced values.

    >>> ShapedArray((3, 2), np.float32).str_short()
    'float32[3,2]'
    """

    __slots__ = ("dtype", "placement", "shape", "weak_type")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool
    placement: Any

    def __new__(
        cls, shape: tuple[int, ...], dtype: Any, weak_type: bool = False, *, sharding: Any = None
    ) -> ShapedArray:
        # Before the look-up: 3.0 and True are equal to integers, and must not find their types.
        shape = tuple([n if isinstance(n, Dimension) else int(index(n)) for n in shape])
        dtype = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
        key = (shape, dtype, bool(weak_type))
        if sharding is not None:
            _check_format(sharding)
        interned = _interned.get(key)
        if interned is not None and sharding is None:
            return interned
        self = object.__new__(cls)
        if any(type(size) is int and size < 0 for size in shape):
            raise ValueError(f"ShapedArray: sizes are not negative, but the shape is {shape}.")
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "weak_type", key[2])
        object.__setattr__(self, "placement", sharding)
        # The first of two threads wins, so that there is one instance.
        return _interned.setdefault(key if sharding is None else (*key, sharding), self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"ShapedArray is immutable; use .update({name}=...) for a changed one."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(ShapedArray, sharding=self.placement)
        return make, (self.shape, self.dtype, self.weak_type)

    @property
    def sharding(self) -> Any:
        return getattr(self.placement, "sharding", self.placement)

    @property
    def format(self) -> Any:
        """The ``Format`` requested by the user: that of the sharding, if one alone was given."""
        from bindax_core.arrays.sharding._layout import Format

        given = self.placement
        return given if isinstance(given, Format) else Format(None, given)

    @staticmethod
    def like(x: Any) -> ShapedArray:
        """Describe an array: its type, and its sharding if it is bound to devices.

        >>> ShapedArray.like(np.zeros(2, np.float32))
        ShapeDtypeStruct(shape=(2,), dtype=float32)
        """
        sharding = x.sharding if getattr(x, "committed", False) else None
        return typeof(x).update(sharding=sharding)  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def update(self, **changes: Any) -> ShapedArray:
        """A copy with other ``shape``, ``dtype``, ``weak_type`` or ``sharding``."""
        own = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        return ShapedArray(**{**own, "sharding": self.placement, **changes})

    @cache  # noqa: B019 - types live as long as the process
    def physical(self) -> ShapedArray:
        """The type that represents this one, if its dtype is extended; itself otherwise."""
        if not is_extended(self.dtype):
            return self
        element = self.dtype[0]
        return ShapedArray((*self.shape, *element.shape), element.base)

    def strip_weak_type(self) -> ShapedArray:
        return ShapedArray(self.shape, self.dtype) if self.weak_type else self

    def tangent_aval(self) -> ShapedArray:
        return self if is_differentiable(self.dtype) else ShapedArray(self.shape, float0)

    def str_short(self) -> str:
        return f"{dtype_name(self.dtype)}[{','.join(str(size) for size in self.shape)}]"

    def __repr__(self) -> str:
        more = ", weak_type=True" if self.weak_type else ""
        more += "" if self.placement is None else f", sharding={self.placement!r}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={dtype_name(self.dtype)}{more})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"len() of {self.str_short()}, which has no axes.")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True  # a type is there, however many elements it speaks of


def _check_format(given: Any) -> None:
    from bindax_core.arrays.sharding._layout import concrete_format

    concrete_format(given, "ShapeDtypeStruct: sharding", TypeError)


_interned: dict[tuple[Any, ...], ShapedArray] = {}


@cache
def dtype_name(dtype: Any) -> str:
    """The name of a dtype as jaxprs and messages print it."""
    if dtype.names is not None:
        return "float0" if dtype == float0 else str(as_extended(dtype).name)
    return str(dtype.name)


@cache
def is_differentiable(dtype: np.dtype[Any]) -> bool:
    """Tell whether values of a dtype have tangents of the same dtype (real or complex floats)."""
    # ml_dtypes' floats are void-kind ('V') extension types that NumPy calls neither inexact nor
    # integer; they are the ones whose scalars can hold a fraction.
    extension = dtype.name.startswith(("bfloat", "float")) and dtype.names is None
    return bool(np.issubdtype(dtype, np.inexact)) or (extension and dtype != float0)
