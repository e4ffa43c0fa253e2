"""The protocol of optimizers, and chains of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import bindax_numpy as jnp
from bindax_core.extend import tree_leaves, tree_map, typeof

__all__ = [
    "AdaptiveGradClipState",
    "AddDecayedWeightsState",
    "ClipByGlobalNormState",
    "ClipState",
    "EmptyState",
    "GradientTransformation",
    "GradientTransformationExtraArgs",
    "NonNegativeParamsState",
    "OptState",
    "Params",
    "ScalarOrSchedule",
    "ScaleByTrustRatioState",
    "ScaleState",
    "Schedule",
    "Updates",
    "apply_updates",
    "chain",
    "identity",
    "init_empty_state",
    "named_chain",
    "set_to_zero",
    "stateless",
    "stateless_with_tree_map",
    "with_extra_args_support",
]

T = TypeVar("T")

Schedule = Callable[[Any], Any]
ScalarOrSchedule = Any
"""A number, or a function from the number of the step to one."""
Params = Updates = OptState = Any
"""Trees of arrays: parameters, updates and states of optimizers."""


class GradientTransformation(NamedTuple):
    """A pair of functions that turns gradients into updates.

    Attributes:
        init: from parameters to a state.
        update: from gradients, state and parameters to updates and the next state.
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class GradientTransformationExtraArgs(GradientTransformation):
    """A transformation whose update takes more arguments by name, such as the value of the loss.

    >>> halve = GradientTransformation(lambda params: (), lambda g, state, params=None: (g / 2, ()))
    >>> with_extra_args_support(halve).update(3.0, (), value=1.0)
    (1.5, ())
    """

    __slots__ = ()


def with_extra_args_support(tx: Any) -> GradientTransformationExtraArgs:
    """A transformation whose update takes any arguments by name, and ignores what it does not use.

    Args:
        tx: a transformation, of this package or of another one with the same protocol.

    Raises:
        TypeError: it has no ``init`` and ``update``.
    """
    if isinstance(tx, GradientTransformationExtraArgs):
        return tx
    if not (hasattr(tx, "init") and hasattr(tx, "update")):
        raise TypeError(
            f"an optimizer or another transformation of gradients has the functions init and "
            f"update, but got {tx!r:.60}."
        )
    kinds = [p.kind for p in inspect.signature(tx.update).parameters.values()]
    if inspect.Parameter.VAR_KEYWORD in kinds:
        return GradientTransformationExtraArgs(tx.init, tx.update)

    def update(updates: Any, state: Any, params: Any = None, **_: Any) -> tuple[Any, Any]:
        result: tuple[Any, Any] = tx.update(updates, state, params)
        return result

    return GradientTransformationExtraArgs(tx.init, update)


class EmptyState(NamedTuple):
    """The state of a transformation that needs none.

    >>> identity().init(1.0) == EmptyState() == init_empty_state(1.0)
    True
    """


AdaptiveGradClipState = AddDecayedWeightsState = ClipByGlobalNormState = ClipState = EmptyState
NonNegativeParamsState = ScaleByTrustRatioState = ScaleState = EmptyState


def init_empty_state(params: Any) -> EmptyState:
    """The state of a transformation that needs none, for any parameters.

    >>> def init(params: Params) -> OptState:
    ...     return init_empty_state(params)
    >>> init(1.0)
    EmptyState()
    """
    return EmptyState()


def stateless(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """A transformation from ``(gradients, params) -> updates``, without state."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return f(updates, params), EmptyState()

    return GradientTransformation(init_empty_state, update)


def stateless_with_tree_map(f: Callable[[Any, Any], Any]) -> GradientTransformation:
    """A transformation from ``(gradient, parameter) -> update`` of each array, without state.

    >>> decay = stateless_with_tree_map(lambda g, p: g + 0.5 * p)
    >>> decay.update({"w": 1.0}, decay.init({"w": 2.0}), {"w": 2.0})[0]
    {'w': 2.0}
    """

    def apply(updates: Any, params: Any) -> Any:
        if params is None:
            return map_present(lambda g: f(g, None), updates)
        return map_present(f, updates, params)

    return stateless(apply)


def identity() -> GradientTransformation:
    """Leaves gradients as they are."""
    return stateless(lambda updates, params: updates)


def set_to_zero() -> GradientTransformation:
    """Updates of zero, for parameters that stay as they are."""
    return stateless(lambda updates, params: tree_map(jnp.zeros_like, updates))


def chain(*args: Any) -> GradientTransformationExtraArgs:
    """Transformations one after the other.

    Args:
        args: the transformations. Extra arguments of the update reach those that take them.

    >>> double = chain(identity(), stateless(lambda updates, params: updates * 2))
    >>> double.update(3.0, double.init(1.0))[0]
    6.0
    """
    parts = [with_extra_args_support(one) for one in args]

    def init(params: Any) -> tuple[Any, ...]:
        return tuple([one.init(params) for one in parts])

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        if len(state) != len(parts):
            raise ValueError(
                f"chain of {len(parts)} transformations was given a state of "
                f"{len(state)} parts; pass the state that its init or update returned."
            )
        new = []
        for one, part in zip(parts, state, strict=True):
            updates, part = one.update(updates, part, params, **extra)
            new.append(part)
        return updates, tuple(new)

    return GradientTransformationExtraArgs(init, update)


def named_chain(*args: tuple[str, Any]) -> GradientTransformationExtraArgs:
    """Transformations one after the other, with the states in a dictionary by name.

    Raises:
        ValueError: two of them have the same name.

    >>> double = named_chain(("twice", stateless(lambda updates, params: updates * 2)))
    >>> double.update(3.0, double.init(1.0))
    (6.0, {'twice': EmptyState()})
    """
    parts = {name: with_extra_args_support(one) for name, one in args}
    if len(parts) != len(args):
        names = [name for name, _ in args]
        raise ValueError(f"named_chain: the names must differ, but are {names}.")

    def init(params: Any) -> dict[str, Any]:
        return {name: one.init(params) for name, one in parts.items()}

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        new = {}
        for name, one in parts.items():
            updates, new[name] = one.update(updates, state[name], params, **extra)
        return updates, new

    return GradientTransformationExtraArgs(init, update)


def map_present(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:
    """Map over the arrays of a tree; where it has None, the result has None.

    The other trees may have anything at the places of None, such as the moments of a parameter
    that has no gradient at this step.
    """
    try:
        return tree_map(function, tree, *rest)
    except ValueError:  # the structures differ, by what is at the places of None or otherwise
        if all(x is not None for x in tree_leaves(tree, is_leaf=_is_none)):
            raise
    return tree_map(
        lambda x, *xs: None if x is None else function(x, *xs), tree, *rest, is_leaf=_is_none
    )


def _is_none(x: Any) -> bool:
    return x is None


def apply_updates(params: T, updates: Any) -> T:
    """The parameters after a step; they keep their dtypes.

    >>> import numpy as np
    >>> apply_updates({"w": np.ones(2, np.float32)}, {"w": np.full(2, 0.5)})
    {'w': Array([1.5, 1.5], dtype=float32)}
    """
    updated: T = map_present(
        lambda p, u: jnp.asarray(p + u).astype(typeof(p).dtype), params, updates
    )
    return updated


def require_params(name: str, params: Any) -> None:
    """Raise unless the parameters were passed.

    Raises:
        ValueError: they were not.
    """
    if params is None:
        raise ValueError(f"{name} needs the parameters: call update(updates, state, params).")
