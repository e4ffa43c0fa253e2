"""``jvp`` and ``vjp`` of functions of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, wraps
from typing import Any, Literal, TypeVar, overload

import bindax_transforms
from bindax_core.extend import (
    api_boundary,
    tree_flatten,
    tree_leaves,
    tree_unflatten,
    typeof,
    zeros_like_aval,
)
from bindax_nnx.graph import is_reference, iter_variables
from bindax_nnx.lift._decorators import decorator, lift_of
from bindax_nnx.lift._names import named_after
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.templates import Template
from bindax_nnx.modes import Mode
from bindax_nnx.sharing import require_unshared
from bindax_nnx.state import State
from bindax_nnx.variables import Variable

R = TypeVar("R")
Aux = TypeVar("Aux")


def zero_tangent(x: Any) -> Any:
    """The zero tangent at a value."""
    return zeros_like_aval(typeof(x).tangent_aval())


def by_path(given: Any) -> dict[Any, Any]:
    """The variables or values of a state, or of an object."""
    if isinstance(given, Mapping):
        flat = (given if isinstance(given, State) else State(given)).flat_state()
    else:
        flat = dict(iter_variables(given))
    return {path: x._value if isinstance(x, Variable) else x for path, x in flat.items()}


def leaves_like(call: Call, arguments: Sequence[Any], given: Sequence[Any], what: str) -> list[Any]:
    """Tangents or cotangents for all leaves of a call; zeros where states have none."""
    variables: dict[int, list[Any]] = {}
    arrays: list[Any] = []
    for number, (argument, one) in enumerate(zip(arguments, given, strict=True)):
        leaves, tree = tree_flatten(argument, is_leaf=is_reference)
        for leaf, part in zip(leaves, tree.flatten_up_to(one), strict=True):
            if not is_reference(leaf):
                arrays.append(zero_tangent(leaf) if part is None else part)
                continue
            present = {} if part is None else by_path(part)
            own = dict(iter_variables(leaf))
            if unknown := [path for path in present if path not in own]:
                raise ValueError(
                    f"{what} of argument {number} has {'/'.join(map(str, unknown[0]))}, which the "
                    f"{type(leaf).__name__} does not have."
                )
            for path, variable in own.items():
                if path in present:
                    variables[id(variable)] = tree_leaves(present[path])
    out = []
    for variable in call.arguments.variables:
        zeros = [zero_tangent(x) for x in tree_leaves(variable._value)]
        out.extend(variables.get(id(variable), zeros))
    return [*out, *arrays]


@overload
def jvp(
    f: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[False] = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[R, R]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, Aux]],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: Literal[True],
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[R, R, Aux]: ...
@overload
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[Any, ...]: ...
@overload
def jvp(
    f: Callable[..., Any],
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]: ...
@overload
def jvp(
    *, has_aux: bool = False, graph: bool | None = None, graph_updates: bool | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@api_boundary
@decorator
def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any] | None = None,
    tangents: Sequence[Any] | None = None,
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """The value of a function and its derivative along a tangent (forward mode).

    Args:
        f: a function of objects, arrays and trees of these.
        primals: the arguments, a tuple or list.
        tangents: a tangent for each argument; for an object a ``State`` with tangents of the
            variables that have any, or an object like it.
        has_aux: whether ``f`` returns a pair whose second part is passed through.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        The value and the tangent of it; then the second part, with ``has_aux``. With updates of
        graphs, the tangent has None in the place of objects. Without primals and tangents, a
        function of these.

    Raises:
        ValueError: a state has variables that the object does not have.

    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> out, tangent = jvp(lambda s, x: s.factor * x, (Scale(), 3.0), (State({"factor": 1.0}), 0.0))
    >>> float(out), float(tangent)
    (6.0, 3.0)
    """
    lift = lift_of("jvp", "f", f, graph, graph_updates)
    if primals is None or tangents is None:
        options: Any = {"has_aux": has_aux, "graph": graph, "graph_updates": graph_updates}
        return wraps(f)(partial(jvp, f, **options))
    if len(primals) != len(tangents):
        raise ValueError(f"jvp got {len(primals)} primals, but {len(tangents)} tangents.")
    call = Call(f, primals, lift=lift)
    if lift.mode is Mode.TREE:
        require_unshared("jvp", tangents=tangents)
    given = leaves_like(call, primals, tangents, "the tangent")
    outs, dots = bindax_transforms.jvp(call.flat, (call.leaves,), (given,))
    tangent = arrays_only(call, dots) if lift.mode is Mode.UPDATES else call.result_of(dots)
    result = call.finish(outs)
    if not has_aux:
        return result, tangent
    value, aux = result
    return value, tangent[0], aux


def arrays_only(call: Call, outs: Sequence[Any]) -> Any:
    """The part of the results that belongs to arrays, in its structure."""
    if call.scope is None or call.outcome is None:
        raise TypeError("the function was not called.")
    arrays = iter(outs[call.outcome.size :])
    parts = [None if is_reference(x) else next(arrays) for x in call.scope.leaves]
    return tree_unflatten(call.scope.tree, parts)


@overload
def vjp(
    f: Callable[..., R],
    primal: Any,
    /,
    *primals: Any,
    has_aux: Literal[False] = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[R, Callable[[Any], tuple[Any, ...]]]: ...
@overload
def vjp(
    f: Callable[..., tuple[R, Aux]],
    primal: Any,
    /,
    *primals: Any,
    has_aux: Literal[True],
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[R, Callable[[Any], tuple[Any, ...]], Aux]: ...
@overload
def vjp(
    f: Callable[..., Any],
    primal: Any,
    /,
    *primals: Any,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> tuple[Any, ...]: ...
@overload
def vjp(
    f: Callable[..., Any],
    *,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]: ...
@overload
def vjp(
    *, has_aux: bool = False, graph: bool | None = None, graph_updates: bool | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
@api_boundary
@decorator
def vjp(
    f: Callable[..., Any],
    *primals: Any,
    has_aux: bool = False,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """The value of a function, and the transpose of its derivative there (reverse mode).

    Args:
        f: a function of objects, arrays and trees of these.
        primals: the arguments at which to differentiate.
        has_aux: whether ``f`` returns a pair whose second part is passed through.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        The value and a function from a cotangent of it to a tuple of cotangents of the arguments;
        then the second part, with ``has_aux``. With updates of graphs, the cotangents of objects
        are states; without them, objects of the same classes. Without primals, a function of
        these.

    >>> from bindax_nnx import Module, Param
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.factor = Param(2.0)
    >>> out, pullback = vjp(lambda scale, x: scale.factor * x, Scale(), 3.0)
    >>> scale_bar, x_bar = pullback(1.0)
    >>> float(scale_bar.factor.value), float(x_bar)
    (3.0, 2.0)
    """
    lift = lift_of("vjp", "f", f, graph, graph_updates)
    if not primals:
        options: Any = {"has_aux": has_aux, "graph": graph, "graph_updates": graph_updates}
        return wraps(f)(partial(vjp, f, **options))
    call = Call(f, primals, lift=lift)
    template = Template(call.arguments, lift.mode)

    def flat(leaves: list[Any]) -> tuple[list[Any], list[Any]]:
        scope = call.enter(leaves)
        result = call.run(scope)
        outs = call.leave(scope, result)
        main = result[0] if has_aux else result
        return tree_leaves(main), outs

    _, pull, outs = bindax_transforms.vjp(named_after(flat, f), call.leaves, has_aux=True)
    result = call.finish(outs)
    main, aux = result if has_aux else (result, None)

    def pullback(cotangent: Any) -> tuple[Any, ...]:
        (leaves,) = pull(tree_leaves(cotangent))
        return template.fill(leaves)[0]

    return (main, pullback, aux) if has_aux else (main, pullback)
