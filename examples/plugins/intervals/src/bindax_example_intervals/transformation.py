"""The transformation: an interpreter whose values are intervals, and its table of rules.

It is built as the transformations of bindax are: a *rule kind* says what a primitive means here, a
*tracer* boxes a value with what the interpreter knows of it, and a *trace* applies the rules.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    DebugInfo,
    Primitive,
    RuleKind,
    Trace,
    ValueTracer,
    api_boundary,
    bind_flat,
    call_rule,
    full_raise,
    new_main,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_example_intervals.interval import Interval, exact, unbounded

FALLBACKS = ("error", "unbounded")


def _adapt(primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Rules take intervals; those for programs take the trace too. All give a list here."""

    def rule(trace: IntervalTrace, operands: Sequence[Interval], params: dict[str, Any]) -> Any:
        if options.get("with_trace"):
            return function(trace, *operands, **params)
        return call_rule(primitive, "interval", function, operands, params, _is_interval)

    return rule


interval = RuleKind("interval", adapt=_adapt, signature="(*intervals, **params) -> Interval")
"""Bounds of a primitive's result from bounds of its operands. With ``with_trace=True`` the rule
takes the trace first and gives a list, to interpret the programs among its parameters."""


class IntervalTracer(ValueTracer):
    """A value of which bounds are known; the lower one has its type."""

    __slots__ = ("interval",)

    def __init__(self, trace: Trace, known: Interval) -> None:
        super().__init__(trace, known.lower)
        self.interval = known

    @property
    def is_plain(self) -> bool:
        """Tell whether the value depends on no interval."""
        return self.interval.is_exact

    def concrete(self) -> Any:
        """None: bounds are no value."""
        return None


class IntervalTrace(Trace):
    """Applies ``interval`` rules; its data says what to do where there is none."""

    __slots__ = ()

    def pure(self, value: Any) -> IntervalTracer:
        """Box a value: the interval that holds it alone."""
        return IntervalTracer(self, exact(value))

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[IntervalTracer], params: dict[str, Any]
    ) -> list[IntervalTracer]:
        """Bound the results of a primitive."""
        operands = [tracer.interval for tracer in tracers]
        if all(one.is_exact for one in operands):
            exact_outs = bind_flat(primitive, [one.lower for one in operands], params)
            return [self.pure(x) for x in exact_outs]
        rule = interval.find(primitive)
        if rule is not None:
            outs = rule(self, operands, params)
        elif self.main.global_data == "unbounded":
            avals = primitive.out_avals(tuple(tracer.aval for tracer in tracers), params)
            outs = [unbounded(aval) for aval in avals]
        else:
            interval.get(primitive)  # raises: it names the primitive and says what to do
        return [IntervalTracer(self, one) for one in outs]

    def evaluate(
        self, function: Callable[..., Sequence[Any]], operands: Sequence[Interval]
    ) -> list[Interval]:
        """Bound the results of a program in the way that this trace does."""
        return bounds_flat(function, operands, self.main.global_data, self.main.origin)


def bounds_flat(
    function: Callable[..., Sequence[Any]],
    operands: Sequence[Interval],
    fallback: str,
    origin: DebugInfo,
) -> list[Interval]:
    """Bounds of the results of a function of flat values."""
    with new_main(IntervalTrace, fallback, origin=origin) as main:
        trace = main.trace
        outs = function(*[IntervalTracer(trace, operand) for operand in operands])
        return [full_raise(trace, out).interval for out in outs]


@api_boundary
def bounds(fun: Callable[..., Any], *, fallback: str = "error") -> Callable[..., Any]:
    """Bounds of a function's results, from bounds of its arguments.

    The method is interval arithmetic: R. E. Moore, *Interval Analysis*, Prentice-Hall, 1966. Each
    operation is bounded by itself, so the bounds hold, and may be wider than the range: an argument
    that occurs twice counts as two. They hold for real numbers; rounding is not accounted for.

    Args:
        fun: a function of arrays and trees of arrays.
        fallback: what to do at a primitive without ``interval`` rule: ``"error"``, or
            ``"unbounded"`` for bounds that hold for any function.

    Returns:
        A function with the same arguments, in which any array may be an ``Interval``, and whose
        results are trees of ``Interval``. It can be jitted, batched and differentiated.

    Raises:
        ValueError: when ``fallback`` is neither.
        MissingRuleError: at a call, when a primitive has no rule.

    >>> low, high = bounds(lambda x: x * (1.0 - x))(Interval(0.0, 1.0))
    >>> float(low), float(high)
    (0.0, 1.0)
    """
    if fallback not in FALLBACKS:
        raise ValueError(f"fallback must be 'error' or 'unbounded', but it is {fallback!r}.")

    @api_boundary
    def bounded(*args: Any) -> Any:
        leaves, tree = tree_flatten(args, is_leaf=_is_interval)
        operands = [_checked(x) if _is_interval(x) else exact(x) for x in leaves]
        out_tree: Any = None

        def flat(*values: Any) -> list[Any]:
            nonlocal out_tree
            outs, out_tree = tree_flatten(fun(*tree_unflatten(tree, values)))
            return outs

        outs = bounds_flat(flat, operands, fallback, DebugInfo("bounds", fun))
        return tree_unflatten(out_tree, outs)

    return bounded


def _is_interval(x: Any) -> bool:
    return isinstance(x, Interval)


def _checked(x: Interval) -> Interval:
    lower, upper = typeof(x.lower), typeof(x.upper)
    if (lower.shape, lower.dtype) != (upper.shape, upper.dtype):
        raise TypeError(
            f"the bounds of an Interval must have one type, but they are {lower.str_short()} and "
            f"{upper.str_short()}."
        )
    return x
