"""L-BFGS: steps from a memory of gradients (Liu and Nocedal, 1989)."""

from __future__ import annotations

from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_control_flow import scan
from bindax_core.extend import tree_leaves, tree_map
from bindax_optimizers.gradient_transformations import scale, scale_by_learning_rate
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
    identity,
    require_params,
)
from bindax_optimizers.tree_utils import (
    tree_add_scale,
    tree_cast_like,
    tree_dtype,
    tree_norm,
    tree_real,
    tree_scale,
    tree_sub,
    tree_vdot,
    tree_zeros_like,
)
from bindax_optimizers.zoom_linesearch import scale_by_zoom_linesearch

__all__ = [
    "ScaleByLBFGSState",
    "lbfgs",
    "scale_by_lbfgs",
]


class ScaleByLBFGSState(NamedTuple):
    """The number of steps, the last parameters and gradients, and the memory of their changes.

    >>> ScaleByLBFGSState._fields[-3:]
    ('diff_params_memory', 'diff_updates_memory', 'weights_memory')
    """

    count: Any
    params: Any
    updates: Any
    diff_params_memory: Any
    diff_updates_memory: Any
    weights_memory: Any


def _real_dtype(tree: Any) -> Any:
    """The dtype of the real parts, for numbers that belong to all arrays."""
    if not tree_leaves(tree):
        return jnp.dtype("float32")
    return jnp.real(jnp.zeros((), tree_dtype(tree, "promote"))).dtype


def _inner_product(x: Any, y: Any) -> Any:
    return jnp.asarray(tree_real(tree_vdot(x, y)))


def _two_loops(updates: Any, state: ScaleByLBFGSState, order: Any, first_scale: Any) -> Any:
    """The product of the approximate inverse Hessian and gradients (Nocedal, 1980)."""

    def pair(i: Any) -> Any:
        return tree_map(lambda m: m[i], (state.diff_params_memory, state.diff_updates_memory))

    def backwards(vector: Any, i: Any) -> tuple[Any, Any]:
        by_params, by_updates = pair(i)
        alpha = state.weights_memory[i] * _inner_product(by_params, vector)
        return tree_cast_like(tree_add_scale(vector, -alpha, by_updates), vector), alpha

    def forwards(vector: Any, i_alpha: Any) -> tuple[Any, None]:
        (i, alpha), (by_params, by_updates) = i_alpha, pair(i_alpha[0])
        beta = state.weights_memory[i] * _inner_product(by_updates, vector)
        return tree_cast_like(tree_add_scale(vector, alpha - beta, by_params), vector), None

    vector, alphas = scan(backwards, updates, order, reverse=True)
    vector = tree_cast_like(tree_scale(first_scale, vector), vector)
    return scan(forwards, vector, (order, alphas))[0]


def scale_by_lbfgs(
    memory_size: int = 10, scale_init_precond: bool = True
) -> GradientTransformation:
    """Multiplies gradients by an approximate inverse Hessian.

    Args:
        memory_size: the number of steps that it is made of.
        scale_init_precond: whether it begins with a multiple of the identity that fits the last
            step, and not with the identity.

    Raises:
        ValueError: ``memory_size`` is less than 1; or at the update, without parameters.

    >>> import numpy as np
    >>> transformation = scale_by_lbfgs(memory_size=2)
    >>> params = np.float64(2.0)
    >>> state = transformation.init(params)
    >>> for _ in range(2):  # the gradient of 3 * x**2 / 2
    ...     updates, state = transformation.update(3 * params, state, params)
    ...     params = params - updates
    >>> bool(abs(params) < 1e-6)
    True
    """
    if memory_size < 1:
        raise ValueError(f"scale_by_lbfgs: memory_size must be at least 1, but is {memory_size}.")

    def init(params: Any) -> ScaleByLBFGSState:
        zeros = tree_zeros_like(params)
        memory = tree_map(lambda p: jnp.zeros((memory_size, *p.shape), p.dtype), zeros)
        weights = jnp.zeros(memory_size, _real_dtype(params))
        return ScaleByLBFGSState(zero_count(), zeros, zeros, memory, memory, weights)

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        require_params("scale_by_lbfgs", params)
        is_later = state.count > 0
        changes = tree_sub(params, state.params), tree_sub(updates, state.updates)
        product = _inner_product(changes[1], changes[0])
        weight = jnp.where(product == 0, 0, 1 / jnp.where(product == 0, 1, product))
        new = tree_map(lambda x: jnp.where(is_later, x, jnp.zeros_like(x)), (*changes, weight))
        last = (state.count - 1) % memory_size
        former = (state.diff_params_memory, state.diff_updates_memory, state.weights_memory)
        memory = tree_map(lambda m, x: m.at[last].set(jnp.asarray(x).astype(m.dtype)), former, new)
        state = ScaleByLBFGSState(state.count, params, updates, *memory)
        first_scale: Any = 1.0
        if scale_init_precond:
            square, norm = tree_norm(new[1], squared=True), tree_norm(updates)
            curvature = product / jnp.where(square > 0, square, 1)
            at_first = jnp.minimum(1, 1 / jnp.where(norm > 0, norm, 1))
            first_scale = jnp.where(is_later, jnp.where(square > 0, curvature, 1), at_first)
        order = (state.count % memory_size + jnp.arange(memory_size)) % memory_size
        out = _two_loops(updates, state, order, first_scale)
        return out, state._replace(count=safe_increment(state.count))

    return GradientTransformation(init, update)


DEFAULT_LINESEARCH = scale_by_zoom_linesearch(20, initial_guess_strategy="one")


def lbfgs(
    learning_rate: ScalarOrSchedule | None = None,
    memory_size: int = 10,
    scale_init_precond: bool = True,
    linesearch: Any = DEFAULT_LINESEARCH,
) -> GradientTransformationExtraArgs:
    """L-BFGS, by default with a line search.

    The update takes ``value``, ``grad`` and ``value_fn`` for the line search.

    Args:
        learning_rate: multiplies steps before the line search; or a schedule of that.
        memory_size: as for ``scale_by_lbfgs``.
        scale_init_precond: as for ``scale_by_lbfgs``.
        linesearch: ``scale_by_zoom_linesearch`` or ``scale_by_backtracking_linesearch``, or None.

    >>> import numpy as np, bindax
    >>> from bindax import optimizers
    >>> def loss(x):
    ...     return ((x - 3.0) ** 4).sum()
    >>> optimizer, params = lbfgs(), np.zeros(2, np.float32)
    >>> value_and_grad = optimizers.value_and_grad_from_state(loss)
    >>> @bindax.jit
    ... def step(params, state):
    ...     value, grad = value_and_grad(params, state=state)
    ...     known = {"value": value, "grad": grad, "value_fn": loss}
    ...     updates, state = optimizer.update(grad, state, params, **known)
    ...     return optimizers.apply_updates(params, updates), state
    >>> state = optimizer.init(params)
    >>> for _ in range(20):
    ...     params, state = step(params, state)
    >>> bool(np.abs(params - 3).max() < 0.1)
    True
    """
    scaling = scale(-1.0) if learning_rate is None else scale_by_learning_rate(learning_rate)
    search = identity() if linesearch is None else linesearch
    return chain(scale_by_lbfgs(memory_size, scale_init_precond), scaling, search)
