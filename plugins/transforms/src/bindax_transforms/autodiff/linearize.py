"""Linearization and reverse mode: ``jvp`` partially evaluated, and its linear part transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_core.extend import (
    ClosedJaxpr,
    Origin,
    Partial,
    UndefPrimal,
    Zero,
    api_boundary,
    describe_function,
    float0,
    full_lower,
    full_raise,
    instantiate_zeros,
    new_main,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import (
    check_values,
    flatten_function,
    own_value,
    parameter_names,
    partition,
    with_zeros,
)
from bindax_transforms.autodiff._linear_functions import (
    LinearProgram,
    Pullback,
    Pushforward,
    linear_function,
)
from bindax_transforms.autodiff.jvp import jvp_flat, lower_aux, split_aux
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace, dce_closed
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.staging.trace import JaxprBuilder, trace_to_jaxpr


class Linearized(NamedTuple):
    """The results of a function, and its derivative there as a linear program.

    The program goes from the tangents of the arguments that have one to those of the results that
    are not zero; ``nonzeros_in`` and ``nonzeros_out`` tell which these are.
    """

    primals_out: list[Any]
    jaxpr: ClosedJaxpr
    nonzeros_in: list[bool]
    nonzeros_out: list[bool]


def linearize_flat(
    function: Callable[..., Sequence[Any]], primals: Sequence[Any], origin: Origin
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
        primals_out, tangents_out = jvp_flat(function, primals, tangents, origin)
        primals_out = [own_value(full_lower(x)) for x in primals_out]
        atoms = [full_raise(trace, t) for t in tangents_out if type(t) is not Zero]
        jaxpr = dce_closed(builder.build([trace.instantiate(t) for t in atoms]))
    return Linearized(primals_out, jaxpr, nonzeros, [type(t) is not Zero for t in tangents_out])


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


def _with_derivative(
    name: str, kind: type[LinearProgram], fun: Callable[..., Any], primals: Any, has_aux: bool
) -> tuple[Any, ...]:
    """The value of a function, its derivative there as a linear program, and what else it gives."""
    check_function(name, "fun", fun)
    flat, in_tree = tree_flatten((primals, {}))
    check_values(flat, lambda: parameter_names(fun, primals, {}), f"{name} with respect to")
    flat = [own_value(x) for x in flat]
    aux: list[Any] = []
    fun_main = split_aux(fun, aux, name) if has_aux else fun
    origin = Origin(name, fun)
    flat_function, out_tree = flatten_function(fun_main, in_tree, origin)
    lin = linearize_flat(flat_function, flat, origin)
    out = tree_unflatten(out_tree(), lin.primals_out)
    derivative = linear_function(
        kind,
        lin.jaxpr,
        name=f"{name} of {describe_function(fun)}",
        in_tree=in_tree,
        out_tree=out_tree(),
        in_avals=tuple([typeof(x) for x in flat]),
        out_avals=tuple([typeof(x) for x in lin.primals_out]),
        nonzeros_in=tuple(lin.nonzeros_in),
        nonzeros_out=tuple(lin.nonzeros_out),
    )
    return (out, derivative, lower_aux(aux[-1])) if has_aux else (out, derivative)


def unflatten_cotangents(
    lin: Linearized, in_tree: Any, in_avals: Sequence[Any], cotangents: Sequence[Any]
) -> tuple[Any, ...]:
    """The cotangents of the arguments as trees; zeros where nothing flows back."""
    cts = partition(lin.nonzeros_out, cotangents)[1]
    jaxpr = lin.jaxpr.jaxpr
    operands = [UndefPrimal(v.aval) for v in jaxpr.invars]
    found = eval_jaxpr_transposed(jaxpr, lin.jaxpr.consts, operands, cts)
    outs = [own_value(instantiate_zeros(ct)) for ct in with_zeros(lin.nonzeros_in, found, in_avals)]
    args, _ = tree_unflatten(in_tree, outs)
    return args  # type: ignore[no-any-return]


@api_boundary
def linear_transpose(fun: Callable[..., Any], *primals: Any) -> Partial:
    """The transpose of a linear function.

    Args:
        fun: a function that is linear in its arguments.
        primals: values or types of the arguments; only their shapes and dtypes are used.

    Returns:
        A function from a cotangent of the output to the tuple of cotangents of the arguments.

    Raises:
        MissingRuleError: when ``fun`` uses an operation that is not linear.

    >>> from bindax_transforms import linear_transpose
    >>> transposed = linear_transpose(lambda x, y: 2.0 * x - y, 1.0, 1.0)
    >>> [float(ct) for ct in transposed(3.0)]
    [6.0, -3.0]
    """
    check_function("linear_transpose", "fun", fun)
    flat, in_tree = tree_flatten((primals, {}))
    avals = [x if hasattr(x, "tangent_aval") else typeof(x) for x in flat]
    for aval in avals:
        if aval.tangent_aval().dtype == float0:
            raise TypeError(
                f"linear_transpose needs arguments of a float or complex dtype, but got "
                f"{aval.str_short()}: a linear function of integers has no transpose."
            )
    origin = Origin("linear_transpose", fun)
    flat_function, out_tree = flatten_function(fun, in_tree, origin)
    jaxpr = trace_to_jaxpr(flat_function, avals, origin)
    return linear_function(
        Pullback,
        jaxpr,
        name=f"linear_transpose of {describe_function(fun)}",
        in_tree=in_tree,
        out_tree=out_tree(),
        in_avals=tuple(avals),
        out_avals=tuple(jaxpr.out_avals),
        nonzeros_in=(True,) * len(avals),
        nonzeros_out=(True,) * len(jaxpr.out_avals),
    )
