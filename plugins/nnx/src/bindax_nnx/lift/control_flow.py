"""Loops and choices over functions of objects."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar, overload

import bindax_control_flow
from bindax_core.extend import Array, api_boundary, tree_flatten, tree_leaves, typeof
from bindax_nnx.errors import GraphError
from bindax_nnx.graph import is_reference
from bindax_nnx.lift._names import remembered, variable_name
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.structure import CallScope, Given, Lift, Returned, finish
from bindax_nnx.modes import mode_of
from bindax_transforms import check_function

R = TypeVar("R")


@overload  # a number of one branch is an array of the result
def cond(
    pred: Any,
    true_fun: Callable[..., complex],
    false_fun: Callable[..., Any],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Array: ...
@overload
def cond(
    pred: Any,
    true_fun: Callable[..., R],
    false_fun: Callable[..., Any],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> R: ...
@api_boundary
def cond(
    pred: Any,
    true_fun: Callable[..., Any],
    false_fun: Callable[..., Any],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Apply one of two functions, both of which are traced.

    Args:
        pred: the condition, a scalar.
        true_fun: applied to the operands when ``pred`` is true.
        false_fun: applied otherwise; its result has the structure and types of the other's, and it
            leaves the same structure in the objects.
        operands: objects, arrays and trees of these.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        GraphError: the functions leave different structures.

    >>> from bindax_nnx import Module, Param
    >>> class Counter(Module):
    ...     def __init__(self):
    ...         self.count = Param(0.0)
    >>> def up(counter):
    ...     counter.count += 1.0
    >>> counter = Counter()
    >>> cond(True, up, lambda counter: None, counter)
    >>> float(counter.count)
    1.0
    """
    check_function("cond", "true_fun", true_fun)
    check_function("cond", "false_fun", false_fun)
    lift = Lift("cond", mode_of(graph, graph_updates))
    return _choose(lift, pred, (true_fun, false_fun), operands)


@overload
def switch(
    index: Any,
    branches: Sequence[Callable[..., Array]],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Array: ...
@overload
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any: ...
@api_boundary
def switch(
    index: Any,
    branches: Sequence[Callable[..., Any]],
    *operands: Any,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Any:
    """Apply one of several functions, all of which are traced.

    Args:
        index: an integer scalar; values out of range are clamped.
        branches: the functions; their results have the same structure and types, and they leave
            the same structure in the objects.
        operands: objects, arrays and trees of these.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        GraphError: the functions leave different structures.
        ValueError: there is no branch.

    >>> float(switch(1, [lambda x: x, lambda x: x * 2], 3.0))
    6.0
    """
    for branch in branches:
        check_function("switch", "branches", branch)
    lift = Lift("switch", mode_of(graph, graph_updates))
    return _choose(lift, index, tuple(branches), operands)


def _choose(
    lift: Lift, which: Any, functions: Sequence[Callable[..., Any]], operands: Sequence[Any]
) -> Any:
    name = lift.name
    calls = [Call(function, operands, all_values=True, lift=lift) for function in functions]
    given = [_given(call) for call in calls[:1]]
    try:
        if name == "cond":
            returned = bindax_control_flow.cond(which, *map(_program, calls), *given)
        else:
            returned = bindax_control_flow.switch(which, [*map(_program, calls)], *given)
    except TypeError:
        _check_same(name, calls)
        _check_types(name, calls)
        raise
    return finish(returned.outcome, calls[0].arguments, returned.outs)


def _given(call: Call) -> Given:
    return Given(call.arguments.form, call.leaves)


def _program(call: Call) -> Callable[..., Any]:
    """The user's function from arrays to arrays, each with what is static about them."""

    def program(given: Given) -> Returned:
        outs = call.flat(given.leaves)
        return Returned(call.known_outcome(), outs)

    return remembered(program, call.fun, call.lift)


def _check_same(name: str, calls: Sequence[Call]) -> None:
    first = calls[0].outcome
    for number, call in enumerate(calls[1:], 1):
        other = call.outcome
        if first is not None and other is not None and other.structure() != first.structure():
            raise GraphError(
                f"the branches of {name} leave different structures in their arguments, or return "
                f"different ones: branch 0 gives {_left(calls[0])}, and branch {number} gives "
                f"{_left(call)}. Let all add, delete and share the same attributes."
            )


def _left(call: Call) -> str:
    """The result of a branch, and what it changed."""
    scope, outcome = call.scope, call.outcome
    if scope is None or outcome is None:
        return "nothing"
    changes = scope.describe_changes()
    return f"{outcome.tree}{f', and {changes}' if changes else ''}"


def _check_types(name: str, calls: Sequence[Call]) -> None:
    """Raise where the branches of a choice leave different types in one variable."""
    first, *others = [None if call.scope is None else call.scope.contents() for call in calls]
    for number, contents in enumerate(others, 1):
        for place, one, other in _differing(calls[0], first, contents):
            raise TypeError(
                f"the branches of {name} leave different types in {place}: {one} by branch 0, and "
                f"{other} by branch {number}. Convert with .astype, or broadcast, in one of them."
            ) from None


def _differing(
    call: Call, contents: Sequence[Any] | None, others: Sequence[Any] | None
) -> Iterator[tuple[str, str, str]]:
    """The variables of a call that hold other types in one list than in another, and these."""
    for variable, x, y in zip(call.arguments.variables, contents or (), others or (), strict=False):
        for one, other in zip(tree_leaves(x), tree_leaves(y), strict=False):
            before, after = typeof(one), typeof(other)
            if (before.shape, before.dtype) != (after.shape, after.dtype):
                place = variable_name(call.arguments.roots, variable)
                yield place, before.str_short(), after.str_short()


def carried(name: str, call: Call, scope: CallScope, count: int, operands: int) -> None:
    """Raise unless the objects of a carry are what they were, and its arrays where they were."""
    outcome = call.outcome
    if outcome is None:
        return
    trees = [
        (tree, tree_flatten(scope.given[i])[1]) for i, tree in outcome.changed if tree is not None
    ]
    is_other = scope.is_restructured() or any(tree != before for tree, before in trees)
    if is_other or scope.new or outcome.relabelled:
        other = "an attribute holds another variable, object or array than before"
        changes = scope.describe_changes() or (other if is_other else outcome.describe())
        raise GraphError(
            f"the structure of what {name} carries changes from step to step: {changes}. "
            f"Attributes and variables must be made before the loop, and none deleted in it."
        )
    if count != operands:
        raise GraphError(
            f"{name} carries {operands} arrays, but a step returns {count}; return all that is "
            f"carried, with the same structure."
        )


def check_same_objects(name: str, given: Any, returned: Any) -> None:
    """Raise unless a step returns the objects that it was given, at the same places."""
    leaves, tree = tree_flatten(given, is_leaf=is_reference)
    others, other_tree = tree_flatten(returned, is_leaf=is_reference)
    if tree != other_tree:
        raise GraphError(
            f"the structure of what {name} carries changes from step to step: it was given as "
            f"{tree}, and returned as {other_tree}."
        )
    for x, y in zip(leaves, others, strict=True):
        if (is_reference(x) or is_reference(y)) and x is not y:
            raise GraphError(
                f"{name} Variable identity must be preserved across iterations, and Carry "
                f"references must be the same between iterations: a step of {name} returned "
                f"another {type(y).__name__} than the {type(x).__name__} that it was given; change "
                f"that one, or its variables, instead of making a new one."
            )


@api_boundary
def while_loop(
    cond_fun: Callable[[Any], Any],
    body_fun: Callable[[Any], R],
    init_val: Any,
    *,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> R:
    """Apply a function to a state as long as a condition on it holds.

    Args:
        cond_fun: from the state to a boolean scalar.
        body_fun: from the state to the next one: the same objects, and arrays of the same types.
        init_val: the first state: objects, arrays and trees of these.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        The last state, with the original objects in it.

    Raises:
        GraphError: the structure of the state changes.

    >>> from bindax_nnx import Module, Param
    >>> class Counter(Module):
    ...     def __init__(self):
    ...         self.count = Param(0.0)
    >>> def up(counter):
    ...     counter.count += 1.0
    ...     return counter
    >>> float(while_loop(lambda counter: counter.count < 3.0, up, Counter()).count)
    3.0
    """
    check_function("while_loop", "cond_fun", cond_fun)
    check_function("while_loop", "body_fun", body_fun)
    lift = Lift("while_loop", mode_of(graph, graph_updates), True)
    call = Call(body_fun, (init_val,), all_values=True, lift=lift)
    test = Call(cond_fun, (init_val,), lift=lift)

    def condition(given: Given) -> Any:
        scope = test.enter(given.leaves)
        holds = test.run(scope)
        test.leave(scope, holds)
        if test.outcome is not None and (test.outcome.changed or test.outcome.restructured):
            raise GraphError(
                "cond_fun of while_loop changed an object; only body_fun may change what is "
                "carried."
            )
        return getattr(holds, "value", holds)

    goes_on = remembered(condition, cond_fun, lift)
    step = remembered(lambda given: _step(call, given), body_fun, lift)
    loop = partial(bindax_control_flow.while_loop, goes_on, step, _given(call))
    return _looped(call, loop)  # type: ignore[no-any-return]


@api_boundary
def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], R],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> R:
    """Apply a function to a state for each number of a range.

    Args:
        lower: the first number.
        upper: the number at which to stop.
        body_fun: from the number and the state to the next state: the same objects, and arrays of
            the same types.
        init_val: the first state: objects, arrays and trees of these.
        unroll: how many steps a compiled program does at once; for this the bounds are numbers.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Returns:
        The last state, with the original objects in it.

    Raises:
        GraphError: the structure of the state changes.

    >>> float(fori_loop(0, 4, lambda i, x: x * 2, 1.0))
    16.0
    """
    check_function("fori_loop", "body_fun", body_fun)
    lift = Lift("fori_loop", mode_of(graph, graph_updates), True)
    call = Call(lambda state: None, (init_val,), all_values=True, lift=lift)

    def body(i: Any, given: Given) -> Given:
        call.fun = lambda state: body_fun(i, state)
        return _step(call, given)

    step = remembered(body, body_fun, lift)
    loop = partial(bindax_control_flow.fori_loop, lower, upper, step, _given(call), unroll=unroll)
    return _looped(call, loop)  # type: ignore[no-any-return]


def check_types(call: Call, numbers: Collection[int]) -> None:
    """Raise where a step leaves another type in one of some variables than it had."""
    scope = call.scope
    if scope is None:
        return
    after = [x if i in numbers else None for i, x in enumerate(scope.contents())]
    for place, one, other in _differing(call, scope.given, after):
        raise TypeError(
            f"a step of {call.lift.name} must leave the types that it takes, but {place} comes in "
            f"as {one} and goes out as {other}. Convert with .astype, or begin with the other type."
        ) from None


def _step(call: Call, given: Given) -> Given:
    """A step of a loop on arrays, which checks that the structure stays."""
    name, scope = call.lift.name, call.enter(given.leaves)
    (state,), _ = scope.arguments
    result = call.run(scope)
    outs = call.leave(scope, result)
    check_same_objects(name, state, result)
    carried(name, call, scope, len(outs), len(given.leaves))
    return Given(given.form, outs)


def _looped(call: Call, loop: Callable[[], Given]) -> Any:
    """The last state of a loop over a call."""
    try:
        last = loop()
    except TypeError:
        check_types(call, range(len(call.arguments.variables)))
        raise
    scope = call.enter(last.leaves)
    (state,), _ = scope.arguments
    return call.finish(call.leave(scope, state))
