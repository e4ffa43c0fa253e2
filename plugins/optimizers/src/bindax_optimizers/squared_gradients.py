"""Division by averages and sums of squared gradients, after the papers that are named."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_leaves, tree_map, typeof
from bindax_optimizers.numerics import abs_square, safe_increment, zero_count
from bindax_optimizers.transformation import GradientTransformation, map_present
from bindax_optimizers.tree_utils import (
    tree_bias_correction,
    tree_full_like,
    tree_update_moment,
    tree_update_moment_per_elem_norm,
    tree_zeros_like,
)

__all__ = [
    "ScaleByAdaDeltaState",
    "ScaleByRStdDevState",
    "ScaleByRStdDevWithCountState",
    "ScaleByRmsState",
    "ScaleByRmsWithCountState",
    "ScaleByRpropState",
    "ScaleByRssState",
    "ScaleBySM3State",
    "scale_by_adadelta",
    "scale_by_rms",
    "scale_by_rprop",
    "scale_by_rss",
    "scale_by_sm3",
    "scale_by_stddev",
]


class ScaleByRmsState(NamedTuple):
    """The moving averages of the squared gradients.

    >>> ScaleByRmsState._fields
    ('nu',)
    """

    nu: Any


class ScaleByRmsWithCountState(NamedTuple):
    """The number of steps, and the moving averages of the squared gradients.

    >>> ScaleByRmsWithCountState._fields
    ('count', 'nu')
    """

    count: Any
    nu: Any


def _inverse_root(square: Any, eps: Any, eps_in_sqrt: bool) -> Any:
    return 1 / jnp.sqrt(square + eps) if eps_in_sqrt else 1 / (jnp.sqrt(square) + eps)


def scale_by_rms(
    decay: Any = 0.9,
    eps: Any = 1e-8,
    initial_scale: Any = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """RMSProp (Tieleman and Hinton, 2012).

    Args:
        decay: how much of the average is kept at each step.
        eps: added to what is divided by.
        initial_scale: the average before the first step.
        eps_in_sqrt: whether ``eps`` is added inside of the root.
        bias_correction: whether the average is corrected for having begun at zero.

    >>> import numpy as np
    >>> transformation = scale_by_rms(decay=0.75)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 2., -2.], dtype=float64)
    """

    def init(params: Any) -> Any:
        nu = tree_full_like(params, initial_scale)
        return (
            ScaleByRmsWithCountState(zero_count(), nu) if bias_correction else ScaleByRmsState(nu)
        )

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        nu = tree_update_moment_per_elem_norm(updates, state.nu, decay, 2)
        state, corrected = state._replace(nu=nu), nu
        if bias_correction:
            state = state._replace(count=safe_increment(state.count))
            corrected = tree_bias_correction(nu, decay, state.count)
        out = map_present(lambda g, v: g * _inverse_root(v, eps, eps_in_sqrt), updates, corrected)
        return out, state

    return GradientTransformation(init, update)


class ScaleByRStdDevState(NamedTuple):
    """The moving averages of gradients, and of their squares.

    >>> ScaleByRStdDevState._fields
    ('mu', 'nu')
    """

    mu: Any
    nu: Any


class ScaleByRStdDevWithCountState(NamedTuple):
    """The number of steps, and the moving averages of gradients, and of their squares.

    >>> ScaleByRStdDevWithCountState._fields
    ('count', 'mu', 'nu')
    """

    count: Any
    mu: Any
    nu: Any


def scale_by_stddev(
    decay: Any = 0.9,
    eps: Any = 1e-8,
    initial_scale: Any = 0.0,
    eps_in_sqrt: bool = True,
    bias_correction: bool = False,
) -> GradientTransformation:
    """RMSProp in its centered form, which divides by the standard deviation (Graves, 2013).

    Args:
        decay: as for ``scale_by_rms``, as the others.
        eps: as there.
        initial_scale: as there.
        eps_in_sqrt: as there.
        bias_correction: as there.

    >>> import numpy as np
    >>> transformation = scale_by_stddev(decay=0.5)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 2., -2.], dtype=float64)
    """

    def init(params: Any) -> Any:
        moments = tree_zeros_like(params), tree_full_like(params, initial_scale)
        if bias_correction:
            return ScaleByRStdDevWithCountState(zero_count(), *moments)
        return ScaleByRStdDevState(*moments)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        mu = tree_update_moment(updates, state.mu, decay, 1)
        nu = tree_update_moment_per_elem_norm(updates, state.nu, decay, 2)
        state, first, second = state._replace(mu=mu, nu=nu), mu, nu
        if bias_correction:
            state = state._replace(count=safe_increment(state.count))
            first = tree_bias_correction(mu, decay, state.count)
            second = tree_bias_correction(nu, decay, state.count)

        def divide(g: Any, m: Any, v: Any) -> Any:
            return g * _inverse_root(v - abs_square(m), eps, eps_in_sqrt)

        return map_present(divide, updates, first, second), state

    return GradientTransformation(init, update)


class ScaleByRssState(NamedTuple):
    """The sums of the squared gradients.

    >>> ScaleByRssState._fields
    ('sum_of_squares',)
    """

    sum_of_squares: Any


def scale_by_rss(initial_accumulator_value: Any = 0.1, eps: Any = 1e-7) -> GradientTransformation:
    """AdaGrad (Duchi et al., 2011).

    Args:
        initial_accumulator_value: the sums before the first step.
        eps: added to the sums.

    >>> import numpy as np
    >>> transformation = scale_by_rss(initial_accumulator_value=0.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -2.0]), state)
    >>> updates.round(2)
    Array([ 1., -1.], dtype=float64)
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        sums = map_present(lambda g, s: abs_square(g) + s, updates, state.sum_of_squares)
        out = map_present(
            lambda g, s: jnp.where(s > 0, g / jnp.sqrt(s + eps), jnp.zeros_like(g)), updates, sums
        )
        return out, ScaleByRssState(sums)

    return GradientTransformation(
        lambda params: ScaleByRssState(tree_full_like(params, initial_accumulator_value)), update
    )


class ScaleByAdaDeltaState(NamedTuple):
    """The moving averages of squared gradients, and of squared updates.

    >>> ScaleByAdaDeltaState._fields
    ('e_g', 'e_x')
    """

    e_g: Any
    e_x: Any


def scale_by_adadelta(rho: Any = 0.9, eps: Any = 1e-6) -> GradientTransformation:
    """Adadelta (Zeiler, 2012).

    Args:
        rho: how much of the averages is kept at each step.
        eps: added to them.

    >>> import numpy as np
    >>> transformation = scale_by_adadelta(eps=1.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, -3.0]), state)
    >>> updates.round(2).tolist()
    [2.18, -2.18]
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        e_g = tree_update_moment(updates, state.e_g, rho, 2)
        out = map_present(
            lambda g, v, x: jnp.sqrt(x + eps) / jnp.sqrt(v + eps) * g, updates, e_g, state.e_x
        )
        return out, ScaleByAdaDeltaState(e_g, tree_update_moment(out, state.e_x, rho, 2))

    return GradientTransformation(
        lambda p: ScaleByAdaDeltaState(tree_zeros_like(p), tree_zeros_like(p)), update
    )


class ScaleBySM3State(NamedTuple):
    """For each axis of each array, the largest squares; and the momentum.

    >>> ScaleBySM3State._fields
    ('mu', 'nu')
    """

    mu: Any
    nu: Any


def scale_by_sm3(b1: Any = 0.9, b2: Any = 1.0, eps: Any = 1e-8) -> GradientTransformation:
    """SM3: the largest squares along each axis in the place of all squares (Anil et al., 2019).

    Args:
        b1: how much of the momentum is kept at each step.
        b2: how much of the squares is kept; with 1 they are added.
        eps: added to them.

    Raises:
        ValueError: at ``init``, a parameter is complex.

    >>> import numpy as np
    >>> transformation = scale_by_sm3(b1=0.0)
    >>> state = transformation.init(np.zeros((1, 2)))
    >>> updates, state = transformation.update(np.array([[3.0, -4.0]]), state)
    >>> updates.round(2).tolist()
    [[1.0, -1.0]]
    """
    share = 1.0 if b2 == 1.0 else 1.0 - b2

    def init(params: Any) -> ScaleBySM3State:
        if any(jnp.iscomplexobj(p) for p in tree_leaves(params)):
            raise ValueError(
                "scale_by_sm3 knows no order of complex numbers; split the parameters."
            )
        mu = tree_map(lambda p: [jnp.zeros((n,), typeof(p).dtype) for n in typeof(p).shape], params)
        return ScaleBySM3State(mu, tree_zeros_like(params))

    def accumulated(g: Any, largest: list[Any]) -> Any:
        """The least of the largest squares along the axes, and the new square."""
        shapes = [[1] * i + [-1] + [1] * (g.ndim - i - 1) for i in range(g.ndim)]
        along = [jnp.reshape(x, shape) for x, shape in zip(largest, shapes, strict=True)]
        return share * g**2 + b2 * functools.reduce(jnp.minimum, along) if along else share * g**2

    def by_axis(a: Any) -> list[Any]:
        axes = range(a.ndim)
        return [jnp.max(a, axis=tuple(k for k in axes if k != i)) for i in axes]

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        sums = map_present(accumulated, updates, state.mu)
        scaled = map_present(
            lambda g, s: jnp.where(s > 0, g / jnp.sqrt(s + eps), jnp.zeros_like(g)), updates, sums
        )
        nu = tree_update_moment(scaled, state.nu, b1, 1)
        return nu, ScaleBySM3State(tree_map(by_axis, sums), nu)

    return GradientTransformation(init, update)


class ScaleByRpropState(NamedTuple):
    """The sizes of steps, and the last updates.

    >>> ScaleByRpropState._fields
    ('step_sizes', 'prev_updates')
    """

    step_sizes: Any
    prev_updates: Any


def scale_by_rprop(
    learning_rate: Any,
    eta_minus: Any = 0.5,
    eta_plus: Any = 1.2,
    min_step_size: Any = 1e-6,
    max_step_size: Any = 50.0,
) -> GradientTransformation:
    """Rprop: sizes of steps from the signs of gradients alone (Riedmiller and Braun, 1993).

    A step is made one update after its gradient, unless the sign has changed.

    Args:
        learning_rate: the size of the first step.
        eta_minus: multiplies the size where the sign has changed.
        eta_plus: multiplies it where not.
        min_step_size: the least size.
        max_step_size: the largest size.

    >>> import numpy as np
    >>> transformation = scale_by_rprop(0.1)
    >>> state = transformation.init(np.zeros(1))
    >>> _, state = transformation.update(np.array([3.0]), state)
    >>> float(state.step_sizes[0].round(3))
    0.1
    """

    def size(g: Any, last: Any, former: Any) -> Any:
        grown = former * jnp.where(g * last > 0, eta_plus, eta_minus)
        return jnp.where(g * last == 0, former, jnp.clip(grown, min_step_size, max_step_size))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        last = state.prev_updates
        sizes = map_present(size, updates, last, state.step_sizes)

        def step(g: Any, before: Any, length: Any) -> Any:
            return jnp.where(g * before < 0, jnp.zeros_like(g), length * jnp.sign(g))

        steps = map_present(step, updates, last, sizes)
        out = map_present(
            lambda g, before: jnp.where(g * before < 0, jnp.zeros_like(before), before),
            *(updates, last),
        )
        return out, ScaleByRpropState(sizes, steps)

    return GradientTransformation(
        lambda p: ScaleByRpropState(tree_full_like(p, learning_rate), tree_zeros_like(p)), update
    )
