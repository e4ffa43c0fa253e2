"""``custom_vjp``: a function whose reverse-mode derivative is given by a pair of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ParamSpec, TypeVar

from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import (
    MainTrace,
    Primitive,
    api_boundary,
    describe_function,
    full_raise,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, check_values
from bindax_transforms.batching.mapped_types import BatchDim
from bindax_transforms.custom._arguments import (
    CustomFunction,
    FlatCall,
    as_given,
    check_pair,
    described,
    match_leaves,
)
from bindax_transforms.custom._backward_rules import RuleWithAccumulators, rule_with_logs
from bindax_transforms.custom._custom_call import (
    Batching,
    CustomCall,
    apply_call,
    call_primitive,
    resume_trace,
    without_tangents,
)
from bindax_transforms.custom._linear import (
    Backward,
    LinearMap,
    apply_linear_map,
    batched_backward,
)
from bindax_transforms.remat._recomputation import recomputed_by
from bindax_transforms.staging.reference import Reference, has_references
from bindax_transforms.staging.staged_program import kept_apart
from bindax_transforms.zeros import Zero

P = ParamSpec("P")
R = TypeVar("R")


class CustomVJPCall(CustomCall):
    """A call with the rule ``(perturbed, primals) -> (results, residuals, backward)``."""

    def jvp(
        self, main: MainTrace, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        tangents = self.split_consts(tangents)
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        result = self.rule(nonzeros, primals[self.num_consts :])
        outs, residuals, backward = without_tangents(self, main, result)
        out_avals = tuple(typeof(x).tangent_aval() for x in outs)
        linear = LinearMap(self.name, backward, len(residuals), nonzeros, out_avals)
        return outs, apply_linear_map(linear, residuals, tangents)

    def user_functions(self) -> Mapping[str, Callable[..., Any]]:
        if not isinstance(self.first_rule, partial):
            return {}
        call, fwd, bwd, _ = self.first_rule.args
        return {"function": call.arguments.function, "fwd rule": fwd, "bwd rule": bwd}

    def cotangents_as_returned(
        self, primals: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """The cotangents that the user's rule returns for the operands, before conversions."""
        if not isinstance(self.rule, partial):
            return ()
        call, fwd, bwd, symbolic_zeros = self.rule.args
        if isinstance(bwd, RuleWithAccumulators):
            return ()
        returned: list[Any] = []

        def noting(*args: Any) -> Any:
            returned.append(bwd(*args))
            return returned[-1]

        perturbed = (True,) * len(primals)
        _, residuals, backward = _apply_forward(
            call, fwd, noting, symbolic_zeros, perturbed, primals
        )
        backward(residuals, cotangents)
        return match_leaves(tuple(returned[0]), call.in_tree, "bwd rule", "the cotangents")

    def batched_rule(self, batching: Batching, dims: Sequence[BatchDim]) -> Callable[..., Any]:
        def rule(perturbed: Sequence[bool], primals: Sequence[Any]) -> Any:
            with resume_trace(batching.main) as trace:
                given = batching.boxes(trace, primals, dims)
                outs, residuals, backward = self.rule(perturbed, given)
                placed = batching.unbox(trace, outs)
                boxed = [full_raise(trace, x) for x in residuals]
            residual_dims = [t.batch_dim for t in boxed]
            backward = batched_backward(backward, batching, dims, residual_dims, batching.out_dim)
            return placed, [t.value for t in boxed], backward

        return rule


custom_vjp_call_p: Primitive = call_primitive("custom_vjp_call", CustomVJPCall)
"""A call of a ``custom_vjp`` function. Parameters: ``call``, with the rules; ``jaxpr``, the
function as a jaxpr without constants."""


@dataclass(frozen=True)
class CustomVJPPrimal:
    """A leaf of an argument as forward rules with ``symbolic_zeros`` get it.

    Attributes:
        value: the value.
        perturbed: whether it is differentiated.

    >>> from bindax_transforms import custom_vjp, grad
    >>> @custom_vjp
    ... def product(x, y):
    ...     return x * y
    >>> def forward(x, y):
    ...     print(isinstance(x, CustomVJPPrimal), x.perturbed, y.perturbed)
    ...     return product(x.value, y.value), y.value
    >>> product.defvjp(forward, lambda y, cotangent: (cotangent * y, None), symbolic_zeros=True)
    >>> float(grad(product)(2.0, 3.0))
    True True False
    3.0
    """

    value: Any
    perturbed: bool


class custom_vjp(CustomFunction[P, R]):
    """A function with a reverse-mode derivative rule of its own.

    ``grad``, ``vjp`` and ``jacrev`` use the rules, inside ``jit``, ``vmap``, loops and branches as
    well; forward-mode differentiation is an error. Higher derivatives are derivatives of the rules.
    Outside ``jit`` the function and its rules may use Python control flow on values.

    The rules see only the explicit arguments: to differentiate with respect to a value that the
    function closes over is an error.

    Args:
        fun: a function of arrays and trees of arrays.
        nondiff_argnums: positions of arguments that are not differentiated, such as functions; the
            backward rule gets them first, as they are. They cannot hold traced values.
        nondiff_argnames: the same by name.

    >>> from bindax_transforms import custom_vjp, grad
    >>> @custom_vjp
    ... def f(x):
    ...     return x * x
    >>> f.defvjp(lambda x: (f(x), x), lambda x, ct: (10.0 * ct,))
    >>> float(f(3.0)), float(grad(f)(3.0))
    (9.0, 10.0)
    """

    _decorator = "custom_vjp"

    fwd: Callable[..., tuple[Any, Any]] | None = None
    bwd: Callable[..., Any] | None = None
    rem: Callable[..., tuple[Any, Any]] | None = None
    symbolic_zeros: bool = False
    optimize_remat: bool = False

    def traced_parts(self) -> tuple[Any, ...]:
        """The parts that jaxprs with this depend on, for ``traced_once``."""
        rules = self.fwd, self.rem, self.bwd, self.symbolic_zeros
        return self.fun, self.nondiff_argnums, *rules

    @api_boundary
    def defvjp(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules.

        Args:
            fwd: takes the arguments of the function; returns a pair of the function's output and
                residuals, any tree of arrays.
            bwd: ``(*nondiff_args, residuals, cotangent) -> cotangents``, a tuple with an entry for
                each differentiated argument. None, also within an argument, stands for zeros;
                integers have None or ``float0``.
            symbolic_zeros: whether ``fwd`` gets each leaf of the differentiated arguments as a
                ``CustomVJPPrimal``, and ``bwd`` zero cotangents as ``SymbolicZero`` objects.
            optimize_remat: accepted for programs written for JAX. What it asks for, that a
                rematerialized ``fwd`` computes no residuals that nothing uses, dead code
                elimination does here for every rule that is made of bindax operations.
            generic_batching: accepted likewise. Outputs that all elements of a ``vmap`` share
                need nothing to be asked for.
        """
        name = f"defvjp of the {self._arguments.name}"
        check_function(name, "fwd", fwd)
        check_function(name, "bwd", bwd)
        self.fwd, self.rem, self.bwd = fwd, None, bwd
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    def defvjp_with_logs(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., tuple[Any, dict[Any, Any] | None]],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules, of which the backward one also logs.

        What it logs, such as norms of cotangents, comes out of ``with_logs`` of what ``vjp``
        returns; elsewhere it is dropped. In a loop or a ``vmap`` it has one more axis, in front. In
        a ``shard_map`` that of all devices is joined along its first axis. In branches of ``cond``
        and ``switch`` it is a pair: ``index``, of the branch that was taken, and ``branches``, for
        each of them what it logs, zeros when it was not taken, or None.

        Args:
            fwd: as for ``defvjp``.
            bwd: returns a pair of what it returns for ``defvjp``, and a dict of trees of arrays by
                names, or None.
            symbolic_zeros: as for ``defvjp``.
            optimize_remat: as for ``defvjp``.
            generic_batching: as for ``defvjp``.

        >>> from bindax_transforms import custom_vjp, vjp
        >>> f = custom_vjp(lambda x: x * x)
        >>> f.defvjp_with_logs(lambda x: (x * x, x), lambda x, ct: ((2 * x * ct,), {"ct": ct}))
        >>> float(vjp(f, 3.0)[1].with_logs(0.5)[1]["ct"])
        0.5
        """
        self.defvjp(fwd, bwd, symbolic_zeros, optimize_remat)
        self.bwd = rule_with_logs(bwd, self._arguments.name)

    def defvjp_with_accums(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., dict[Any, Any] | None],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
        generic_batching: bool = False,
    ) -> None:
        """Set the rules, of which the backward one adds cotangents to accumulators.

        Args:
            fwd: as for ``defvjp``.
            bwd: ``(*nondiff_args, residuals, cotangent, *accumulators)``, with a tree of
                accumulators for each differentiated argument. Their method ``accum`` adds a
                cotangent. It returns None, or what it logs, as for ``defvjp_with_logs``.
            symbolic_zeros: as for ``defvjp``.
            optimize_remat: as for ``defvjp``.
            generic_batching: as for ``defvjp``.

        >>> from bindax_transforms import custom_vjp, grad
        >>> f = custom_vjp(lambda x: x * x)
        >>> f.defvjp_with_accums(lambda x: (x * x, x), lambda x, ct, total: total.accum(2 * x * ct))
        >>> float(grad(f)(3.0))
        6.0
        """
        self.defvjp(fwd, bwd, symbolic_zeros, optimize_remat)
        self.bwd = RuleWithAccumulators(bwd, self._arguments.name)

    @api_boundary
    def defremat(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        rem: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., Any],
        generic_batching: bool = False,
    ) -> None:
        """Set the rules, with one for what ``checkpoint`` computes again.

        Inside of a ``checkpoint``, what ``fwd`` returns is saved whatever the policy says, and
        ``rem`` runs when the cotangents arrive; elsewhere it runs right after ``fwd``.

        Args:
            fwd: takes the arguments of the function; returns a pair of the function's output and
                what is saved, any tree of arrays.
            rem: takes what is saved, and the arguments; returns a pair of the function's output
                and the residuals of ``bwd``.
            bwd: as for ``defvjp``.
            generic_batching: as for ``defvjp``.

        Raises:
            TypeError: when ``rem``, as it is applied, returns another output than ``fwd``.

        >>> from bindax_transforms import checkpoint, custom_vjp, grad
        >>> @custom_vjp
        ... def f(x):
        ...     return x * x
        >>> def again(saved, x):
        ...     return x * x, x
        >>> f.defremat(lambda x: (x * x, None), again, lambda x, ct: (2 * x * ct,))
        >>> float(grad(checkpoint(f))(3.0))
        6.0
        """
        name = f"defremat of the {self._arguments.name}"
        for role, rule in (("fwd", fwd), ("rem", rem), ("bwd", bwd)):
            check_function(name, role, rule)
        self.fwd, self.rem, self.bwd = fwd, rem, bwd
        self.symbolic_zeros = self.optimize_remat = False

    def defremat_with_logs(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        rem: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., tuple[Any, dict[Any, Any] | None]],
        generic_batching: bool = False,
    ) -> None:
        """Set the rules as ``defremat`` does, of which the backward one also logs.

        Args:
            fwd: as for ``defremat``.
            rem: as for ``defremat``.
            bwd: as for ``defvjp_with_logs``.
            generic_batching: as for ``defvjp``.

        >>> from bindax_transforms import checkpoint, custom_vjp, vjp
        >>> f = custom_vjp(lambda x: x * x)
        >>> f.defremat_with_logs(
        ...     lambda x: (x * x, None),
        ...     lambda saved, x: (x * x, x),
        ...     lambda x, ct: ((2 * x * ct,), {"x": x}),
        ... )
        >>> float(vjp(checkpoint(f), 3.0)[1].with_logs(1.0)[1]["x"])
        3.0
        """
        self.defremat(fwd, rem, bwd)
        self.bwd = rule_with_logs(bwd, self._arguments.name)

    @api_boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"the {self._arguments.name} has no derivative rules; define them with defvjp "
                f"before calling it."
            )
        call, operands = FlatCall.of(self._arguments, args, kwargs, takes_references=True)
        if call.num_lifted:
            raise UnexpectedTracerError(
                f"the {call.name} was called with a traced value in a position of "
                f"nondiff_argnums, {self.nondiff_argnums}. These are for arguments that hold no "
                f"arrays, such as functions; return None for the others from the bwd rule."
            )
        fwd = self.fwd if self.rem is None else recomputed_by(self.fwd, self.rem)
        rule = partial(_apply_forward, call, fwd, self.bwd, self.symbolic_zeros)
        outs = apply_call(CustomVJPCall(call.name, call.function, rule), operands)
        return tree_unflatten(call.tree, outs)  # type: ignore[no-any-return]


def _apply_forward(
    call: FlatCall,
    fwd: Callable[..., Any],
    bwd: Callable[..., Any],
    symbolic_zeros: bool,
    perturbed: Sequence[bool],
    primals: Sequence[Any],
) -> tuple[list[Any], list[Any], Backward]:
    leaves: Sequence[Any] = primals
    if symbolic_zeros:
        leaves = [CustomVJPPrimal(x, p) for x, p in zip(primals, perturbed, strict=True)]
    name = f"fwd rule {describe_function(fwd)} of the {call.name}"
    pair = fwd(*call.arguments.join(*call.split(leaves)))
    check_pair(pair, name, "(output, residuals)")
    outs = call.of_rule(pair[0], name)
    residuals, residual_tree = tree_flatten(pair[1])
    restored: Callable[[Sequence[Any]], Sequence[Any]] = list
    if has_references(residuals):
        _check_references(call, describe_function(fwd), pair[1])
        residuals, restored = kept_apart(residuals)
    check_values(
        residuals, partial(argument_names, pair[1], "residuals"), f"the {name} returned at"
    )
    in_avals = [typeof(x) for x in primals]
    rule: Callable[..., Any] = bwd
    if isinstance(bwd, RuleWithAccumulators):
        rule = bwd.returning(call.unflatten(in_avals))

    def backward(residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        given = [as_given(ct, symbolic_zeros) for ct in cotangents]
        kept = tree_unflatten(residual_tree, restored(residuals))
        cts = rule(*call.restore(()), kept, tree_unflatten(call.tree, given))
        return _flat_cotangents(call, describe_function(bwd), cts, in_avals)

    return outs, residuals, backward


def _check_references(call: FlatCall, fwd: str, residuals: Any) -> None:
    """Raise when a residual is a reference that is none of the arguments."""
    for x, name in zip(
        tree_flatten(residuals)[0], argument_names(residuals, "residuals"), strict=True
    ):
        if isinstance(x, Reference) and not any(x is given for given in call.references):
            raise ValueError(
                f"the custom_vjp fwd function {fwd} of the {call.name} returned at {name} a "
                f"mutable array reference of type {x.aval.str_short()} that is none of its "
                f"arguments. Pass it as an argument, or let the bwd rule close over it."
            )


def _flat_cotangents(
    call: FlatCall, bwd: str, cotangents: Any, in_avals: Sequence[Any]
) -> list[Any]:
    """Check what a backward rule returned."""
    name, count = f"bwd rule {bwd} of the {call.name}", len(call.in_tree.children())
    if not isinstance(cotangents, tuple | list) or len(cotangents) != count:
        raise TypeError(
            f"the {name} must return a tuple with one cotangent for each of the {count} "
            f"differentiated arguments, but it returned {described(cotangents)}."
        )
    return call.cotangents(tuple(cotangents), in_avals, name)
