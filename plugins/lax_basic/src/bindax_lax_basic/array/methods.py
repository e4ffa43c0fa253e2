"""The methods and properties of arrays and tracers."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bindax_core.extend import typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.array.operators import OPERATORS, add, multiply, true_divide
from bindax_lax_basic.array.updates import IndexedUpdates
from bindax_lax_basic.elementwise.complex_numbers import conj_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.conversion import copy as lax_copy
from bindax_lax_basic.elementwise.selection import max_p, min_p, select_scalars
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
from bindax_lax_basic.rules.operands import broadcast_arrays, promote_dtypes
from bindax_lax_basic.rules.scalars import scalar_array
from bindax_lax_basic.rules.types import axes_argument, axis_argument, static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to, reduce_sum_p
from bindax_lax_basic.shape.creation import zeros_like
from bindax_lax_basic.shape.reshape import expand_dims, reshape_p
from bindax_lax_basic.shape.reshape import squeeze as lax_squeeze
from bindax_lax_basic.shape.transpose import transpose_p

# -------------------------------------------------------------------------------------- shape


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


def reshape(self: Any, *shape: Any, order: str = "C", copy: bool | None = None) -> Any:
    """The elements, in order, in another shape; one size may be -1, which means what is left.

    With the order "F" the first axis is counted first.
    """
    if _order_argument("reshape", order):
        sizes = static_ints("reshape", "shape", shape[0] if len(shape) == 1 else shape)
        return _reversed(reshape(_reversed(self), tuple(reversed(sizes))))
    return _reshaped(self, shape)


def _reshaped(self: Any, shape: tuple[Any, ...]) -> Any:
    self = _settled(self)
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


# --------------------------------------------------------------------------------- reductions


def _refuse_out(name: str, out: Any) -> None:
    if out is not None:
        raise TypeError(f"{name}: arrays are immutable, so out must be None; use the result.")


def _selected(name: str, x: Any, where: Any, neutral: Any) -> Any:
    """The operand with a neutral element where it does not count."""
    if where is None:
        return x
    if typeof(where).dtype != dtypes.bool_:
        raise ValueError(
            f"{name}: where must be None or booleans, but it is {typeof(where).str_short()}; "
            f"compare it, for example with where != 0."
        )
    mask, x = _masked(where, x)
    return select_scalars(mask, scalar_array(neutral, typeof(x).dtype), x)


def _masked(where: Any, x: Any) -> tuple[Any, Any]:
    """The mask of a reduction and its operand, of one shape."""
    if not typeof(where).shape:
        return broadcast_to(where, typeof(x).shape), x
    mask, x = broadcast_arrays(where, x)
    return mask, x


def _reduced(primitive: Any, name: str, x: Any, axis: Any, keepdims: bool) -> Any:
    axes = axes_argument(name, axis, typeof(x).ndim, "axis")
    out = primitive.bind(x, axes=axes)
    return expand_dims(out, axes) if keepdims and axes else out


def _started(name: str, out: Any, initial: Any, combine: Any) -> Any:
    """A reduction that starts from a scalar."""
    if initial is None:
        return out
    if typeof(initial).shape:
        raise ValueError(
            f"{name}: initial must be a scalar, but it is {typeof(initial).str_short()}."
        )
    return combine(out, initial)


def _numbers(self: Any, dtype: Any, promote_integers: bool = True) -> Any:
    """The operand of a sum or product: of the given dtype, narrow integers in the default one."""
    if dtype is not None:
        return convert(self, dtypes.canonical_dtype(dtype), False)
    self = _settled(self)
    own = typeof(self).dtype
    wide = dtypes.summed_dtype(own) if promote_integers or own == dtypes.bool_ else own
    return convert(self, wide, False)


def sum(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The sum over some axes, or all; booleans are counted."""
    _refuse_out("sum", out)
    x = _selected("sum", _numbers(self, dtype, promote_integers), where, 0)
    primitive = reduce_or_p if typeof(x).dtype == dtypes.bool_ else reduce_sum_p
    return _started("sum", _reduced(primitive, "sum", x, axis, keepdims), initial, add)


def prod(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
    promote_integers: bool = True,
) -> Any:
    """The product over some axes, or all."""
    _refuse_out("prod", out)
    x = _selected("prod", _numbers(self, dtype, promote_integers), where, 1)
    primitive = reduce_and_p if typeof(x).dtype == dtypes.bool_ else reduce_prod_p
    return _started("prod", _reduced(primitive, "prod", x, axis, keepdims), initial, multiply)


def _extremum(name: str, primitive: Any, combine: Any, neutral: Any) -> Any:
    def method(
        self: Any,
        axis: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Any:
        _refuse_out(name, out)
        self = _settled(self)
        aval = typeof(self)
        axes = axes_argument(name, axis, aval.ndim, "axis")
        if initial is None and (where is not None or 0 in [aval.shape[i] for i in axes]):
            why = "with where" if where is not None else f"over axes {axes} of {aval.str_short()}"
            raise ValueError(
                f"{name} {why}: there may be no elements to choose from; give initial, which it "
                f"is then."
            )
        if where is not None:
            self = _selected(name, self, where, neutral(aval.dtype))
        found = convert(_reduced(primitive, name, self, axes, keepdims), aval.dtype, False)
        return convert(_started(name, found, initial, combine), aval.dtype, False)

    method.__name__ = name
    method.__doc__ = f"The {name}imum over some axes, or all."
    return method


def _larger(x: Any, y: Any) -> Any:
    return max_p.bind(*promote_dtypes(x, y))


def _smaller(x: Any, y: Any) -> Any:
    return min_p.bind(*promote_dtypes(x, y))


def mean(
    self: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: bool = False,
    where: Any = None,
) -> Any:
    """The mean over some axes, or all; a float also of integers."""
    _refuse_out("mean", out)
    self = _settled(self)
    aval = typeof(self)
    wanted = dtypes.inexact_dtype(aval.dtype) if dtype is None else dtypes.canonical_dtype(dtype)
    # Sums of many numbers overflow, or stop growing, in 16 bits.
    narrow = dtypes.is_inexact(wanted) and wanted.itemsize <= 2
    axes = axes_argument("mean", axis, aval.ndim, "axis")
    x = _selected("mean", convert(self, dtypes.float32 if narrow else wanted, False), where, 0)
    total = _reduced(reduce_sum_p, "mean", x, axes, keepdims)
    if where is None:
        count: Any = 1
        for i in axes:
            count *= aval.shape[i]
        count = scalar_array(count, typeof(total).dtype)
    else:
        counted = _masked(where, self)[0]
        count = convert(sum(counted, axes, None, None, keepdims), typeof(total).dtype, False)
    return convert(true_divide(total, count), wanted, False)


def _logical(name: str, primitive: Any) -> Any:
    def method(
        self: Any, axis: Any = None, out: None = None, keepdims: bool = False, where: Any = None
    ) -> Any:
        _refuse_out(name, out)
        x = _selected(name, convert(self, dtypes.bool_, False), where, name == "all")
        return _reduced(primitive, name, x, axis, keepdims)

    method.__name__ = name
    method.__doc__ = f"Whether {name} elements are not zero, over some axes or all."
    return method


def _arg(name: str, search: Any) -> Any:
    def method(
        self: Any, axis: int | None = None, out: None = None, keepdims: bool | None = None
    ) -> Any:
        _refuse_out(name, out)
        operand = ravel(self) if axis is None else self
        place = 0 if axis is None else axis_argument(name, axis, typeof(self).ndim)
        out = search(operand, place, dtypes.default_dtype("int"))
        if not keepdims:
            return out
        return expand_dims(out, range(typeof(self).ndim) if axis is None else place)

    method.__name__ = name
    method.__doc__ = f"The index of the first {name[3:]}imum along an axis, or of all elements."
    return method


def cumsum(self: Any, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
    """The sums up to and including each element, along an axis or of all elements in order."""
    _refuse_out("cumsum", out)
    operand = _numbers(self, dtype, promote_integers=False)
    if typeof(operand).dtype == dtypes.bool_:
        return convert(cumsum(self, axis, "int32"), dtypes.bool_, False)
    if axis is None or not typeof(operand).shape:
        operand, axis = ravel(operand), axis or 0
    return lax_cumsum(operand, axis)


# -------------------------------------------------------------------------------------- other


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
    "max": _extremum("max", reduce_max_p, _larger, dtypes.smallest),
    "min": _extremum("min", reduce_min_p, _smaller, dtypes.largest),
    "mean": mean,
    "all": _logical("all", reduce_and_p),
    "any": _logical("any", reduce_or_p),
    "argmax": _arg("argmax", lax_argmax),
    "argmin": _arg("argmin", lax_argmin),
    "cumsum": cumsum,
    "conj": conj,
    "conjugate": conj,
    "copy": lax_copy,
}
