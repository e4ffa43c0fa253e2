"""``jax.example_libraries.optimizers``: optimizers as an initialization, an update and a reader."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple

from bindax import numpy as jnp
from bindax import tree_util

__all__ = [
    "JoinPoint",
    "Optimizer",
    "OptimizerState",
    "adagrad",
    "adam",
    "adamax",
    "clip_grads",
    "constant",
    "exponential_decay",
    "inverse_time_decay",
    "l2_norm",
    "make_schedule",
    "momentum",
    "nesterov",
    "optimizer",
    "pack_optimizer_state",
    "piecewise_constant",
    "polynomial_decay",
    "rmsprop",
    "rmsprop_momentum",
    "sgd",
    "sm3",
    "unpack_optimizer_state",
]

Schedule = Callable[[Any], Any]
Maker = Callable[..., tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]]


class OptimizerState(NamedTuple):
    """The leaves of a state, its structure, and the structure of each leaf's own state."""

    packed_state: Any
    tree_def: Any
    subtree_defs: Any


tree_util.register_pytree_node(
    OptimizerState,
    lambda state: ((state.packed_state,), (state.tree_def, state.subtree_defs)),
    lambda defs, children: OptimizerState(children[0], *defs),
)


class Optimizer(NamedTuple):
    """An optimizer.

    Attributes:
        init_fn: from parameters to a state.
        update_fn: from a step, gradients and a state to the next state.
        params_fn: from a state to parameters.
    """

    init_fn: Callable[..., Any]
    update_fn: Callable[..., Any]
    params_fn: Callable[..., Any]


class JoinPoint:
    """Marks where the tree of parameters ends and the states of its leaves begin."""

    def __init__(self, subtree: Any) -> None:
        self.subtree = subtree

    def __iter__(self) -> Any:
        yield self.subtree


def optimizer(opt_maker: Maker) -> Callable[..., Optimizer]:
    """Make an optimizer of trees from one of single arrays."""

    @wraps(opt_maker)
    def made(*args: Any, **kwargs: Any) -> Optimizer:
        init, update, get_params = opt_maker(*args, **kwargs)

        def pack(states: Any, tree_def: Any) -> Any:
            pairs = [tree_util.tree_flatten(state) for state in states]
            leaves = tuple(tuple(leaves) for leaves, _ in pairs)
            return OptimizerState(leaves, tree_def, tuple(d for _, d in pairs))

        def unpack(state: Any) -> Any:
            pairs = zip(state.subtree_defs, state.packed_state, strict=True)
            return [tree_util.tree_unflatten(d, leaves) for d, leaves in pairs]

        def tree_init(x0_tree: Any) -> Any:
            leaves, tree_def = tree_util.tree_flatten(x0_tree)
            return pack([init(x) for x in leaves], tree_def)

        def tree_update(i: Any, grad_tree: Any, opt_state: Any) -> Any:
            leaves, tree_def = tree_util.tree_flatten(grad_tree)
            if tree_def != opt_state.tree_def:
                raise TypeError(
                    f"optimizer update function was passed a gradient tree that did not match the "
                    f"parameter tree structure with which it was initialized: parameter tree "
                    f"{opt_state.tree_def} and grad tree {tree_def}."
                )
            pairs = zip(leaves, unpack(opt_state), strict=True)
            return pack([update(i, g, state) for g, state in pairs], tree_def)

        def tree_params(opt_state: Any) -> Any:
            leaves = [get_params(state) for state in unpack(opt_state)]
            return tree_util.tree_unflatten(opt_state.tree_def, leaves)

        return Optimizer(tree_init, tree_update, tree_params)

    return made


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A function from a step to a size, from a number or such a function."""
    if callable(scalar_or_schedule):
        return scalar_or_schedule  # type: ignore[no-any-return]
    if jnp.ndim(scalar_or_schedule) == 0:
        return lambda i: scalar_or_schedule
    raise TypeError(type(scalar_or_schedule))


def constant(step_size: Any) -> Schedule:
    """The same size at each step."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """A size that decays exponentially."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """A size that decays with the inverse of the step."""

    def schedule(i: Any) -> Any:
        passed = i / decay_steps
        return step_size / (1 + decay_rate * (jnp.floor(passed) if staircase else passed))

    return schedule


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: float = 1.0
) -> Schedule:
    """A size that decays with a power of the steps that remain, down to a last one."""

    def schedule(step: Any) -> Any:
        passed = jnp.minimum(step, decay_steps) / decay_steps
        return (1 - passed) ** power * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """A size that changes at some steps."""
    bounds, sizes = jnp.array(boundaries), jnp.array(values)
    return lambda i: sizes[jnp.sum(i > bounds)]


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent."""
    size = make_schedule(step_size)
    return lambda x: x, lambda i, g, x: x - size(i) * g, lambda x: x


@optimizer
def momentum(step_size: Any, mass: float) -> Any:
    """Gradient descent with momentum."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * velocity, velocity

    return lambda x: (x, jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def nesterov(step_size: Any, mass: float) -> Any:
    """Gradient descent with Nesterov's momentum."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * (mass * velocity + g), velocity

    return lambda x: (x, jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def adagrad(step_size: Any, momentum: float = 0.9) -> Any:
    """Adagrad (Duchi, Hazan and Singer, 2011), with momentum."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, m = state
        squares = squares + jnp.square(g)
        scaled = jnp.where(squares > 0, 1.0 / jnp.sqrt(squares), 0.0)
        m = (1.0 - momentum) * (g * scaled) + momentum * m
        return x - size(i) * m, squares, m

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def rmsprop(step_size: Any, gamma: float = 0.9, eps: float = 1e-8) -> Any:
    """RMSProp (Tieleman and Hinton, 2012)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average = state
        average = average * gamma + jnp.square(g) * (1.0 - gamma)
        return x - size(i) * g / jnp.sqrt(average + eps), average

    return lambda x: (x, jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def rmsprop_momentum(
    step_size: Any, gamma: float = 0.9, eps: float = 1e-8, momentum: float = 0.9
) -> Any:
    """RMSProp with momentum."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, average, velocity = state
        average = average * gamma + jnp.square(g) * (1.0 - gamma)
        velocity = momentum * velocity + size(i) * g / jnp.sqrt(average + eps)
        return x - velocity, average, velocity

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def adam(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """Adam (Kingma and Ba, 2014)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = (1 - b2) * jnp.square(g) + b2 * v
        m_hat = m / (1 - jnp.asarray(b1, m.dtype) ** (i + 1))
        v_hat = v / (1 - jnp.asarray(b2, m.dtype) ** (i + 1))
        return x - size(i) * m_hat / (jnp.sqrt(v_hat) + eps), m, v

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def adamax(step_size: Any, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8) -> Any:
    """AdaMax, Adam with the infinity norm (Kingma and Ba, 2014)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, v = state
        m = (1 - b1) * g + b1 * m
        v = jnp.maximum(b2 * v, jnp.abs(g))
        return x - (size(i) / (1 - b1 ** (i + 1))) * m / (v + eps), m, v

    return lambda x: (x, jnp.zeros_like(x), jnp.zeros_like(x)), update, lambda state: state[0]


@optimizer
def sm3(step_size: Any, momentum: float = 0.9) -> Any:
    """SM3, Adagrad that keeps one number for each row and column (Anil et al., 2019)."""
    size = make_schedule(step_size)

    def along(axis: int, v: Any, ndim: int) -> Any:
        shape = [1] * ndim
        shape[axis] = v.shape[0]
        return v.reshape(shape)

    def init(x: Any) -> Any:
        return x, jnp.zeros_like(x), [jnp.zeros(n, dtype=x.dtype) for n in x.shape]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, m, covers = state
        total = along(0, covers[0], x.ndim)
        for axis, v in enumerate(covers[1:], 1):
            total = jnp.minimum(total, along(axis, v, x.ndim))
        total = total + jnp.square(g)
        scaled = jnp.where(total > 0, 1.0 / jnp.sqrt(total), 0.0)
        m = (1.0 - momentum) * (g * scaled) + momentum * m
        others = [tuple(j for j in range(x.ndim) if j != axis) for axis in range(x.ndim)]
        return x - size(i) * m, m, [total.max(axes) for axes in others]

    return init, update, lambda state: state[0]


def l2_norm(tree: Any) -> Any:
    """The Euclidean norm of all elements in a tree."""
    leaves = tree_util.tree_leaves(tree)
    return jnp.sqrt(sum(jnp.vdot(x, x) for x in leaves))


def clip_grads(grad_tree: Any, max_norm: Any) -> Any:
    """The tree, scaled down to a norm."""
    norm = l2_norm(grad_tree)
    return tree_util.tree_map(
        lambda g: jnp.where(norm < max_norm, g, g * (max_norm / norm)), grad_tree
    )


def unpack_optimizer_state(opt_state: Any) -> Any:
    """A tree of join points, one for each parameter, for storage."""
    pairs = zip(opt_state.subtree_defs, opt_state.packed_state, strict=True)
    points = [JoinPoint(tree_util.tree_unflatten(d, leaves)) for d, leaves in pairs]
    return tree_util.tree_unflatten(opt_state.tree_def, points)


def pack_optimizer_state(marked_pytree: Any) -> Any:
    """The state that a tree of join points describes."""
    points, tree_def = tree_util.tree_flatten(marked_pytree)
    if not all(isinstance(point, JoinPoint) for point in points):
        raise TypeError("pack_optimizer_state takes what unpack_optimizer_state returns.")
    pairs = [tree_util.tree_flatten(point.subtree) for point in points]
    leaves = tuple(tuple(leaves) for leaves, _ in pairs)
    return OptimizerState(leaves, tree_def, tuple(d for _, d in pairs))
