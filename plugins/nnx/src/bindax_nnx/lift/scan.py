"""``scan`` of functions of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from operator import is_not
from typing import Any

import bindax_control_flow
import bindax_numpy as jnp
from bindax_core.extend import api_boundary, typeof, warn_user
from bindax_nnx.errors import GraphError
from bindax_nnx.graph import traverse
from bindax_nnx.lift._decorators import lift_of, preserving
from bindax_nnx.lift._names import remembered
from bindax_nnx.lift.axes import Axes, Carry, remove_axes, restore_axes, with_axes
from bindax_nnx.lift.call import Call
from bindax_nnx.lift.control_flow import check_same_objects, check_types
from bindax_nnx.lift.prefixes import check_prefixes
from bindax_nnx.lift.scan_axes import check_scan_arguments, check_scan_axes
from bindax_nnx.lift.structure import CallScope, Form, Returned, finish, same_words
from bindax_nnx.modes import Mode
from bindax_nnx.rngs import RngState
from bindax_nnx.sharing import require_own_results
from bindax_nnx.variables import Variable, store_value


@preserving
def scan(
    f: Callable[..., Any],
    *,
    length: int | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
    in_axes: Any = (Carry, 0),
    out_axes: Any = (Carry, 0),
    transform_metadata: Mapping[str, Any] | None = None,
    graph: bool | None = None,
    graph_updates: bool | None = None,
) -> Callable[..., Any]:
    """A function that applies ``f`` to slices of its arguments, and passes a carry on.

    Args:
        f: a function of objects, arrays and trees of these.
        length: how many steps there are; needed when nothing is sliced.
        reverse: whether to begin with the last slice.
        unroll: how many steps one round of the compiled loop makes.
        in_axes: for each argument ``Carry``, the axis along which it is sliced, None for what is no
            slice, or for an object ``StateAxes`` with these. Without updates of graphs, variables
            whose axis is None are passed on from step to step where a step changes them; with
            updates, each step gets them as they were, random streams too, and a warning names
            those that a step changes.
        out_axes: ``Carry`` for the part of the result that is passed on, or the axis along which
            the results of the steps are stacked.
        transform_metadata: with the key ``PARTITION_NAME``, the name of the axis of the steps in
            the sharding metadata of the variables.
        graph: whether variables may be shared; see ``set_graph_mode``.
        graph_updates: whether all changes of objects come out; see ``set_graph_updates``.

    Raises:
        ValueError: axes do not fit, or a step changes the structure of the carry.

    >>> import numpy as np
    >>> from bindax_nnx import Param
    >>> factors = Param(np.array([2.0, 3.0]))
    >>> product = scan(lambda x, factor: factor * x, in_axes=(Carry, 0), out_axes=Carry)
    >>> float(product(1.0, factors))
    6.0
    """
    lift = lift_of("scan", "f", f, graph, graph_updates, True)
    check_prefixes("scan", lift.mode, in_axes=in_axes, out_axes=out_axes)
    check_scan_axes(in_axes, out_axes)
    axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
    settings = axes, out_axes, dict(transform_metadata or {})
    options = {"length": length, "reverse": reverse, "unroll": unroll}
    changed: dict[Form, set[int]] = {}

    @wraps(f)
    @api_boundary
    def scanned(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = with_axes("scan", f, axes, args, kwargs)
        check_scan_arguments(axes, args)
        return _scanned(Call(f, args, kwargs, lift=lift), settings, options, changed)

    return scanned


def _scanned(
    call: Call, settings: tuple[Any, Any, Any], options: Any, changed: dict[Form, set[int]]
) -> Any:
    """The result of a scan; ``changed`` are the variables that earlier calls found changed."""
    axes, out_axes, metadata = settings
    while True:
        entry = Axes(call.arguments, (axes, 0), "in_axes")
        for i in changed.get(call.arguments.form, ()):
            entry.variables[i] = Carry
        loop = _Loop(call, entry, axes, out_axes, metadata)
        try:
            return loop.run(**options)
        except _ChangedOutsideOfCarry as error:
            changed.setdefault(call.arguments.form, set()).update(error.numbers)


class _ChangedOutsideOfCarry(Exception):
    """A step changed variables that were taken to be the same for all steps.

    Attributes:
        numbers: the variables.
    """

    def __init__(self, numbers: set[int]) -> None:
        self.numbers = numbers


def _in_front(x: Any, axis: int) -> Any:
    """An array with the axis that is scanned first."""
    aval = typeof(x)
    if not -aval.ndim <= axis < aval.ndim:
        raise ValueError(f"in_axes of scan has the axis {axis} for {aval.str_short()}.")
    return jnp.moveaxis(x, axis, 0)


class _Loop:
    """One scan: which leaves of a call are carried, sliced and shared, and what comes out."""

    def __init__(
        self, call: Call, entry: Axes, in_axes: Any, out_axes: Any, metadata: Mapping[str, Any]
    ) -> None:
        self.call = call
        self.entry = entry
        self.in_axes = in_axes
        self.out_axes = out_axes
        self.metadata = metadata
        self.axes = entry.of_leaves()
        self.carried = frozenset([i for i, x in enumerate(entry.variables) if x is Carry])
        call.all_values = self.carried

    def run(self, length: int | None, reverse: bool, unroll: int | bool) -> Any:
        """The result of all steps."""
        call, metadata = self.call, tuple(sorted(self.metadata.items()))
        carry, xs, shared = self.divided(call.leaves)
        axes = (*self.axes, *self.entry.variables), self.in_axes, self.out_axes
        key = call.lift, call.arguments.form, axes, metadata
        step = lambda carry, xs: self.step(carry, xs, shared)  # noqa: E731
        try:
            final, ys = bindax_control_flow.scan(
                remembered(step, call.fun, *key, values=shared),
                carry,
                [_in_front(x, axis) if axis else x for x, axis in xs],
                length=length,
                reverse=reverse,
                unroll=unroll,
            )
        except TypeError:
            check_types(self.call, self.carried)
            raise
        return finish(ys.outcome, call.arguments, joined(final, ys))

    def divided(self, leaves: Sequence[Any]) -> tuple[list[Any], list[tuple[Any, int]], list[Any]]:
        """The leaves that are carried, those that are sliced with their axes, and the others."""
        pairs = list(zip(leaves, self.axes, strict=True))
        return (
            [x for x, axis in pairs if axis is Carry],
            [(x, axis) for x, axis in pairs if isinstance(axis, int)],
            [x for x, axis in pairs if axis is None],
        )

    def step(
        self, carry: Sequence[Any], xs: Sequence[Any], shared: Sequence[Any]
    ) -> tuple[list[Any], Returned]:
        """One step on flat lists."""
        parts = {Carry: iter(carry), None: iter(shared)}
        slices = iter(xs)
        leaves = [next(parts.get(a, slices)) for a in self.axes]
        call = self.call
        scope = call.enter(leaves)
        remove_axes(scope, self.entry.variables, self.metadata)
        before = self._carried_graphs(scope)
        result = call.run(scope)
        self._forget_changes(scope)
        restore_axes(scope, result, self.entry, self.out_axes, self.metadata)
        outs = call.leave(scope, result, paths=True)
        exits = self.entry.of_results(scope, self.out_axes, len(outs))
        self._check(scope, result, exits, before)
        pairs = list(zip(outs, exits, strict=True))
        stacked = [x for x, axis in pairs if axis is not Carry]
        outcome = replace(call.known_outcome(), axes=tuple(exits))
        return [x for x, axis in pairs if axis is Carry], Returned(outcome, stacked)

    def _forget_changes(self, scope: CallScope) -> None:
        """Give variables that all steps share, in graphs with updates, the values they had."""
        if self.call.lift.mode is not Mode.UPDATES:
            return
        for i, (variable, axis) in enumerate(
            zip(scope.variables, self.entry.variables, strict=True)
        ):
            if axis is None and variable.raw_value is not scope.given[i]:
                store_value(variable, scope.given[i])
                if not isinstance(variable, RngState):
                    warn_user(
                        f"a step of scan changed {self.call.arguments.variables[i]._describe()}, "
                        f"which all steps share, since its axis is None: the change is forgotten. "
                        f"Give Carry to pass it on from step to step, or the axis along which "
                        f"each step has its own."
                    )

    def _carried_graphs(self, scope: CallScope) -> tuple[list[Any], list[Any]]:
        """The structure of the objects that are carried whole, and what they consist of."""
        roots = zip(scope.roots, self.entry.prefixes, strict=True)
        traversal = traverse(root for root, prefix in roots if prefix is Carry)
        return traversal.tokens, traversal.references

    def _check(self, scope: CallScope, result: Any, exits: Sequence[Any], before: Any) -> None:
        changed = {i for i, _ in scope.changed if self.entry.variables[i] is None}
        if changed:
            raise _ChangedOutsideOfCarry(changed)
        if None in exits:
            raise ValueError(
                f"scan: Cannot broadcast output state: out_axes={self.out_axes!r} has None for a "
                f"result; give Carry, or the axis along which the results are stacked."
            )
        several = isinstance(self.out_axes, tuple) and isinstance(result, tuple)
        given, _ = _divided(self.in_axes, scope.arguments[0])
        returned, others = _divided(self.out_axes, result if several else (result,))
        mode = self.call.lift.mode
        if mode is not Mode.UPDATES:
            out = others if several else others.get(0)
            require_own_results("scan", scope.arguments, out, mode is Mode.TREE)
        if len(given) == 1 and len(returned) == 1:
            check_same_objects("scan", given[0], returned[0])
        carried, count = (sum(x is Carry for x in axes) for axes in (self.axes, exits))
        if count != carried:
            self._refuse(scope, f"{carried} arrays are carried in, {count} come out.")
        tokens, references = self._carried_graphs(scope)
        if not same_words(tokens, before[0]) or any(map(is_not, references, before[1])):
            self._refuse(scope, "its attributes are others than before.")
        for variable in self._deleted(scope):
            self._refuse(scope, f"{variable._describe()} is no longer there.")

    def _deleted(self, scope: CallScope) -> list[Variable[Any]]:
        """The carried variables that a step took out of the objects."""
        traversal = traverse(scope.roots)
        variables = zip(scope.variables, self.entry.variables, strict=True)
        return [x for x, axis in variables if axis is Carry and id(x) not in traversal.indices]

    def _refuse(self, scope: CallScope, what: str) -> None:
        changes = scope.describe_changes()
        listed = f" In a step, {changes}." if changes else ""
        raise GraphError(
            f"the structure of what scan carries changes from step to step: {what}{listed} Return "
            f"all that is carried, and make variables that are carried before the scan."
        )


def joined(carry: Sequence[Any], returned: Returned) -> list[Any]:
    """The results in their order, each stacked along its axis."""
    final, stacked = iter(carry), iter(returned.outs)
    outs = []
    for axis in returned.outcome.axes:
        if axis is Carry:
            outs.append(next(final))
        else:
            y = next(stacked)
            outs.append(jnp.moveaxis(y, 0, axis) if axis else y)
    return outs


def _divided(axes: Any, values: Sequence[Any]) -> tuple[list[Any], dict[int, Any]]:
    """The values that a tuple of axes says are carried, and the others by position."""
    given = axes if isinstance(axes, tuple) else (axes,) * len(values)
    carried = [x for x, axis in zip(values, given, strict=True) if axis is Carry]
    pairs = zip(enumerate(values), given, strict=True)
    return carried, dict(pair for pair, axis in pairs if axis is not Carry)
