"""Linearization and reverse mode: ``jvp`` partially evaluated, and its linear part transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

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
    is_value,
    new_main,
    tree_flatten,
    tree_unflatten,
    typeof,
    unknown_type_message,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import flatten_function, own_value, parameter_names
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


class Linearized:
    """The results of a function, and its derivative there as a linear program.

    Attributes:
        primals_out: the results.
        jaxpr: from the nonzero tangents in to the nonzero tangents out.
        nonzeros_in: which arguments have tangents.
        nonzeros_out: which results have a tangent that is not zero.
    """

    __slots__ = ("jaxpr", "nonzeros_in", "nonzeros_out", "primals_out")

    def __init__(
        self,
        primals_out: list[Any],
        jaxpr: ClosedJaxpr,
        nonzeros_in: list[bool],
        tangents_out: Sequence[Any],
    ) -> None:
        self.primals_out = primals_out
        self.jaxpr = jaxpr
        self.nonzeros_in = nonzeros_in
        self.nonzeros_out = [type(t) is not Zero for t in tangents_out]

    def function(
        self,
        kind: type[LinearProgram],
        name: str,
        fun: Callable[..., Any],
        in_tree: Any,
        out_tree: Any,
        primals: Sequence[Any],
    ) -> Partial:
        """The derivative, or its transpose, as a function of trees."""
        return linear_function(
            kind,
            self.jaxpr,
            name=f"{name} of {describe_function(fun)}",
            in_tree=in_tree,
            out_tree=out_tree,
            in_avals=tuple([typeof(x) for x in primals]),
            out_avals=tuple([typeof(x) for x in self.primals_out]),
            nonzeros_in=tuple(self.nonzeros_in),
            nonzeros_out=tuple(self.nonzeros_out),
        )

    def apply_transposed(self, cotangents: Sequence[Any]) -> list[Any]:
        """The cotangents of the arguments that have tangents; gives values or ``Zero``."""
        cts = [ct for ct, nonzero in zip(cotangents, self.nonzeros_out, strict=True) if nonzero]
        args = [UndefPrimal(v.aval) for v in self.jaxpr.jaxpr.invars]
        return eval_jaxpr_transposed(self.jaxpr.jaxpr, self.jaxpr.consts, args, cts)


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
    return Linearized(primals_out, jaxpr, nonzeros, tangents_out)


def _checked_primals(
    name: str, fun: Callable[..., Any], flat: Sequence[Any], args: Any
) -> list[Any]:
    for i, x in enumerate(flat):
        if not is_value(x):
            place = parameter_names(fun, args, {})[i]
            raise TypeError(f"{name} with respect to {place}: {unknown_type_message(x)}")
    return [own_value(x) for x in flat]


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
    flat = _checked_primals(name, fun, flat, primals)
    aux: list[Any] = []
    fun_main = split_aux(fun, aux, name) if has_aux else fun
    origin = Origin(name, fun)
    flat_function, out_tree = flatten_function(fun_main, in_tree, origin)
    lin = linearize_flat(flat_function, flat, origin)
    tree = out_tree()
    out = tree_unflatten(tree, lin.primals_out)
    derivative = lin.function(kind, name, fun, in_tree, tree, flat)
    return (out, derivative, lower_aux(aux[-1])) if has_aux else (out, derivative)


def unflatten_cotangents(
    lin: Linearized, in_tree: Any, in_avals: Sequence[Any], cotangents: Sequence[Any]
) -> tuple[Any, ...]:
    """The cotangents of the arguments as trees; zeros where nothing flows back."""
    found = iter(lin.apply_transposed(cotangents))
    outs = [
        own_value(instantiate_zeros(next(found) if nonzero else Zero(aval)))
        for nonzero, aval in zip(lin.nonzeros_in, in_avals, strict=True)
    ]
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
