"""``custom_vjp``: a function whose reverse-mode derivative is given by a pair of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial, update_wrapper
from typing import Any, Generic, NamedTuple, TypeVar

from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import (
    MainTrace,
    PyTreeDef,
    api_boundary,
    describe_function,
    full_raise,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_transforms._callables import check_function
from bindax_transforms._flat import argument_names, check_values
from bindax_transforms.batching.vmap import BatchDim
from bindax_transforms.custom import _calls
from bindax_transforms.custom._arguments import (
    Arguments,
    Output,
    as_given,
    as_tangents,
    check_pair,
    described,
    lift_tracers,
    match_leaves,
)
from bindax_transforms.custom._linear import (
    Backward,
    BatchedState,
    LinearMap,
    apply_linear_map,
    batched_backward,
)
from bindax_transforms.zeros import Zero

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class CustomVJPCall(_calls.CustomCall):
    """A call with the rule ``(perturbed, primals) -> (results, residuals, state)``.

    Its backward rule takes state and residuals.
    """

    backward: Backward = field(kw_only=True)

    def jvp(
        self, main: MainTrace, primals: Sequence[Any], tangents: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        tangents = self.split_consts(tangents)
        nonzeros = tuple(type(t) is not Zero for t in tangents)
        result = self.rule(nonzeros, primals[self.num_consts :])
        outs, residuals, state = _calls.without_tangents(self, main, result)
        out_avals = tuple(typeof(x).tangent_aval() for x in outs)
        linear = LinearMap(self.name, self.backward, state, len(residuals), nonzeros, out_avals)
        return outs, apply_linear_map(linear, residuals, tangents)

    def batched_rules(self, batching: _calls.Batching, dims: Sequence[BatchDim]) -> dict[str, Any]:
        def rule(perturbed: Sequence[bool], primals: Sequence[Any]) -> Any:
            with _calls.resume_trace(batching.main) as trace:
                outs, residuals, state = self.rule(perturbed, batching.boxes(trace, primals, dims))
                placed = batching.unbox(trace, outs)
                tracers = [full_raise(trace, x) for x in residuals]
            new_state = BatchedState(state, [t.batch_dim for t in tracers], batching.out_dim)
            return placed, [t.value for t in tracers], new_state

        return {"rule": rule, "backward": batched_backward(self.backward, batching, dims)}


custom_vjp_call_p = _calls.call_primitive("custom_vjp_call", CustomVJPCall)
"""A call of a ``custom_vjp`` function. Parameters: ``call``, with the rules; ``jaxpr``, the
function as a program without constants."""


@dataclass(frozen=True)
class CustomVJPPrimal:
    """A leaf of an argument as forward rules with ``symbolic_zeros`` get it.

    Attributes:
        value: the value.
        perturbed: whether it is differentiated.
    """

    value: Any
    perturbed: bool


class _State(NamedTuple):
    """Facts about the forward rule's run that a backward rule needs besides residual values."""

    residual_tree: PyTreeDef
    in_avals: Sequence[Any]


class custom_vjp(Generic[R]):
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

    __name__: str

    @api_boundary
    def __init__(
        self,
        fun: Callable[..., R],
        nondiff_argnums: int | Sequence[int] = (),
        nondiff_argnames: str | Sequence[str] = (),
    ) -> None:
        self._arguments = Arguments("custom_vjp", fun, nondiff_argnums, nondiff_argnames)
        self.fun = fun
        self.nondiff_argnums = self._arguments.nondiff
        self.fwd: Callable[..., tuple[Any, Any]] | None = None
        self.bwd: Callable[..., Any] | None = None
        self.symbolic_zeros = False
        self.optimize_remat = False
        update_wrapper(self, fun)

    def traced_parts(self) -> tuple[Any, ...]:
        """The parts that programs with this depend on, for ``traced_once``."""
        return self.fun, self.nondiff_argnums, self.fwd, self.bwd, self.symbolic_zeros

    @api_boundary
    def defvjp(
        self,
        fwd: Callable[..., tuple[Any, Any]],
        bwd: Callable[..., Any],
        symbolic_zeros: bool = False,
        optimize_remat: bool = False,
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
        """
        name = f"defvjp of the {self._arguments.name}"
        check_function(name, "fwd", fwd)
        check_function(name, "bwd", bwd)
        self.fwd, self.bwd = fwd, bwd
        self.symbolic_zeros, self.optimize_remat = symbolic_zeros, optimize_remat

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> R:
        arguments = self._arguments
        if self.fwd is None or self.bwd is None:
            raise AttributeError(
                f"the {arguments.name} has no derivative rules; define them with defvjp before "
                f"calling it."
            )
        args = arguments.resolve(args, kwargs)
        nondiff, others = arguments.split(args)
        traced, _ = lift_tracers(nondiff)
        if traced:
            raise UnexpectedTracerError(
                f"the {arguments.name} was called with a traced value in a position of "
                f"nondiff_argnums, {self.nondiff_argnums}. These are for arguments that hold no "
                f"arrays, such as functions; return None for the others from the bwd rule."
            )
        leaves, tree = arguments.flatten(others)
        output = Output(arguments.name)

        def function(*operands: Any) -> list[Any]:
            dynamic = tree_unflatten(tree, operands)
            return output.of_function(self.fun(*arguments.join(nondiff, dynamic)))

        forward = _flat_forward(self, nondiff, tree, output)
        backward = _flat_backward(self, nondiff, tree, output)
        call = CustomVJPCall(arguments.name, function, forward, backward=backward)
        outs = _calls.apply_call(call, leaves)
        return tree_unflatten(output.tree, outs)  # type: ignore[no-any-return]


def _flat_forward(
    owner: custom_vjp[Any], nondiff: Sequence[Any], in_tree: PyTreeDef, output: Output
) -> Callable[..., Any]:
    """The user's forward rule for one call, as a function of flat values."""
    fwd: Any = owner.fwd
    arguments, symbolic_zeros = owner._arguments, owner.symbolic_zeros

    def forward(
        perturbed: Sequence[bool], primals: Sequence[Any]
    ) -> tuple[list[Any], list[Any], _State]:
        leaves: Sequence[Any] = primals
        if symbolic_zeros:
            leaves = [CustomVJPPrimal(x, p) for x, p in zip(primals, perturbed, strict=True)]
        name = f"fwd rule {describe_function(fwd)} of the {arguments.name}"
        pair = fwd(*arguments.join(nondiff, tree_unflatten(in_tree, leaves)))
        check_pair(pair, name, "(output, residuals)")
        outs = output.of_rule(pair[0], name)
        residuals, residual_tree = tree_flatten(pair[1])
        paths = partial(argument_names, pair[1], "residuals")
        check_values(residuals, paths, f"the {name} returned at")
        return outs, residuals, _State(residual_tree, [typeof(x) for x in primals])

    return forward


def _flat_backward(
    owner: custom_vjp[Any], nondiff: Sequence[Any], in_tree: PyTreeDef, output: Output
) -> Backward:
    """The same of the backward rule."""
    bwd: Any = owner.bwd
    arguments, symbolic_zeros = owner._arguments, owner.symbolic_zeros

    def backward(state: _State, residuals: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        name = f"bwd rule {describe_function(bwd)} of the {arguments.name}"
        ct = tree_unflatten(output.tree, [as_given(ct, symbolic_zeros) for ct in cotangents])
        cts = bwd(*nondiff, tree_unflatten(state.residual_tree, residuals), ct)
        count = len(in_tree.children())
        if isinstance(cts, list) and len(cts) == count:
            cts = tuple(cts)
        if not isinstance(cts, tuple) or len(cts) != count:
            raise TypeError(
                f"the {name} must return a tuple with one cotangent for each of the {count} "
                f"differentiated arguments, but it returned {described(cts)}."
            )
        leaves = match_leaves(cts, in_tree, name, "the tuple of cotangents")
        full = tree_unflatten(in_tree, state.in_avals)
        return as_tangents(leaves, state.in_avals, lambda: arguments.paths(full), name)

    return backward
