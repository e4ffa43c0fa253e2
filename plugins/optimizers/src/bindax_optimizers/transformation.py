"""The protocol of optimizers, and chains of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_leaves, tree_map, typeof
from bindax_numpy.extend import root

T = TypeVar("T")

Schedule = Callable[[Any], Any]
ScalarOrSchedule = Any
"""A number, or a function from the number of the step to one."""


class GradientTransformation(NamedTuple):
    """A pair of functions that turns gradients into updates.

    Attributes:
        init: from parameters to a state.
        update: from gradients, state and parameters to updates and the next state.
    """

    init: Callable[[Any], Any]
    update: Callable[..., tuple[Any, Any]]


class EmptyState(NamedTuple):
    """The state of a transformation that needs none."""


def stateless(function: Callable[[Any, Any], Any]) -> GradientTransformation:
    """A transformation from ``(gradients, params) -> updates``, without state."""

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return function(updates, params), state

    return GradientTransformation(lambda params: EmptyState(), update)


def identity() -> GradientTransformation:
    """Leaves gradients as they are."""
    return stateless(lambda updates, params: updates)


def chain(*transformations: GradientTransformation) -> GradientTransformation:
    """Transformations one after the other.

    >>> double = chain(identity(), stateless(lambda updates, params: updates * 2))
    >>> double.update(3.0, double.init(1.0))[0]
    6.0
    """

    def init(params: Any) -> tuple[Any, ...]:
        return tuple([one.init(params) for one in transformations])

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        if len(state) != len(transformations):
            raise ValueError(
                f"chain of {len(transformations)} transformations was given a state of "
                f"{len(state)} parts; pass the state that its init or update returned."
            )
        new = []
        for one, part in zip(transformations, state, strict=True):
            updates, part = one.update(updates, part, params)
            new.append(part)
        return updates, tuple(new)

    return GradientTransformation(init, update)


def apply_updates(params: T, updates: Any) -> T:
    """The parameters after a step; they keep their dtypes.

    >>> import numpy as np
    >>> apply_updates({"w": np.ones(2, np.float32)}, {"w": np.full(2, 0.5)})
    {'w': Array([1.5, 1.5], dtype=float32)}
    """
    updated: T = tree_map(lambda p, u: jnp.asarray(p + u).astype(typeof(p).dtype), params, updates)
    return updated


def global_norm(updates: Any) -> Array:
    """The Euclidean norm of all arrays of a tree together.

    >>> import numpy as np
    >>> float(global_norm([np.array([3.0]), np.array([4.0])]))
    5.0
    """
    norm: Array = root(sum(jnp.sum(jnp.square(jnp.abs(x))) for x in tree_leaves(updates)))
    return norm


def require_params(name: str, params: Any) -> None:
    """Raise unless the parameters were passed.

    Raises:
        ValueError: they were not.
    """
    if params is None:
        raise ValueError(f"{name} needs the parameters: call update(updates, state, params).")
