"""Second moments of matrices from the means of their rows and columns (Shazeer and Stern, 2018)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_flatten, tree_unflatten, typeof
from bindax_optimizers.numerics import abs_square, safe_increment, zero_count
from bindax_optimizers.transformation import GradientTransformation, require_params

__all__ = [
    "FactoredState",
    "scale_by_factored_rms",
]


class FactoredState(NamedTuple):
    """The number of steps; means of squares along rows, along columns, or those of all elements.

    >>> FactoredState._fields
    ('count', 'v_row', 'v_col', 'v')
    """

    count: Any
    v_row: Any
    v_col: Any
    v: Any


def _power_decay(count: Any, exponent: Any) -> Any:
    return 1.0 - jnp.asarray(count + 1, "float32") ** (-exponent)


class _Layout(NamedTuple):
    """The rule by which arrays are factored."""

    factored: bool
    min_dim_size_to_factor: int

    def axes_of(self, p: Any) -> tuple[int, int] | None:
        """The two largest axes of an array that is factored, the larger one last."""
        order = np.argsort(typeof(p).shape)
        if not self.factored or len(order) < 2:
            return None
        small, large = int(order[-2]), int(order[-1])
        is_large = typeof(p).shape[small] >= self.min_dim_size_to_factor
        return (small, large) if is_large else None

    def first_means(self, p: Any) -> tuple[Any, Any, Any]:
        """Zeros for the means along rows and columns, and for those of all elements."""
        axes, shape, dtype = self.axes_of(p), typeof(p).shape, typeof(p).dtype
        none = jnp.zeros(1, dtype)
        if axes is None:
            return none, none, jnp.zeros(shape, dtype)
        rows, columns = (
            jnp.zeros([n for i, n in enumerate(shape) if i != axis], dtype)
            for axis in reversed(axes)
        )
        return rows, columns, none


def _step(
    axes: Any, decay: Any, epsilon: Any, g: Any, v_row: Any, v_col: Any, v: Any, p: Any
) -> tuple[Any, Any, Any, Any]:
    """The update of one array, and its next means."""
    dtype, square = typeof(p).dtype, abs_square(g) + epsilon
    none = jnp.zeros(1, dtype)

    def next_mean(mean: Any, new: Any) -> Any:
        return (decay * mean + (1.0 - decay) * new).astype(dtype)

    if axes is None:
        v = next_mean(v, square)
        return g * v**-0.5, none, none, v
    small, large = axes
    v_row = next_mean(v_row, jnp.mean(square, axis=large))
    v_col = next_mean(v_col, jnp.mean(square, axis=small))
    mean = jnp.mean(v_row, axis=small - (small > large), keepdims=True)
    by_row = jnp.expand_dims((v_row / mean) ** -0.5, large)
    return g * by_row * jnp.expand_dims(v_col**-0.5, small), v_row, v_col, none


def scale_by_factored_rms(
    factored: bool = True,
    decay_rate: Any = 0.8,
    step_offset: Any = 0,
    min_dim_size_to_factor: int = 128,
    epsilon: Any = 1e-30,
    decay_rate_fn: Callable[[Any, Any], Any] = _power_decay,
) -> GradientTransformation:
    """Divides by the root of mean squares, which large matrices keep by rows and columns.

    Args:
        factored: whether any matrix does.
        decay_rate: how fast what is kept of the means grows with the steps.
        step_offset: the number of the first step of this training.
        min_dim_size_to_factor: the least size of the two largest axes of such a matrix.
        epsilon: added to the squares.
        decay_rate_fn: from the number of the step and ``decay_rate`` to how much is kept.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> params = np.ones((3, 4))
    >>> transformation = scale_by_factored_rms(min_dim_size_to_factor=2)
    >>> state = transformation.init(params)
    >>> updates, state = transformation.update(np.full((3, 4), 2.0), state, params)
    >>> state.v_row.shape, state.v_col.shape, float(updates[0, 0].round(3))
    ((3,), (4,), 1.0)
    """
    layout = _Layout(factored, min_dim_size_to_factor)

    def init(params: Any) -> FactoredState:
        leaves, structure = tree_flatten(params)
        means = [layout.first_means(p) for p in leaves]
        trees = [tree_unflatten(structure, [mean[i] for mean in means]) for i in range(3)]
        return FactoredState(zero_count(), *trees)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        require_params("scale_by_factored_rms", params)
        decay = decay_rate_fn(state.count - step_offset, decay_rate)
        gradients, structure = tree_flatten(updates)
        columns = [structure.flatten_up_to(tree) for tree in (*state[1:], params)]
        steps = [
            _step(layout.axes_of(row[-1]), decay, epsilon, *row)
            for row in zip(gradients, *columns, strict=True)
        ]
        trees = [tree_unflatten(structure, [step[i] for step in steps]) for i in range(4)]
        return trees[0], FactoredState(safe_increment(state.count), *trees[1:])

    return GradientTransformation(init, update)
