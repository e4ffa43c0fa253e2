"""Linear functions with a transpose of their own: ``linear_call``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    LoweringContext,
    Primitive,
    api_boundary,
    describe_function,
    eval_jaxpr,
    is_differentiable,
    jaxpr_as_fun,
    primitive,
    rules,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, check_values, flatten_function
from bindax_transforms._rule_checks import program_out_avals
from bindax_transforms.autodiff.jvp import jvp_flat
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.batching.batched_jaxpr import vmap_jaxpr
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.batching.vmap import move_batch_axis
from bindax_transforms.manual_axes import same_on_devices
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import Zero, add_tangents, instantiate_zeros, is_undef_primal


def _bind(
    jaxpr: ClosedJaxpr, transposed: ClosedJaxpr, count: int, operands: Sequence[Any]
) -> list[Any]:
    """Apply the primitive; what the two jaxprs hold as constants becomes residuals."""
    consts = [*jaxpr.consts, *transposed.consts]
    if consts:
        middle, avals = len(jaxpr.consts), [typeof(c) for c in consts]
        jaxpr = _with_residuals(jaxpr, avals, slice(0, middle))
        transposed = _with_residuals(transposed, avals, slice(middle, None))
    params = {"jaxpr": jaxpr, "transposed": transposed, "num_residuals": len(consts) + count}
    return linear_call_p.bind(*consts, *operands, **params)  # type: ignore[no-any-return]


def _with_residuals(closed: ClosedJaxpr, avals: Sequence[Any], own: slice) -> ClosedJaxpr:
    """The jaxpr with all constants as leading arguments, some of which are its own."""

    def function(*operands: Any) -> list[Any]:
        consts, others = operands[: len(avals)], operands[len(avals) :]
        return eval_jaxpr(closed.jaxpr, consts[own], *others)

    return trace_to_jaxpr(function, [*avals, *closed.in_avals], DebugInfo("linear_call"))


def _abstract_eval(*avals: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return program_out_avals("linear_call", jaxpr, avals)


def _impl(*operands: Any, jaxpr: ClosedJaxpr, **params: Any) -> list[Any]:
    return jaxpr_as_fun(jaxpr)(*operands)


def _jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[list[Any], list[Any]]:
    """Apply the function to the tangents of linear operands; differentiate it in the residuals."""
    count, jaxpr = params["num_residuals"], params["jaxpr"]
    outs = linear_call_p.bind(*primals, **params)
    sums: list[Any] = [Zero(typeof(x).tangent_aval()) for x in outs]
    residuals, linear = tangents[:count], tangents[count:]
    if any(type(t) is not Zero for t in linear):
        given = [instantiate_zeros(t) for t in linear]
        sums = linear_call_p.bind(*primals[:count], *given, **params)
    if any(type(t) is not Zero for t in residuals):
        fixed = [Zero(t.aval if type(t) is Zero else typeof(t)) for t in linear]
        origin = DebugInfo("linear_call")
        _, found = jvp_flat(jaxpr_as_fun(jaxpr), primals, [*residuals, *fixed], origin)
        sums = [add_tangents(x, y) for x, y in zip(sums, found, strict=True)]
    return outs, sums


def _vmap(
    axis_size: int,
    operands: Sequence[Any],
    dims: Sequence[BatchDim],
    *,
    jaxpr: ClosedJaxpr,
    transposed: ClosedJaxpr,
    num_residuals: int,
) -> tuple[list[Any], list[BatchDim]]:
    """Map both functions; all linear operands get the axis, as their cotangents have it."""
    held, held_dims = operands[:num_residuals], dims[:num_residuals]
    pairs = zip(operands[num_residuals:], dims[num_residuals:], strict=True)
    linear = [move_batch_axis(axis_size, d, 0, x) for x, d in pairs]

    def mapped(closed: ClosedJaxpr) -> ClosedJaxpr:
        axes = [*held_dims, *[0] * (len(closed.in_avals) - num_residuals)]
        return vmap_jaxpr(closed, axis_size, axes, True)[0]

    outs = _bind(mapped(jaxpr), mapped(transposed), num_residuals, [*held, *linear])
    return outs, [0] * len(outs)


def _transpose(
    cotangents: Sequence[Any],
    *operands: Any,
    jaxpr: ClosedJaxpr,
    transposed: ClosedJaxpr,
    num_residuals: int,
) -> list[Any]:
    """Apply the function for the transpose, whose own transpose is this one.

    Where the function is linear in residuals too, its own operations are transposed.
    """
    residuals, linear = operands[:num_residuals], operands[num_residuals:]
    if any(map(is_undef_primal, residuals)):
        found = iter(eval_jaxpr_transposed(jaxpr.jaxpr, jaxpr.consts, operands, cotangents))
        return [next(found) if is_undef_primal(x) else None for x in operands]
    outs = _bind(transposed, jaxpr, num_residuals, [*residuals, *cotangents])
    pairs = zip(outs, linear, strict=True)
    return [*[None] * num_residuals, *[ct if is_undef_primal(x) else None for ct, x in pairs]]


def _lowering(ctx: LoweringContext, *values: Any, jaxpr: ClosedJaxpr, **params: Any) -> Any:
    return ctx.call(jaxpr, values, "linear_call")


linear_call_p: Primitive = primitive(
    "linear_call",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""A call of a linear function whose transpose is known. Operands: the residuals, then what the
function is linear in. Parameters: ``jaxpr`` and ``transposed``, jaxprs without constants whose
first ``num_residuals`` arguments are the residuals."""


@api_boundary
def linear_call(
    fun: Callable[..., Any],
    fun_transpose: Callable[..., Any],
    residual_args: Any,
    linear_args: Any,
) -> Any:
    """Call a linear function whose transpose another function computes.

    The transpose of the call is a call of ``fun_transpose``, and the transpose of that is one of
    ``fun``: reverse mode uses the function that it is given. Residuals are differentiated too, as
    operands of ``fun``.

    Args:
        fun: ``(residuals, x) -> y``, linear in ``x``.
        fun_transpose: ``(residuals, ct) -> x``, linear in ``ct``, which is like ``y``; its result
            has the structure and the types of ``linear_args``.
        residual_args: a tree of arrays, in which neither has to be linear.
        linear_args: a tree of arrays, in which ``fun`` is linear.

    Returns:
        ``fun(residual_args, linear_args)``.

    Raises:
        TypeError: when ``fun_transpose`` returns another structure or other types than those of
            ``linear_args``.

    >>> from bindax_transforms import grad, linear_call
    >>> def divide(x, by):
    ...     return linear_call(lambda r, x: x / r, lambda r, ct: ct / r, by, x)
    >>> float(divide(6.0, 3.0)), float(grad(divide)(6.0, 2.0))
    (2.0, 0.5)
    """
    check_function("linear_call", "fun", fun)
    check_function("linear_call", "fun_transpose", fun_transpose)
    residuals, residual_tree = _flat("residual_args", residual_args)
    linear, linear_tree = _flat("linear_args", linear_args)
    held = [typeof(x) for x in residuals]
    jaxpr, out_tree = _staged(fun, (residual_tree, linear_tree), held, [typeof(x) for x in linear])
    cotangents = [_cotangent_aval(aval) for aval in jaxpr.out_avals]
    transposed, found_tree = _staged(fun_transpose, (residual_tree, out_tree), held, cotangents)
    _check_transpose(fun_transpose, (linear_tree, linear), (found_tree, transposed.out_avals))
    outs = _bind(jaxpr, transposed, len(residuals), [*residuals, *linear])
    return tree_unflatten(out_tree, outs)


def _flat(name: str, tree: Any) -> tuple[list[Any], Any]:
    """The leaves of an argument, each of which must be an array, and its structure."""
    leaves, structure = tree_flatten(tree)
    check_values(leaves, lambda: argument_names(tree, name), "linear_call:")
    return leaves, structure


def _cotangent_aval(aval: Any) -> Any:
    """The type of a cotangent; integers have one where a linear function is transposed."""
    return aval.tangent_aval() if is_differentiable(aval.dtype) else aval


def _staged(
    fun: Callable[..., Any], trees: Any, held: Sequence[Any], avals: Sequence[Any]
) -> tuple[ClosedJaxpr, Any]:
    """A function of residuals and linear arguments as a jaxpr, and its result's structure."""
    origin = DebugInfo("linear_call", fun)
    examples = [tree_unflatten(tree, x) for tree, x in zip(trees, (held, avals), strict=True)]
    _, in_tree = tree_flatten((tuple(examples), {}))
    function, out_tree = flatten_function(fun, in_tree, origin)
    return trace_to_jaxpr(function, [*held, *avals], origin), out_tree()


def _check_transpose(fun_transpose: Callable[..., Any], wanted: Any, found: Any) -> None:
    """Raise when a transpose's result is not like the linear arguments."""
    name = f"the transpose {describe_function(fun_transpose)} of linear_call"
    (tree, leaves), (found_tree, found_avals) = wanted, found
    if found_tree != tree:
        raise TypeError(
            f"{name} must return the structure of linear_args, {tree}, but it returned "
            f"{found_tree}."
        )
    paths = argument_names(tree_unflatten(tree, leaves), "linear_args")
    for x, aval, path in zip(leaves, found_avals, paths, strict=True):
        expected = _cotangent_aval(typeof(x))
        wrong = same_on_devices(aval.strip_weak_type()) != same_on_devices(
            expected.strip_weak_type()
        )
        if wrong and is_differentiable(expected.dtype):
            raise TypeError(
                f"{name} must return {expected.str_short()} for {path}, but it returned "
                f"{aval.str_short()}."
            )
