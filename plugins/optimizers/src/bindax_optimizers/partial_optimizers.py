"""Optimizers for parts of the parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from bindax_core.extend import (
    NodeDefinition,
    flatten_prefix,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_structure,
    tree_unflatten,
)
from bindax_core.tree_util import register_node
from bindax_numpy.extend import ravel_pytree
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    set_to_zero,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils.states import ParamsPlaceholder

__all__ = [
    "MaskedNode",
    "MaskedState",
    "MultiTransformState",
    "PartitionState",
    "flatten",
    "freeze",
    "masked",
    "multi_transform",
    "partition",
    "selective_transform",
]


class MaskedNode(NamedTuple):
    """Stands for what a masked optimizer does not see.

    >>> import bindax
    >>> bindax.tree.leaves({"w": 1.0, "b": MaskedNode()})
    [1.0]
    """


register_node(NodeDefinition(MaskedNode, lambda x: ((), None), lambda _, xs: MaskedNode()))


class MaskedState(NamedTuple):
    """The state of the optimizer for what it sees.

    >>> MaskedState._fields
    ('inner_state',)
    """

    inner_state: Any


def masked(
    inner: Any, mask: Any, *, mask_compatible_extra_args: bool = False
) -> GradientTransformationExtraArgs:
    """An optimizer of a part of the parameters; the other updates stay as they are.

    Args:
        inner: the optimizer.
        mask: a tree of booleans like the parameters, or a prefix of one; or a function from
            parameters or updates to it.
        mask_compatible_extra_args: whether extra arguments of the update that have the structure
            of the updates are masked, too.

    Raises:
        ValueError: the mask has another structure than the parameters.

    >>> from bindax_optimizers import scale
    >>> one = masked(scale(2.0), {"w": True, "b": False})
    >>> one.update({"w": 1.0, "b": 1.0}, one.init({"w": 0.0, "b": 0.0}))[0]
    {'w': 2.0, 'b': 1.0}
    """
    inner = with_extra_args_support(inner)

    def init(params: Any) -> MaskedState:
        if isinstance(params, ParamsPlaceholder):
            return MaskedState(inner.init(params))
        return MaskedState(inner.init(_seen(mask(params) if callable(mask) else mask, params)))

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        given = mask(updates) if callable(mask) else mask
        if mask_compatible_extra_args:
            same = tree_structure(updates)
            extra = {
                k: _seen(given, x) if tree_structure(x) == same else x for k, x in extra.items()
            }
        params = None if params is None else _seen(given, params)
        new, inner_state = inner.update(_seen(given, updates), state.inner_state, params, **extra)
        leaves, structure = tree_flatten(updates)
        changed = iter(tree_leaves(new))
        flags = _flags(given, updates)
        merged = [next(changed) if f else x for x, f in zip(leaves, flags, strict=True)]
        return tree_unflatten(structure, merged), MaskedState(inner_state)

    return GradientTransformationExtraArgs(init, update)


def _flags(mask: Any, tree: Any) -> list[bool]:
    return [bool(x) for x in flatten_prefix(mask, tree, "mask", full_name="the parameters")]


def _seen(mask: Any, tree: Any) -> Any:
    """The part of a tree that a masked optimizer sees."""
    leaves, structure = tree_flatten(tree)
    pairs = zip(leaves, _flags(mask, tree), strict=True)
    return tree_unflatten(structure, [x if flag else MaskedNode() for x, flag in pairs])


class PartitionState(NamedTuple):
    """The states of the optimizers, by label.

    >>> PartitionState._fields
    ('inner_states',)
    """

    inner_states: Any


def partition(
    transforms: Mapping[Any, Any], param_labels: Any, *, mask_compatible_extra_args: bool = False
) -> GradientTransformationExtraArgs:
    """An optimizer for each part of the parameters.

    Args:
        transforms: the optimizers by label.
        param_labels: a tree of labels like the parameters, or a prefix of one; or a function from
            parameters to it.
        mask_compatible_extra_args: as for ``masked``.

    Raises:
        ValueError: a label has no optimizer, or the labels have another structure.

    >>> import numpy as np
    >>> from bindax_optimizers import scale
    >>> parts = partition({"fast": scale(2.0), "still": set_to_zero()}, {"w": "fast", "b": "still"})
    >>> params = {"w": np.float32(1), "b": np.float32(1)}
    >>> float(parts.update(params, parts.init(params))[0]["w"])
    2.0
    """

    def masked_ones(tree: Any) -> dict[Any, GradientTransformationExtraArgs]:
        given = param_labels(tree) if callable(param_labels) else param_labels
        labels = flatten_prefix(given, tree, "param_labels", full_name="the parameters")
        unknown = sorted(set(labels) - set(transforms), key=str)
        if unknown:
            raise ValueError(
                f"partition: the labels {unknown} have no optimizer; there are those of "
                f"{sorted(transforms, key=str)}."
            )

        def one(label: Any) -> GradientTransformationExtraArgs:
            mask = tree_map(lambda x: x == label, given)
            return masked(
                transforms[label], mask, mask_compatible_extra_args=mask_compatible_extra_args
            )

        return {label: one(label) for label in transforms}

    def init(params: Any) -> PartitionState:
        if isinstance(params, ParamsPlaceholder):
            states = {label: one.init(params) for label, one in transforms.items()}
            return PartitionState({label: MaskedState(state) for label, state in states.items()})
        return PartitionState({k: one.init(params) for k, one in masked_ones(params).items()})

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        states = {}
        for label, one in masked_ones(updates).items():
            updates, states[label] = one.update(updates, state.inner_states[label], params, **extra)
        return updates, PartitionState(states)

    return GradientTransformationExtraArgs(init, update)


multi_transform = partition
"""The former name of ``partition``."""
MultiTransformState = PartitionState
"""The former name of ``PartitionState``."""


def freeze(mask: Any) -> GradientTransformationExtraArgs:
    """Updates of zero where a mask is True; the others stay.

    Args:
        mask: as for ``masked``.

    >>> import numpy as np
    >>> transformation = freeze({"w": False, "b": True})
    >>> params = {"w": np.ones(1), "b": np.ones(1)}
    >>> updates, _ = transformation.update(params, transformation.init(params))
    >>> updates["w"].tolist(), updates["b"].tolist()
    ([1.0], [0.0])
    """
    return masked(set_to_zero(), mask)


def selective_transform(optimizer: Any, *, freeze_mask: Any) -> GradientTransformationExtraArgs:
    """An optimizer of the parameters where a mask is False; the updates of the others are zero.

    Args:
        optimizer: the optimizer.
        freeze_mask: a tree of booleans like the parameters, or a prefix of one.

    >>> import numpy as np
    >>> from bindax_optimizers import scale
    >>> transformation = selective_transform(scale(2.0), freeze_mask={"w": False, "b": True})
    >>> params = {"w": np.ones(1), "b": np.ones(1)}
    >>> updates, _ = transformation.update(params, transformation.init(params))
    >>> updates["w"].tolist(), updates["b"].tolist()
    ([2.0], [0.0])
    """
    labels = tree_map(lambda is_frozen: "freeze" if is_frozen else "train", freeze_mask)
    return partition({"train": optimizer, "freeze": set_to_zero()}, labels)


def flatten(inner: Any) -> GradientTransformationExtraArgs:
    """An optimizer of all parameters as one vector: faster where there are many small arrays.

    Args:
        inner: the optimizer.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = flatten(optimizers.adam(0.1))
    >>> state = optimizer.init({"w": np.ones(2), "b": np.ones(3)})
    >>> state[0].mu.shape
    (5,)
    """
    inner = with_extra_args_support(inner)

    def init(params: Any) -> Any:
        return inner.init(ravel_pytree(params)[0])

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        flat, unravel = ravel_pytree(updates)
        flat_params = None if params is None else ravel_pytree(params)[0]
        new, state = inner.update(flat, state, flat_params, **extra)
        return unravel(new), state

    return GradientTransformationExtraArgs(init, update)
