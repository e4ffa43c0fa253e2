"""Functions that evaluate plain arrays at once.

Between a call and NumPy stand the function's own words and ``bind``. On few numbers they take
longer than the numbers, though they say the same for all arrays of one type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

import numpy as np

from bindax_core.extend import (
    Array,
    Primitive,
    describe_function,
    hide_internal_frames,
    staging,
    trace_state,
)

F = TypeVar("F", bound=Callable[..., Any])
Parameters = Callable[..., dict[str, Any] | None]

_ABSENT: Any = object()
_asarray, _ndarray, _new_array = np.asarray, np.ndarray, Array.__new__


def direct(function: F, primitive: Primitive, params: Parameters | None = None) -> F:
    """A function of one or two arrays, evaluated at once for types that it has met.

    It is an ``api_boundary``. The function itself is called for operands of new types, for all that
    are not arrays on the host, with further arguments, and while something is traced.

    Args:
        function: binds the primitive, with one result, to its operands as they are.
        primitive: the primitive, whose ``impl`` rule is planned or takes no parameters.
        params: from the types of the operands to the parameters that the function binds for them
            alone; None for types with which it does something else. By default there are none.

    Raises:
        TypeError: when the function has not one or two arguments without a default.

    >>> from bindax_transforms import direct
    >>> from bindax_core.extend import Array, abstract_eval, impl, jvp, lowering, primitive
    >>> from bindax_core.extend import transpose, vmap
    >>> kinds = jvp, vmap, transpose, lowering["stablehlo"]
    >>> others = [kind.absent("an example") for kind in kinds]
    >>> rules = impl(lambda x: x + x), abstract_eval(lambda x: x), *others
    >>> twice_p = primitive("twice", *rules)
    >>> twice = direct(lambda x: twice_p.bind(x), twice_p)
    >>> x = Array.from_numpy(np.ones(2))
    >>> twice(x), twice(x)
    (Array([2., 2.], dtype=float64), Array([2., 2.], dtype=float64))
    """
    met = primitive.new_memory()

    def first(*operands: Any) -> Any:
        """Call the function with arrays, and remember what it did."""
        out = function(*operands)
        if type(out) is Array:
            avals = tuple([x.aval for x in operands])
            evaluation = primitive.evaluation(avals, params(*avals) if params else {})
            if evaluation is not None:
                met[avals[0] if len(avals) == 1 else avals] = evaluation
        return out

    of_count = {1: _of_one, 2: _of_two}.get(_count_operands(function))
    if of_count is None:
        raise TypeError(
            f"direct takes a function of one or two arrays, but {describe_function(function)} has "
            f"{_count_operands(function)} arguments without a default; call bind there instead."
        )
    call: F = wraps(function)(of_count(met, first, function))  # type: ignore[assignment]
    return call


def _count_operands(function: Callable[..., Any]) -> int:
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    parameters = signature(function).parameters.values()
    return sum(one.kind in positional and one.default is one.empty for one in parameters)


# The two are written out, since each word of theirs counts.


def _of_one(met: dict[Any, Any], first: F, function: F) -> F:
    def call(x: Any = _ABSENT, /, *more: Any, **named: Any) -> Any:
        try:
            if type(x) is Array and not more and not named:
                found = met.get(x.aval)
                if found and x._host is not None and (not staging or trace_state.dynamic is None):
                    compute, aval = found
                    out = compute(x._host)
                    if type(out) is not _ndarray:
                        out = _asarray(out)
                    if out.dtype is aval.dtype and out.shape == aval.shape:
                        array = _new_array(Array)
                        array.aval, array._host = aval, out
                        array._buffer = array._backend = None
                        return array
                return first(x)
            if more or named or x is _ABSENT:
                return function(*_given(x), *more, **named)
            return function(x)
        except Exception as error:
            hide_internal_frames(error)
            raise

    return call  # type: ignore[return-value]


def _of_two(met: dict[Any, Any], first: F, function: F) -> F:
    def call(x: Any = _ABSENT, y: Any = _ABSENT, /, *more: Any, **named: Any) -> Any:
        try:
            if type(x) is Array and type(y) is Array and not more and not named:
                found = met.get((x.aval, y.aval))
                left, right = x._host, y._host
                reached = left is not None and right is not None
                if found and reached and (not staging or trace_state.dynamic is None):
                    compute, aval = found
                    out = compute(left, right)
                    if type(out) is not _ndarray:
                        out = _asarray(out)
                    if out.dtype is aval.dtype and out.shape == aval.shape:
                        array = _new_array(Array)
                        array.aval, array._host = aval, out
                        array._buffer = array._backend = None
                        return array
                return first(x, y)
            if more or named or y is _ABSENT:
                return function(*_given(x, y), *more, **named)
            return function(x, y)
        except Exception as error:
            hide_internal_frames(error)
            raise

    return call  # type: ignore[return-value]


def _given(*operands: Any) -> list[Any]:
    return [x for x in operands if x is not _ABSENT]
