"""The family of elementwise primitives: the three rules that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import LoweringContext, Origin, Rule, abstract_eval, impl
from bindax_lax_basic._batching import elementwise_batch
from bindax_lax_basic._complex_parts import Parts, many_by_parts
from bindax_lax_basic._large_arrays import on_all_cores, slow_when_large
from bindax_lax_basic._lowering import Lowering
from bindax_lax_basic._numpy import exact, exact_binary, exact_unary, quiet
from bindax_lax_basic._types import Kinds, ResultDType, elementwise_type
from bindax_lax_basic.conversion import same_dims
from bindax_lax_basic.dtypes import DType
from bindax_transforms import trace_to_jaxpr

Function = Callable[..., Any]


def elementwise(
    name: str,
    function: Function,
    numpy_function: Function,
    *accepts: Kinds,
    result: ResultDType = None,
    same_dtype: bool = True,
    slow: bool | frozenset[DType] = False,
    parts: Parts | None = None,
) -> tuple[Rule, Rule, Rule]:
    """The ``impl``, ``abstract_eval`` and ``vmap`` rules of an elementwise primitive.

    Args:
        name: the primitive's name, for messages.
        function: binds the primitive; takes the operands, and the parameters by keyword.
        numpy_function: computes it on NumPy arrays. Where the result has the dtype of the first
            operand, a wider result is cast back to it.
        accepts: for each operand the kinds of dtypes it may have (``dtypes.FLOAT`` and so on).
        result: the dtype of the result: that of the first operand, a fixed one, or a function of
            the first operand's.
        same_dtype: whether all operands must have the same dtype.
        slow: whether NumPy needs many passes over the arrays, so that compiling it pays; or the
            dtypes of which it pays for large arrays.
        parts: what computes it on the parts of many complex numbers.
    """
    options: dict[str, Any] = {"slow": slow if isinstance(slow, bool) else slow_when_large(slow)}
    if result is not None:
        computed = impl(quiet(numpy_function), **options)
    elif len(accepts) == 1:
        plan = on_all_cores(numpy_function, exact_unary(numpy_function))
        if parts is not None:
            plan = many_by_parts(numpy_function, parts, plan)
        computed = impl(plan, planned=True, **options)
    elif len(accepts) == 2:
        computed = impl(exact_binary(numpy_function), planned=True, **options)
    else:
        computed = impl(exact(numpy_function), **options)
    return (
        computed,
        abstract_eval(elementwise_type(name, *accepts, result=result, same_dtype=same_dtype)),
        same_dims(function) if len(accepts) == 1 else elementwise_batch(function),
    )


def composition(function: Function) -> Lowering:
    """A lowering rule from a traceable function: what it is made of is lowered in its place.

    Args:
        function: takes the operands, and the parameters by keyword; returns one result.
    """

    def rule(ctx: LoweringContext, *values: Any, **params: Any) -> Any:
        jaxpr = trace_to_jaxpr(
            lambda *xs: [function(*xs, **params)], ctx.avals_in, Origin("lowering", function)
        )
        return ctx.inline(jaxpr, list(values))[0]

    return rule
