"""Adam and its relatives, after the formulas of the papers that they name."""

from __future__ import annotations

from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.numerics import abs_square, safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformation,
    map_present,
)
from bindax_optimizers.tree_utils import (
    tree_bias_correction,
    tree_cast,
    tree_cast_like,
    tree_full_like,
    tree_update_infinity_moment,
    tree_update_moment,
    tree_update_moment_per_elem_norm,
    tree_zeros_like,
)

__all__ = [
    "ScaleByAdamState",
    "ScaleByAmsgradState",
    "ScaleByBeliefState",
    "scale_by_adam",
    "scale_by_adamax",
    "scale_by_amsgrad",
    "scale_by_belief",
    "scale_by_radam",
    "scale_by_yogi",
]


class ScaleByAdamState(NamedTuple):
    """The number of steps, and the first and second moments.

    >>> ScaleByAdamState._fields
    ('count', 'mu', 'nu')
    """

    count: Any
    mu: Any
    nu: Any


def _zero_moments(params: Any, mu_dtype: Any = None) -> ScaleByAdamState:
    return ScaleByAdamState(
        zero_count(), tree_zeros_like(params, mu_dtype), tree_zeros_like(params)
    )


def unbiased_first(updates: Any, mu: Any, decay: Any, count: Any, nesterov: bool) -> Any:
    """The corrected moving average of gradients; with Nesterov's momentum that of the next step."""
    if not nesterov:
        return tree_bias_correction(mu, decay, count)
    later = tree_bias_correction(mu, decay, safe_increment(count))
    return tree_update_moment(tree_bias_correction(updates, decay, count), later, decay, 1)


def ratio(mu: Any, nu: Any, eps: Any, eps_root: Any) -> Any:
    """The first moments divided by the roots of the second ones."""
    return map_present(lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), mu, nu)


def scale_by_adam(
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam (Kingma and Ba, 2015), and with Nesterov's momentum (Dozat, 2016).

    Args:
        b1: how much of the first moment is kept at each step.
        b2: how much of the second moment is kept.
        eps: added to the root of the second moment.
        eps_root: added to the second moment itself, which makes the derivative of a step finite.
        mu_dtype: the dtype of the first moment; by default that of the parameters.
        nesterov: whether the step looks ahead.

    >>> import numpy as np
    >>> transformation = scale_by_adam()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, 4.0]), state)
    >>> updates.round(2)
    Array([1., 1.], dtype=float64)
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu = tree_update_moment(updates, state.mu, b1, 1)
        nu = tree_update_moment_per_elem_norm(updates, state.nu, b2, 2)
        count = safe_increment(state.count)
        ahead = unbiased_first(updates, mu, b1, count, nesterov)
        out = ratio(ahead, tree_bias_correction(nu, b2, count), eps, eps_root)
        nu = tree_cast_like(nu, state.nu)
        return out, ScaleByAdamState(count, tree_cast(mu, mu_dtype), nu)

    return GradientTransformation(lambda params: _zero_moments(params, mu_dtype), update)


class ScaleByAmsgradState(NamedTuple):
    """The number of steps, the first and second moments, and the largest second ones.

    >>> ScaleByAmsgradState._fields
    ('count', 'mu', 'nu', 'nu_max')
    """

    count: Any
    mu: Any
    nu: Any
    nu_max: Any


def scale_by_amsgrad(
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    bias_correction_mu: bool = True,
    bias_correction_nu: bool = True,
) -> GradientTransformation:
    """AMSGrad (Reddi et al., 2018).

    Args:
        b1: as for ``scale_by_adam``, as the next four.
        b2: as there.
        eps: as there.
        eps_root: as there.
        mu_dtype: as there.
        bias_correction_mu: whether the first moment is corrected for having begun at zero.
        bias_correction_nu: whether the second one is.

    >>> import numpy as np
    >>> transformation = scale_by_amsgrad()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu = tree_update_moment(updates, state.mu, b1, 1)
        nu = tree_update_moment_per_elem_norm(updates, state.nu, b2, 2)
        count = safe_increment(state.count)
        first = tree_bias_correction(mu, b1, count) if bias_correction_mu else mu
        second = tree_bias_correction(nu, b2, count) if bias_correction_nu else nu
        largest = map_present(jnp.maximum, second, state.nu_max)
        out = ratio(first, largest, eps, eps_root)
        return out, ScaleByAmsgradState(count, tree_cast(mu, mu_dtype), nu, largest)

    def init(params: Any) -> ScaleByAmsgradState:
        return ScaleByAmsgradState(*_zero_moments(params, mu_dtype), tree_zeros_like(params))

    return GradientTransformation(init, update)


def scale_by_adamax(b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> GradientTransformation:
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba, 2015).

    >>> import numpy as np
    >>> transformation = scale_by_adamax()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = safe_increment(state.count)
        mu = tree_update_moment(updates, state.mu, b1, 1)
        nu = tree_update_infinity_moment(updates, state.nu, b2, eps)
        out = map_present(lambda m, v: m / v, tree_bias_correction(mu, b1, count), nu)
        return out, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(_zero_moments, update)


class ScaleByBeliefState(NamedTuple):
    """The number of steps, the first moment, and the mean square of what gradients differ from it.

    >>> ScaleByBeliefState._fields
    ('count', 'mu', 'nu')
    """

    count: Any
    mu: Any
    nu: Any


def scale_by_belief(
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-16,
    eps_root: Any = 1e-16,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """AdaBelief (Zhuang et al., 2020).

    >>> import numpy as np
    >>> transformation = scale_by_belief()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.11, -1.11]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = safe_increment(state.count)
        mu = tree_update_moment(updates, state.mu, b1, 1)
        surprise = map_present(lambda g, m: g - m, updates, mu)
        nu = tree_update_moment_per_elem_norm(surprise, state.nu, b2, 2)
        nu = tree_map(lambda v: v + eps_root, nu)
        ahead = unbiased_first(updates, mu, b1, count, nesterov)
        out = ratio(ahead, tree_bias_correction(nu, b2, count), eps, 0)
        return out, ScaleByBeliefState(count, mu, nu)

    return GradientTransformation(lambda p: ScaleByBeliefState(*_zero_moments(p)), update)


def scale_by_yogi(
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 0.001,
    eps_root: Any = 0.0,
    initial_accumulator_value: Any = 1e-6,
) -> GradientTransformation:
    """Yogi (Zaheer et al., 2018): the second moment grows and shrinks by bounded amounts.

    Args:
        b1: as for ``scale_by_adam``, as the next three.
        b2: as there.
        eps: as there.
        eps_root: as there.
        initial_accumulator_value: the moments before the first step.

    >>> import numpy as np
    >>> transformation = scale_by_yogi()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def second(g: Any, v: Any) -> Any:
        square = abs_square(g)
        return v - (1 - b2) * jnp.sign(v - square) * square

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = safe_increment(state.count)
        mu = tree_update_moment(updates, state.mu, b1, 1)
        nu = map_present(second, updates, state.nu)
        corrected = tree_bias_correction(nu, b2, count)
        out = ratio(tree_bias_correction(mu, b1, count), corrected, eps, eps_root)
        return out, ScaleByAdamState(count, mu, nu)

    def init(params: Any) -> ScaleByAdamState:
        start = tree_full_like(params, initial_accumulator_value)
        return ScaleByAdamState(zero_count(), start, start)

    return GradientTransformation(init, update)


def scale_by_radam(
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    threshold: Any = 5.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Rectified Adam (Liu et al., 2020).

    Args:
        b1: as for ``scale_by_adam``, as the next three.
        b2: as there.
        eps: as there.
        eps_root: as there.
        threshold: the length of the average from which on its variance is rectified.
        nesterov: as there.

    >>> import numpy as np
    >>> transformation = scale_by_radam()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -4.0]
    """
    limit = 2.0 / (1.0 - b2) - 1.0

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = safe_increment(state.count)
        mu = tree_update_moment(updates, state.mu, b1, 1)
        nu = tree_update_moment_per_elem_norm(updates, state.nu, b2, 2)
        decayed = jnp.asarray(b2, "float32") ** count
        length = limit - 2 * count * decayed / (1 - decayed)
        above = jnp.maximum(length, threshold)  # where the root is real
        rectified = jnp.sqrt(
            (above - 4) * (above - 2) * limit / ((limit - 4) * (limit - 2) * above)
        )

        def step(m: Any, v: Any) -> Any:
            scaled = rectified.astype(m.dtype) * m / (jnp.sqrt(v + eps_root) + eps)
            return jnp.where(length >= threshold, scaled, m)

        ahead = unbiased_first(updates, mu, b1, count, nesterov)
        out = map_present(step, ahead, tree_bias_correction(nu, b2, count))
        return out, ScaleByAdamState(count, mu, nu)

    return GradientTransformation(_zero_moments, update)
