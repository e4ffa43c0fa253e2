"""One call of a lifted function, and the lifting of any transformation of flat functions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, cast

from bindax_core.extend import api_boundary
from bindax_nnx.lift._names import named_after
from bindax_nnx.lift.structure import UPDATES, Arguments, CallScope, Lift, Updates, finish
from bindax_nnx.object import Object
from bindax_nnx.variables import Variable


class Call:
    """One call of a function under a transformation of functions of flat lists of arrays.

    Args:
        fun: the user's function.
        args: its arguments.
        kwargs: its keyword arguments.
        all_values: whether the results have the values of all variables, changed or not; or of
            which, by number.
        is_leaf: which containers in the arguments count as arrays.
        lift: how the transformation is lifted.

    Attributes:
        arguments: the arguments, taken apart.
        outcome: what is static about the results; set when the function has run.
        scope: the arguments as the function left them; set likewise.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        args: Sequence[Any],
        kwargs: Mapping[str, Any] | None = None,
        *,
        all_values: bool | frozenset[int] = False,
        is_leaf: Callable[[Any], bool] | None = None,
        lift: Lift = UPDATES,
    ) -> None:
        self.fun = fun
        self.lift = lift
        self.all_values = all_values
        self.arguments: Arguments = Arguments((tuple(args), dict(kwargs or {})), is_leaf, lift)
        self.outcome: Updates | None = None
        self.scope: CallScope | None = None

    @property
    def leaves(self) -> list[Any]:
        """The values of the variables, then the other arrays."""
        return self.arguments.leaves

    def enter(self, leaves: Sequence[Any]) -> CallScope:
        """The arguments for the user's function, around what a transformation passes."""
        scope = CallScope(self.arguments.form, leaves, self.lift)
        for root, original in zip(scope.roots, self.arguments.roots, strict=True):
            if isinstance(root, Object | Variable) and root is not original:
                object.__setattr__(root, "_nnx_place", original._nnx_place)  # for messages
        return scope

    def run(self, scope: CallScope) -> Any:
        """Call the user's function."""
        args, kwargs = scope.arguments
        return self.fun(*args, **kwargs)

    def leave(self, scope: CallScope, result: Any, *, paths: bool = False) -> list[Any]:
        """The results as a flat list: values of variables, then the other arrays."""
        returned = scope.leave(result, self.all_values, paths=paths)
        self.outcome, self.scope = returned.outcome, scope
        return list(returned.outs)

    @property
    def flat(self) -> Callable[[Sequence[Any]], list[Any]]:
        """The user's function as one of a flat list of arrays; what transformations transform."""

        def flat(leaves: Sequence[Any]) -> list[Any]:
            scope = self.enter(leaves)
            return self.leave(scope, self.run(scope))

        return cast(Callable[[Sequence[Any]], list[Any]], named_after(flat, self.fun))

    def finish(self, outs: Sequence[Any]) -> Any:
        """Apply the changes to the original objects; gives the result of the user's function."""
        return finish(self.known_outcome(), self.arguments, outs)

    def result_of(self, outs: Sequence[Any]) -> Any:
        """The result with other arrays in it, such as tangents, and no change of the arguments."""
        outcome = self.known_outcome()
        old = sum(1 if tree is None else tree.num_leaves for _, tree in outcome.changed)
        bare = dataclasses.replace(
            outcome, changed=(), relabelled=(), restructured=None, size=outcome.size - old
        )
        return finish(bare, self.arguments, outs[old:])

    def finish_apart(self, outs: Sequence[Any]) -> Any:
        """The result of the user's function around copies of the arguments."""
        return finish(self.known_outcome(), CallScope(self.arguments.form, self.leaves), outs)

    def known_outcome(self) -> Updates:
        """The static part of the results."""
        if self.outcome is None:
            raise TypeError("a transformation returned without calling the function.")
        return self.outcome


Flat = Callable[[Sequence[Any]], Any]


def lift(
    transformation: Callable[[Flat], Flat], *, is_leaf: Callable[[Any], bool] | None = None
) -> Callable[[Callable[..., Any]], Any]:
    """Lift a transformation, so that objects pass through with their identity.

    Args:
        transformation: from a function of a list of arrays that returns a list of arrays, to
            another such function.
        is_leaf: which containers in the arguments count as arrays, because the transformation
            gives them a meaning.

    Returns:
        A transformation of functions whose arguments and results hold objects, variables and
        arrays: what the function changes in its arguments is changed in the originals.

    >>> from bindax_transforms import checkpoint
    >>> from bindax_nnx import Module, Param
    >>> class Counter(Module):
    ...     def __init__(self):
    ...         self.count = Param(0.0)
    >>> counter = Counter()
    >>> @lift(checkpoint)
    ... def increment(counter):
    ...     counter.count += 1.0
    >>> increment(counter)
    >>> float(counter.count)
    1.0
    """

    def lifted(fun: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(fun)
        @api_boundary
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            call = Call(fun, args, kwargs, is_leaf=is_leaf)
            return call.finish(transformation(call.flat)(call.leaves))

        return wrapper

    return lifted
