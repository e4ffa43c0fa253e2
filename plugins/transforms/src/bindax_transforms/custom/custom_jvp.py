"""``custom_jvp``: a function whose derivative is given by a rule in place of its operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

import numpy as np

from bindax_core.extend import (
    MainTrace,
    Primitive,
    api_boundary,
    as_array,
    describe_function,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
    typeof,
    zeros_like_aval,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.custom._arguments import (
    CustomFunction,
    FlatCall,
    SymbolicZero,
    as_given,
    as_tangents,
    check_pair,
    match_leaves,
)
from bindax_transforms.custom._custom_call import (
    Batching,
    CustomCall,
    apply_call,
    call_primitive,
    closed_over_error,
    resume_trace,
    without_tangents,
)
from bindax_transforms.zeros import Zero, add_tangents

P = ParamSpec("P")
R = TypeVar("R")
JVPRule = Callable[..., Any]


class CustomJVPCall(CustomCall):
    """A call with the rule ``(primals, tangents) -> (results, tangents)``."""

    def jvp(
        self, main: MainTrace, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        pair = self.rule(primals[self.num_consts :], self.split_consts(tangents))
        return without_tangents(self, main, pair)  # type: ignore[no-any-return]

    def user_functions(self) -> Mapping[str, Callable[..., Any]]:
        if not isinstance(self.first_rule, partial):
            return {}
        call, rule, _ = self.first_rule.args
        found = {"function": call.arguments.function}
        if isinstance(rule, partial) and rule.func is _sum_of_rules:
            each = enumerate(rule.args[1])
            return found | {f"jvp rule {i}": one for i, one in each if one is not None}
        return found | {"jvp rule": rule}

    def batched_rule(self, batching: Batching, dims: Sequence[BatchDim]) -> Callable[..., Any]:
        def rule(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
            with resume_trace(batching.main) as trace:
                boxed = [batching.boxes(trace, xs, dims) for xs in (primals, tangents)]
                outs, out_tangents = self.rule(*boxed)
                both = batching.unbox(trace, [*outs, *out_tangents])
            return both[: len(outs)], both[len(outs) :]

        return rule


custom_jvp_call_p: Primitive = call_primitive("custom_jvp_call", CustomJVPCall)
"""A call of a ``custom_jvp`` function. Parameters: ``call``, with the rule; ``jaxpr``, the function
as a jaxpr without constants."""


class custom_jvp(CustomFunction[P, R]):
    """A function with a derivative rule of its own, for forward and so for reverse mode.

    Whatever differentiates the function uses the rule: ``jvp``, ``grad``, ``vjp``, ``linearize``,
    the Jacobians, inside ``jit``, ``vmap``, loops and branches as well. Higher derivatives are
    derivatives of the rule. The rule is to be linear in the tangents. Outside ``jit`` the function
    and its rule may use Python control flow on values.

    The rules see only the explicit arguments: to differentiate with respect to a value that the
    function closes over is an error.

    Args:
        fun: a function of arrays and trees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated, such as functions;
            the rule gets them first, as they are.
        nondiff_argnames: the same by name.

    >>> from bindax_transforms import custom_jvp, grad
    >>> @custom_jvp
    ... def f(x):
    ...     return x * x
    >>> @f.defjvp
    ... def f_jvp(primals, tangents):
    ...     (x,), (t,) = primals, tangents
    ...     return f(x), 10.0 * t
    >>> float(f(3.0)), float(grad(f)(3.0))
    (9.0, 10.0)
    """

    _decorator = "custom_jvp"

    jvp: JVPRule | None = None
    symbolic_zeros: bool = False

    def traced_parts(self) -> tuple[Any, ...]:
        """The parts that jaxprs with this depend on, for ``traced_once``."""
        return self.fun, self.nondiff_argnums, self.jvp, self.symbolic_zeros

    @api_boundary
    def defjvp(self, jvp: JVPRule, symbolic_zeros: bool = False) -> JVPRule:
        """Set the rule; usable as a decorator.

        Args:
            jvp: ``(*nondiff_args, primals, tangents) -> (primal_out, tangent_out)``, where primals
                and tangents are tuples with one entry for each differentiated argument. Tangents
                of integers have dtype ``float0``. In the tangent output None stands for zeros.
            symbolic_zeros: whether zero tangents are given as ``SymbolicZero`` objects.

        Returns:
            ``jvp``.
        """
        check_function(f"defjvp of the {self._arguments.name}", "jvp", jvp)
        self.jvp = jvp
        self.symbolic_zeros: bool = symbolic_zeros
        return jvp

    @api_boundary
    def defjvps(self, *jvps: JVPRule | None) -> None:
        """Set the rule by one function for each argument.

        Args:
            jvps: ``(tangent, primal_out, *primals) -> tangent_out`` for each argument, the
                contributions are added; None where it is zero.

        >>> from bindax_transforms import custom_jvp, grad
        >>> f = custom_jvp(lambda x, y: x * y)
        >>> f.defjvps(lambda t, out, x, y: t * y, None)
        >>> [float(ct) for ct in grad(f, argnums=(0, 1))(3.0, 2.0)]
        [2.0, 0.0]
        """
        if self.nondiff_argnums:
            raise TypeError(
                f"defjvps cannot be used with nondiff_argnums; give the {self._arguments.name} "
                f"one rule with defjvp."
            )
        for i, rule in enumerate(jvps):
            if rule is not None:
                check_function(f"defjvps of the {self._arguments.name}", f"jvps[{i}]", rule)

        self.defjvp(partial(_sum_of_rules, self, jvps), symbolic_zeros=True)

    @api_boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.jvp is None:
            raise AttributeError(
                f"the {self._arguments.name} has no derivative rule; define one with defjvp or "
                f"defjvps before calling it."
            )
        call, operands = FlatCall.of(self._arguments, args, kwargs)
        rule = partial(_apply_rule, call, self.jvp, self.symbolic_zeros)
        outs = apply_call(CustomJVPCall(call.name, call.function, rule), operands)
        return tree_unflatten(call.tree, outs)  # type: ignore[no-any-return]


def _sum_of_rules(
    function: custom_jvp[..., Any],
    jvps: Sequence[JVPRule | None],
    primals: tuple[Any, ...],
    tangents: tuple[Any, ...],
) -> tuple[Any, Any]:
    """The rule that adds what one rule for each argument contributes."""
    name = function._arguments.name
    if len(jvps) != len(primals):
        raise TypeError(
            f"defjvps of the {name} was given {len(jvps)} rules, but the "
            f"function has {len(primals)} arguments; give None for those without."
        )
    out = function(*primals)
    leaves, tree = tree_flatten(out)
    total: list[Any] = [Zero.like(x) for x in leaves]
    for i, (rule, t) in enumerate(zip(jvps, tangents, strict=True)):
        if rule is None or all(type(x) is SymbolicZero for x in tree_leaves(t)):
            continue
        part = rule(_instantiated(t), out, *primals)
        terms = _flat_tangents(part, leaves, tree, f"jvp rule {i} of the {name}")
        total = [add_tangents(x, y) for x, y in zip(total, terms, strict=True)]
    kept = [SymbolicZero(t.aval) if type(t) is Zero else t for t in total]
    return out, tree_unflatten(tree, kept)


def _apply_rule(
    call: FlatCall,
    jvp: JVPRule,
    symbolic_zeros: bool,
    primals: Sequence[Any],
    tangents: Sequence[Any],
) -> tuple[list[Any], list[Any]]:
    count = call.num_lifted
    if any(type(t) is not Zero for t in tangents[:count]):
        raise closed_over_error(call.name)
    # Arithmetic of NumPy's arrays without axes gives scalars, whose types are weak.
    values = [as_array(x) if type(x) is np.ndarray else x for x in primals[count:]]
    given = [as_given(t, symbolic_zeros) for t in tangents[count:]]
    nondiff, args = call.split([*primals[:count], *values])
    name = f"jvp rule {describe_function(jvp)} of the {call.name}"
    pair = jvp(*nondiff, args, tree_unflatten(call.in_tree, given))
    check_pair(pair, name, "(primal_out, tangent_out)")
    outs = call.of_rule(pair[0], name)
    return outs, _flat_tangents(pair[1], outs, call.tree, name)


def _instantiated(tangents: Any) -> Any:
    return tree_map(lambda t: zeros_like_aval(t.aval) if type(t) is SymbolicZero else t, tangents)


def _flat_tangents(tangents: Any, primals: Sequence[Any], tree: Any, name: str) -> list[Any]:
    leaves = match_leaves(tangents, tree, name, "the tangent output")
    full = tree_unflatten(tree, primals)
    avals = [typeof(x) for x in primals]
    return as_tangents(leaves, avals, lambda: argument_names(full, "output"), name, "tangent")
