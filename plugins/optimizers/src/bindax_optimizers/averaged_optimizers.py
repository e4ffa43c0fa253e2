"""Optimizers beside an average of the parameters: Lookahead and schedule-free training."""

from __future__ import annotations

from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map, typeof
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale_by_learning_rate,
)
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.optimizers import sgd
from bindax_optimizers.schedules import warmup_constant_schedule
from bindax_optimizers.squared_gradients import scale_by_rms
from bindax_optimizers.transformation import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    apply_updates,
    chain,
    require_params,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils import tree_cast, tree_dtype

__all__ = [
    "LookaheadParams",
    "LookaheadState",
    "ScheduleFreeState",
    "lookahead",
    "schedule_free",
    "schedule_free_adamw",
    "schedule_free_eval_params",
    "schedule_free_sgd",
]


class LookaheadParams(NamedTuple):
    """The parameters that a fast optimizer changes, and their slow average.

    >>> LookaheadParams.init_synced({"w": 1.0})
    LookaheadParams(fast={'w': 1.0}, slow={'w': 1.0})
    """

    fast: Any
    slow: Any

    @classmethod
    def init_synced(cls, params: Any) -> LookaheadParams:
        """Both of them the same."""
        return cls(params, params)


class LookaheadState(NamedTuple):
    """The state of the fast optimizer, and the number of steps since the parameters were equal.

    >>> LookaheadState._fields
    ('fast_state', 'steps_since_sync')
    """

    fast_state: Any
    steps_since_sync: Any


def lookahead(
    fast_optimizer: Any, sync_period: int, slow_step_size: Any, reset_state: bool = False
) -> GradientTransformation:
    """Lookahead: some fast steps, then a slow one towards where they led (Zhang et al., 2019).

    Parameters and updates are ``LookaheadParams``; gradients are those at the fast parameters.

    Args:
        fast_optimizer: the optimizer of the fast parameters.
        sync_period: the number of fast steps to a slow one.
        slow_step_size: how far the slow one goes, 1 for all of the way.
        reset_state: whether the state of the fast optimizer begins anew after it.

    Raises:
        ValueError: ``sync_period`` is less than 1; or at the update, parameters are no
            ``LookaheadParams``.

    >>> from bindax import optimizers
    >>> optimizer = lookahead(optimizers.sgd(1.0), 2, 0.5)
    >>> params = LookaheadParams.init_synced(0.0)
    >>> state = optimizer.init(params)
    >>> for _ in range(2):
    ...     updates, state = optimizer.update(-1.0, state, params)
    ...     params = optimizers.apply_updates(params, updates)
    >>> float(params.fast), float(params.slow)
    (1.0, 1.0)
    """
    if sync_period < 1:
        raise ValueError(f"lookahead: sync_period must be at least 1, but is {sync_period}.")

    def init(params: Any) -> LookaheadState:
        return LookaheadState(fast_optimizer.init(getattr(params, "fast", params)), zero_count())

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        if not hasattr(params, "fast") or not hasattr(params, "slow"):
            raise ValueError(
                f"lookahead needs LookaheadParams as parameters, but got {type(params).__name__}; "
                f"make them with LookaheadParams.init_synced(params)."
            )
        steps, fast_state = fast_optimizer.update(updates, state.fast_state, params.fast)
        syncs = state.steps_since_sync == sync_period - 1
        away = tree_map(lambda f, u, s: f + u - s, params.fast, steps, params.slow)
        slow = tree_map(lambda d: slow_step_size * syncs * d, away)
        fast = tree_map(lambda u, d: u - syncs * (1 - slow_step_size) * d, steps, away)
        if reset_state:
            first = fast_optimizer.init(params.fast)
            fast_state = tree_map(lambda new, x: jnp.where(syncs, x, new), fast_state, first)
        count = (state.steps_since_sync + 1) % sync_period
        return LookaheadParams(fast, slow), LookaheadState(fast_state, count)

    return GradientTransformation(init, update)


class ScheduleFreeState(NamedTuple):
    """The weight of the average in gradients, sums for its rate, the inner state, and the iterates.

    >>> ScheduleFreeState._fields
    ('b1', 'weight_sum', 'step_count', 'max_lr', 'base_optimizer_state', 'z')
    """

    b1: Any
    weight_sum: Any
    step_count: Any
    max_lr: Any
    base_optimizer_state: Any
    z: Any


def schedule_free_eval_params(state: Any, params: Any) -> Any:
    """The average of the parameters, which is what to evaluate after schedule-free training.

    Args:
        state: the state of ``schedule_free``.
        params: the parameters that were trained.

    Raises:
        ValueError: the state is another one.

    >>> optimizer = schedule_free_sgd(0.1)
    >>> float(schedule_free_eval_params(optimizer.init(1.0), 1.0))
    1.0
    """
    if not hasattr(state, "b1") or not hasattr(state, "z"):
        raise ValueError(
            f"schedule_free_eval_params needs the state of schedule_free, but got "
            f"{type(state).__name__}."
        )
    return _average(params, state.z, state.b1)


def _average(params: Any, z: Any, b1: Any) -> Any:
    return tree_map(lambda y, z: (y - (1.0 - b1) * z) / b1, params, z)


def schedule_free(
    base_optimizer: Any,
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    weight_lr_power: Any = 2.0,
    state_dtype: Any = None,
) -> GradientTransformationExtraArgs:
    """Training by an average of iterates in the place of a falling rate (Defazio et al., 2024).

    Args:
        base_optimizer: the optimizer, without momentum.
        learning_rate: its rate, by which the iterates are weighted.
        b1: where gradients are taken, between the iterates (0) and their average (1).
        weight_lr_power: the power of the rate in the weights.
        state_dtype: the dtype of the iterates; by default that of the parameters.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = schedule_free(optimizers.sgd(0.5), 0.5)
    >>> params, state = np.float32(2.0), optimizer.init(np.float32(2.0))
    >>> for _ in range(60):
    ...     updates, state = optimizer.update(params, state, params)  # the gradient of x**2 / 2
    ...     params = optimizers.apply_updates(params, updates)
    >>> bool(abs(schedule_free_eval_params(state, params)) < 0.2)
    True
    """
    base = with_extra_args_support(base_optimizer)

    def init(params: Any) -> ScheduleFreeState:
        dtype = tree_dtype(params, "lowest")
        z = tree_map(lambda p: jnp.array(p, dtype=typeof(p).dtype), tree_cast(params, state_dtype))
        zero = jnp.zeros((), dtype)
        inner = base.init(params)
        return ScheduleFreeState(
            jnp.asarray(b1, dtype), zero, jnp.ones((), "int32"), zero, inner, z
        )

    def update(grads: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        require_params("schedule_free", params)
        rate = learning_rate
        if callable(learning_rate):
            rate = jnp.asarray(learning_rate(state.step_count), dtype=state.max_lr.dtype)
        largest = jnp.maximum(state.max_lr, rate)
        weight = largest**weight_lr_power
        total = state.weight_sum + weight
        share = _share(weight, total)
        steps, inner = base.update(grads, state.base_optimizer_state, params, **extra)
        z = apply_updates(state.z, steps)
        averages = tree_map(
            lambda x, z: (1.0 - share) * x + share * z, _average(params, state.z, b1), z
        )
        new = tree_map(lambda x, z: b1 * x + (1.0 - b1) * z, averages, z)
        out = tree_map(lambda n, p: n - p, new, params)
        count = safe_increment(state.step_count)
        return out, ScheduleFreeState(state.b1, total, count, largest, inner, z)

    return GradientTransformationExtraArgs(init, update)


def _share(weight: Any, total: Any) -> Any:
    """The ratio of two numbers; 0 where both are, before the first positive rate."""
    return jnp.where(total == 0, jnp.zeros_like(total), weight / jnp.where(total == 0, 1, total))


def _warmed_up(learning_rate: Any, warmup_steps: int | None) -> Any:
    if warmup_steps is None:
        return learning_rate
    return warmup_constant_schedule(0, learning_rate, warmup_steps)


def schedule_free_sgd(
    learning_rate: Any = 1.0,
    warmup_steps: int | None = None,
    b1: Any = 0.9,
    weight_decay: Any = None,
    weight_lr_power: Any = 2.0,
    state_dtype: Any = None,
) -> GradientTransformationExtraArgs:
    """``schedule_free`` with gradient descent.

    Args:
        learning_rate: the rate.
        warmup_steps: the number of steps over which it grows from zero.
        b1: as for ``schedule_free``.
        weight_decay: the multiple of the parameters that is added to gradients.
        weight_lr_power: as for ``schedule_free``.
        state_dtype: as for ``schedule_free``.
    """
    rate = _warmed_up(learning_rate, warmup_steps)
    optimizer: Any = sgd(rate)
    if weight_decay is not None:
        optimizer = chain(add_decayed_weights(weight_decay), optimizer)
    return schedule_free(optimizer, rate, b1, weight_lr_power, state_dtype)


def schedule_free_adamw(
    learning_rate: Any = 0.0025,
    warmup_steps: int | None = None,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    weight_decay: Any = 0.0,
    weight_lr_power: Any = 2.0,
    state_dtype: Any = None,
) -> GradientTransformationExtraArgs:
    """``schedule_free`` with AdamW, whose first moment the average replaces.

    Args:
        learning_rate: the rate.
        warmup_steps: the number of steps over which it grows from zero.
        b1: as for ``schedule_free``.
        b2: as for ``adamw``, as the next two.
        eps: as there.
        weight_decay: as there.
        weight_lr_power: as for ``schedule_free``.
        state_dtype: as for ``schedule_free``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = schedule_free_adamw(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    rate = _warmed_up(learning_rate, warmup_steps)
    optimizer = chain(
        scale_by_rms(b2, eps, eps_in_sqrt=False, bias_correction=True),
        add_decayed_weights(weight_decay),
        scale_by_learning_rate(rate),
    )
    return schedule_free(optimizer, rate, b1, weight_lr_power, state_dtype)
