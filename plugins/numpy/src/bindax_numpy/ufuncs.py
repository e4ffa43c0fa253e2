"""Elementwise functions with the methods of NumPy's ufuncs, and ufuncs of Python functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_control_flow import scan
from bindax_core.extend import Array, is_value, typeof
from bindax_lax_basic.extend import (
    axes_argument,
    axis_argument,
    canonical_dtype,
    convert,
    from_value,
    initial_operand,
    mask_operand,
    reduced,
    refuse_out,
    selected,
)
from bindax_numpy import arithmetic, comparison, exp_log_trigonometry, reductions, special
from bindax_numpy._operands import array_operand
from bindax_numpy.comparison import where as choose
from bindax_numpy.concatenate import concatenate
from bindax_numpy.cumulative import cumprod
from bindax_numpy.indexing import index_operand
from bindax_numpy.reshaping import as_last_axis, broadcast_to, expand_dims, moveaxis, ravel, reshape
from bindax_numpy.vectorize import vectorize


class ufunc:
    """An elementwise function of one or two arrays, with reductions made of it.

    Two are equal when they are of one function, name and identity. Their attributes cannot be set.

    Args:
        func: the function.
        nin: the number of its arguments.
        nout: the number of its results.
        name: its name; by default that of ``func``.
        identity: the number that, as one argument, gives the other; None where there is none.
        reduction: ``(x, axes) -> result`` where that is known to be faster than step by step.
        accumulation: ``(x, axis) -> result``, likewise.
        broadcasting: the function of arrays, where ``func`` itself is one of scalars.

    >>> jnp.add(1, 2), jnp.add.reduce(jnp.arange(4)), jnp.add.identity
    (Array(3, dtype=int64, weak_type=True), Array(6, dtype=int32), 0)
    """

    def __init__(
        self,
        func: Callable[..., Any],
        /,
        nin: int,
        nout: int,
        *,
        name: str | None = None,
        identity: Any = None,
        reduction: Callable[..., Any] | None = None,
        accumulation: Callable[..., Any] | None = None,
        broadcasting: Callable[..., Any] | None = None,
    ) -> None:
        called = name or str(getattr(func, "__name__", "ufunc"))
        vars(self).update(
            nin=nin,
            nout=nout,
            nargs=nin,
            identity=identity,
            __name__=called,
            __qualname__=called,
            __doc__=func.__doc__,
            __module__="bindax_numpy",
            _func=func,
            _function=broadcasting or func,
            _reduction=reduction,
            _accumulation=accumulation,
        )

    nin: int
    nout: int
    nargs: int
    identity: Any
    __name__: str
    _func: Callable[..., Any]
    _function: Callable[..., Any]
    _reduction: Callable[..., Any] | None
    _accumulation: Callable[..., Any] | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"{name} of {self!r} cannot be set; make another one, as with frompyfunc."
        )

    def _key(self) -> tuple[Any, ...]:
        return self._func, self.__name__, self.nin, self.nout, self.identity

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, ufunc) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __call__(self, *args: Any, out: None = None, where: None = None) -> Array:
        """The results for each element; ``out`` and ``where`` are None."""
        refuse_out(self.__name__, out)
        if where is not None:
            raise TypeError(
                f"{self.__name__}: elements that are left out would have no value, so where must "
                f"be None; choose with bindax.numpy.where."
            )
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} arguments, but got {len(args)}.")
        return self._function(*args)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r} of bindax.numpy>"

    def traced_parts(self) -> tuple[Any, ...]:
        """The parts that programs with this depend on, for ``traced_once``."""
        return (self._function,)

    def __reduce__(self) -> Any:
        # The ufuncs of the package are pickled by name.
        known = getattr(importlib.import_module("bindax_numpy"), self.__name__, None) is self
        return self.__name__ if known else super().__reduce__()

    def _binary(self, method: str, out: None = None) -> str:
        """The name of a method that needs a function of two arguments, and has no ``out``."""
        if self.nin != 2 or self.nout != 1:
            raise ValueError(
                f"{self.__name__}.{method} needs a function of two arguments with one result, but "
                f"it has {self.nin} and {self.nout}."
            )
        refuse_out(f"{self.__name__}.{method}", out)
        return f"{self.__name__}.{method}"

    def reduce(
        self,
        a: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: None = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
    ) -> Array:
        """The elements over axes joined to one by the function, from the first on.

        Args:
            a: an array.
            axis: an axis, several, or None for all.
            dtype: the dtype in which is computed.
            out: None.
            keepdims: whether the axes stay, with size 1.
            initial: a scalar, what is started from.
            where: booleans, the elements that count; it takes an ``initial`` or an identity.

        >>> jnp.maximum.reduce(jnp.array([[1, 5], [3, 2]]))
        Array([3, 5], dtype=int32)
        """
        name = self._binary("reduce", out)
        x = _operand(name, a, dtype)
        axes = axes_argument(name, axis, typeof(x).ndim, "axis")
        if self._reduction is not None:
            return self._reduction(
                x, axes, dtype=dtype, keepdims=keepdims, initial=initial, where=where
            )
        if where is not None:
            where = broadcast_to(mask_operand(name, where), typeof(x).shape)
            where = moveaxis(as_last_axis(where, axes), -1, 0)
        x = moveaxis(as_last_axis(x, axes), -1, 0)
        found = self._folded(name, x, initial, where)
        return expand_dims(found, axes) if keepdims and axes else found

    def _folded(self, name: str, x: Any, initial: Any, where: Any) -> Any:
        """The slices of an array joined one after the other."""
        start = self.identity if initial is None else initial_operand(name, initial)
        n, *rest = typeof(x).shape
        if initial is None and where is None and n:
            first, others = x[0], x[1:]
        elif start is None:
            raise ValueError(
                f"{name}: {self.__name__} has no identity, so that nothing, or what where leaves, "
                f"has no value; give initial."
            )
        else:
            first, others = broadcast_to(convert(start, typeof(x).dtype, False), tuple(rest)), x
        first = convert(first, self._joined_dtype(typeof(first).dtype), False)
        if not typeof(others).shape[0]:
            return first

        def step(carry: Any, given: Any) -> tuple[Any, None]:
            value, counts = given
            joined = convert(self(carry, value), typeof(carry).dtype, False)
            return joined if counts is None else choose(counts, joined, carry), None

        return scan(step, first, (others, where))[0]

    def _joined_dtype(self, dtype: Any) -> Any:
        """The dtype of two elements of a dtype joined, also where there is nothing to join."""
        zero = convert(0, dtype, False)
        return typeof(self(zero, zero)).dtype

    def accumulate(self, a: Any, axis: int = 0, dtype: Any = None, out: None = None) -> Array:
        """Join the elements up to and including each one, along an axis.

        >>> jnp.add.accumulate(jnp.array([1, 2, 3]))
        Array([1, 3, 6], dtype=int32)
        """
        name = self._binary("accumulate", out)
        x = _operand(name, a, dtype)
        place = axis_argument(name, axis, typeof(x).ndim)
        if self._accumulation is not None:
            return self._accumulation(x, place)
        moved = moveaxis(x, place, 0)
        found = self._joined_dtype(typeof(x).dtype)
        if not typeof(moved).size:
            return convert(x, found, False)
        first = convert(moved[0], found, False)

        def step(carry: Any, value: Any) -> tuple[Any, Any]:
            joined = convert(self(carry, value), typeof(carry).dtype, False)
            return joined, joined

        found = scan(step, first, moved[1:])[1]
        return moveaxis(concatenate([expand_dims(first, 0), found]), 0, place)

    def reduceat(
        self, a: Any, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Slices along an axis joined from each index up to the next one.

        Where the next index is no later, the slice of the index alone is the result.

        >>> jnp.add.reduceat(jnp.arange(5), jnp.array([0, 3, 1]))
        Array([ 3,  3, 10], dtype=int32)
        """
        name = self._binary("reduceat", out)
        x, starts = _operand(name, a, dtype), index_operand(name, indices)
        if typeof(starts).ndim != 1:
            raise ValueError(f"{name} takes a vector of indices, not {typeof(starts).str_short()}.")
        place = axis_argument(name, axis, typeof(x).ndim)
        moved = moveaxis(x, place, 0)
        n, *rest = typeof(moved).shape
        if not n and typeof(starts).size:
            raise IndexError(f"{name}: there are indices, but axis {axis} has no elements.")
        end = lax.full((1,), n, typeof(starts).dtype)
        stops = lax.max(concatenate([starts[1:], end]), starts + 1)
        column = (typeof(starts).shape[0], *(1,) * len(rest))
        first = lax.full((column[0], *rest), 0, typeof(moved).dtype)
        if n:
            first = convert(first, typeof(self(moved[0], moved[0])).dtype, False)

        def step(carry: Any, given: Any) -> tuple[Any, None]:
            position, value = given
            joined = convert(self(carry, expand_dims(value, 0)), typeof(carry).dtype, False)
            is_first = reshape(starts == position, column)
            within = reshape((starts < position) & (position < stops), column)
            value = convert(value, typeof(carry).dtype, False)
            return choose(is_first, value, choose(within, joined, carry)), None

        found, _ = scan(step, first, (lax.iota(typeof(starts).dtype, n), moved))
        return moveaxis(found, 0, place)

    def at(self, a: Any, indices: Any, b: Any = None, /, *, inplace: bool = False) -> Array:
        """A copy with the function applied to the elements at indices, once for each.

        Args:
            a: an array.
            indices: as between brackets.
            b: the second arguments, which broadcast; for functions of two.
            inplace: False, as arrays are immutable.

        Returns:
            An array of the dtype of the function's results; ``add``, ``subtract`` and ``multiply``
            keep that of ``a``.

        >>> jnp.add.at(jnp.zeros(3), jnp.array([0, 2, 2]), 1.0)
        Array([1., 0., 2.], dtype=float32)
        """
        name = f"{self.__name__}.at"
        if inplace:
            raise ValueError(f"{name}: arrays are immutable, so inplace must be False.")
        if (b is None) != (self.nin == 1) or self.nout != 1:
            raise ValueError(f"{name} takes an array, indices, and {self.nin - 1} more arrays.")
        x = array_operand(name, a)
        own = typeof(x)
        places = reshape(lax.iota("int32", own.size), own.shape)[indices]
        shape = typeof(places).shape
        seconds = None if b is None else b if is_value(b) else from_value(name, b)
        others = () if b is None else (ravel(broadcast_to(array_operand(name, seconds), shape)),)
        found = own.dtype
        if self._function not in _SCATTERED:
            kinds = [typeof(v) for v in (x, *others)]
            found = typeof(self(*[convert(0, v.dtype, v.weak_type) for v in kinds])).dtype

        def step(carry: Any, given: Any) -> tuple[Any, None]:
            place, *values = given
            changed = convert(self(carry[place], *values), found, False)
            return carry.at[place].set(changed), None

        flat, _ = scan(step, convert(ravel(x), found, False), (ravel(places), *others))
        return reshape(flat, own.shape)

    def outer(self, A: Any, B: Any, /) -> Array:
        """The results for all pairs of an element of one array and one of the other.

        >>> jnp.multiply.outer(jnp.array([1, 2]), jnp.array([3, 4]))
        Array([[3, 4],
               [6, 8]], dtype=int32)
        """
        name = self._binary("outer")
        x, y = array_operand(name, A), array_operand(name, B)
        ndim = typeof(x).ndim + typeof(y).ndim
        x = lax.expand_dims(x, tuple(range(typeof(x).ndim, ndim)))
        return self(x, lax.broadcast_to_rank(y, ndim))


def _operand(name: str, a: Any, dtype: Any) -> Any:
    x = array_operand(name, a)
    wanted = typeof(x).dtype if dtype is None else canonical_dtype(dtype)
    return convert(x, wanted, False)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A ufunc of a Python function of scalars, which is mapped over elements.

    Args:
        func: the function; it is traced.
        nin: the number of its arguments.
        nout: the number of its results.
        identity: the number that, as one argument, gives the other; None where there is none.

    >>> jnp.frompyfunc(lambda x, y: 10 * x + y, 2, 1).reduce(jnp.array([1, 2, 3]))
    Array(123, dtype=int32)
    """
    if not callable(func):
        raise TypeError(f"frompyfunc takes a function, but got {func!r:.60}.")
    return ufunc(func, nin, nout, identity=identity, broadcasting=vectorize(func))


# The functions whose results are written into the array that is given, in its dtype.
_SCATTERED = (arithmetic.add, arithmetic.subtract, arithmetic.multiply)


def _bitwise(combine: Callable[..., Any], primitive: Any, identity: int) -> ufunc:
    """A bitwise function, whose reduction is an operation."""
    name = combine.__name__

    def reduction(x: Any, axes: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        neutral = np.array(identity).astype(typeof(x).dtype).item()
        found = reduced(name, primitive, selected(name, x, where, neutral), axes, keepdims)
        if initial is None:
            return found
        return combine(found, initial_operand(name, initial, typeof(found).dtype))

    return ufunc(combine, 2, 1, identity=identity, reduction=reduction)


def _logical(combine: Callable[..., Any], function: Callable[..., Any], identity: bool) -> ufunc:
    """A logical function, whose reduction is another function."""

    def reduction(x: Any, axes: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        found = function(x, axes, keepdims=keepdims, where=where)
        return found if initial is None else combine(found, initial)

    return ufunc(combine, 2, 1, identity=identity, reduction=reduction)


def _extremum(function: Callable[..., Any]) -> Any:
    def reduction(x: Any, axes: Any, dtype: Any, keepdims: bool, initial: Any, where: Any) -> Any:
        return function(x, axes, keepdims=keepdims, initial=initial, where=where)

    return reduction


add: ufunc = ufunc(
    arithmetic.add, 2, 1, identity=0, reduction=reductions.sum, accumulation=reductions.cumsum
)
multiply: ufunc = ufunc(
    arithmetic.multiply, 2, 1, identity=1, reduction=reductions.prod, accumulation=cumprod
)
subtract: ufunc = ufunc(arithmetic.subtract, 2, 1)
negative: ufunc = ufunc(arithmetic.negative, 1, 1)
maximum: ufunc = ufunc(arithmetic.maximum, 2, 1, reduction=_extremum(reductions.max))
minimum: ufunc = ufunc(arithmetic.minimum, 2, 1, reduction=_extremum(reductions.min))
bitwise_and: ufunc = _bitwise(comparison.bitwise_and, lax.reduce_and_p, -1)
bitwise_or: ufunc = _bitwise(comparison.bitwise_or, lax.reduce_or_p, 0)
bitwise_xor: ufunc = _bitwise(comparison.bitwise_xor, lax.reduce_xor_p, 0)
logical_and: ufunc = _logical(comparison.logical_and, reductions.all, True)
logical_or: ufunc = _logical(comparison.logical_or, reductions.any, False)
logical_xor: ufunc = ufunc(comparison.logical_xor, 2, 1, identity=False)
logaddexp: ufunc = ufunc(exp_log_trigonometry.logaddexp, 2, 1, identity=-float("inf"))
logaddexp2: ufunc = ufunc(special.logaddexp2, 2, 1, identity=-float("inf"))
