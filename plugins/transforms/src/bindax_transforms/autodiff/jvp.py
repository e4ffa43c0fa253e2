"""Forward-mode differentiation: pairs of primal and tangent flow through the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, TypeVar, overload

from bindax_core import config
from bindax_core.errors import AbstractionError, ShapeError, TypePromotionError
from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    Primitive,
    Trace,
    Tracer,
    ValueTracer,
    api_boundary,
    as_array,
    current_source,
    explain_failure,
    float0,
    full_raise,
    is_differentiable,
    is_value,
    jaxpr_as_fun,
    new_main,
    operations_for,
    rules,
    tree_flatten,
    tree_map,
    tree_unflatten,
    typeof,
    unknown_type_error,
)
from bindax_core.sharding import laid_as
from bindax_transforms._callables import check_function
from bindax_transforms._flat import (
    broadcast_flags,
    cached_on_jaxpr,
    check_values,
    flatten_function,
    own_value,
    parameter_names,
    partition,
    with_zeros,
)
from bindax_transforms._rule_checks import check_counts, check_tangent_result
from bindax_transforms.autodiff.partial_eval import dce_closed
from bindax_transforms.manual_axes import varying_as, varying_of
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.staging.names import JVP, enter_name
from bindax_transforms.zeros import Zero, instantiate_zeros

R = TypeVar("R")
Aux = TypeVar("Aux")

_rules = rules.jvp.functions
_backward_rules = rules.vjp.functions
by_direction: dict[str, Callable[[Primitive, Callable[..., Any]], Callable[..., Any]]] = {}
"""The function that makes one rule of ``jvp`` and ``vjp``, from the module of linear maps."""


class JVPTracer(ValueTracer):
    """A primal, which is its value, and the tangent, which may be a symbolic ``Zero``."""

    __slots__ = ("tangent",)

    def __init__(self, trace: Trace, primal: Any, tangent: Any) -> None:
        self._trace = trace
        self.value = primal
        self.tangent: Any = tangent

    @property
    def primal(self) -> Any:
        """The value."""
        return self.value

    @property
    def is_plain(self) -> bool:
        return type(self.tangent) is Zero


class JVPTrace(Trace):
    """Applies ``jvp`` rules."""

    __slots__ = ()

    def pure(self, value: Any) -> JVPTracer:
        return JVPTracer(self, value, Zero.like(value))

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JVPTracer], params: dict[str, Any]
    ) -> list[Any]:
        primals = [t.value for t in tracers]
        tangents = [t.tangent for t in tracers]
        rule = _rules.get(primitive) or rules.jvp.get(primitive)
        if primitive in _backward_rules:
            rule = _in_both_directions(primitive, rule)
        try:
            primals_out, tangents_out = rule(primals, tangents, **params)
        except Exception as error:
            explain_failure(primitive, "jvp", error, (primals, tangents), params)
            raise
        if primitive.multiple_results:
            parts = (("the primal results", primals_out), ("the tangents", tangents_out))
            check_counts(primitive, "jvp", parts, [t.aval for t in tracers], params)
        outs = []
        for x, t in zip(primals_out, tangents_out, strict=True):
            if type(x) is not Array or type(t) is not Array or t.aval is not x.aval:
                check_tangent_result(primitive, x, t)
            outs.append(x if type(t) is Zero else JVPTracer(self, x, t))
        return outs


def _in_both_directions(primitive: Primitive, rule: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of a primitive that has a ``vjp`` rule, and maybe a ``jvp`` rule of its own."""
    given = rules.jvp.rule_of(primitive)
    if given is None or not given.is_given:
        return rule
    return by_direction["combine"](primitive, rule)


def jvp_flat(
    function: Callable[..., Sequence[Any]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    origin: DebugInfo,
) -> tuple[list[Any], list[Any]]:
    """The derivative of a function of flat values; tangents in and out may be ``Zero``."""
    with new_main(JVPTrace, origin=origin) as main:
        trace = main.trace
        tracers = [
            x if type(t) is Zero else JVPTracer(trace, x, t)
            for x, t in zip(primals, tangents, strict=True)
        ]
        outs = [full_raise(trace, out) for out in function(*tracers)]
        return [out.value for out in outs], [out.tangent for out in outs]


@overload
def jvp(
    fun: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[False] = False,
) -> tuple[R, R]: ...
@overload
def jvp(
    fun: Callable[..., tuple[R, Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    has_aux: Literal[True],
) -> tuple[R, R, Aux]: ...
@overload
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]: ...
@api_boundary
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> tuple[Any, ...]:
    """The value of a function and its derivative along a tangent (forward mode).

    Args:
        fun: a function of arrays and trees of arrays.
        primals: the arguments, a tuple or list.
        tangents: a tangent for each argument, of the same structure, shapes and dtypes; tangents of
            integers and booleans have dtype ``float0``.
        has_aux: whether ``fun`` returns a pair whose second part is passed through.

    Returns:
        ``(primals_out, tangents_out)``, and the auxiliary output if there is one.

    Raises:
        TypeError: when a tangent does not fit its primal; the message names the argument.

    >>> from bindax_transforms import jvp
    >>> y, y_dot = jvp(lambda x: x * x, (3.0,), (1.0,))
    >>> float(y), float(y_dot)
    (9.0, 6.0)
    """
    check_function("jvp", "fun", fun)
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError(
            f"jvp takes primals and tangents as tuples or lists with one entry for each argument, "
            f"but got {type(primals).__name__} and {type(tangents).__name__}."
        )
    flat_primals, in_tree = tree_flatten((tuple(primals), {}))
    flat_tangents, tangent_tree = tree_flatten((tuple(tangents), {}))
    if in_tree != tangent_tree:
        raise TypeError(
            f"primals and tangents of jvp must have the same structure, but the primals are "
            f"{in_tree.children()[0]} and the tangents are {tangent_tree.children()[0]}."
        )
    names = partial(parameter_names, fun, tuple(primals), {})
    check_values(flat_primals, names, "jvp with respect to")
    flat_tangents = [
        check_tangent(typeof(x), t, i, names)
        for i, (x, t) in enumerate(zip(flat_primals, flat_tangents, strict=True))
    ]
    aux: list[Any] = []
    fun_main = split_aux(fun, aux, "jvp") if has_aux else fun
    origin = DebugInfo("jvp", fun)
    flat_function, out_tree = flatten_function(fun_main, in_tree, origin)
    outer = enter_name(JVP)
    try:
        primals_out, tangents_out = jvp_flat(flat_function, flat_primals, flat_tangents, origin)
    finally:
        current_source.info = outer
    primals_out = [own_value(x) for x in primals_out]
    tangents_out = [instantiate_zeros(t) for t in tangents_out]
    pairs = zip(primals_out, tangents_out, strict=True)
    tangents_out = [
        as_array(t) if isinstance(x, (Array, Tracer)) else own_value(t) for x, t in pairs
    ]
    results = tree_unflatten(out_tree(), primals_out), tree_unflatten(out_tree(), tangents_out)
    return (*results, lower_aux(aux[-1])) if has_aux else results


def check_tangent(
    aval: Any, tangent: Any, index: int, names: Callable[[], list[str]], what: str = "tangent"
) -> Any:
    """A tangent with exactly the type that belongs to its primal; ``Zero`` for float0.

    ``aval`` is the type of the primal, or for a cotangent of the output, and ``index`` its place
    among the leaves whose paths ``names`` gives. A Python scalar takes the dtype that is needed,
    unless JAX decides.
    """
    if type(tangent) is Array and tangent.aval is aval and is_differentiable(aval.dtype):
        return tangent
    if not is_value(tangent):
        raise unknown_type_error(tangent, f"the {what} for {names()[index]}: ")
    expected = aval.tangent_aval() if what == "tangent" else aval.cotangent_aval()
    given = typeof(tangent)
    if getattr(given, "dtype", None) == float0 and given.shape == expected.shape:
        return Zero(expected)
    counts = given.dtype.kind in "biu" and what == "cotangent"
    if expected.dtype == float0 and counts and given.shape == expected.shape:
        return Zero(expected)  # an integer has no cotangent but zero
    if given.strip_weak_type() == expected.strip_weak_type():
        return tangent
    if varying_of([given]) < varying_of([expected]):  # it is the same on some devices
        return check_tangent(aval, varying_as(tangent, expected), index, names, what)
    if given.plain().strip_weak_type() == expected.plain().strip_weak_type():
        return laid_as(tangent, expected)
    either_weak = given.weak_type or (aval.weak_type and is_differentiable(given.dtype))
    converts = either_weak and config.conventions != "jax"
    yields = converts and (given.dtype.kind != "c" or expected.dtype.kind == "c")
    if yields and given.shape == expected.shape and expected.dtype != float0:
        return operations_for(expected).convert(tangent, expected.dtype, expected.weak_type)
    raise (TypePromotionError if given.shape == expected.shape else ShapeError)(
        f"the {what} for {names()[index]} must have the type {expected.str_short()}, because the "
        f"{'primal' if what == 'tangent' else 'output'} is {aval.str_short()}, but it is "
        f"{given.str_short()}."
    )


def split_aux(fun: Callable[..., Any], aux: list[Any], name: str) -> Callable[..., Any]:
    """A function that returns the first part of a pair and keeps the second in ``aux``."""

    def main_part(*args: Any, **kwargs: Any) -> Any:
        result = fun(*args, **kwargs)
        if not isinstance(result, (tuple, list)) or len(result) != 2:
            raise TypeError(
                f"{name} with has_aux=True needs a function that returns a pair (output, aux), a "
                f"two-element tuple, but it returned {type(result).__name__}."
            )
        out, kept = result
        aux.append(kept)
        return out

    main_part.__wrapped__ = fun  # type: ignore[attr-defined]  # messages name the user's function
    return main_part


def lower_aux(aux: Any) -> Any:
    """Auxiliary output with the primals in place of the tracers of the finished trace."""
    return tree_map(_own_primal, aux)


def _own_primal(x: Any) -> Any:
    while isinstance(x, JVPTracer) and not x._trace.main.alive:
        x = x.value
    try:
        return own_value(x)
    except AbstractionError:  # it may be anything, an array of strings too
        return x


def jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzeros: Sequence[bool], instantiate: bool | Sequence[bool] = False
) -> tuple[ClosedJaxpr, list[bool]]:
    """The derivative of a jaxpr, as a jaxpr.

    Args:
        jaxpr: a jaxpr without constants.
        nonzeros: which arguments have a tangent.
        instantiate: which results must have a tangent even if it is zero.

    Returns:
        A jaxpr from the arguments and the nonzero tangents to the results and their nonzero
        tangents, and which results those are.

    >>> from bindax_transforms import make_jaxpr
    >>> jvp_jaxpr(make_jaxpr(lambda x, y: (x * y, y))(1.0, 1.0), [True, False])
    ({ lambda a:float64[], b:float64[], c:float64[] .
      let d:float64[] = mul a b
          e:float64[] = mul c b
      in ( d, b, e ) }, [True, False])
    """
    flags, wanted = tuple(nonzeros), broadcast_flags(jaxpr, instantiate)
    return cached_on_jaxpr(jaxpr, ("jvp", flags, wanted), lambda: _jvp_jaxpr(jaxpr, flags, wanted))


def _jvp_jaxpr(
    jaxpr: ClosedJaxpr, nonzeros: tuple[bool, ...], instantiate: tuple[bool, ...]
) -> tuple[ClosedJaxpr, list[bool]]:
    nonzeros_out: list[bool] = []
    # What no result needs may have no derivative.
    jaxpr = dce_closed(jaxpr)
    in_avals = jaxpr.in_avals
    tangent_avals = [aval.tangent_aval() for aval in partition(nonzeros, in_avals)[1]]

    def function(*values: Any) -> list[Any]:
        primals = values[: len(in_avals)]
        tangents = with_zeros(nonzeros, values[len(in_avals) :], in_avals)
        outs, out_tangents = jvp_flat(jaxpr_as_fun(jaxpr), primals, tangents, DebugInfo("jvp"))
        nonzeros_out.extend(
            type(t) is not Zero or (wanted and t.aval.dtype != float0)
            for t, wanted in zip(out_tangents, instantiate, strict=True)
        )
        return [*outs, *map(instantiate_zeros, partition(nonzeros_out, out_tangents)[1])]

    made = trace_to_jaxpr(function, [*in_avals, *tangent_avals], DebugInfo("jvp"))
    return made, nonzeros_out
