"""The parts that optimizers are chained of, after the formulas of the papers that they name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.transformation import (
    GradientTransformation,
    ScalarOrSchedule,
    global_norm,
    require_params,
    stateless,
)


def scale(factor: Any) -> GradientTransformation:
    """Multiplies by a number.

    >>> import numpy as np
    >>> transformation = scale(-0.5)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    array([-0.5, -1. ])
    """
    return stateless(lambda updates, params: tree_map(lambda g: g * factor, updates))


class ScheduleState(NamedTuple):
    """The number of the step."""

    count: Any


def scale_by_learning_rate(learning_rate: ScalarOrSchedule) -> GradientTransformation:
    """Multiplies by minus a learning rate, which may depend on the number of the step.

    >>> import numpy as np
    >>> transformation = scale_by_learning_rate(0.1)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    array([-0.1, -0.2])
    """
    if not callable(learning_rate):
        return scale(-learning_rate)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        rate = -learning_rate(state.count)
        scaled = tree_map(lambda g: g * jnp.asarray(rate, dtype=g.dtype), updates)
        return scaled, ScheduleState(next_count(state.count))

    return GradientTransformation(lambda params: ScheduleState(zero_count()), update)


def zero_count() -> Any:
    """The number of the first step."""
    return jnp.zeros((), "int32")


def next_count(count: Any) -> Any:
    """The number of the next step; the largest one stays, where a sum would be negative."""
    return count + (count < np.iinfo(np.int32).max)


def zeros_like(params: Any) -> Any:
    """Zeros like the arrays of a tree."""
    return tree_map(jnp.zeros_like, params)


def moment(decay: Any, order: int, updates: Any, moments: Any) -> Any:
    """The moving average of a power of gradients."""
    return tree_map(lambda g, m: (1 - decay) * g**order + decay * m, updates, moments)


def unbiased(moments: Any, decay: Any, count: Any) -> Any:
    """A moving average that began at zero, corrected for that."""
    weight = 1 - jnp.asarray(decay, "float32") ** count
    return tree_map(lambda m: m / weight.astype(m.dtype), moments)


def first_moment(updates: Any, mu: Any, decay: Any, count: Any, nesterov: bool) -> Any:
    """The corrected moving average of gradients; with Nesterov's momentum that of the next step."""
    if not nesterov:
        return unbiased(mu, decay, count)
    later = unbiased(mu, decay, next_count(count))
    return moment(decay, 1, unbiased(updates, decay, count), later)


class TraceState(NamedTuple):
    """The accumulated gradients."""

    trace: Any


def trace(decay: float, nesterov: bool = False) -> GradientTransformation:
    """Momentum (Polyak, 1964), and Nesterov's (Sutskever et al., 2013).

    >>> import numpy as np
    >>> transformation = trace(0.9)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 2.0]), state)
    >>> updates.round(2)
    Array([1., 2.], dtype=float64)
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        new = tree_map(lambda g, t: g + decay * t, updates, state.trace)
        out = tree_map(lambda g, t: g + decay * t, updates, new) if nesterov else new
        return out, TraceState(new)

    return GradientTransformation(lambda params: TraceState(zeros_like(params)), update)


class AdamState(NamedTuple):
    """The number of steps, and the first and second moments."""

    count: Any
    mu: Any
    nu: Any


def scale_by_adam(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam (Kingma and Ba, 2015), and with Nesterov's momentum (Dozat, 2016).

    >>> import numpy as np
    >>> transformation = scale_by_adam()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 4.0]), state)
    >>> updates.round(2)
    Array([1., 1.], dtype=float64)
    """

    def init(params: Any) -> AdamState:
        return AdamState(zero_count(), zeros_like(params), zeros_like(params))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu = moment(b1, 1, updates, state.mu)
        nu = moment(b2, 2, updates, state.nu)
        count = next_count(state.count)
        ahead = first_moment(updates, mu, b1, count, nesterov)
        out = tree_map(
            lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), ahead, unbiased(nu, b2, count)
        )
        return out, AdamState(count, mu, nu)

    return GradientTransformation(init, update)


class LionState(NamedTuple):
    """The number of steps, and the first moment."""

    count: Any
    mu: Any


def scale_by_lion(b1: float = 0.9, b2: float = 0.99) -> GradientTransformation:
    """Lion (Chen et al., 2023).

    >>> import numpy as np
    >>> transformation = scale_by_lion()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 1., -1.], dtype=float64)
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        out = tree_map(lambda g, m: jnp.sign((1 - b1) * g + b1 * m), updates, state.mu)
        mu = moment(b2, 1, updates, state.mu)
        return out, LionState(next_count(state.count), mu)

    return GradientTransformation(lambda p: LionState(zero_count(), zeros_like(p)), update)


class RmsState(NamedTuple):
    """The moving averages of the squared gradients, and of the gradients where they are used."""

    nu: Any
    mu: Any


def scale_by_rms(
    decay: float = 0.9, eps: float = 1e-8, initial_scale: float = 0.0, centered: bool = False
) -> GradientTransformation:
    """RMSProp (Tieleman and Hinton, 2012), and its centered form (Graves, 2013).

    >>> import numpy as np
    >>> transformation = scale_by_rms(decay=0.75)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 2., -2.], dtype=float64)
    """

    def init(params: Any) -> RmsState:
        nu = tree_map(lambda p: jnp.full_like(p, initial_scale), params)
        return RmsState(nu, zeros_like(params) if centered else None)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        nu = moment(decay, 2, updates, state.nu)
        if not centered:
            return tree_map(lambda g, v: g / jnp.sqrt(v + eps), updates, nu), RmsState(nu, None)
        mu = moment(decay, 1, updates, state.mu)
        out = tree_map(lambda g, m, v: g / jnp.sqrt(v - m**2 + eps), updates, mu, nu)
        return out, RmsState(nu, mu)

    return GradientTransformation(init, update)


class RssState(NamedTuple):
    """The sums of the squared gradients."""

    sum_of_squares: Any


def scale_by_rss(initial_value: float = 0.1, eps: float = 1e-7) -> GradientTransformation:
    """AdaGrad (Duchi et al., 2011).

    >>> import numpy as np
    >>> transformation = scale_by_rss(initial_value=0.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 1., -1.], dtype=float64)
    """

    def init(params: Any) -> RssState:
        return RssState(tree_map(lambda p: jnp.full_like(p, initial_value), params))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        sums = tree_map(lambda g, s: g**2 + s, updates, state.sum_of_squares)
        out = tree_map(
            lambda g, s: jnp.where(s > 0, g / jnp.sqrt(s + eps), jnp.zeros_like(g)), updates, sums
        )
        return out, RssState(sums)

    return GradientTransformation(init, update)


def add_decayed_weights(weight_decay: float = 0.0, mask: Any = None) -> GradientTransformation:
    """Adds a multiple of the parameters (Loshchilov and Hutter, 2019).

    Args:
        weight_decay: the multiple.
        mask: a tree of booleans like the parameters, or a function from the parameters to one;
            where it is False nothing is added.

    >>> import numpy as np
    >>> transformation, params = add_decayed_weights(0.1), np.array([1.0, 2.0])
    >>> transformation.update(np.zeros(2), transformation.init(params), params)[0]
    array([0.1, 0.2])
    """

    def add(updates: Any, params: Any) -> Any:
        require_params("add_decayed_weights", params)
        if mask is None:
            return tree_map(lambda g, p: g + weight_decay * p, updates, params)
        takes = mask(params) if callable(mask) else mask
        return tree_map(lambda g, p, t: g + weight_decay * p if t else g, updates, params, takes)

    return stateless(add)


def clip(max_delta: float) -> GradientTransformation:
    """Limits each element to an interval around zero.

    >>> import numpy as np
    >>> transformation = clip(1.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([0.5, -2.0]), state)
    >>> updates.round(2)
    Array([ 0.5, -1. ], dtype=float64)
    """
    return stateless(
        lambda updates, params: tree_map(lambda g: jnp.clip(g, -max_delta, max_delta), updates)
    )


def clip_by_global_norm(max_norm: float) -> GradientTransformation:
    """Scales gradients down whose norm, over all of them, is too large (Pascanu et al., 2013).

    >>> import numpy as np
    >>> transformation = clip_by_global_norm(1.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, 4.0]), state)
    >>> updates.round(2)
    Array([0.6, 0.8], dtype=float64)
    """

    def limit(updates: Any, params: Any) -> Any:
        norm = global_norm(updates)
        return tree_map(
            lambda g: jnp.where(norm < max_norm, g, (g / norm.astype(g.dtype)) * max_norm), updates
        )

    return stateless(limit)


class MultiStepsState(NamedTuple):
    """The number of gradients gathered, their mean so far, and the state of the optimizer."""

    count: Any
    mean: Any
    inner: Any


def multi_steps(optimizer: GradientTransformation, every: int) -> GradientTransformation:
    """Gradient accumulation: a step with the mean of as many gradients, no change in between.

    Raises:
        ValueError: ``every`` is less than 1.

    >>> import numpy as np
    >>> transformation = multi_steps(scale(-1.0), 2)
    >>> state = transformation.init(np.zeros(1))
    >>> for gradient in (np.array([1.0]), np.array([3.0])):
    ...     updates, state = transformation.update(gradient, state)
    ...     print(float(updates[0]) + 0.0)
    0.0
    -2.0
    """
    if every < 1:
        raise ValueError(f"multi_steps needs at least one gradient for a step, but every={every}.")

    def init(params: Any) -> MultiStepsState:
        return MultiStepsState(zero_count(), zeros_like(params), optimizer.init(params))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = state.count + 1
        mean = tree_map(lambda m, g: m + (g - m) / count.astype(m.dtype), state.mean, updates)
        last = count == every
        stepped, inner = optimizer.update(mean, state.inner, params)
        out = tree_map(lambda u: jnp.where(last, u, jnp.zeros_like(u)), stepped)
        inner = tree_map(lambda new, old: jnp.where(last, new, old), inner, state.inner)
        mean = tree_map(lambda m: jnp.where(last, jnp.zeros_like(m), m), mean)
        return out, MultiStepsState(count % every, mean, inner)

    return GradientTransformation(init, update)
