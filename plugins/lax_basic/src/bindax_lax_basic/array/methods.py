"""The methods and properties of arrays and tracers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bindax_core.errors import ShapeError
from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.array import reductions
from bindax_lax_basic.array.at_updates import IndexedUpdates
from bindax_lax_basic.array.operators import OPERATORS
from bindax_lax_basic.elementwise.complex_numbers import conj_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.conversion import copy as lax_copy
from bindax_lax_basic.rules.types import axis_argument, static_ints
from bindax_lax_basic.shape.creation import zeros_like
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_lax_basic.shape.reshape import squeeze as lax_squeeze
from bindax_lax_basic.shape.transpose import transpose_p
from bindax_transforms.extend import decided


def _settled(x: Any) -> Any:
    """A weak number without axes in the default dtype, as functions of NumPy's names have it."""
    aval = typeof(x)
    wanted = dtypes.settled_dtype(aval)
    return x if wanted == aval.dtype else convert(x, wanted, True)


def _reversed(x: Any) -> Any:
    return transpose_p.bind(x, permutation=tuple(reversed(range(typeof(x).ndim))))


def _order_argument(name: str, order: Any) -> bool:
    """Tell whether the first axis is counted first, rather than the last."""
    if order not in ("C", "F", "A", "K", None):
        raise ValueError(f"{name}: order must be 'C' or 'F', but it is {order!r}.")
    return bool(order == "F")


def reshape(
    self: Any, *shape: Any, order: str = "C", copy: bool | None = None, out_sharding: Any = None
) -> Any:
    """The elements, in order, in another shape; one size may be -1, which means what is left.

    With the order "F" the first axis is counted first. ``out_sharding`` says how the result lies on
    a mesh, as for ``reshard``.
    """
    if out_sharding is not None:
        return decided(reshape, out_sharding, (self, *shape), {"order": order, "copy": copy})
    if _order_argument("reshape", order):
        return _reversed(_reshaped(_reversed(self), _sizes(shape)[::-1]))
    return _reshaped(self, _sizes(shape))


def _sizes(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """A shape that is given as one argument, or as one for each size."""
    return static_ints("reshape", "shape", shape[0] if len(shape) == 1 else shape)


def _reshaped(self: Any, sizes: tuple[int, ...]) -> Any:
    self = _settled(self)
    aval = typeof(self)
    if -1 in sizes:
        place = sizes.index(-1)
        known = math.prod((*sizes[:place], *sizes[place + 1 :]))
        if known <= 0 or aval.size % known:
            raise ShapeError(
                f"reshape: {aval.str_short()} with {aval.size} elements cannot take the shape "
                f"{sizes}; what -1 stands for is not an integer."
            )
        sizes = (*sizes[:place], aval.size // known, *sizes[place + 1 :])
    return self if sizes == aval.shape else reshape_p.bind(self, new_sizes=sizes, dimensions=None)


def transpose(self: Any, *axes: Any) -> Any:
    """The axes permuted; without arguments, in reverse order."""
    self = _settled(self)
    ndim = typeof(self).ndim
    if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], Sequence)):
        axes = () if axes[0] is None else tuple(axes[0])
        if not axes and ndim:
            axes = tuple(reversed(range(ndim)))
    order = [axis_argument("transpose", axis, ndim) for axis in axes]
    return transpose_p.bind(self, permutation=tuple(order) or tuple(reversed(range(ndim))))


def swapaxes(self: Any, axis1: int, axis2: int) -> Any:
    """Two axes exchanged."""
    ndim = typeof(self).ndim
    i, j = (axis_argument("swapaxes", axis, ndim) for axis in (axis1, axis2))
    order = list(range(ndim))
    order[i], order[j] = j, i
    return transpose_p.bind(self, permutation=tuple(order))


def ravel(self: Any, order: str = "C") -> Any:
    """The elements along one axis; with the order "F" the first axis is counted first."""
    if _order_argument("ravel", order):
        self = _reversed(self)
    return _reshaped(self, (typeof(self).size,))


def squeeze(self: Any, axis: Any = None) -> Any:
    """Axes of size one removed: those given, or all."""
    return lax_squeeze(_settled(self), axis)


def astype(self: Any, dtype: Any, copy: bool = False) -> Any:
    """The elements converted to another dtype; None is the default float."""
    wanted = dtypes.default_dtype("float") if dtype is None else dtypes.canonical_dtype(dtype)
    out = convert(self, wanted, False)
    return lax_copy(out) if copy and out is self else out


def conj(self: Any) -> Any:
    """The complex conjugate; of real numbers themselves."""
    dtype = typeof(self).dtype
    return conj_p.bind(self, input_dtype=dtype) if dtypes.is_complex(dtype) else self


def _real(self: Any) -> Any:
    return real_p.bind(self) if dtypes.is_complex(typeof(self).dtype) else self


def _imag(self: Any) -> Any:
    return imag_p.bind(self) if dtypes.is_complex(typeof(self).dtype) else zeros_like(self)


_REDUCTIONS = ("all", "any", "argmax", "argmin", "cumsum", "max", "mean", "min", "prod", "sum")
ATTRIBUTES: Mapping[str, Any] = {
    **OPERATORS,
    "T": property(transpose, doc="The array with its axes in reverse order."),
    "at": property(IndexedUpdates, doc="Changed copies: ``x.at[index].set(y)`` and its like."),
    "mT": property(lambda x: swapaxes(x, -1, -2), doc="The last two axes exchanged."),
    "real": property(_real, doc="The real part."),
    "imag": property(_imag, doc="The imaginary part."),
    "reshape": reshape,
    "transpose": transpose,
    "swapaxes": swapaxes,
    "ravel": ravel,
    "flatten": ravel,
    "squeeze": squeeze,
    "astype": astype,
    **{name: getattr(reductions, name) for name in _REDUCTIONS},
    "conj": conj,
    "conjugate": conj,
    "copy": lax_copy,
}
