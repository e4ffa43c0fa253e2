"""Choices between several arrays or functions, by conditions and indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import Array, Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.extend import broadcast_to, convert, refuse_out
from bindax_numpy._operands import (
    array_operand,
    as_operand,
    checked,
    put_into,
    strong_operand,
    together,
)
from bindax_numpy.arithmetic import clip
from bindax_numpy.comparison import where
from bindax_numpy.indexing import bounded, index_operand, refuse_in_place


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Elements of the first of several arrays whose condition holds.

    Args:
        condlist: conditions, arrays of booleans.
        choicelist: as many arrays.
        default: what is chosen where no condition holds. All broadcast together.

    Raises:
        ValueError: when there are not as many arrays as conditions.

    >>> x = jnp.arange(4)
    >>> jnp.select([x < 1, x > 2], [x - 10, x + 10], 0)
    Array([-10,   0,   0,  13], dtype=int32)
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"select takes one array for each condition, but there are {len(choicelist)} arrays "
            f"for {len(condlist)} conditions."
        )
    *choices, out = together("select", *choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices, strict=True))):
        out = where(condition, choice, out)
    return out


def choose(a: Any, choices: Any, out: None = None, mode: str = "raise") -> Array:
    """Elements of several arrays, by an index for each element of the result.

    Args:
        a: integers, the numbers of the arrays.
        choices: a sequence of arrays, which broadcast, or an array, whose first axis counts them.
        out: None.
        mode: what happens out of bounds: "clip", "wrap", or "raise", which needs indices that are
            known while tracing.

    Raises:
        ValueError: for indices out of bounds with "raise", and other modes.

    >>> jnp.choose(jnp.array([1, 0]), [jnp.array([1, 2]), jnp.array([10, 20])])
    Array([10,  2], dtype=int32)
    """
    refuse_out("choose", out)
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"choose: mode must be 'raise', 'clip' or 'wrap', but it is {mode!r}.")
    index = index_operand("choose", a)
    arrays = list(together("choose", *choices))
    arrays = [convert(x, typeof(x).dtype, False) for x in arrays]
    n = len(arrays)
    index = bounded("choose", "a", index, n, mode, f"{n} arrays; see mode")
    shape = lax.broadcast_shapes(typeof(index).shape, *(typeof(x).shape for x in arrays))
    index = broadcast_to(index, shape)
    found = broadcast_to(arrays[0], shape)
    for i, x in enumerate(arrays[1:], 1):
        found = where(index == i, x, found)
    return found


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Array:
    """The values of functions, each on the elements where its condition holds.

    Args:
        x: an array.
        condlist: conditions; where several hold the last one decides.
        funclist: a function of an array for each condition, or a number; one more for where no
            condition holds, 0 by default.
        *args: further arguments of the functions.
        **kw: likewise.

    Returns:
        An array of the dtype of ``x``. Each function is applied to all elements.

    Raises:
        ValueError: when the functions are not as many as the conditions, or one more.

    >>> x = jnp.array([-2.0, 3.0])
    >>> jnp.piecewise(x, [x < 0], [lambda v: -v, lambda v: v * 10])
    Array([ 2., 30.], dtype=float32)
    """
    operand = strong_operand("piecewise", x)
    if isinstance(condlist, Mapping) or isinstance(funclist, Mapping):
        raise TypeError("piecewise takes sequences of conditions and of functions, not mappings.")
    aval = typeof(operand)
    conditions = [condlist] if _is_one_condition(condlist, aval.ndim) else list(condlist)
    functions = list(funclist)
    if len(functions) == len(conditions):
        functions.append(0)
    if len(functions) != len(conditions) + 1:
        raise ValueError(
            f"piecewise takes a function for each of {len(conditions)} conditions, and one more or "
            f"none, but got {len(functions)}."
        )
    *chosen, other = [_value(f, operand, args, kw) for f in functions]
    out = broadcast_to(other, aval.shape)
    for condition, value in zip(conditions, chosen, strict=True):
        out = where(condition, value, out)
    return out


def _is_one_condition(condlist: Any, ndim: int) -> bool:
    """Tell whether conditions are a single one: an array with no more axes than the elements."""
    if isinstance(condlist, (bool, np.bool_)):
        return True
    if isinstance(condlist, (Array, Tracer, np.ndarray)):
        return typeof(condlist).ndim <= ndim
    return len(condlist) > 0 and isinstance(condlist[0], (bool, np.bool_))


def _value(function: Any, x: Any, args: Any, kw: Any) -> Any:
    value: Any = function(x, *args, **kw) if callable(function) else function
    return put_into("piecewise", value, typeof(x).dtype)


def place(arr: Any, mask: Any, vals: Any, *, inplace: bool = False) -> Array:
    """A copy with the elements for which a mask holds changed.

    Args:
        arr: an array.
        mask: booleans, as many as elements.
        vals: what the elements become, in order and from the start again.
        inplace: False: arrays are immutable.

    >>> jnp.place(jnp.array([1, 2, 3]), jnp.array([True, False, True]), jnp.array([8, 9]))
    Array([8, 2, 9], dtype=int32)
    """
    refuse_in_place("place", inplace)
    x = array_operand("place", arr)
    values = put_into("place", vals, typeof(x).dtype)
    holds = convert(array_operand("place", mask), dtypes.bool_, False)
    if typeof(holds).size != typeof(x).size or not typeof(values).size:
        raise ValueError(
            f"place takes a mask of {typeof(x).size} elements and one value or more, but got "
            f"{typeof(holds).str_short()} and {typeof(values).str_short()}."
        )
    flat = holds.ravel()
    number = lax.cumsum(convert(flat, np.dtype(np.int32), False), 0) - 1
    chosen = values.ravel()[number % typeof(values).size]
    return where(flat, chosen, x.ravel()).reshape(typeof(x).shape)


def put(a: Any, ind: Any, v: Any, mode: str | None = None, *, inplace: bool = False) -> Array:
    """A copy with some elements changed, by their places counted in order.

    Args:
        a: an array.
        ind: integers.
        v: what the elements become, in order and from the start again; of none they stay.
        mode: what happens out of bounds: nothing by default, "clip" or "wrap".
        inplace: False: arrays are immutable.

    >>> jnp.put(jnp.zeros(3), jnp.array([0, 2]), jnp.array([5.0, 6.0]))
    Array([5., 0., 6.], dtype=float32)
    """
    refuse_in_place("put", inplace)
    x, values = array_operand("put", a), checked("put", v)
    index = index_operand("put", ind).ravel()
    if mode not in (None, "clip", "wrap"):
        raise ValueError(f"put: mode must be None, 'clip' or 'wrap', but it is {mode!r}.")
    size, count = typeof(x).size, typeof(index).size
    if not size or not count or not typeof(values).size:
        return x
    if mode is not None:
        index = index % size if mode == "wrap" else clip(index, 0, size - 1)
    if typeof(values).shape:
        values = as_operand(values).ravel()
        values = values[np.arange(count, dtype=np.int32) % typeof(values).size]
    return x.ravel().at[index].set(values, mode="drop").reshape(typeof(x).shape)
