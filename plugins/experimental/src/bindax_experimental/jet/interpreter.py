"""``jet``: an interpreter whose values are power series, and its table of rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import bindax_lax_basic as lax
from bindax_core.extend import (
    DebugInfo,
    Primitive,
    RuleKind,
    Trace,
    Tracer,
    ValueTracer,
    api_boundary,
    as_array,
    bind_flat,
    call_rule,
    full_raise,
    is_differentiable,
    is_value,
    new_main,
    operations_for,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
)
from bindax_experimental.jet.series import Taylor, scaled, series
from bindax_transforms import check_function


def _adapt(primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    def rule(operands: Sequence[Taylor], params: dict[str, Any]) -> list[Taylor]:
        return call_rule(primitive, "jet", function, operands, params, _is_taylor)

    return rule


def _is_taylor(x: Any) -> bool:
    return isinstance(x, Taylor)


taylor: RuleKind = RuleKind("jet", adapt=_adapt, signature="(*taylors, **params) -> Taylor")
"""The power series of a primitive's result from those of its operands, at least one of which is no
constant. Coefficients are those of the polynomial, without factorials."""


class JetTracer(ValueTracer):
    """A value that moves along a curve."""

    __slots__ = ("taylor",)

    def __init__(self, trace: Trace, taylor: Taylor) -> None:
        super().__init__(trace, taylor.value)
        self.taylor: Taylor = taylor

    @property
    def is_plain(self) -> bool:
        """Tell whether the value is a constant."""
        return self.taylor.is_constant


class JetTrace(Trace):
    """Applies ``jet`` rules."""

    __slots__ = ()

    def pure(self, value: Any) -> JetTracer:
        """Box a constant."""
        return JetTracer(self, Taylor((value,)))

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JetTracer], params: dict[str, Any]
    ) -> list[Any]:
        """Apply the rule of a primitive, if anything moves."""
        operands = [tracer.taylor for tracer in tracers]
        if all(x.is_constant for x in operands):
            outs = bind_flat(primitive, [x.value for x in operands], params)
            return [self.pure(x) for x in outs]
        results = taylor.get(primitive)(operands, params)
        return [JetTracer(self, _without_steps(x)) for x in results]


def _without_steps(x: Taylor) -> Taylor:
    """Take integers and booleans, which change in steps, as constants."""
    return x if is_differentiable(typeof(x.value).dtype) else Taylor((x.value,))


def jet_flat(
    function: Callable[..., Sequence[Any]], operands: Sequence[Taylor], origin: DebugInfo
) -> list[Taylor]:
    """The series of the results of a function of flat values."""
    with new_main(JetTrace, origin=origin) as main:
        trace = main.trace
        boxed = [x.value if x.is_constant else JetTracer(trace, x) for x in operands]
        return [full_raise(trace, out).taylor for out in function(*boxed)]


@api_boundary
def jet(
    fun: Callable[..., Any],
    primals: Sequence[Any],
    series: Sequence[Any],
    factorial_scaled: bool = True,
) -> tuple[Any, Any]:
    """The value and the higher derivatives of a function along a curve (Taylor mode).

    The curve is ``primals + series[0] t + series[1] t**2 / 2 + series[2] t**3 / 6 + …``; the
    result is that of ``fun`` along it, in the same form. All orders are computed at once, with an
    effort that grows with the square of their number.

    Args:
        fun: a function of arrays and trees of arrays.
        primals: the arguments at the start of the curve, a tuple or list.
        series: for each argument a list of as many terms as there are orders, of the argument's
            structure, shapes and dtypes; numbers stand for arrays of them.
        factorial_scaled: whether the terms are derivatives; if not, they are the coefficients of
            the polynomial: derivatives divided by the factorial of their order.

    Returns:
        The value, and in its structure for each array the list of its terms.

    Raises:
        TypeError: when a primal has no floating-point dtype, or a term does not fit its primal.
        ValueError: when arguments have different numbers of terms.

    >>> import bindax_numpy as jnp
    >>> y, terms = jet(lambda x, y: x * y, (2.0, 3.0), ([1.0, 0.0], [1.0, 0.0]))
    >>> float(y), [float(term) for term in terms]
    (6.0, [5.0, 2.0])
    """
    check_function("jet", "fun", fun)
    operands, in_tree, order = _operands(primals, series, factorial_scaled)
    out_tree: Any = None

    def flat(*values: Any) -> list[Any]:
        nonlocal out_tree
        outs, out_tree = tree_flatten(fun(*tree_unflatten(in_tree, values)))
        for x in outs:
            if not is_value(x):
                raise unknown_type_error(x, "the function given to jet returned ")
        return outs

    outs = jet_flat(flat, operands, DebugInfo("jet", fun))
    factors = _factors(order, factorial_scaled)
    terms = [
        [scaled(x[k], factor) for k, factor in enumerate(factors, 1)]
        if is_differentiable(typeof(x.value).dtype)
        else [lax.full_like(x.value, 0) for _ in factors]
        for x in outs
    ]
    values = [as_array(x.value) if not isinstance(x.value, Tracer) else x.value for x in outs]
    return tree_unflatten(out_tree, values), tree_unflatten(out_tree, terms)


def _factors(order: int, factorial_scaled: bool) -> list[float]:
    return [float(math.factorial(k)) if factorial_scaled else 1.0 for k in range(1, order + 1)]


def _operands(primals: Any, terms: Any, factorial_scaled: bool) -> tuple[list[Taylor], Any, int]:
    """The series of the flat arguments, their structure, and the order."""
    if not isinstance(primals, tuple | list) or not isinstance(terms, tuple | list):
        raise TypeError(
            f"jet takes primals and series as tuples or lists with one entry for each argument, "
            f"but got {type(primals).__name__} and {type(terms).__name__}."
        )
    if len(primals) != len(terms):
        raise ValueError(
            f"jet takes one list of terms for each argument, but there are {len(primals)} primals "
            f"and {len(terms)} lists in series."
        )
    for i, one in enumerate(terms):
        if not isinstance(one, tuple | list):
            raise TypeError(f"series[{i}] of jet must be a list of terms, but it is {one!r:.80}.")
    orders = sorted({len(one) for one in terms})
    if len(orders) > 1:
        raise ValueError(
            f"all arguments of jet need equally many terms, but series has "
            f"{' and '.join(map(str, orders))} of them."
        )
    order = orders[0] if orders else 0
    factors = _factors(order, factorial_scaled)
    operands = []
    for i, (primal, one) in enumerate(zip(primals, terms, strict=True)):
        leaves, tree = tree_flatten(primal)
        rows = [_leaves(f"series[{i}][{k}]", term, tree) for k, term in enumerate(one)]
        for j, x in enumerate(leaves):
            if not is_value(x):
                raise unknown_type_error(x, f"primals[{i}] of jet: ")
            if order and not is_differentiable(typeof(x).dtype):
                raise TypeError(
                    f"primals[{i}] of jet must be floating-point numbers, but has the type "
                    f"{typeof(x).str_short()}: close over what is no argument of the derivative."
                )
            found = [_term(f"series[{i}][{k}]", row[j], x) for k, row in enumerate(rows)]
            rest = [scaled(t, 1 / factor) for t, factor in zip(found, factors, strict=True)]
            operands.append(series([x, *rest]))
    return operands, tree_flatten(tuple(primals))[1], order


def _leaves(place: str, term: Any, tree: Any) -> list[Any]:
    leaves, given = tree_flatten(term)
    if given != tree:
        raise TypeError(
            f"{place} of jet must have the structure of its primal, {tree}, but it has {given}."
        )
    return leaves


def _term(place: str, term: Any, primal: Any) -> Any:
    """A term with the type of its primal."""
    if not is_value(term):
        raise unknown_type_error(term, f"{place} of jet: ")
    aval, given = typeof(primal), typeof(term)
    if given.shape not in ((), aval.shape):
        raise TypeError(
            f"{place} of jet must have the shape of its primal, {aval.str_short()}, but it is "
            f"{given.str_short()}."
        )
    if given.dtype != aval.dtype and not given.weak_type and not aval.weak_type:
        raise TypeError(
            f"{place} of jet must have the dtype of its primal, {aval.str_short()}, but it is "
            f"{given.str_short()}."
        )
    term = operations_for(aval).convert(term, aval.dtype, aval.weak_type)
    return lax.broadcast_in_dim(term, aval.shape, ()) if given.shape != aval.shape else term
