"""Derivatives that are linear maps, known by their transposes.

They are those of ``custom_vjp`` functions, and of primitives with a ``vjp`` rule. Those of
primitives with a ``jvp`` rule, too, are known in both directions; the others in reverse mode alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from bindax_core.extend import (
    DebugInfo,
    JaxprEqn,
    MainTrace,
    Primitive,
    Printer,
    PyTreeDef,
    Rule,
    as_array,
    bind_flat,
    eval_jaxpr,
    float0,
    format_application,
    full_raise,
    is_differentiable,
    operations_for,
    primitive,
    rules,
    tree_map,
    typeof,
)
from bindax_transforms._flat import partition, with_zeros
from bindax_transforms.autodiff.jvp import by_direction, jvp_flat
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace, PartialEvalTracer
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.batching.mapped_types import BatchDim, mapped_aval, unmapped_aval
from bindax_transforms.batching.vmap import (
    AxisData,
    BatchTrace,
    BatchTracer,
    move_batch_axis,
    vmap,
)
from bindax_transforms.custom._arguments import as_tangents, check_pair, described
from bindax_transforms.custom._custom_call import Batching, late_rule, resume_trace
from bindax_transforms.staging.backward_logs import (
    are_logs_wanted,
    log,
    log_last,
    logging_results,
    logs_go_to,
)
from bindax_transforms.staging.jaxpr_trace import JaxprTracer, trace_to_jaxpr
from bindax_transforms.zeros import UndefPrimal, Zero, instantiate_zeros

Function = Callable[..., Any]
Backward = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]
"""``(residuals, cotangents) -> cotangents``; cotangents may be ``Zero``."""

Forward = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]
"""``(residuals, tangents) -> tangents``, of the operands with tangents and results with them."""


@dataclass(frozen=True, eq=False)
class LinearMap:
    """A linear map from residuals and tangents of arguments to tangents of results."""

    name: str  # of the function in messages
    backward: Backward  # the transpose
    num_residuals: int
    nonzeros: tuple[bool, ...]  # which arguments have a tangent among the operands
    out_avals: tuple[Any, ...]  # of all tangents of results; those of ``float0`` are no results
    remedy: str = "define the function with custom_jvp"  # for the wish for forward mode
    forward: Forward | None = None  # the map itself, where it is known

    @property
    def differentiable_outs(self) -> list[Any]:
        """The types of the results that have tangents."""
        return [aval for aval in self.out_avals if aval.dtype != float0]

    def apply(self, *operands: Any) -> list[Any]:
        """The tangents of the results, in forward mode."""
        if self.forward is None:
            raise TypeError(
                f"forward-mode differentiation (jvp, jacfwd, linearize's linear function) of the "
                f"{self.name}: it has rules for reverse mode only. Use grad, vjp or jacrev, or "
                f"{self.remedy}, which serves both modes; for second derivatives use "
                f"grad(grad(f)) or jacrev(jacrev(f))."
            )
        count = self.num_residuals
        return list(self.forward(operands[:count], operands[count:]))

    def transpose(self, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the operands with tangents."""
        given = iter(cotangents)
        full = [Zero(a) if a.dtype == float0 else next(given) for a in self.out_avals]
        with late_rule(self.name):
            outs = self.backward(residuals, full)
        return [ct for ct, nonzero in zip(outs, self.nonzeros, strict=True) if nonzero]


def stage_backward(
    backward: Callable[..., Sequence[Any]], in_avals: Sequence[Any], outs: Any, origin: DebugInfo
) -> tuple[Backward, list[Any]]:
    """A backward rule, and its residuals, from a function of the results' cotangents alone.

    The residuals are the values that the function closes over.
    """
    flags = [is_differentiable(aval.dtype) for aval in in_avals]

    def flat(*cotangents: Any) -> list[Any]:
        return [instantiate_zeros(ct) for ct in partition(flags, backward(*cotangents))[1]]

    logs: list[PyTreeDef | None] = []
    out_avals = [typeof(x).cotangent_aval() for x in outs]
    closed = trace_to_jaxpr(logging_results(flat, logs), out_avals, origin)
    jaxpr, residuals = closed.jaxpr, closed.consts

    def run(residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        found = eval_jaxpr(jaxpr, residuals, *[instantiate_zeros(ct) for ct in cotangents])
        return with_zeros(flags, log_last(logs[0], found), in_avals)

    return run, residuals


def apply_linear_map(
    linear: LinearMap, residuals: Sequence[Any], tangents: Sequence[Any]
) -> list[Any]:
    """The tangents of the results, as far as reverse mode needs them: an equation to transpose."""
    given = [t for t, nonzero in zip(tangents, linear.nonzeros, strict=True) if nonzero]
    outs = iter(custom_vjp_linear_p.bind(*residuals, *given, linear=linear))
    return [Zero(a) if a.dtype == float0 else next(outs) for a in linear.out_avals]


def batched_backward(
    backward: Backward,
    batching: Batching,
    dims: Sequence[BatchDim],
    residual_dims: Sequence[BatchDim],
    out_dim: BatchDim,
) -> Backward:
    """A backward rule on batches; what is the same for all elements gets the sum over them.

    What it logs has the batch axis in front.
    """
    size = batching.size

    def batched(residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        logs: dict[Any, Any] | None = {} if are_logs_wanted() else None
        with resume_trace(batching.main) as trace:
            boxed = batching.boxes(trace, residuals, residual_dims)
            cts = [batching.box(trace, ct, out_dim) for ct in cotangents]
            with logs_go_to(logs):
                outs = [
                    ct if type(ct) is Zero else full_raise(trace, ct) for ct in backward(boxed, cts)
                ]
            raised = tree_map(partial(full_raise, trace), logs)
        if raised:
            log(tree_map(partial(_in_front, size), raised))
        return [_matched(size, ct, d) for ct, d in zip(outs, dims, strict=True)]

    return batched


def _in_front(size: int, x: BatchTracer) -> Any:
    return move_batch_axis(size, x.batch_dim, 0, as_array(x.value))


def _matched(size: int, cotangent: Any, dim: BatchDim) -> Any:
    """A cotangent with the batch axis of its primal."""
    if type(cotangent) is Zero:
        return cotangent
    if dim is not None:
        return move_batch_axis(size, cotangent.batch_dim, dim, cotangent.value)
    if cotangent.batch_dim is None:
        return cotangent.value
    return _sum_axis(cotangent.value, cotangent.batch_dim)


def _sum_axis(x: Any, axis: int) -> Any:
    """The sum along an axis: the transpose of repeating along it, the operation the kernel has."""
    aval = typeof(x)
    element = mapped_aval(axis, aval)
    size = aval.shape[axis]
    repeat = trace_to_jaxpr(
        lambda y: [operations_for(element).broadcast_axis(y, size, axis)],
        [element],
        DebugInfo("the sum over a batch"),
    )
    return eval_jaxpr_transposed(repeat.jaxpr, repeat.consts, [UndefPrimal(element)], [x])[0]


def batched_forward(linear: LinearMap, size: int, dims: Sequence[BatchDim]) -> Forward | None:
    """A linear map on batches."""
    if linear.forward is None:
        return None

    def batched(residuals: Sequence[Any], tangents: Sequence[Any]) -> Sequence[Any]:
        mapped = vmap(linear.apply, in_axes=tuple(dims), axis_size=size)
        return mapped(*residuals, *tangents)

    return batched


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, linear: LinearMap
) -> tuple[list[Any], list[Any]]:
    return jvp_flat(linear.apply, primals, tangents, DebugInfo("jvp"))


def _lowering(ctx: Any, *values: Any, linear: LinearMap) -> list[Any]:
    closed = trace_to_jaxpr(linear.apply, ctx.avals_in, DebugInfo(f"the {linear.name}"))
    return ctx.inline(closed, values)  # type: ignore[no-any-return]


def _abstract_eval(*avals: Any, linear: LinearMap) -> list[Any]:
    return linear.differentiable_outs


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[BatchDim], *, linear: LinearMap
) -> tuple[list[Any], list[BatchDim]]:
    count = linear.num_residuals
    main = MainTrace(0, BatchTrace, AxisData(axis_size), DebugInfo("vmap"))
    batching = Batching(main, dims)
    given = iter(dims[count:])
    arg_dims = [next(given) if nonzero else None for nonzero in linear.nonzeros]
    batched = replace(
        linear,
        backward=batched_backward(linear.backward, batching, arg_dims, dims[:count], 0),
        forward=batched_forward(linear, axis_size, dims),
        out_avals=tuple(unmapped_aval(axis_size, 0, a) for a in linear.out_avals),
    )
    outs = custom_vjp_linear_p.bind(*operands, linear=batched)
    return outs, [0] * len(outs)


def _partial_eval(
    trace: PartialEvalTrace, tracers: Sequence[Any], *, linear: LinearMap
) -> list[Any]:
    # As without this rule, but no signature is remembered, and with it what the rules close over.
    outs = [trace.unknown(aval) for aval in linear.differentiable_outs]
    trace.add_eqn(custom_vjp_linear_p, tracers, outs, {"linear": linear})
    return outs


def _transpose(cotangents: Sequence[Any], *operands: Any, linear: LinearMap) -> list[Any]:
    residuals = operands[: linear.num_residuals]
    return [None] * len(residuals) + linear.transpose(residuals, cotangents)


def _pretty_print(eqn: JaxprEqn, printer: Printer) -> list[str]:
    linear: LinearMap = eqn.params["linear"]
    return format_application(eqn, {"function": linear.name.partition(" (")[0]}, printer)


custom_vjp_linear_p = primitive(
    "custom_vjp_linear",
    rules.impl(lambda *values, linear: linear.apply(*values), on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    rules.partial_eval(_partial_eval),
    rules.pretty_print(_pretty_print),
    rules.lowering["stablehlo"](_lowering),
    rules.sharding(
        lambda *avals, linear: [aval.sharding.spec for aval in linear.differentiable_outs],
        linear="own",
        manual=lambda _, *mats, linear: [aval.mat for aval in linear.differentiable_outs],
    ),
    multiple_results=True,
)
"""The derivative of a ``custom_vjp`` function at a point. Operands: residuals, then the tangents
that are not zero; parameter ``linear``, which knows the transpose."""


def _reverse_only(primitive: Primitive) -> Rule | None:
    """The derived ``jvp`` rule: a linear map that is known by its transpose."""
    if rules.vjp.find(primitive) is None:
        return None
    made = rules.jvp(partial(_apply_vjp_rule, primitive), symbolic_zeros=True)
    return made.replace(derived="the vjp rule, for reverse mode alone")


def _apply_vjp_rule(
    primitive: Primitive, primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    nonzeros = tuple(type(t) is not Zero for t in tangents)
    outs, backward_of = _pull_back(primitive, nonzeros, primals, params)
    in_avals = [typeof(x) for x in primals]
    origin = DebugInfo(f"the {_named(primitive)}")
    backward, residuals = stage_backward(backward_of, in_avals, outs, origin)
    linear = LinearMap(
        f"primitive {primitive.name}, which has a vjp rule and no jvp rule",
        backward,
        len(residuals),
        nonzeros,
        tuple(typeof(x).tangent_aval() for x in outs),
        remedy="give it a jvp rule",
    )
    out_tangents = apply_linear_map(linear, residuals, tangents)
    return (outs, out_tangents) if primitive.multiple_results else (outs[0], out_tangents[0])


def _named(primitive: Primitive) -> str:
    return f"vjp rule of the primitive {primitive.name}"


def _pull_back(
    primitive: Primitive,
    perturbed: tuple[bool, ...],
    primals: Sequence[Any],
    params: Mapping[str, Any],
) -> tuple[list[Any], Callable[..., list[Any]]]:
    """The results of a primitive, and the function of their cotangents, by its ``vjp`` rule."""
    name = _named(primitive)
    function = rules.vjp.get(primitive)
    rule = rules.vjp.rule_of(primitive)
    told = rule is not None and rule.options.get("takes_perturbed", False)
    pair = function(*primals, **params, **({"perturbed": perturbed} if told else {}))
    check_pair(pair, name, "(out, vjp_function)")
    out, vjp_function = pair
    in_avals = [typeof(x) for x in primals]

    def backward_of(*cotangents: Any) -> list[Any]:
        cts = vjp_function(*cotangents)
        if not isinstance(cts, (tuple, list)) or len(cts) != len(primals):
            raise TypeError(
                f"the vjp function of the {name} must return one cotangent for each of the "
                f"{len(primals)} operands, but it returned {described(cts)}."
            )
        names = [f"operand {i}" for i in range(len(primals))]
        return as_tangents(cts, in_avals, lambda: names, name)

    return list(out) if primitive.multiple_results else [out], backward_of


rules.jvp.derive(_reverse_only)


# ------------------------------------------------------------------------------ both directions


def _by_direction(primitive: Primitive, forward: Function) -> Function:
    """The ``jvp`` rule of a primitive with a ``vjp`` rule: where reverse mode may come, both.

    Args:
        primitive: the primitive.
        forward: its ``jvp`` rule, which deals in sequences of results.
    """

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        # Linearization stages what is done with tangents out; so does tracing, and what becomes of
        # that is not known. Tangents that are values are those of forward mode.
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        if any(isinstance(t, PartialEvalTracer) for t in tangents):
            outs, backward, residuals = _linearized(primitive, nonzeros, primals, params)
        elif any(isinstance(t, JaxprTracer) for t in tangents):
            outs, residuals = list(bind_flat(primitive, primals, params)), []
            backward = partial(_computed_again, primitive, nonzeros, params)
        else:
            return forward(primals, tangents, **params)  # type: ignore[no-any-return]
        in_avals = [typeof(x) for x in primals]
        out_avals = tuple(typeof(x).tangent_aval() for x in outs)
        count = len(residuals)

        def pushed(held: Sequence[Any], given: Sequence[Any]) -> list[Any]:
            _, found = forward(held[count:], with_zeros(nonzeros, given, in_avals), **params)
            pairs = zip(found, out_avals, strict=True)
            return [instantiate_zeros(t) for t, aval in pairs if aval.dtype != float0]

        name = f"primitive {primitive.name}"
        held = [*residuals, *primals]
        linear = LinearMap(name, backward, len(held), nonzeros, out_avals, forward=pushed)
        return outs, apply_linear_map(linear, held, tangents)

    return rule


def _linearized(
    primitive: Primitive,
    perturbed: tuple[bool, ...],
    primals: Sequence[Any],
    params: Mapping[str, Any],
) -> tuple[list[Any], Backward, list[Any]]:
    """The results, the ``vjp`` function, and its residuals, which come before the operands."""
    outs, backward_of = _pull_back(primitive, perturbed, primals, params)
    origin = DebugInfo(f"the {_named(primitive)}")
    staged, residuals = stage_backward(backward_of, [typeof(x) for x in primals], outs, origin)
    count = len(residuals)

    def backward(held: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
        return staged(held[:count], cotangents)

    return outs, backward, residuals


def _computed_again(
    primitive: Primitive,
    perturbed: tuple[bool, ...],
    params: Mapping[str, Any],
    primals: Sequence[Any],
    cotangents: Sequence[Any],
) -> Sequence[Any]:
    """The ``vjp`` function where nothing was kept but the operands."""
    _, backward_of = _pull_back(primitive, perturbed, primals, params)
    return backward_of(*[instantiate_zeros(ct) for ct in cotangents])


by_direction["combine"] = _by_direction
