"""Optimizers that make a step under a condition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_control_flow import cond
from bindax_core.extend import tree_leaves
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils import tree_cast_like, tree_zeros_like

__all__ = [
    "ApplyIfFiniteState",
    "ConditionallyMaskState",
    "ConditionallyTransformState",
    "apply_if_finite",
    "conditionally_mask",
    "conditionally_transform",
]


class ConditionallyTransformState(NamedTuple):
    """The state of the optimizer, and the number of steps.

    >>> ConditionallyTransformState._fields
    ('inner_state', 'step')
    """

    inner_state: Any
    step: Any


class ConditionallyMaskState(NamedTuple):
    """The number of steps, and the state of the optimizer.

    >>> ConditionallyMaskState._fields
    ('step', 'inner_state')
    """

    step: Any
    inner_state: Any


def conditionally_transform(
    inner: Any, should_transform_fn: Callable[..., Any], forward_extra_args: bool = False
) -> GradientTransformationExtraArgs:
    """An optimizer at the steps where a condition holds; the updates stay as they are at others.

    Args:
        inner: the optimizer.
        should_transform_fn: from the number of the step to a boolean.
        forward_extra_args: whether this function gets the extra arguments of the update, too.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> transformation = conditionally_transform(optimizers.scale(2.0), lambda step: step >= 1)
    >>> state = transformation.init(np.zeros(1))
    >>> for _ in range(2):
    ...     updates, state = transformation.update(np.ones(1), state)
    ...     print(updates.tolist())
    [1.0]
    [2.0]
    """
    return _conditional(
        ConditionallyTransformState, lambda x: x, inner, should_transform_fn, forward_extra_args
    )


def conditionally_mask(
    inner: Any, should_transform_fn: Callable[..., Any], forward_extra_args: bool = False
) -> GradientTransformationExtraArgs:
    """An optimizer at the steps where a condition holds; the updates are zero at the others.

    Args:
        inner: the optimizer.
        should_transform_fn: from the number of the step to a boolean.
        forward_extra_args: whether this function gets the extra arguments of the update, too.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> transformation = conditionally_mask(optimizers.scale(2.0), lambda step: step >= 1)
    >>> updates, _ = transformation.update(np.ones(1), transformation.init(np.zeros(1)))
    >>> updates.tolist()
    [0.0]
    """
    return _conditional(
        ConditionallyMaskState, tree_zeros_like, inner, should_transform_fn, forward_extra_args
    )


def _conditional(
    make_state: Callable[..., Any],
    otherwise: Callable[[Any], Any],
    inner: Any,
    condition: Callable[..., Any],
    forward_extra_args: bool,
) -> GradientTransformationExtraArgs:
    inner = with_extra_args_support(inner)

    def init(params: Any) -> Any:
        return make_state(inner_state=inner.init(params), step=zero_count())

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        holds = condition(state.step, **(extra if forward_extra_args else {}))
        updates, inner_state = cond(
            holds,
            lambda: _stepped(inner, updates, state.inner_state, params, extra),
            lambda: (otherwise(updates), state.inner_state),
        )
        return updates, make_state(inner_state=inner_state, step=safe_increment(state.step))

    return GradientTransformationExtraArgs(init, update)


def _stepped(inner: Any, updates: Any, state: Any, params: Any, extra: Any) -> tuple[Any, Any]:
    """Updates and the next state; its dtypes are those of the former one, as both ways need."""
    new, inner_state = inner.update(updates, state, params, **extra)
    return new, tree_cast_like(inner_state, state)


class ApplyIfFiniteState(NamedTuple):
    """Steps that were not finite, in a row and in total; whether the last one was; the inner state.

    >>> ApplyIfFiniteState._fields
    ('notfinite_count', 'last_finite', 'total_notfinite', 'inner_state')
    """

    notfinite_count: Any
    last_finite: Any
    total_notfinite: Any
    inner_state: Any


def apply_if_finite(inner: Any, max_consecutive_errors: int) -> GradientTransformationExtraArgs:
    """An optimizer that makes no step where a gradient is infinite or NaN.

    Args:
        inner: the optimizer.
        max_consecutive_errors: after how many such gradients in a row it makes one all the same,
            so that the failure is seen.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = apply_if_finite(optimizers.sgd(0.1), 5)
    >>> state = optimizer.init(np.zeros(1))
    >>> updates, state = optimizer.update(np.array([np.nan]), state)
    >>> updates.tolist(), int(state.total_notfinite)
    ([0.0], 1)
    """
    inner = with_extra_args_support(inner)

    def init(params: Any) -> ApplyIfFiniteState:
        return ApplyIfFiniteState(zero_count(), jnp.asarray(True), zero_count(), inner.init(params))

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        checks = [jnp.all(jnp.isfinite(x)) for x in tree_leaves(updates)]
        is_finite = jnp.all(jnp.asarray(checks, dtype=bool))
        in_a_row = jnp.where(is_finite, 0, safe_increment(state.notfinite_count))
        updates, inner_state = cond(
            is_finite | (in_a_row > max_consecutive_errors),
            lambda: _stepped(inner, updates, state.inner_state, params, extra),
            lambda: (tree_zeros_like(updates), state.inner_state),
        )
        total = safe_increment(state.total_notfinite)
        total = jnp.where(is_finite, state.total_notfinite, total)
        return updates, ApplyIfFiniteState(in_a_row, is_finite, total, inner_state)

    return GradientTransformationExtraArgs(init, update)
