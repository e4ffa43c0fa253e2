"""Functions without hidden inputs: ``closure_convert``, and ``custom_gradient``, which needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar, overload

from bindax_core.extend import (
    AbstractValue,
    DebugInfo,
    Tracer,
    api_boundary,
    describe_function,
    eval_jaxpr,
    is_differentiable,
    is_value,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_error,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, flatten_function, merge, own_value, partition
from bindax_transforms.custom._arguments import Arguments, FlatCall, check_pair
from bindax_transforms.custom._backward_rules import without_logs
from bindax_transforms.custom._custom_call import apply_call
from bindax_transforms.custom._linear import stage_backward
from bindax_transforms.custom.custom_vjp import CustomVJPCall
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

P = ParamSpec("P")
R = TypeVar("R")


@api_boundary
def closure_convert(
    fun: Callable[..., R], *example_args: Any
) -> tuple[Callable[..., R], list[Any]]:
    """A function whose differentiable hidden inputs are arguments, and their values.

    For functions with rules of their own that take other functions: what such a function closes
    over cannot be differentiated, but an argument can.

    Args:
        fun: a function of arrays and trees of arrays.
        example_args: arguments, of which only the structure and the types are used.

    Returns:
        ``(converted, consts)``: ``converted(*args, *consts)`` is ``fun(*args)``; ``consts`` are the
        traced values of a float or complex dtype that ``fun`` closes over. What is not traced
        cannot be differentiated and stays inside.

    Raises:
        TypeError: when ``converted`` is called with another structure than ``example_args`` have.

    >>> from bindax_transforms import closure_convert, grad
    >>> def f(c):
    ...     converted, consts = closure_convert(lambda x: x * c, 2.0)
    ...     return converted(2.0, *consts)
    >>> float(grad(f)(3.0))
    2.0
    """
    check_function("closure_convert", "fun", fun)
    leaves, in_tree = tree_flatten((example_args, {}))
    for i, x in enumerate(leaves):
        if not is_value(x) and not isinstance(x, AbstractValue):
            path = argument_names(example_args, "example_args")[i]
            raise unknown_type_error(x, f"{path} of closure_convert: ")
    origin = DebugInfo("closure_convert", fun)
    flat_function, out_tree = flatten_function(fun, in_tree, origin)
    avals = [x if isinstance(x, AbstractValue) else typeof(x) for x in leaves]
    closed = trace_to_jaxpr(flat_function, avals, origin)
    hoisted = [isinstance(x, Tracer) and is_differentiable(x.aval.dtype) for x in closed.consts]
    kept, consts = partition(hoisted, closed.consts)

    @api_boundary
    def converted(*args_and_consts: Any) -> Any:
        count = len(args_and_consts) - len(consts)
        args, given = args_and_consts[: max(count, 0)], args_and_consts[max(count, 0) :]
        flat, tree = tree_flatten((args, {}))
        if tree != in_tree or len(given) != len(consts):
            raise TypeError(
                f"the function that closure_convert made of {describe_function(fun)} takes "
                f"arguments with the structure of the example, {in_tree.children()[0]}, and then "
                f"{len(consts)} constants, but it was called with {len(args_and_consts)} arguments"
                f", of which the first have the structure {tree.children()[0]}."
            )
        outs = eval_jaxpr(closed.jaxpr, merge(hoisted, kept, given), *flat)
        return tree_unflatten(out_tree(), [own_value(x) for x in outs])

    return converted, consts


@overload
def custom_gradient(
    fun: Callable[P, tuple[R, Any]], *, with_logs: bool = False
) -> Callable[P, R]: ...
@overload
def custom_gradient(
    fun: None = None, *, with_logs: bool = False
) -> Callable[[Callable[P, tuple[R, Any]]], Callable[P, R]]: ...
@api_boundary
def custom_gradient(fun: Callable[..., Any] | None = None, *, with_logs: bool = False) -> Any:
    """A function that gives its reverse-mode derivative together with its output.

    A shorter way to write a ``custom_vjp``: residuals are what the inner function closes over.

    Args:
        fun: returns a pair ``(output, vjp_function)``; the second takes a cotangent of the output
            and returns the cotangent of the argument, or a tuple of them when there are several.
        with_logs: whether ``vjp_function`` returns a pair of these and of what it logs, as for
            ``custom_vjp.defvjp_with_logs``.

    Returns:
        A function that returns the output alone; without ``fun`` a decorator.

    Raises:
        TypeError: when ``fun`` returns no such pair, or ``vjp_function`` the wrong structure.

    >>> from bindax_transforms import custom_gradient, grad
    >>> @custom_gradient
    ... def f(x):
    ...     return x * x, lambda ct: 10.0 * x * ct
    >>> float(f(3.0)), float(grad(f)(3.0))
    (9.0, 30.0)
    """
    if fun is None:
        return partial(custom_gradient, with_logs=with_logs)
    arguments = Arguments("custom_gradient", fun)

    @wraps(fun)
    @api_boundary
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return _apply(*FlatCall.of(arguments, args, kwargs), with_logs)

    return wrapped


def _apply(call: FlatCall, operands: Sequence[Any], with_logs: bool) -> Any:
    """One call of a ``custom_gradient`` function."""
    name = f"vjp function of the {call.name}"

    def checked_pair(operands: Sequence[Any]) -> tuple[Any, Callable[..., Any]]:
        pair = call.arguments.function(*tree_unflatten(call.in_tree, operands))
        check_pair(pair, call.name, "(output, vjp_function)")
        if not callable(pair[1]):
            raise TypeError(
                f"the second output of the {call.name} must be its vjp function, but it "
                f"returned {pair[1]!r:.80} of type {type(pair[1]).__name__}. Return a function "
                f"from the cotangent of the output to those of the arguments."
            )
        return pair[0], pair[1]

    def function(*operands: Any) -> list[Any]:
        return call.of_function(checked_pair(operands)[0])

    def forward(
        perturbed: Sequence[bool], primals: Sequence[Any]
    ) -> tuple[list[Any], list[Any], Any]:
        out, vjp_function = checked_pair(primals)
        outs = call.of_rule(out, call.name)
        in_avals = [typeof(x) for x in primals]

        def flat_vjp(*cotangents: Any) -> list[Any]:
            result = vjp_function(tree_unflatten(call.tree, cotangents))
            result = without_logs(result, name) if with_logs else result
            alone = len(call.in_tree.children()) == 1
            if alone and not (type(result) is tuple and len(result) == 1):
                result = (result,)
            return call.cotangents(result, in_avals, name)

        backward, residuals = stage_backward(flat_vjp, in_avals, outs, DebugInfo(f"the {name}"))
        return outs, residuals, backward

    outs = apply_call(CustomVJPCall(call.name, function, forward), operands)
    return tree_unflatten(call.tree, outs)
