"""The methods and properties of arrays and tracers."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.array.operators import OPERATORS, matmul, true_divide
from bindax_lax_basic.array.updates import IndexedUpdates
from bindax_lax_basic.elementwise.complex_numbers import conj_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert, copy
from bindax_lax_basic.elementwise.selection import clamp
from bindax_lax_basic.reductions.arg_reductions import argmax as lax_argmax
from bindax_lax_basic.reductions.arg_reductions import argmin as lax_argmin
from bindax_lax_basic.reductions.cumulative import cumsum as lax_cumsum
from bindax_lax_basic.reductions.reductions import (
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_prod_p,
)
from bindax_lax_basic.rules.scalars import scalar_array
from bindax_lax_basic.rules.types import axes_argument, axis_argument, static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import reduce_sum_p
from bindax_lax_basic.shape.creation import zeros_like
from bindax_lax_basic.shape.reshape import expand_dims, reshape_p
from bindax_lax_basic.shape.reshape import squeeze as lax_squeeze
from bindax_lax_basic.shape.transpose import transpose_p

# -------------------------------------------------------------------------------------- shape


def reshape(self: Any, *shape: Any) -> Any:
    """The elements, in order, in another shape; one size may be -1, which means what is left."""
    sizes = list(static_ints("reshape", "shape", shape[0] if len(shape) == 1 else shape))
    aval = typeof(self)
    if -1 in sizes:
        place = sizes.index(-1)
        known = 1
        for size in sizes[:place] + sizes[place + 1 :]:
            known *= size
        if known <= 0 or aval.size % known:
            raise TypeError(
                f"reshape: {aval.str_short()} with {aval.size} elements cannot take the shape "
                f"{tuple(sizes)}; what -1 stands for is not an integer."
            )
        sizes[place] = aval.size // known
    if tuple(sizes) == aval.shape:
        return self
    return reshape_p.bind(self, new_sizes=tuple(sizes), dimensions=None)


def transpose(self: Any, *axes: Any) -> Any:
    """The axes permuted; without arguments, in reverse order."""
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


def ravel(self: Any) -> Any:
    """The elements, in order, along one axis."""
    return reshape(self, -1) if typeof(self).size else reshape(self, 0)


def squeeze(self: Any, axis: Any = None) -> Any:
    """Axes of size one removed: those given, or all."""
    return lax_squeeze(self, axis)


def astype(self: Any, dtype: Any) -> Any:
    """The elements converted to another dtype."""
    return convert(self, dtypes.canonical_dtype(dtype), False)


# --------------------------------------------------------------------------------- reductions


def _reduced(primitive: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    axes = axes_argument(primitive.name, axis, typeof(x).ndim, "axis")
    out = primitive.bind(x, axes=axes)
    return expand_dims(out, axes) if keepdims and axes else out


def _numbers(self: Any, dtype: Any) -> Any:
    """The operand of a sum or product: of the given dtype, narrow integers in the default one."""
    if dtype is not None:
        return convert(self, dtypes.canonical_dtype(dtype), False)
    aval = typeof(self)
    wide = dtypes.summed_dtype(aval.dtype)
    return self if wide == aval.dtype else convert(self, wide, aval.weak_type)


def sum(self: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over some axes, or all; booleans are counted."""
    return _reduced(reduce_sum_p, _numbers(self, dtype), axis, keepdims)


def prod(self: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product over some axes, or all."""
    return _reduced(reduce_prod_p, _numbers(self, dtype), axis, keepdims)


def _extremum(name: str, primitive: Any) -> Any:
    def method(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
        aval = typeof(self)
        axes = axes_argument(name, axis, aval.ndim, "axis")
        if any(aval.shape[i] == 0 for i in axes):
            raise ValueError(
                f"{name} over axes {axes} of {aval.str_short()}: there are no elements to choose "
                f"from; use lax.reduce_{name}, which has a value for that."
            )
        return _reduced(primitive, self, axes, keepdims)

    method.__name__ = name
    method.__doc__ = f"The {name}imum over some axes, or all."
    return method


def mean(self: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The mean over some axes, or all; a float also of integers."""
    aval = typeof(self)
    if dtype is None and not dtypes.is_inexact(aval.dtype):
        dtype = dtypes.inexact_dtype(aval.dtype)
    axes = axes_argument("mean", axis, aval.ndim, "axis")
    total = sum(self, axes, dtype, keepdims)
    count = 1
    for i in axes:
        count *= aval.shape[i]
    return true_divide(total, scalar_array(count, typeof(total).dtype))


def _logical(name: str, primitive: Any) -> Any:
    def method(self: Any, axis: Any = None, keepdims: bool = False) -> Any:
        return _reduced(primitive, astype(self, "bool"), axis, keepdims)

    method.__name__ = name
    method.__doc__ = f"Whether {name} elements are not zero, over some axes or all."
    return method


def _arg(name: str, search: Any) -> Any:
    def method(self: Any, axis: int | None = None, keepdims: bool = False) -> Any:
        operand = ravel(self) if axis is None else self
        place = 0 if axis is None else axis_argument(name, axis, typeof(self).ndim)
        out = search(operand, place, dtypes.default_dtype("int"))
        if not keepdims:
            return out
        return expand_dims(out, range(typeof(self).ndim) if axis is None else place)

    method.__name__ = name
    method.__doc__ = f"The index of the first {name[3:]}imum along an axis, or of all elements."
    return method


def cumsum(self: Any, axis: int | None = None) -> Any:
    """The sums up to and including each element, along an axis or of all elements in order."""
    operand = _numbers(self, None) if self.dtype == dtypes.bool_ else self
    return lax_cumsum(ravel(operand), 0) if axis is None else lax_cumsum(operand, axis)


# -------------------------------------------------------------------------------------- other


def clip(self: Any, min: Any = None, max: Any = None) -> Any:
    """The elements limited to between two bounds; None is no bound."""
    dtype = typeof(self).dtype
    low = dtypes.smallest(dtype) if min is None else min
    high = dtypes.largest(dtype) if max is None else max
    bounds = [convert(bound, dtype, False) for bound in (low, high)]
    return clamp(bounds[0], self, bounds[1])


def dot(self: Any, other: Any) -> Any:
    """The product of vectors and matrices; with a scalar, the elementwise product."""
    if not typeof(self).shape or not typeof(other).shape:
        return self * other
    return matmul(self, other)


def conj(self: Any) -> Any:
    """The complex conjugate; of real numbers themselves."""
    dtype = typeof(self).dtype
    return conj_p.bind(self, input_dtype=dtype) if dtypes.is_complex(dtype) else self


def _real(self: Any) -> Any:
    return real_p.bind(self) if dtypes.is_complex(typeof(self).dtype) else self


def _imag(self: Any) -> Any:
    return imag_p.bind(self) if dtypes.is_complex(typeof(self).dtype) else zeros_like(self)


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
    "sum": sum,
    "prod": prod,
    "max": _extremum("max", reduce_max_p),
    "min": _extremum("min", reduce_min_p),
    "mean": mean,
    "all": _logical("all", reduce_and_p),
    "any": _logical("any", reduce_or_p),
    "argmax": _arg("argmax", lax_argmax),
    "argmin": _arg("argmin", lax_argmin),
    "cumsum": cumsum,
    "clip": clip,
    "dot": dot,
    "conj": conj,
    "conjugate": conj,
    "copy": copy,
}
