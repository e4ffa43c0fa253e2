"""Averages and sums of gradients over steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_leaves, tree_map, typeof
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    map_present,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils import (
    tree_bias_correction,
    tree_cast,
    tree_cast_like,
    tree_update_moment,
    tree_zeros_like,
)

__all__ = [
    "ApplyEvery",
    "EmaState",
    "MultiSteps",
    "MultiStepsState",
    "TraceState",
    "apply_every",
    "ema",
    "incremental_update",
    "multi_steps",
    "periodic_update",
    "skip_large_updates",
    "skip_not_finite",
    "trace",
]

T = TypeVar("T")


class TraceState(NamedTuple):
    """The accumulated gradients.

    >>> TraceState._fields
    ('trace',)
    """

    trace: Any


def trace(
    decay: Any, nesterov: bool = False, accumulator_dtype: Any = None
) -> GradientTransformation:
    """Momentum (Polyak, 1964), and Nesterov's (Sutskever et al., 2013).

    Args:
        decay: how much of the momentum is kept at each step.
        nesterov: whether the step looks ahead.
        accumulator_dtype: the dtype of the momentum; by default that of the parameters.

    >>> import numpy as np
    >>> transformation = trace(0.9)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    Array([1., 2.], dtype=float64)
    """

    def add(g: Any, t: Any) -> Any:
        return g + decay * t

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        new = map_present(add, updates, state.trace)
        out = map_present(add, updates, new) if nesterov else new
        return out, TraceState(tree_cast(new, accumulator_dtype))

    return GradientTransformation(
        lambda params: TraceState(tree_zeros_like(params, accumulator_dtype)), update
    )


class EmaState(NamedTuple):
    """The number of steps, and the moving average.

    >>> EmaState._fields
    ('count', 'ema')
    """

    count: Any
    ema: Any


def ema(decay: Any, debias: bool = True, accumulator_dtype: Any = None) -> GradientTransformation:
    """The moving average of updates.

    Args:
        decay: how much of the average is kept at each step.
        debias: whether it is corrected for having begun at zero.
        accumulator_dtype: the dtype of the average; by default that of the parameters.

    >>> import numpy as np
    >>> transformation = ema(0.5, debias=False)
    >>> state = transformation.init(np.zeros(2))
    >>> averages, state = transformation.update(np.array([2.0, 4.0]), state)
    >>> averages.tolist()
    [1.0, 2.0]
    """

    def init(params: Any) -> EmaState:
        return EmaState(zero_count(), tree_zeros_like(params, accumulator_dtype))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        new = tree_update_moment(updates, state.ema, decay, 1)
        count = safe_increment(state.count)
        out = tree_bias_correction(new, decay, count) if debias else new
        return out, EmaState(count, tree_cast(new, accumulator_dtype))

    return GradientTransformation(init, update)


def incremental_update(new_tensors: Any, old_tensors: T, step_size: Any) -> T:
    """Parameters between old and new ones: ``step_size * new + (1 - step_size) * old``.

    >>> incremental_update({"w": 3.0}, {"w": 1.0}, 0.5)
    {'w': 2.0}
    """
    between: T = map_present(
        lambda new, old: step_size * new + (1.0 - step_size) * old, new_tensors, old_tensors
    )
    return between


def periodic_update(new_tensors: Any, old_tensors: T, steps: Any, update_period: Any) -> T:
    """The new parameters at each so many steps, the old ones at the others.

    >>> import numpy as np
    >>> float(periodic_update({"w": 3.0}, {"w": 1.0}, np.int32(4), 2)["w"])
    3.0
    """
    is_due = jnp.asarray(steps) % update_period == 0
    taken: T = tree_map(lambda new, old: jnp.where(is_due, new, old), new_tensors, old_tensors)
    return taken


class ApplyEvery(NamedTuple):
    """The number of updates since the last step, and their sum.

    >>> ApplyEvery._fields
    ('count', 'grad_acc')
    """

    count: Any
    grad_acc: Any


def apply_every(k: Any = 1) -> GradientTransformation:
    """The sum of ``k`` updates at each ``k``-th step, zeros at the others.

    >>> import numpy as np
    >>> transformation = apply_every(2)
    >>> state = transformation.init(np.zeros(1))
    >>> for update in (np.array([1.0]), np.array([3.0])):
    ...     updates, state = transformation.update(update, state)
    ...     print(updates.tolist())
    [0.0]
    [4.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = state.count % k
        keeps, emits = count != 0, count == k - 1
        total = map_present(lambda g, a: keeps * a + g, updates, state.grad_acc)
        out = tree_map(lambda a: emits * a, total)
        return out, ApplyEvery(safe_increment(state.count) % k, total)

    return GradientTransformation(
        lambda params: ApplyEvery(zero_count(), tree_zeros_like(params)), update
    )


def skip_not_finite(updates: Any, gradient_step: Any, params: Any) -> tuple[Array, Any]:
    """Tell whether to skip updates because of infinities and NaNs, for ``MultiSteps``.

    >>> import numpy as np
    >>> bool(skip_not_finite({"w": np.array([1.0, np.nan])}, 0, None)[0])
    True
    """
    bad = [jnp.sum(~jnp.isfinite(x)) for x in tree_leaves(updates)]
    count = jnp.asarray(sum(bad, start=0))
    return count > 0, {"should_skip": count > 0, "num_not_finite": count}


def skip_large_updates(
    updates: Any, gradient_step: Any, params: Any, max_squared_norm: Any
) -> tuple[Array, Any]:
    """Tell whether to skip updates because of their norm, for ``MultiSteps``.

    Args:
        updates: the gradients.
        gradient_step: the number of the step.
        params: the parameters.
        max_squared_norm: the square of the norm from which on they are skipped.

    >>> import numpy as np
    >>> bool(skip_large_updates({"w": np.array([3.0, 4.0])}, 0, None, 20.0)[0])
    True
    """
    square = jnp.asarray(sum([jnp.sum(x**2) for x in tree_leaves(updates)], start=0.0))
    skips = ~(square < max_squared_norm)
    return skips, {"should_skip": skips, "norm_squared": square}


class MultiStepsState(NamedTuple):
    """Gradients since the last step, the number of steps, the state of the optimizer, their mean.

    >>> MultiStepsState._fields
    ('mini_step', 'gradient_step', 'inner_opt_state', 'acc_grads', 'skip_state')
    """

    mini_step: Any
    gradient_step: Any
    inner_opt_state: Any
    acc_grads: Any
    skip_state: Any = ()


class MultiSteps:
    """Gradient accumulation: a step for several gradients, no change in between.

    Args:
        opt: the optimizer.
        every_k_schedule: how many gradients make a step; or a function from the number of the step
            to that.
        use_grad_mean: whether the step is that of their mean, or of their sum.
        should_skip_update_fn: from gradients, the number of the step and parameters to a boolean
            and a state; the gradients are skipped where it is True. ``skip_not_finite`` is one.
        accumulator_dtype: the dtype in which gradients are added.

    Raises:
        ValueError: ``every_k_schedule`` is less than 1, or ``should_skip_update_fn`` does not
            return a boolean scalar.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = MultiSteps(optimizers.sgd(1.0), 2)
    >>> state = optimizer.init(np.zeros(1))
    >>> for gradient in (np.array([1.0]), np.array([3.0])):
    ...     updates, state = optimizer.update(gradient, state)
    ...     print(float(updates[0]) + 0.0, bool(optimizer.has_updated(state)))
    0.0 False
    -2.0 True
    """

    def __init__(
        self,
        opt: Any,
        every_k_schedule: Any,
        use_grad_mean: bool = True,
        should_skip_update_fn: Callable[..., tuple[Any, Any]] | None = None,
        accumulator_dtype: Any = jnp.float32,
    ) -> None:
        if not callable(every_k_schedule) and every_k_schedule < 1:
            raise ValueError(
                f"MultiSteps needs at least one gradient for a step, but every_k_schedule is "
                f"{every_k_schedule}."
            )
        self.inner_opt = with_extra_args_support(opt)
        self._every = every_k_schedule
        self._use_mean = use_grad_mean
        self._skips = should_skip_update_fn
        self._dtype = accumulator_dtype

    def init(self, params: Any) -> MultiStepsState:
        """The state before the first gradient."""
        zeros, step = tree_zeros_like(params, self._dtype), zero_count()
        skip_state = () if self._skips is None else self._skips(zeros, step, params)[1]
        return MultiStepsState(zero_count(), step, self.inner_opt.init(params), zeros, skip_state)

    def update(
        self, updates: Any, state: MultiStepsState, params: Any = None, **extra: Any
    ) -> tuple[Any, MultiStepsState]:
        """Updates, which are zero unless this gradient completes a step, and the next state."""
        if self._skips is None:
            return self._taken(updates, state, params, extra)
        skips, skip_state = self._skips(updates, state.gradient_step, params)
        found = typeof(skips)
        if found.shape or found.dtype != bool:
            raise ValueError(
                f"MultiSteps: should_skip_update_fn must return a boolean scalar and a state, but "
                f"the first is {found}."
            )
        state = state._replace(skip_state=skip_state)
        stepped, after = self._taken(updates, state, params, extra)
        unchanged = (tree_zeros_like(stepped), state)
        chosen: tuple[Any, MultiStepsState] = tree_map(
            lambda old, new: jnp.where(skips, old, new), unchanged, (stepped, after)
        )
        return chosen

    def _taken(
        self, updates: Any, state: MultiStepsState, params: Any, extra: dict[str, Any]
    ) -> tuple[Any, MultiStepsState]:
        count = state.mini_step
        every = self._every(state.gradient_step) if callable(self._every) else self._every

        def gather(g: Any, a: Any) -> Any:
            return a + (g - a) / (count + 1) if self._use_mean else g + a

        gathered = map_present(gather, updates, state.acc_grads)
        emits = count == every - 1

        stepped, new = self.inner_opt.update(
            tree_cast_like(gathered, updates), state.inner_opt_state, params, **extra
        )
        inner = tree_map(lambda old, x: _either(emits, x, old), state.inner_opt_state, new)
        left = map_present(
            lambda a, old: jnp.where(emits, 0, a).astype(typeof(old).dtype),
            gathered,
            state.acc_grads,
        )
        next_state = MultiStepsState(
            safe_increment(count) % every,
            jnp.where(emits, safe_increment(state.gradient_step), state.gradient_step),
            inner,
            left,
            state.skip_state,
        )
        return tree_map(lambda u: jnp.where(emits, u, jnp.zeros_like(u)), stepped), next_state

    def has_updated(self, state: Any) -> Any:
        """Tell whether the last gradient completed a step."""
        return (state.mini_step == 0) & (state.gradient_step > 0)

    def gradient_transformation(self) -> GradientTransformationExtraArgs:
        """The same as a pair of functions, for ``chain`` and others."""
        return GradientTransformationExtraArgs(self.init, self.update)


def multi_steps(optimizer: Any, every: int) -> GradientTransformationExtraArgs:
    """``MultiSteps`` as a pair of functions: a step with the mean of as many gradients.

    Raises:
        ValueError: ``every`` is less than 1.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> transformation = multi_steps(optimizers.scale(-1.0), 2)
    >>> state = transformation.init(np.zeros(1))
    >>> for gradient in (np.array([1.0]), np.array([3.0])):
    ...     updates, state = transformation.update(gradient, state)
    ...     print(float(updates[0]) + 0.0)
    0.0
    -2.0
    """
    return MultiSteps(optimizer, every).gradient_transformation()


def _either(condition: Any, x: Any, y: Any) -> Any:
    """One of two values, with the dtype of the second one."""
    chosen = jnp.where(condition, x, y)
    return chosen if chosen.dtype == typeof(y).dtype else chosen.astype(typeof(y).dtype)
