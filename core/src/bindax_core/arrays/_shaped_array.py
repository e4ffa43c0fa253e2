"""Types of arrays: shape, dtype and weak type."""

from __future__ import annotations

import math
from functools import cache
from operator import index
from typing import Any, Final

import numpy as np

from bindax_core.arrays._extended_dtypes import as_extended, is_extended
from bindax_core.arrays.sharding._sharding import NamedSharding
from bindax_core.arrays.sharding._types import (
    NO_MANUAL_AXES,
    ManualAxisType,
    axes_text,
    explicit_part,
    lies_in_type,
    manual_text,
    sharding_in_type,
    whole_at_work,
)
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
        sharding: how the arrays lie: a ``NamedSharding`` on an abstract mesh, of which the explicit
            axes are kept; or any other that users ask for, which no traced value has.
        mat: a ``ManualAxisType``, of the manual axes of a mesh, inside of ``shard_map``.

    Attributes:
        placement: the sharding, or None where there is nothing to say of it.
        mat: the ``ManualAxisType``.

    Raises:
        ValueError: when the sharding has more axes than the shape, or does not divide it evenly.

    >>> ShapedArray((3, 2), np.float32).str_short()
    'float32[3,2]'
    >>> from bindax_core.sharding import AbstractMesh, AxisType, NamedSharding, P
    >>> mesh = AbstractMesh((2,), ("x",), AxisType.Explicit)
    >>> ShapedArray((8, 4), np.float32, sharding=NamedSharding(mesh, P("x"))).str_short()
    'float32[8@x,4]'
    """

    __slots__ = ("dtype", "mat", "placement", "shape", "weak_type")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    weak_type: bool
    placement: Any
    mat: ManualAxisType

    def __new__(
        cls,
        shape: tuple[int, ...],
        dtype: Any,
        weak_type: bool = False,
        *,
        sharding: Any = None,
        mat: ManualAxisType = NO_MANUAL_AXES,
    ) -> ShapedArray:
        # Before the look-up: 3.0 and True are equal to integers, and must not find their types.
        shape = tuple([n if isinstance(n, Dimension) else int(index(n)) for n in shape])
        dtype = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
        key: Any = (shape, dtype, bool(weak_type))
        if sharding is not None or mat is not NO_MANUAL_AXES:
            if sharding is not None:
                _check_placement(sharding)
                sharding = sharding_in_type(sharding, shape)
            mat = mat or NO_MANUAL_AXES  # an empty one of somebody else's
            if sharding is not None or mat:
                key = (*key, sharding, mat)
        interned = _interned.get(key)
        if interned is not None:
            return interned
        self = object.__new__(cls)
        if any(type(size) is int and size < 0 for size in shape):
            raise ValueError(f"ShapedArray: sizes are not negative, but the shape is {shape}.")
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", dtype)
        object.__setattr__(self, "weak_type", key[2])
        object.__setattr__(self, "placement", sharding)
        object.__setattr__(self, "mat", mat)
        # The first of two threads wins, so that there is one instance.
        return _interned.setdefault(key, self)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"ShapedArray is immutable; use .update({name}=...) for a changed one."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.shape, self.dtype, self.weak_type, self.placement, self.mat)

    @property
    def sharding(self) -> Any:
        """The division of the arrays; whole on the mesh at work, where nothing is said."""
        own = self.placement
        if own is None:
            return whole_at_work(len(self.shape))
        return getattr(own, "sharding", own)

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
        """A copy with another ``shape``, ``dtype``, ``weak_type``, ``sharding`` or ``mat``.

        Of another shape nothing is known of its sharding, unless that is given, too.
        """
        own = {"shape": self.shape, "dtype": self.dtype, "weak_type": self.weak_type}
        own["mat"] = self.mat
        if "shape" not in changes:
            own["sharding"] = self.placement
        return ShapedArray(**{**own, **changes})

    def with_axis(self, axis: int, size: int, entry: Any = None, mesh: Any = None) -> ShapedArray:
        """The type with one more axis.

        Args:
            axis: where it is.
            size: its size.
            entry: the explicit mesh axes that divide it, as an entry of a ``PartitionSpec``.
            mesh: their mesh, where the type names none.
        """
        shape = (*self.shape[:axis], size, *self.shape[axis:])
        if not self.is_divided and entry is None:
            return self.update(shape=shape)
        own = self.sharding
        mesh = own.mesh if own.mesh.explicit_axes else mesh
        return self.update(
            shape=shape, sharding=NamedSharding(mesh, own.spec.inserted(axis, entry))
        )

    def without_axis(self, axis: int) -> ShapedArray:
        """The type without one of its axes."""
        shape = self.shape[:axis] + self.shape[axis + 1 :]
        if not self.is_divided:
            return self.update(shape=shape)
        own = self.sharding
        return self.update(shape=shape, sharding=own.update(spec=own.spec.removed(axis)))

    @property
    def is_divided(self) -> bool:
        """True if the type says of explicit axes of a mesh how the arrays lie."""
        return self.placement is not None and lies_in_type(self.placement)

    def plain(self) -> ShapedArray:
        """The type of shape, dtype and weak type alone."""
        if self.placement is None and self.mat is NO_MANUAL_AXES:
            return self
        return ShapedArray(self.shape, self.dtype, self.weak_type)

    def lying(self, sharding: Any) -> ShapedArray:
        """The type of the arrays of this one that lie in a sharding."""
        explicit = explicit_part(sharding)
        return self if explicit is self.placement else self.update(sharding=explicit)

    @cache  # noqa: B019 - types live as long as the process
    def physical(self) -> ShapedArray:
        """The type that represents this one, if its dtype is extended; itself otherwise."""
        if not is_extended(self.dtype):
            return self
        element, own = self.dtype[0], self.placement
        if own is not None and lies_in_type(own):
            own = own.update(spec=own.spec.update((*own.spec, *[None] * len(element.shape))))
        return self.update(
            shape=(*self.shape, *element.shape), dtype=element.base, weak_type=False, sharding=own
        )

    def strip_weak_type(self) -> ShapedArray:
        return self.update(weak_type=False) if self.weak_type else self

    def tangent_aval(self) -> ShapedArray:
        if is_differentiable(self.dtype):
            return self
        return self.update(dtype=float0, weak_type=False)

    def cotangent_aval(self) -> ShapedArray:
        """The type of cotangents: unreduced along the mesh axes along which values are reduced."""
        made = self.tangent_aval()
        if made.mat is not NO_MANUAL_AXES:
            made = made.update(mat=made.mat.of_cotangent())
        own = made.placement
        if not made.is_divided or (spec := own.spec.of_cotangent()) is own.spec:
            return made
        return made.update(sharding=own.update(spec=spec))

    def str_short(self) -> str:
        own, more = self.placement, ""
        if own is not None and lies_in_type(own):
            sizes, more = axes_text(self.shape, own), manual_text(own, self.mat)
        else:
            sizes = ",".join([str(size) for size in self.shape])
            more = manual_text(own, self.mat) if self.mat is not NO_MANUAL_AXES else ""
        return f"{dtype_name(self.dtype)}[{sizes}]{more}"

    def __repr__(self) -> str:
        more = ", weak_type=True" if self.weak_type else ""
        more += "" if self.placement is None else f", sharding={self.placement!r}"
        more += "" if self.mat is NO_MANUAL_AXES else f", mat={self.mat!r}"
        return f"ShapeDtypeStruct(shape={self.shape}, dtype={dtype_name(self.dtype)}{more})"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"len() of unsized object: {self.str_short()} has no axes.")
        return self.shape[0]

    def __bool__(self) -> bool:
        return True  # a type is there, however many elements it speaks of


def _restored(
    shape: tuple[int, ...], dtype: Any, weak_type: bool, placement: Any, mat: ManualAxisType
) -> ShapedArray:
    # What pickles name: the class may have another name, such as that of JAX.
    return ShapedArray(shape, dtype, weak_type, sharding=placement, mat=mat)


def _check_placement(given: Any) -> None:
    from bindax_core.arrays.sharding._layout import concrete_format
    from bindax_core.arrays.sharding._sharding import Sharding
    from bindax_core.arrays.sharding._spec import PartitionSpec

    _, sharding = concrete_format(given, "ShapeDtypeStruct: sharding", TypeError)
    is_device = hasattr(sharding, "platform")
    if not (sharding is None or is_device or isinstance(sharding, (Sharding, PartitionSpec))):
        raise ValueError(
            f"ShapeDtypeStruct: sharding must be a sharding, a PartitionSpec, a Format or one of "
            f"bindax.devices(), but it is {sharding!r:.80}."
        )


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
