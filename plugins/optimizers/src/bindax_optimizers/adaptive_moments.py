"""Relatives of Adam, after the formulas of the papers that they name."""

from __future__ import annotations

from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_numpy.extend import root
from bindax_optimizers.gradient_transformations import (
    AdamState,
    first_moment,
    moment,
    next_count,
    unbiased,
    zero_count,
    zeros_like,
)
from bindax_optimizers.transformation import GradientTransformation, require_params, stateless


def _first(params: Any) -> AdamState:
    return AdamState(zero_count(), zeros_like(params), zeros_like(params))


class AmsgradState(NamedTuple):
    """The number of steps, the first and second moments, and the largest second ones."""

    count: Any
    mu: Any
    nu: Any
    nu_max: Any


def scale_by_amsgrad(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8, eps_root: float = 0.0
) -> GradientTransformation:
    """AMSGrad (Reddi et al., 2018).

    >>> import numpy as np
    >>> transformation = scale_by_amsgrad()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu, nu = moment(b1, 1, updates, state.mu), moment(b2, 2, updates, state.nu)
        count = next_count(state.count)
        largest = tree_map(jnp.maximum, state.nu_max, unbiased(nu, b2, count))
        out = tree_map(
            lambda m, v: m / (jnp.sqrt(v + eps_root) + eps), unbiased(mu, b1, count), largest
        )
        return out, AmsgradState(count, mu, nu, largest)

    return GradientTransformation(lambda p: AmsgradState(*_first(p), zeros_like(p)), update)


def scale_by_adamax(
    b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba, 2015).

    >>> import numpy as np
    >>> transformation = scale_by_adamax()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = next_count(state.count)
        mu = moment(b1, 1, updates, state.mu)
        nu = tree_map(lambda g, v: jnp.maximum(jnp.abs(g) + eps, b2 * v), updates, state.nu)
        out = tree_map(lambda m, v: m / v, unbiased(mu, b1, count), nu)
        return out, AdamState(count, mu, nu)

    return GradientTransformation(_first, update)


def scale_by_belief(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-16,
    eps_root: float = 1e-16,
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
        count = next_count(state.count)
        mu = moment(b1, 1, updates, state.mu)
        surprise = tree_map(lambda g, m: g - m, updates, mu)
        nu = tree_map(lambda v: v + eps_root, moment(b2, 2, surprise, state.nu))
        ahead = first_moment(updates, mu, b1, count, nesterov)
        out = tree_map(lambda m, v: m / (jnp.sqrt(v) + eps), ahead, unbiased(nu, b2, count))
        return out, AdamState(count, mu, nu)

    return GradientTransformation(_first, update)


def scale_by_radam(
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    threshold: float = 5.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Rectified Adam (Liu et al., 2020).

    >>> import numpy as np
    >>> transformation = scale_by_radam()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -4.0]
    """
    limit = 2.0 / (1.0 - b2) - 1.0

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu, nu = moment(b1, 1, updates, state.mu), moment(b2, 2, updates, state.nu)
        count = next_count(state.count)
        decayed = jnp.asarray(b2, "float32") ** count
        length = limit - 2 * count * decayed / (1 - decayed)
        above = jnp.maximum(length, threshold)  # where the root is real
        rectified = jnp.sqrt(
            (above - 4) * (above - 2) * limit / ((limit - 4) * (limit - 2) * above)
        )

        def step(m: Any, v: Any) -> Any:
            scaled = rectified.astype(m.dtype) * m / (jnp.sqrt(v + eps_root) + eps)
            return jnp.where(length >= threshold, scaled, m)

        ahead = first_moment(updates, mu, b1, count, nesterov)
        out = tree_map(step, ahead, unbiased(nu, b2, count))
        return out, AdamState(count, mu, nu)

    return GradientTransformation(_first, update)


def scale_by_trust_ratio(
    min_norm: float = 0.0, trust_coefficient: float = 1.0, eps: float = 0.0
) -> GradientTransformation:
    """Scales the update of each array by the norm of the array (You et al., 2017 and 2020).

    Args:
        min_norm: the least norm of parameters and updates that counts.
        trust_coefficient: multiplies the ratio.
        eps: added to the norms of updates.

    >>> import numpy as np
    >>> transformation = scale_by_trust_ratio()
    >>> params = np.array([3.0, 4.0])
    >>> state = transformation.init(params)
    >>> updates, _ = transformation.update(np.array([0.0, 1.0]), state, params)
    >>> updates.tolist()
    [0.0, 5.0]
    """

    def norm(x: Any) -> Any:
        return jnp.maximum(root(jnp.sum(jnp.square(jnp.abs(x)))), min_norm)

    def scale(updates: Any, params: Any) -> Any:
        require_params("scale_by_trust_ratio", params)

        def one(g: Any, p: Any) -> Any:
            of_param, of_update = norm(p), norm(g)
            is_zero = (of_param == 0) | (of_update == 0)
            divisor = jnp.where(is_zero, jnp.ones_like(of_update), of_update + eps)
            ratio = trust_coefficient * of_param / divisor
            return g * jnp.where(is_zero, jnp.ones_like(ratio), ratio).astype(g.dtype)

        return tree_map(one, updates, params)

    return stateless(scale)
