"""Optimizers for parts of the parameters, and averages of parameters and updates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import bindax_numpy as jnp
from bindax_core.extend import (
    NodeDefinition,
    flatten_prefix,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)
from bindax_core.tree_util import register_node
from bindax_optimizers.gradient_transformations import (
    ScheduleState,
    moment,
    next_count,
    unbiased,
    zero_count,
    zeros_like,
)
from bindax_optimizers.transformation import GradientTransformation, stateless

T = TypeVar("T")


def set_to_zero() -> GradientTransformation:
    """Updates of zero, for parameters that stay as they are."""
    return stateless(lambda updates, params: zeros_like(updates))


def scale_by_schedule(step_size_fn: Callable[[Any], Any]) -> GradientTransformation:
    """Multiplies by a number that depends on the number of the step.

    >>> import numpy as np
    >>> transformation = scale_by_schedule(lambda count: 1.0 / (count + 1))
    >>> state = transformation.init(None)
    >>> _, state = transformation.update(np.array([2.0, 4.0]), state)
    >>> updates, state = transformation.update(np.array([2.0, 4.0]), state)
    >>> updates.tolist()
    [1.0, 2.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        size = step_size_fn(state.count)
        scaled = tree_map(lambda g: g * jnp.asarray(size, dtype=g.dtype), updates)
        return scaled, ScheduleState(next_count(state.count))

    return GradientTransformation(lambda params: ScheduleState(zero_count()), update)


class MaskedNode(NamedTuple):
    """Stands for what a masked optimizer does not see."""


class MaskedState(NamedTuple):
    """The state of the optimizer for what it sees."""

    inner_state: Any


def masked(inner: GradientTransformation, mask: Any) -> GradientTransformation:
    """An optimizer of a part of the parameters; the other updates stay as they are.

    Args:
        inner: the optimizer.
        mask: a tree of booleans like the parameters, or a prefix of one; or a function from
            parameters or updates to it.

    Raises:
        ValueError: the mask has another structure than the parameters.

    >>> import numpy as np
    >>> from bindax_optimizers import scale
    >>> one = masked(scale(2.0), {"w": True, "b": False})
    >>> one.update({"w": 1.0, "b": 1.0}, one.init({"w": 0.0, "b": 0.0}))[0]
    {'w': 2.0, 'b': 1.0}
    """

    def taken(tree: Any) -> list[bool]:
        given = mask(tree) if callable(mask) else mask
        return [bool(x) for x in flatten_prefix(given, tree, "mask", full_name="the parameters")]

    def hidden(flags: list[bool], tree: Any) -> Any:
        leaves, structure = tree_flatten(tree)
        kept = [x if flag else MaskedNode() for x, flag in zip(leaves, flags, strict=True)]
        return tree_unflatten(structure, kept)

    def init(params: Any) -> MaskedState:
        return MaskedState(inner.init(hidden(taken(params), params)))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        flags = taken(updates)
        seen = None if params is None else hidden(flags, params)
        new, inner_state = inner.update(hidden(flags, updates), state.inner_state, seen)
        leaves, structure = tree_flatten(updates)
        changed = iter(tree_leaves(new))
        merged = [next(changed) if f else x for x, f in zip(leaves, flags, strict=True)]
        return tree_unflatten(structure, merged), MaskedState(inner_state)

    return GradientTransformation(init, update)


class PartitionState(NamedTuple):
    """The states of the optimizers, by label."""

    inner_states: Any


def partition(
    transforms: Mapping[Any, GradientTransformation], param_labels: Any
) -> GradientTransformation:
    """An optimizer for each part of the parameters.

    Args:
        transforms: the optimizers by label.
        param_labels: a tree of labels like the parameters, or a prefix of one; or a function from
            parameters to it.

    Raises:
        ValueError: a label has no optimizer, or the labels have another structure.

    >>> import numpy as np
    >>> from bindax_optimizers import scale
    >>> parts = partition({"fast": scale(2.0), "still": set_to_zero()}, {"w": "fast", "b": "still"})
    >>> params = {"w": np.float32(1), "b": np.float32(1)}
    >>> float(parts.update(params, parts.init(params))[0]["w"])
    2.0
    """

    def of(tree: Any) -> dict[Any, GradientTransformation]:
        given = param_labels(tree) if callable(param_labels) else param_labels
        labels = flatten_prefix(given, tree, "param_labels", full_name="the parameters")
        unknown = sorted(set(labels) - set(transforms), key=str)
        if unknown:
            raise ValueError(
                f"partition: the labels {unknown} have no optimizer; there are those of "
                f"{sorted(transforms, key=str)}."
            )
        structure = tree_flatten(tree)[1]
        masks = {
            label: tree_unflatten(structure, [x == label for x in labels]) for label in transforms
        }
        return {label: masked(transforms[label], masks[label]) for label in transforms}

    def init(params: Any) -> PartitionState:
        return PartitionState({label: one.init(params) for label, one in of(params).items()})

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        states = {}
        for label, one in of(updates).items():
            updates, states[label] = one.update(updates, state.inner_states[label], params)
        return updates, PartitionState(states)

    return GradientTransformation(init, update)


multi_transform = partition
"""The former name of ``partition``."""


class EmaState(NamedTuple):
    """The number of steps, and the moving average."""

    count: Any
    ema: Any


def ema(decay: float, debias: bool = True) -> GradientTransformation:
    """The moving average of updates.

    Args:
        decay: how much of the average is kept at each step.
        debias: whether it is corrected for having begun at zero.

    >>> import numpy as np
    >>> transformation = ema(0.5, debias=False)
    >>> state = transformation.init(np.zeros(2))
    >>> averages, state = transformation.update(np.array([2.0, 4.0]), state)
    >>> averages.tolist()
    [1.0, 2.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        new, count = moment(decay, 1, updates, state.ema), next_count(state.count)
        return unbiased(new, decay, count) if debias else new, EmaState(count, new)

    return GradientTransformation(lambda p: EmaState(zero_count(), zeros_like(p)), update)


def incremental_update(new_tensors: Any, old_tensors: T, step_size: Any) -> T:
    """Parameters between old and new ones: ``step_size * new + (1 - step_size) * old``.

    >>> incremental_update({"w": 3.0}, {"w": 1.0}, 0.5)
    {'w': 2.0}
    """
    between: T = tree_map(
        lambda new, old: step_size * new + (1.0 - step_size) * old, new_tensors, old_tensors
    )
    return between


register_node(NodeDefinition(MaskedNode, lambda x: ((), None), lambda _, xs: MaskedNode()))
