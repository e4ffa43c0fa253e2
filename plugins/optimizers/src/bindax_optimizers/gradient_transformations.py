"""Parts of optimizers that scale updates, after the formulas of the papers that they name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.numerics import (
    abs_square,
    safe_increment,
    safe_norm,
    safe_root_mean_squares,
    zero_count,
)
from bindax_optimizers.partial_optimizers import masked
from bindax_optimizers.transformation import (
    EmptyState,
    GradientTransformation,
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    identity,
    init_empty_state,
    map_present,
    require_params,
    stateless,
)
from bindax_optimizers.tree_utils import tree_cast, tree_norm, tree_scale, tree_zeros_like

__all__ = [
    "ScaleByDistanceOverGradientsState",
    "ScaleByOptimisticGradientState",
    "ScaleByScheduleState",
    "WeightDecaySchedule",
    "add_decayed_weights",
    "centralize",
    "normalize_by_update_norm",
    "scale",
    "scale_by_distance_over_gradients",
    "scale_by_learning_rate",
    "scale_by_optimistic_gradient",
    "scale_by_param_block_norm",
    "scale_by_param_block_rms",
    "scale_by_polyak",
    "scale_by_schedule",
    "scale_by_sign",
    "scale_by_trust_ratio",
]


def scale(step_size: Any) -> GradientTransformation:
    """Multiplies by a number.

    >>> import numpy as np
    >>> transformation = scale(-0.5)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    array([-0.5, -1. ])
    """
    return stateless(lambda updates, params: tree_map(lambda g: g * step_size, updates))


class ScaleByScheduleState(NamedTuple):
    """The number of the step.

    >>> ScaleByScheduleState._fields
    ('count',)
    """

    count: Any


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
        return scaled, ScaleByScheduleState(safe_increment(state.count))

    return GradientTransformation(lambda params: ScaleByScheduleState(zero_count()), update)


def scale_by_learning_rate(
    learning_rate: ScalarOrSchedule = None, *, flip_sign: bool = True
) -> GradientTransformation:
    """Multiplies by minus a learning rate, which may depend on the number of the step.

    Args:
        learning_rate: a number or a schedule; without one, updates stay as they are.
        flip_sign: whether the sign changes.

    >>> import numpy as np
    >>> transformation = scale_by_learning_rate(0.1)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    array([-0.1, -0.2])
    """
    if learning_rate is None:
        return identity()
    sign = -1 if flip_sign else 1
    if callable(learning_rate):
        return scale_by_schedule(lambda count: sign * learning_rate(count))
    return scale(sign * learning_rate)


class WeightDecaySchedule(NamedTuple):
    """The number of the step, where the decay depends on it.

    >>> WeightDecaySchedule._fields
    ('count',)
    """

    count: Any


def add_decayed_weights(
    weight_decay: ScalarOrSchedule = 0.0, mask: Any = None
) -> GradientTransformation:
    """Adds a multiple of the parameters (Loshchilov and Hutter, 2019).

    Args:
        weight_decay: the multiple, or a schedule of it.
        mask: as for ``masked``; where it is False nothing is added.

    Raises:
        ValueError: the mask has another structure than the parameters; or at the update, without
            parameters.

    >>> import numpy as np
    >>> transformation, params = add_decayed_weights(0.1), np.array([1.0, 2.0])
    >>> transformation.update(np.zeros(2), transformation.init(params), params)[0]
    array([0.1, 0.2])
    """

    def init(params: Any) -> Any:
        return WeightDecaySchedule(zero_count()) if callable(weight_decay) else EmptyState()

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        require_params("add_decayed_weights", params)
        factor = weight_decay
        if callable(weight_decay):
            factor, state = (
                weight_decay(state.count),
                state._replace(count=safe_increment(state.count)),
            )
        elif isinstance(weight_decay, int | float) and weight_decay == 0:
            return updates, state
        return map_present(lambda g, p: g + factor * p, updates, params), state

    transformation = GradientTransformation(init, update)
    return transformation if mask is None else masked(transformation, mask)


def scale_by_sign() -> GradientTransformation:
    """Takes the signs of gradients (Bernstein et al., 2018).

    >>> import numpy as np
    >>> transformation = scale_by_sign()
    >>> transformation.update(np.array([3.0, -2.0]), transformation.init(None))[0].tolist()
    [1.0, -1.0]
    """
    return stateless(lambda updates, params: tree_map(jnp.sign, updates))


def scale_by_param_block_norm(min_scale: Any = 0.001) -> GradientTransformation:
    """Multiplies each array by the norm of its parameters.

    Args:
        min_scale: the least norm.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation, params = scale_by_param_block_norm(), np.array([3.0, 4.0])
    >>> transformation.update(np.ones(2), transformation.init(params), params)[0].tolist()
    [5.0, 5.0]
    """

    def multiply(updates: Any, params: Any) -> Any:
        require_params("scale_by_param_block_norm", params)
        return map_present(lambda g, p: g * safe_norm(p, min_scale), updates, params)

    return stateless(multiply)


def scale_by_param_block_rms(min_scale: Any = 0.001) -> GradientTransformation:
    """Multiplies each array by the root mean square of its parameters.

    Args:
        min_scale: the least root mean square.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation, params = scale_by_param_block_rms(), np.array([5.0, -5.0])
    >>> transformation.update(np.ones(2), transformation.init(params), params)[0].tolist()
    [5.0, 5.0]
    """

    def multiply(updates: Any, params: Any) -> Any:
        require_params("scale_by_param_block_rms", params)
        return map_present(lambda g, p: g * safe_root_mean_squares(p, min_scale), updates, params)

    return stateless(multiply)


def centralize() -> GradientTransformation:
    """Subtracts the mean over all axes but the first, of arrays with several (Yong et al., 2020).

    >>> import numpy as np
    >>> transformation = centralize()
    >>> transformation.update(np.array([[1.0, 3.0]]), transformation.init(None))[0].tolist()
    [[-1.0, 1.0]]
    """

    def center(g: Any) -> Any:
        axes = tuple(range(1, g.ndim))
        return g - jnp.mean(g, axis=axes, keepdims=True) if axes else g

    return stateless(lambda updates, params: tree_map(center, updates))


def normalize_by_update_norm(scale_factor: Any = 1.0, eps: Any = 1e-6) -> GradientTransformation:
    """Divides by the norm of all updates together.

    Args:
        scale_factor: the norm of the result.
        eps: added to the norm that is divided by.

    >>> import numpy as np
    >>> transformation = normalize_by_update_norm()
    >>> updates, _ = transformation.update(np.array([3.0, 4.0]), transformation.init(None))
    >>> updates.round(3).tolist()
    [0.6, 0.8]
    """

    def divide(updates: Any, params: Any) -> Any:
        norm = (tree_norm(updates) + eps) / scale_factor
        return tree_map(lambda g: g / norm, updates)

    return stateless(divide)


def scale_by_trust_ratio(
    min_norm: Any = 0.0, trust_coefficient: Any = 1.0, eps: Any = 0.0
) -> GradientTransformation:
    """Scales the update of each array by the norm of the array (You et al., 2017 and 2020).

    Args:
        min_norm: the least norm of parameters and updates that counts.
        trust_coefficient: multiplies the ratio.
        eps: added to the norms of updates.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation = scale_by_trust_ratio()
    >>> params = np.array([3.0, 4.0])
    >>> state = transformation.init(params)
    >>> updates, _ = transformation.update(np.array([0.0, 1.0]), state, params)
    >>> updates.tolist()
    [0.0, 5.0]
    """

    def multiply(updates: Any, params: Any) -> Any:
        require_params("scale_by_trust_ratio", params)

        def one(g: Any, p: Any) -> Any:
            of_param, of_update = safe_norm(p, min_norm), safe_norm(g, min_norm)
            is_zero = (of_param == 0) | (of_update == 0)
            divisor = jnp.where(is_zero, jnp.ones_like(of_update), of_update + eps)
            ratio = trust_coefficient * of_param / divisor
            return g * jnp.where(is_zero, jnp.ones((), p.dtype), ratio)

        return map_present(one, updates, params)

    return stateless(multiply)


class ScaleByOptimisticGradientState(NamedTuple):
    """The gradient of the last step, and whether there was none yet.

    >>> ScaleByOptimisticGradientState._fields
    ('is_initial_step', 'previous_gradient')
    """

    is_initial_step: Any
    previous_gradient: Any


def scale_by_optimistic_gradient(alpha: Any = 1.0, beta: Any = 1.0) -> GradientTransformation:
    """Adds the change of gradients, for games of two players (Mokhtari et al., 2019).

    Args:
        alpha: multiplies the gradient.
        beta: multiplies its change since the last step.

    >>> import numpy as np
    >>> transformation = scale_by_optimistic_gradient()
    >>> state = transformation.init(np.zeros(1))
    >>> _, state = transformation.update(np.array([1.0]), state)
    >>> transformation.update(np.array([3.0]), state)[0].tolist()
    [5.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        def ahead(g: Any, last: Any) -> Any:
            return (alpha + beta) * g - beta * jnp.where(state.is_initial_step, g, last)

        new = map_present(ahead, updates, state.previous_gradient)
        return new, ScaleByOptimisticGradientState(jnp.asarray(False), updates)

    def init(params: Any) -> ScaleByOptimisticGradientState:
        return ScaleByOptimisticGradientState(jnp.asarray(True), tree_zeros_like(params))

    return GradientTransformation(init, update)


def scale_by_polyak(
    f_min: Any = 0.0, max_learning_rate: Any = 1.0, eps: Any = 0.0, variant: str = "sps"
) -> GradientTransformationExtraArgs:
    """The step of Polyak, from the value of the loss (Loizou et al., 2021).

    Args:
        f_min: the least value that the loss can have.
        max_learning_rate: the largest rate.
        eps: added to the squared norm of the gradients.
        variant: ``"sps"``; or ``"sps+"``, which makes no step where the loss is below ``f_min``.

    The update takes the loss as ``value``.

    Raises:
        ValueError: the variant is another one.

    >>> import numpy as np
    >>> transformation = scale_by_polyak(max_learning_rate=10.0)
    >>> state = transformation.init(np.zeros(1))
    >>> transformation.update(np.array([2.0]), state, value=np.float64(1.0))[0].tolist()
    [0.5]
    """
    if variant not in ("sps", "sps+"):
        raise ValueError(f"scale_by_polyak: variant must be 'sps' or 'sps+', but is {variant!r}.")

    def update(
        updates: Any, state: Any, params: Any = None, *, value: Any, **extra: Any
    ) -> tuple[Any, Any]:
        square = tree_norm(updates, squared=True)
        gap = jnp.asarray(value - f_min).astype(square.dtype)
        if variant == "sps+":
            gap = jnp.maximum(gap, 0)
        is_zero = square + eps <= jnp.finfo("float32").eps
        rate = gap / jnp.where(is_zero, jnp.ones_like(square), square + eps)
        rate = jnp.where(is_zero, 0.0, jnp.minimum(rate, max_learning_rate))
        return tree_scale(rate, updates), state

    return GradientTransformationExtraArgs(init_empty_state, update)


class ScaleByDistanceOverGradientsState(NamedTuple):
    """The largest distances from the start, the sums of squared gradients, and the start.

    >>> ScaleByDistanceOverGradientsState._fields
    ('max_dist', 'grad_sum_of_squares', 'init_params')
    """

    max_dist: Any
    grad_sum_of_squares: Any
    init_params: Any


def scale_by_distance_over_gradients(
    reps_rel: Any = 1e-6, eps: Any = 1e-8, param_dtype: Any = jnp.float32, global_scale: Any = 1.0
) -> GradientTransformation:
    """Steps from the distance that parameters have gone, without a rate (Ivgi et al., 2023).

    Args:
        reps_rel: the first distance, relative to the norm of the parameters.
        eps: added to the sums of squared gradients.
        param_dtype: the dtype in which the start is kept.
        global_scale: multiplies all steps.

    >>> import numpy as np
    >>> transformation, params = scale_by_distance_over_gradients(reps_rel=0.5), np.ones(1, "f4")
    >>> state = transformation.init(params)
    >>> updates, state = transformation.update(np.ones(1, "f4"), state, params)
    >>> updates.round(2).tolist()
    [1.0]
    """

    def distance(x: Any, y: Any) -> Any:
        return jnp.sqrt(jnp.sum(jnp.square(x - y)))

    def init(params: Any) -> ScaleByDistanceOverGradientsState:
        first = tree_map(lambda p: reps_rel * (1 + distance(p, 0.0)), params)
        sums = tree_map(lambda p: jnp.zeros(1, "float32"), params)
        return ScaleByDistanceOverGradientsState(first, sums, tree_cast(params, param_dtype))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        require_params("scale_by_distance_over_gradients", params)
        far = tree_map(
            lambda d, p, start: jnp.maximum(d, distance(p, start)),
            *(state.max_dist, params, state.init_params),
        )
        sums = tree_map(lambda s, g: s + jnp.sum(abs_square(g)), state.grad_sum_of_squares, updates)
        out = tree_map(
            lambda g, d, s: global_scale * (d / jnp.sqrt(s + eps)) * g, updates, far, sums
        )
        return out, ScaleByDistanceOverGradientsState(far, sums, state.init_params)

    return GradientTransformation(init, update)
