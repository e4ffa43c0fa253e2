"""Linearization and reverse mode: ``jvp`` partially evaluated, and its linear part transposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar, overload

from bindax_core.errors import ShapeError
from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    Partial,
    PyTreeDef,
    api_boundary,
    current_source,
    describe_function,
    eval_jaxpr,
    float0,
    full_lower,
    full_raise,
    new_main,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import (
    argument_names,
    check_values,
    flatten_function,
    own_value,
    parameter_names,
    partition,
    with_zeros,
)
from bindax_transforms.autodiff.jvp import check_tangent, jvp_flat, lower_aux, split_aux
from bindax_transforms.autodiff.partial_eval import PartialEvalTrace, dce_closed
from bindax_transforms.autodiff.transposition import eval_jaxpr_transposed
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder, trace_to_jaxpr
from bindax_transforms.staging.make_jaxpr import abstractify
from bindax_transforms.staging.names import JVP, TRANSPOSE, enter_name
from bindax_transforms.zeros import UndefPrimal, Zero, instantiate_zeros

R = TypeVar("R")
Aux = TypeVar("Aux")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LinearProgram:
    """A linear jaxpr from tangents of arguments to tangents of results.

    ``jaxpr`` goes from the nonzero tangents in to the nonzero tangents out; its constants are the
    residuals. ``in_tree`` is the structure of ``(arguments, {})``.

    With the residuals it is a tree, whose leaves these are, so that it may leave ``jit``, be
    carried by ``scan`` and be a residual itself. The jaxpr is metadata, equal to itself only.
    """

    name: str
    jaxpr: Jaxpr
    in_tree: PyTreeDef
    out_tree: PyTreeDef
    in_avals: Sequence[Any]
    out_avals: Sequence[Any]
    nonzeros_in: Sequence[bool]
    nonzeros_out: Sequence[bool]

    def __repr__(self) -> str:
        return f"<{self.name}>"


class Pushforward(LinearProgram):
    """The result of ``linearize``: a map of tangents."""

    @api_boundary
    def __call__(self, residuals: Sequence[Any], *tangents: Any) -> Any:
        """Return the tangents of the results, one tangent given for each argument."""
        flat, tree = tree_flatten((tangents, {}))
        if tree != self.in_tree:
            raise TypeError(
                f"the tangents must have the structure of the arguments, "
                f"{self.in_tree.children()[0]}, but they have {tree.children()[0]}."
            )
        checked = _checked(
            self.in_avals,
            flat,
            lambda: argument_names(tree_unflatten(self.in_tree, self.in_avals)[0], "primals"),
            "tangent",
        )
        used = [instantiate_zeros(t) for t in partition(self.nonzeros_in, checked)[1]]
        outs = eval_jaxpr(self.jaxpr, residuals, *used)
        found = filled(self.nonzeros_out, outs, self.out_avals)
        return tree_unflatten(self.out_tree, found)


class Pullback(LinearProgram):
    """The result of ``vjp``: a map of cotangents."""

    @api_boundary
    def __call__(self, residuals: Sequence[Any], cotangent: Any) -> tuple[Any, ...]:
        """Return the cotangents of the arguments, for one of the structure of the results."""
        flat, tree = tree_flatten(cotangent)
        if tree != self.out_tree:
            raise ShapeError(
                f"the cotangent must have the structure of the output, {self.out_tree}, but it "
                f"has {tree}."
            )
        checked = _checked(
            self.out_avals,
            flat,
            lambda: argument_names(tree_unflatten(self.out_tree, self.out_avals), "output"),
            "cotangent",
            self.kept,
        )
        found = pull_back(self.jaxpr, residuals, partition(self.nonzeros_out, checked)[1])
        args, _ = tree_unflatten(self.in_tree, filled(self.nonzeros_in, found, self.in_avals))
        return args  # type: ignore[no-any-return]

    @staticmethod
    def kept(aval: Any, cotangent: Any) -> bool:
        """Tell whether a cotangent is taken as it is."""
        return False


class Transposed(Pullback):
    """The result of ``linear_transpose``: integers are numbers there, and no constants."""

    @staticmethod
    def kept(aval: Any, cotangent: Any) -> bool:
        """Tell whether a cotangent is of the integer type of a result."""
        is_integer = aval.tangent_aval().dtype == float0
        return is_integer and bool(typeof(cotangent).strip_weak_type() == aval.strip_weak_type())


def pull_back(jaxpr: Jaxpr, residuals: Sequence[Any], cotangents: Sequence[Any]) -> Sequence[Any]:
    """The cotangents, or ``Zero``, of a linear jaxpr's arguments, from those of its results."""
    operands = [UndefPrimal(v.aval) for v in jaxpr.invars]
    outer = enter_name(TRANSPOSE)
    try:
        return eval_jaxpr_transposed(jaxpr, residuals, operands, cotangents)
    finally:
        current_source.info = outer


def filled(flags: Sequence[bool], found: Sequence[Any], avals: Sequence[Any]) -> list[Any]:
    """Arrays for all, from what a linear jaxpr gives where the flags say that there is one."""
    return [own_value(instantiate_zeros(x)) for x in with_zeros(flags, found, avals)]


def _checked(
    avals: Sequence[Any],
    given: Sequence[Any],
    names: Callable[[], list[str]],
    what: str,
    kept: Callable[[Any, Any], bool] = lambda aval, x: False,
) -> list[Any]:
    pairs = enumerate(zip(avals, given, strict=True))
    return [
        x if kept(aval, x) else check_tangent(aval, x, i, names, what) for i, (aval, x) in pairs
    ]


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


def _with_derivative(
    name: str, kind: type[LinearProgram], fun: Callable[..., Any], primals: Any, has_aux: bool
) -> tuple[Any, ...]:
    """The value of a function, its derivative there as a linear jaxpr, and what else it gives."""
    check_function(name, "fun", fun)
    flat, in_tree = tree_flatten((primals, {}))
    check_values(flat, lambda: parameter_names(fun, primals, {}), f"{name} with respect to")
    flat = [own_value(x) for x in flat]
    aux: list[Any] = []
    fun_main = split_aux(fun, aux, name) if has_aux else fun
    origin = DebugInfo(name, fun)
    flat_function, out_tree = flatten_function(fun_main, in_tree, origin)
    lin = linearize_flat(flat_function, flat, origin)
    out = tree_unflatten(out_tree(), lin.primals_out)
    program: Any = kind(
        name=f"{name} of {describe_function(fun)}",
        jaxpr=lin.jaxpr.jaxpr,
        in_tree=in_tree,
        out_tree=out_tree(),
        in_avals=tuple([typeof(x) for x in flat]),
        out_avals=tuple([typeof(x) for x in lin.primals_out]),
        nonzeros_in=tuple(lin.nonzeros_in),
        nonzeros_out=tuple(lin.nonzeros_out),
    )
    derivative = Partial(program, tuple(lin.jaxpr.consts))
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
