"""Calls of functions that bring rules of their own: what custom_jvp, custom_vjp, custom_vmap share.

Such a call is a primitive like any other, with rules for each interpreter. It differs in one way:
it meets every interpreter on the trace stack, from the top, whatever its operands are, because the
function may close over values of any level. Differentiation asks for the user's rule, batching
makes batched functions of the call's functions, staging records an equation with the function as a
jaxpr, and evaluation runs what has become of the function. Python control flow on concrete values
therefore works wherever nothing is staged.

A transformation enters its own trace again when the function it wrapped is run further down, so
that closed-over tracers belong to the active trace. After the transformation has ended (a rule of a
recorded equation runs late) it starts a new trace of the same sort instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from bindax_core import config
from bindax_core.errors import CustomRuleError, UnexpectedTracerError
from bindax_core.extend import (
    CallPrimitive,
    ClosedJaxpr,
    DebugInfo,
    JaxprEqn,
    MainTrace,
    Primitive,
    Printer,
    as_array,
    eval_jaxpr,
    format_application,
    full_raise,
    is_active,
    jaxpr_as_fun,
    new_main,
    primitive,
    rules,
)
from bindax_transforms._rule_checks import program_out_avals
from bindax_transforms.autodiff.jvp import JVPTrace, JVPTracer
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.batching.mapped_types import BatchDim, mapped_aval, unmapped_aval
from bindax_transforms.batching.vmap import AxisData, BatchTrace, BatchTracer, move_batch_axis
from bindax_transforms.staging.jaxpr_trace import JaxprTrace, trace_inside
from bindax_transforms.zeros import Zero, is_undef_primal

FlatFunction = Callable[..., Sequence[Any]]
_NUMBERS = (bool, int, float, complex)


@dataclass(frozen=True, eq=False)
class CustomCall:
    """One call of a function of flat values that has a rule of its own.

    The leading operands are values that the function closed over when it was staged; the function
    takes all operands, and the rule those after them.
    """

    primitive: ClassVar[CustomCallPrimitive]  # whose equations record such calls
    name: str  # of the function in messages
    function: FlatFunction
    rule: Callable[..., Any]
    num_consts: int = 0
    main: MainTrace | None = None  # the trace that interprets the call now; None in an equation
    user_rule: Callable[..., Any] | None = None  # the rule before ``vmap`` made another of it

    def params(self, main: MainTrace) -> dict[str, Any]:
        """The parameters of the primitive for a trace, which interprets the call now."""
        seen = object.__new__(type(self))  # as ``replace`` makes it, several times faster
        vars(seen).update(vars(self), main=main)
        return {"call": seen, "jaxpr": None}

    @property
    def short_name(self) -> str:
        """The function's name as jaxprs print it."""
        decorator = self.primitive.name.removesuffix("_call")
        return self.name.partition(" (")[0].removeprefix(f"{decorator} function ")

    def jvp(
        self, main: MainTrace, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Results and their tangents; at least one tangent is no ``Zero``."""
        raise TypeError(f"{type(self).__name__} must define jvp")

    def batch(
        self, main: MainTrace, operands: Sequence[Any], dims: Sequence[BatchDim]
    ) -> tuple[Sequence[Any], Sequence[BatchDim]]:
        """Results and their batch axes."""
        batching = Batching(main, dims, self.num_consts)
        rule = self.batched_rule(batching, dims[self.num_consts :])
        function = batching.function(self.function)
        batched = replace(self, function=function, rule=rule, user_rule=self.first_rule)
        outs = apply_call(batched, operands, main)
        return outs, [batching.out_dim] * len(outs)

    def batched_rule(self, batching: Batching, dims: Sequence[BatchDim]) -> Callable[..., Any]:
        """The rule on batches, from where the batch axes of the arguments are."""
        return self.rule

    def user_functions(self) -> Mapping[str, Callable[..., Any]]:
        """The functions that the user gave, by their roles."""
        return {}

    @property
    def first_rule(self) -> Callable[..., Any]:
        """The rule as it was before batches."""
        return self.rule if self.user_rule is None else self.user_rule

    def guarded(self, guard: Callable[[Any], Any]) -> CustomCall:
        """The same call with a check around its function and its rule."""
        guarded = guard(self.function), guard(self.rule)
        return replace(self, function=guarded[0], rule=guarded[1], user_rule=self.first_rule)

    def split_consts(self, tangents: Sequence[Any]) -> Sequence[Any]:
        """The tangents without those of closed-over values, which must be zero."""
        if any(type(t) is not Zero for t in tangents[: self.num_consts]):
            raise closed_over_error(self.name)
        return tangents[self.num_consts :]


def closed_over_error(name: str) -> CustomRuleError:
    """The error for a derivative along a value that no rule speaks of."""
    return CustomRuleError(
        f"differentiation with respect to a value that the {name} closes over: its rules say "
        f"how it depends on its arguments only. Pass the value as an argument."
    )


@contextmanager
def late_rule(name: str) -> Iterator[None]:
    """Name the rule in errors about values of a trace that has ended."""
    try:
        yield
    except CustomRuleError:
        raise
    except UnexpectedTracerError as error:
        raise UnexpectedTracerError(
            f"in a rule of the {name}, which runs after the function was traced and must not "
            f"close over traced values; pass them as arguments: {error}"
        ) from error


def apply_call(call: CustomCall, operands: Sequence[Any], main: MainTrace | None = None) -> Any:
    """Apply a call to flat operands.

    Only the traces below ``main``, which has done its part, see it; all do where that is None or
    not on the stack.
    """
    return call.primitive.bind_call(operands, main, call.params)


class CustomCallPrimitive(CallPrimitive):
    """A call of a function with rules of its own.

    Its parameters: ``call``, whose functions are the rules; ``jaxpr``, the function as a jaxpr
    without constants in an equation, which is applied like that of any primitive, or None.
    """

    __slots__ = ()

    def bind(self, *operands: Any, call: CustomCall, jaxpr: ClosedJaxpr | None) -> Any:
        """Apply the call: by the next trace below the one that has done its part."""
        if jaxpr is not None:
            return super().bind(*operands, call=call, jaxpr=jaxpr)
        return self.bind_call(operands, call.main, call.params)


@contextmanager
def resume_trace(main: MainTrace) -> Iterator[Any]:
    """The trace of a transformation, or one like it when the transformation has ended."""
    if is_active(main):
        yield main.trace
    else:
        with new_main(main.trace_type, main.global_data, origin=main.origin) as fresh:
            yield fresh.trace


def without_tangents(call: CustomCall, main: MainTrace | None, result: Any) -> Any:
    """Check that a result depends on no closed-over value that ``main`` differentiates."""
    if type(result) in (list, tuple):
        return type(result)(without_tangents(call, main, x) for x in result)
    if isinstance(result, JVPTracer) and result._trace.main is main:
        if type(result.tangent) is not Zero:
            raise closed_over_error(call.name)
        return result.value
    return result


class Batching:
    """The batched form of a call's functions.

    All results get a batch axis in front, or none does, so that the function and its rules, which
    run at different times or not at all, agree. None does where arguments have none, and results do
    not get one from closed-over values, such as the index along the axis.
    """

    def __init__(self, main: MainTrace, dims: Sequence[BatchDim], num_consts: int = 0) -> None:
        self.main = main
        self.size: int = main.global_data.size
        self.dims: tuple[BatchDim, ...] = tuple(dims)
        self.is_batched: bool = any(d is not None for d in dims[num_consts:])

    def box(self, trace: Any, x: Any, dim: BatchDim) -> Any:
        """A value, or ``Zero``, as one element sees it."""
        if type(x) is Zero:
            return Zero(mapped_aval(dim, x.aval))
        return x if dim is None else BatchTracer(trace, x, dim)

    def boxes(self, trace: Any, xs: Sequence[Any], dims: Sequence[BatchDim]) -> list[Any]:
        """Several of them."""
        return [self.box(trace, x, d) for x, d in zip(xs, dims, strict=True)]

    def unbox(self, trace: Any, results: Sequence[Any]) -> list[Any]:
        """Results with the batch axis in front."""
        boxed: list[Any] = [x if type(x) is Zero else full_raise(trace, x) for x in results]
        if any(type(x) is not Zero and x.batch_dim is not None for x in boxed):
            self.is_batched = True
        return [self._placed(x) for x in boxed]

    def _placed(self, x: Any) -> Any:
        if type(x) is Zero:
            return Zero(unmapped_aval(self.size, self.out_dim, x.aval))
        return move_batch_axis(self.size, x.batch_dim, 0, x.value) if self.is_batched else x.value

    @property
    def out_dim(self) -> BatchDim:
        """The batch axis of the results."""
        return 0 if self.is_batched else None

    def function(self, function: FlatFunction) -> FlatFunction:
        """The batched form of a function of the operands."""

        def batched(*operands: Any) -> list[Any]:
            with resume_trace(self.main) as trace:
                return self.unbox(trace, function(*self.boxes(trace, operands, self.dims)))

        return batched


def _impl(*operands: Any, call: CustomCall, jaxpr: ClosedJaxpr | None) -> list[Any]:
    outs = call.function(*operands) if jaxpr is None else eval_jaxpr(jaxpr.jaxpr, (), *operands)
    numbers = _NUMBERS if jaxpr is None and config.conventions == "jax" else ()
    return [x if isinstance(x, numbers) else as_array(x) for x in outs]


def _abstract_eval(*avals: Any, call: CustomCall, jaxpr: ClosedJaxpr) -> list[Any]:
    return program_out_avals(call.primitive.name, jaxpr, avals)


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, call: CustomCall, jaxpr: ClosedJaxpr | None
) -> tuple[Sequence[Any], Sequence[Any]]:
    if all(type(t) is Zero for t in tangents):
        if jaxpr is None:
            # Nothing in the call may depend on what is differentiated.
            guarded = call.guarded(
                lambda function: lambda *args: without_tangents(call, call.main, function(*args))
            )
            outs = apply_call(guarded, primals, call.main)
        else:
            outs = call.primitive.bind(*primals, call=call, jaxpr=jaxpr)
        return outs, [Zero.like(x) for x in outs]
    if call.main is not None:
        return call.jvp(call.main, primals, tangents)
    with late_rule(call.name):
        return call.jvp(MainTrace(0, JVPTrace, None, DebugInfo("jvp")), primals, tangents)


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], *, call: CustomCall, **_: Any
) -> tuple[Sequence[Any], Sequence[BatchDim]]:
    main = call.main or MainTrace(0, BatchTrace, AxisData(axis_size), DebugInfo("vmap"))
    return call.batch(main, operands, dims)


def _transpose(
    cotangents: Sequence[Any], *operands: Any, call: CustomCall, jaxpr: ClosedJaxpr
) -> list[Any]:
    found = iter(eval_jaxpr_transposed(jaxpr.jaxpr, (), operands, cotangents))
    return [next(found) if is_undef_primal(x) else None for x in operands]


def _partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[Any], *, call: CustomCall, jaxpr: ClosedJaxpr | None
) -> Sequence[Any]:
    # A linear jaxpr is built in order to be transposed, and rules have no part in that.
    return call.function(*tracers) if jaxpr is None else eval_jaxpr(jaxpr.jaxpr, (), *tracers)


def _stage(
    trace: JaxprTrace, tracers: Sequence[Any], *, call: CustomCall, jaxpr: ClosedJaxpr | None
) -> Sequence[Any]:
    if jaxpr is None:
        jaxpr, captured = trace_inside(trace.main, call.function, [t.aval for t in tracers])
        num_consts = call.num_consts + len(captured)
        function = jaxpr_as_fun(jaxpr)
        call = replace(call, function=function, num_consts=num_consts, main=None)
        tracers = [*captured, *tracers]
    return trace.record(call.primitive, tracers, {"call": call, "jaxpr": jaxpr})


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    call: CustomCall = eqn.params["call"]
    shown = {"name": call.short_name, "jaxpr": eqn.params["jaxpr"]}
    return format_application(eqn, shown, printer)


def _lowering(ctx: Any, *values: Any, call: CustomCall, jaxpr: ClosedJaxpr) -> Any:
    return ctx.inline(jaxpr, values)


def call_primitive(name: str, kind: type[CustomCall]) -> Primitive:
    """The primitive whose applications are calls of a kind."""
    made = primitive(
        name,
        rules.impl(_impl, on_values=True),
        rules.abstract_eval(_abstract_eval),
        rules.jvp(_jvp, symbolic_zeros=True),
        rules.vmap(_vmap),
        rules.transpose(_transpose, symbolic_zeros=True),
        rules.partial_eval(_partial_eval),
        rules.stage(_stage),
        rules.pretty_print(_pretty_print),
        rules.lowering["stablehlo"](_lowering),
        multiple_results=True,
        type=CustomCallPrimitive,
    )
    kind.primitive = made  # type: ignore[assignment]  # it is of the type that was asked for
    return made
