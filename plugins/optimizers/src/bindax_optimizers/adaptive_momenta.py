"""Lion, Adan and NovoGrad, after the formulas of the papers that they name."""

from __future__ import annotations

from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.adaptive_moments import ratio
from bindax_optimizers.numerics import abs_square, safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformation,
    map_present,
    require_params,
)
from bindax_optimizers.tree_utils import (
    tree_add_scale,
    tree_bias_correction,
    tree_cast,
    tree_sub,
    tree_update_moment,
    tree_update_moment_per_elem_norm,
    tree_where,
    tree_zeros_like,
)

__all__ = [
    "ScaleByAdanState",
    "ScaleByLionState",
    "ScaleByNovogradState",
    "scale_by_adan",
    "scale_by_lion",
    "scale_by_novograd",
]


class ScaleByLionState(NamedTuple):
    """The number of steps, and the first moment.

    >>> ScaleByLionState._fields
    ('count', 'mu')
    """

    count: Any
    mu: Any


def scale_by_lion(
    b1: Any = 0.9,
    b2: Any = 0.99,
    mu_dtype: Any = None,
    *,
    mode: str = "hard",
    smooth_beta: float = 1.0,
) -> GradientTransformation:
    """Lion (Chen et al., 2023).

    Args:
        b1: how much of the moment is in the step.
        b2: how much of it is kept.
        mu_dtype: its dtype; by default that of the parameters.
        mode: ``"hard"`` for the sign of the step; ``"smooth"`` for its hyperbolic tangent;
            ``"refined"`` for the step itself up to 1, and its sign beyond.
        smooth_beta: multiplies the step before the hyperbolic tangent.

    Raises:
        ValueError: the mode is another one.

    >>> import numpy as np
    >>> transformation = scale_by_lion()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 1., -1.], dtype=float64)
    """
    modes = {
        "hard": jnp.sign,
        "smooth": lambda x: jnp.tanh(smooth_beta * x),
        "refined": lambda x: jnp.where(jnp.abs(x) < 1, x, jnp.sign(x)),
    }
    if mode not in modes:
        raise ValueError(f"scale_by_lion: mode must be one of {[*modes]}, but is {mode!r}.")

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        step = map_present(modes[mode], tree_update_moment(updates, state.mu, b1, 1))
        mu = tree_cast(tree_update_moment(updates, state.mu, b2, 1), mu_dtype)
        return step, ScaleByLionState(safe_increment(state.count), mu)

    return GradientTransformation(
        lambda params: ScaleByLionState(zero_count(), tree_zeros_like(params, mu_dtype)), update
    )


class ScaleByAdanState(NamedTuple):
    """Averages of gradients, of their changes, of squares; the last gradient; the number of steps.

    >>> ScaleByAdanState._fields
    ('m', 'v', 'n', 'g', 't')
    """

    m: Any
    v: Any
    n: Any
    g: Any
    t: Any


def scale_by_adan(
    b1: Any = 0.98, b2: Any = 0.92, b3: Any = 0.99, eps: Any = 1e-8, eps_root: Any = 0.0
) -> GradientTransformation:
    """Adan, with Nesterov's momentum from the change of gradients (Xie et al., 2022).

    Args:
        b1: how much of the average of gradients is kept at each step.
        b2: how much of that of their changes is kept.
        b3: how much of that of squares is kept.
        eps: added to the root of the squares.
        eps_root: added to the squares.

    >>> import numpy as np
    >>> transformation = scale_by_adan()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, -4.0]), state)
    >>> updates.round(2).tolist()
    [1.0, -1.0]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        change = tree_sub(updates, state.g)
        change = tree_where(state.t == 0, tree_zeros_like(change), change)
        m = tree_update_moment(updates, state.m, b1, 1)
        v = tree_update_moment(change, state.v, b2, 1)
        ahead = tree_add_scale(updates, 1 - b2, change)
        n = tree_update_moment_per_elem_norm(ahead, state.n, b3, 2)
        t = safe_increment(state.t)
        first = tree_add_scale(
            tree_bias_correction(m, b1, t), 1 - b2, tree_bias_correction(v, b2, t)
        )
        out = ratio(first, tree_bias_correction(n, b3, t), eps, eps_root)
        return out, ScaleByAdanState(m, v, n, updates, t)

    def init(params: Any) -> ScaleByAdanState:
        zeros = tree_zeros_like(params)
        return ScaleByAdanState(zeros, zeros, zeros, zeros, zero_count())

    return GradientTransformation(init, update)


class ScaleByNovogradState(NamedTuple):
    """The number of steps, the first moments, and for each array the mean square of its norm.

    >>> ScaleByNovogradState._fields
    ('count', 'mu', 'nu')
    """

    count: Any
    mu: Any
    nu: Any


def scale_by_novograd(
    b1: Any = 0.9,
    b2: Any = 0.25,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    weight_decay: Any = 0.0,
    mu_dtype: Any = None,
) -> GradientTransformation:
    """NovoGrad: gradients divided by the norm of their array (Ginsburg et al., 2019).

    Args:
        b1: as for ``scale_by_adam``, as the next three.
        b2: as there.
        eps: as there.
        eps_root: as there.
        weight_decay: the multiple of the parameters that is added.
        mu_dtype: as there.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation, params = scale_by_novograd(), np.zeros(2)
    >>> state = transformation.init(params)
    >>> updates, state = transformation.update(np.array([3.0, 4.0]), state, params)
    >>> updates.round(2).tolist()
    [0.6, 0.8]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        require_params("scale_by_novograd", params)
        count = safe_increment(state.count)
        is_first = count == 1
        squares = map_present(lambda g: jnp.sum(abs_square(g)), updates)
        later = tree_update_moment(squares, state.nu, b2, 1)
        nu = map_present(lambda s, v: jnp.where(is_first, s, v), squares, later)

        def step(g: Any, p: Any, v: Any) -> Any:
            return g / (jnp.sqrt(v + eps_root) + eps) + weight_decay * p

        steps = map_present(step, updates, params, nu)
        mu = map_present(lambda s, m: jnp.where(is_first, s, b1 * m + s), steps, state.mu)
        mu = tree_cast(mu, mu_dtype)
        return mu, ScaleByNovogradState(count, mu, nu)

    def init(params: Any) -> ScaleByNovogradState:
        nu = tree_map(lambda p: jnp.zeros((), p.dtype), params)
        return ScaleByNovogradState(zero_count(), tree_zeros_like(params, mu_dtype), nu)

    return GradientTransformation(init, update)
