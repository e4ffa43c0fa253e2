"""Linearization and reverse mode: ``jvp`` partially evaluated, and its linear part transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar, overload

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Partial,
    api_boundary,
    current_source,
    describe_function,
    float0,
    full_lower,
    full_raise,
    new_main,
    tree_flatten,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import (
    check_values,
    flatten_function,
    own_value,
    parameter_names,
)
from bindax_transforms.autodiff.jvp import jvp_flat, lower_aux, split_aux
from bindax_transforms.autodiff.linear_program import VJP as VJP
from bindax_transforms.autodiff.linear_program import LinearProgram as LinearProgram
from bindax_transforms.autodiff.linear_program import Pullback as Pullback
from bindax_transforms.autodiff.linear_program import Pushforward as Pushforward
from bindax_transforms.autodiff.linear_program import Transposed as Transposed
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace, dce_closed
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder, trace_to_jaxpr
from bindax_transforms.staging.make_jaxpr import abstractify
from bindax_transforms.staging.names import JVP, enter_name
from bindax_transforms.staging.reference import Reference, check_distinct, has_references
from bindax_transforms.staging.staged_program import kept_apart
from bindax_transforms.zeros import Zero

R = TypeVar("R")
Aux = TypeVar("Aux")


class Linearized(NamedTuple):
    """The results of a function, and its derivative there as a linear jaxpr."""

    primals_out: list[Any]
    jaxpr: ClosedJaxpr
    nonzeros_in: list[bool]  # which arguments have a tangent, an argument of the jaxpr
    nonzeros_out: list[bool]  # which results have one, a result of the jaxpr


def linearize_flat(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], origin: DebugInfo
) -> Linearized:
    """Run a function of flat values, staging out the linear part of its derivative."""
    builder = JaxprBuilder(residuals=True)
    tangent_avals = [typeof(x).tangent_aval() for x in primals]
    nonzeros = [aval.dtype != float0 for aval in tangent_avals]
    with new_main(PartialEvalTrace, builder, origin=origin) as main:
        trace: Any = main.trace
        tangents = [
            trace.new_arg(aval) if nonzero else Zero(aval)
            for aval, nonzero in zip(tangent_avals, nonzeros, strict=True)
        ]
        outer = enter_name(JVP)
        try:
            primals_out, tangents_out = jvp_flat(function, primals, tangents, origin)
        finally:
            current_source.info = outer
        primals_out = [own_value(full_lower(x)) for x in primals_out]
        atoms = [full_raise(trace, t) for t in tangents_out if type(t) is not Zero]
        jaxpr = dce_closed(builder.build([trace.instantiate(t) for t in atoms]))
    return Linearized(primals_out, jaxpr, nonzeros, [type(t) is not Zero for t in tangents_out])


@overload
def linearize(
    fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Partial[R]]: ...
@overload
def linearize(
    fun: Callable[..., tuple[R, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Partial[R], Aux]: ...
@overload
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]: ...
@api_boundary
def linearize(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function, and its derivative there as a linear function.

    Applying the linear function again costs no new linearization.

    Args:
        fun: a function of arrays and trees of arrays.
        primals: the arguments at which to linearize.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.

    Returns:
        ``(out, f_lin)``, and the auxiliary output if there is one; ``f_lin`` takes a tangent for
        each argument. It is a tree, whose leaves are what it has computed.

    >>> from bindax_transforms import linearize
    >>> y, f_lin = linearize(lambda x: x * x, 3.0)
    >>> float(y), float(f_lin(1.0))
    (9.0, 6.0)
    """
    return _with_derivative("linearize", Pushforward, fun, primals, has_aux)


@overload
def vjp(
    fun: Callable[..., R], *primals: Any, has_aux: Literal[False] = False
) -> tuple[R, Partial[tuple[Any, ...]]]: ...
@overload
def vjp(
    fun: Callable[..., tuple[R, Aux]], *primals: Any, has_aux: Literal[True]
) -> tuple[R, Partial[tuple[Any, ...]], Aux]: ...
@overload
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]: ...
@api_boundary
def vjp(fun: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """The value of a function, and the transpose of its derivative there (reverse mode).

    Args:
        fun: a function of arrays and trees of arrays.
        primals: the arguments at which to differentiate.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.

    Returns:
        ``(out, f_vjp)``, and the auxiliary output if there is one; ``f_vjp`` takes a cotangent of
        the structure of ``out`` and returns the tuple of cotangents of the arguments. Cotangents of
        integers and booleans have dtype ``float0``. ``f_vjp`` is a tree, whose leaves are what it
        has computed.

    Raises:
        TypeError: when a cotangent does not fit the output.

    >>> from bindax_transforms import vjp
    >>> y, f_vjp = vjp(lambda x, y: x * y, 3.0, 2.0)
    >>> [float(ct) for ct in f_vjp(1.0)]
    [2.0, 3.0]
    """
    return _with_derivative("vjp", Pullback, fun, primals, has_aux)


def _closing_over_references(
    fun: Callable[..., Any], primals: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A function that has the references among its arguments, and arguments with None for them."""
    leaves, tree = tree_flatten(primals)
    check_distinct(leaves, lambda: parameter_names(fun, primals, {}))
    _, restored = kept_apart(leaves)
    without = [None if isinstance(x, Reference) else x for x in leaves]

    @wraps(fun)
    def closed(*args: Any) -> Any:
        return fun(*tree_unflatten(tree, restored(tree_flatten(args)[0])))

    return closed, tree_unflatten(tree, without)


def _with_derivative(
    name: str, kind: type[LinearProgram], fun: Callable[..., Any], primals: Any, has_aux: bool
) -> tuple[Any, ...]:
    """The value of a function, its derivative there as a linear jaxpr, and what else it gives."""
    check_function(name, "fun", fun)
    flat, in_tree = tree_flatten((primals, {}))
    if has_references(flat):
        fun, primals = _closing_over_references(fun, primals)
        flat, in_tree = tree_flatten((primals, {}))
    check_values(flat, lambda: parameter_names(fun, primals, {}), f"{name} with respect to")
    flat = [own_value(x) for x in flat]
    aux: list[Any] = []
    fun_main = split_aux(fun, aux, name) if has_aux else fun
    origin = DebugInfo(name, fun)
    flat_function, out_tree = flatten_function(fun_main, in_tree, origin)
    lin = linearize_flat(flat_function, flat, origin)
    out = tree_unflatten(out_tree(), lin.primals_out)
    positions = {id(x): i for i, x in enumerate(flat)}
    program: Any = kind(
        name=f"{name} of {describe_function(fun)}",
        jaxpr=lin.jaxpr.jaxpr,
        in_tree=in_tree,
        out_tree=out_tree(),
        in_avals=tuple([typeof(x) for x in flat]),
        out_avals=tuple([typeof(x) for x in lin.primals_out]),
        nonzeros_in=tuple(lin.nonzeros_in),
        nonzeros_out=tuple(lin.nonzeros_out),
        of_arguments=tuple([positions.get(id(x)) for x in lin.jaxpr.consts]),
    )
    residuals = tuple(lin.jaxpr.consts)
    derivative: Any = (VJP if kind is Pullback else Partial)(program, residuals)
    return (out, derivative, lower_aux(aux[-1])) if has_aux else (out, derivative)


@api_boundary
def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Partial[tuple[Any, ...]]:
    """The transpose of a linear function.

    Args:
        fun: a function that is linear in its arguments.
        primals: values or types of the arguments, or what has a ``shape`` and a ``dtype``; only
            these are used.

    Returns:
        A function from a cotangent of the output to the tuple of cotangents of the arguments.

    Raises:
        MissingRuleError: when ``fun`` uses an operation that is not linear.
        TypeError: when integers become floats or the other way round, which has no transpose.

    >>> from bindax_transforms import linear_transpose
    >>> transposed = linear_transpose(lambda x, y: 2.0 * x - y, 1.0, 1.0)
    >>> [float(ct) for ct in transposed(3.0)]
    [6.0, -3.0]
    """
    check_function("linear_transpose", "fun", fun)
    flat, in_tree = tree_flatten((primals, {}))
    avals = [abstractify(x, "linear_transpose") for x in flat]
    origin = DebugInfo("linear_transpose", fun)
    flat_function, out_tree = flatten_function(fun, in_tree, origin)
    closed = trace_to_jaxpr(flat_function, avals, origin)
    if len({aval.tangent_aval().dtype == float0 for aval in (*avals, *closed.out_avals)}) > 1:
        given, found = (" ".join(x.str_short() for x in xs) for xs in (avals, closed.out_avals))
        raise TypeError(
            f"linear_transpose only supports functions of floats to floats, and of integers to "
            f"integers, but {describe_function(fun)} is one of ({given}) to ({found})."
        )
    program: Any = Transposed(
        name=f"linear_transpose of {describe_function(fun)}",
        jaxpr=closed.jaxpr,
        in_tree=in_tree,
        out_tree=out_tree(),
        in_avals=tuple(avals),
        out_avals=tuple(closed.out_avals),
        nonzeros_in=(True,) * len(avals),
        nonzeros_out=(True,) * len(closed.out_avals),
    )
    return Partial(program, tuple(closed.consts))
