"""``custom_vjp`` of functions of objects."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

import bindax_transforms
from bindax_core.extend import api_boundary
from bindax_nnx.filters import to_predicate
from bindax_nnx.graph import iter_variables
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift._names import name_at
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.gradient import DiffState
from bindax_nnx.lift.jvp_vjp import arrays_only, by_path, leaves_like
from bindax_nnx.lift.remat_eval_shape import without_constants
from bindax_nnx.lift.structure import Arguments, CallScope, Given, Lift
from bindax_nnx.lift.templates import Template
from bindax_nnx.modes import Mode
from bindax_nnx.recursion import without
from bindax_nnx.sharing import require_apart
from bindax_nnx.variables import store_value
from bindax_transforms import check_function

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


@overload
def custom_vjp(
    fun: Callable[P, R],
    /,
    *,
    nondiff_argnums: Sequence[int | DiffState] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CustomVjp[P, R]: ...
@overload
def custom_vjp(
    *,
    nondiff_argnums: Sequence[int | DiffState] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[[Callable[P, R]], CustomVjp[P, R]]: ...
@decorator
def custom_vjp(
    fun: Callable[..., Any],
    *,
    nondiff_argnums: Sequence[int | DiffState] = (),
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> CustomVjp[Any, Any]:
    """A function of objects with its own derivative for reverse mode.

    Args:
        fun: a function of objects, arrays and trees of these.
        nondiff_argnums: positions of arguments that are constants: the rule for reverse mode gets
            them first, and returns nothing for them. A ``DiffState`` says instead for which
            variables of an object it returns cotangents.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    >>> from bindax_nnx import Module, Param, grad
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> @custom_vjp(graph=True, graph_updates=True)
    ... def apply(scale, x):
    ...     return scale.factor * x
    >>> def forward(scale, x):
    ...     return apply(scale, x), (scale, x)
    >>> def backward(residuals, cotangents):
    ...     (scale, x), (_, out_bar) = residuals, cotangents
    ...     return {"factor": 10 * x * out_bar}, scale.factor * out_bar
    >>> apply.defvjp(forward, backward)
    >>> float(grad(apply)(Scale(), 3.0).factor.value)
    30.0
    """
    lift = lift_of("custom_vjp", "fun", fun, graph, graph_updates)
    return CustomVjp(fun, nondiff_argnums, lift)


class CustomVjp(Generic[P, R]):
    """A function of objects with its own derivative, which ``defvjp`` gives it."""

    def __init__(
        self, fun: Callable[P, R], nondiff_argnums: Sequence[int | DiffState], lift: Lift
    ) -> None:
        update_wrapper(self, fun)
        self._lift = lift
        self._fun = fun
        self._constant = [x for x in nondiff_argnums if not isinstance(x, DiffState)]
        self._states = [x for x in nondiff_argnums if isinstance(x, DiffState)]
        if self._states and lift.mode is not Mode.UPDATES:
            raise ValueError(
                "nondiff_argnums of nnx.custom_vjp cannot contain `DiffState` objects when "
                "`graph=False` or `graph_updates=False`. Split the object in two arguments, or use "
                "nnx.custom_vjp(..., graph=True, graph_updates=True) or nnx.compat.custom_vjp."
            )
        self._forward: Callable[..., Any] | None = None
        self._backward: Callable[..., Any] | None = None

    @overload
    def __get__(self, instance: None, owner: Any = None) -> CustomVjp[P, R]: ...
    @overload
    def __get__(
        self: CustomVjp[Concatenate[Any, Q], R], instance: object, owner: Any = None
    ) -> Callable[Q, R]: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        function: Callable[..., R] = self
        return lambda *args: function(instance, *args)

    def defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None:
        """Give the derivative.

        Args:
            fwd: takes the arguments; returns the result and residuals.
            bwd: takes the residuals and a pair: for each argument a state with the cotangents of
                its changed variables, or None, and the cotangent of the result. Returns a
                cotangent for each argument: states, or objects, for objects. Without updates of
                graphs it takes the residuals and the cotangent of the result; and, if it has a
                parameter ``updates_g``, the arguments with the cotangents of changed variables, and
                None in the place of the others.
        """
        check_function("defvjp", "fwd", fwd)
        check_function("defvjp", "bwd", bwd)
        self._forward, self._backward = fwd, bwd

    @api_boundary
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function."""
        given: tuple[Any, ...] = args
        if kwargs:
            bound = inspect.signature(self._fun).bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.args
        if self._forward is None or self._backward is None:
            raise AttributeError(
                f"custom_vjp of {getattr(self._fun, '__qualname__', self._fun)} has no derivative; "
                f"give it one with defvjp."
            )
        constants = {i % len(given): given[i] for i in self._constant}
        states = {x.argnum % len(given): to_predicate(x.filter) for x in self._states}
        fun, rest = without_constants(self._fun, given, constants)
        forward, _ = without_constants(self._forward, given, constants)
        backward = partial(self._backward, *constants.values())
        wanted = [states.get(i) for i in range(len(given)) if i not in constants]
        if self._lift.mode is not Mode.UPDATES:
            require_apart("custom_vjp", given, constants)
        call = Call(fun, rest, all_values=True, lift=self._lift)
        flat = bindax_transforms.custom_vjp(call.flat)
        flat.defvjp(*_rules(call, rest, forward, backward, wanted))
        before = [variable._value for variable in call.arguments.variables]
        result = call.finish(flat(call.leaves))
        for i in _unchanged(call):  # a forward rule that calls this function has to tell
            store_value(call.arguments.variables[i], before[i])
        return result  # type: ignore[no-any-return]


def _unchanged(call: Call) -> list[int]:
    """The variables that hold what they held before the function ran, by number."""
    scope = call.scope
    after = scope.contents() if scope else []
    return [i for i, x in enumerate(after) if scope and x is scope.given[i]]


def _rules(
    call: Call,
    args: Sequence[Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    wanted: Sequence[Callable[..., bool] | None],
) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two parts of a derivative as functions of flat lists, for one call."""
    template, unchanged = Template(call.arguments, call.lift.mode), set[int]()

    def flat_forward(leaves: Sequence[Any]) -> tuple[list[Any], Given]:
        scope = call.enter(leaves)
        returned = forward(*scope.arguments[0])
        if not isinstance(returned, tuple) or len(returned) != 2:
            raise TypeError(
                f"fwd of custom_vjp must return a pair of result and residuals, but returned "
                f"{type(returned).__name__}."
            )
        result, residuals = returned
        kept = Arguments(residuals)
        outs = call.leave(scope, result)
        unchanged.update(_unchanged(call))
        return outs, Given(kept.form, kept.leaves)

    def flat_backward(kept: Given, bars: Sequence[Any]) -> tuple[list[Any]]:
        residuals = CallScope(kept.form, kept.leaves).arguments
        leaves = [*bars[: len(call.arguments.values)], *[None] * len(call.arguments.arrays)]
        if call.lift.mode is Mode.UPDATES:
            inputs, _ = template.fill(leaves)
            cotangents = backward(residuals, (inputs, arrays_only(call, bars)))
        else:
            named = {}
            if "updates_g" in inspect.signature(backward).parameters:
                scope = CallScope(call.arguments.form, leaves)
                gone = [scope.variables[i] for i in unchanged]
                named["updates_g"] = without(scope.arguments[0], gone)
            cotangents = backward(residuals, call.result_of(bars), **named)
        if not isinstance(cotangents, tuple) or len(cotangents) != len(args):
            raise TypeError(
                f"bwd of custom_vjp must return a tuple with a cotangent for each of the "
                f"{len(args)} arguments, but returned {type(cotangents).__name__}."
            )
        _check(args, cotangents, wanted)
        return (leaves_like(call, args, cotangents, "the cotangent"),)

    return flat_forward, flat_backward


def _check(
    args: Sequence[Any], cotangents: Sequence[Any], wanted: Sequence[Callable[..., bool] | None]
) -> None:
    """Raise where there is a cotangent of a variable that is not differentiated."""
    for argument, bar, takes in zip(args, cotangents, wanted, strict=True):
        if takes is None or bar is None:
            continue
        own = dict(iter_variables(argument))
        for path in by_path(bar):
            if path in own and not takes(path, own[path]):
                raise ValueError(
                    f"bwd of custom_vjp returned a cotangent of {name_at(argument, path)}, "
                    f"which the filter of DiffState does not take; delete it from the state."
                )
