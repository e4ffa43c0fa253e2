"""Line searches: functions that both use, and the search that goes backwards."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_callbacks import debug
from bindax_control_flow import cond, while_loop
from bindax_core.extend import tree_leaves, typeof
from bindax_optimizers.transformation import GradientTransformationExtraArgs
from bindax_optimizers.tree_utils import (
    tree_add_scale,
    tree_cast_like,
    tree_conj,
    tree_get,
    tree_real,
    tree_scale,
    tree_vdot,
    tree_zeros_like,
)
from bindax_transforms import grad as gradient
from bindax_transforms import value_and_grad

__all__ = [
    "BacktrackingLinesearchInfo",
    "ScaleByBacktrackingLinesearchState",
    "scale_by_backtracking_linesearch",
    "value_and_grad_from_state",
]


def with_arguments(name: str, value_fn: Callable[..., Any], extra: dict[str, Any]) -> Any:
    """The function of the parameters alone, with its other arguments from those of an update.

    Raises:
        TypeError: the function does not take one of them.
    """
    parameters = inspect.signature(value_fn).parameters.values()
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    unknown = sorted(set(extra) - {p.name for p in parameters})
    if unknown and not takes_any:
        raise TypeError(
            f"{name}: value_fn does not take {', '.join(unknown)}, which the update was given."
        )
    return lambda params: value_fn(params, **extra)


def slope_along(updates: Any, gradients: Any) -> Any:
    """The derivative along updates."""
    return jnp.asarray(tree_real(tree_vdot(tree_conj(gradients), updates)))


def scalar_dtype(params: Any) -> Any:
    """The dtype of values of the function: that of the first parameter, or of its real part."""
    leaves = tree_leaves(params)
    return jnp.real(jnp.zeros((), typeof(leaves[0]).dtype)).dtype if leaves else "float32"


def report_if(condition: Any, text: str, **values: Any) -> None:
    """Print a line at run time where a condition holds."""

    def report() -> int:
        debug.print(text, **values)
        return 0

    cond(condition, report, lambda: 0)


class BacktrackingLinesearchInfo(NamedTuple):
    """The number of values that were computed, and by how much the last one is too large.

    >>> BacktrackingLinesearchInfo._fields
    ('num_linesearch_steps', 'decrease_error')
    """

    num_linesearch_steps: Any
    decrease_error: Any


class ScaleByBacktrackingLinesearchState(NamedTuple):
    """The rate that was found; there, the value and, if it is kept, the gradient; the search.

    >>> ScaleByBacktrackingLinesearchState._fields
    ('learning_rate', 'value', 'grad', 'info')
    """

    learning_rate: Any
    value: Any
    grad: Any
    info: Any


class _Options(NamedTuple):
    """The arguments of ``scale_by_backtracking_linesearch``."""

    max_backtracking_steps: Any
    slope_rtol: Any
    decrease_factor: Any
    increase_factor: Any
    max_learning_rate: Any
    atol: Any
    rtol: Any
    store_grad: bool
    verbose: bool


def scale_by_backtracking_linesearch(
    max_backtracking_steps: int,
    slope_rtol: Any = 0.0001,
    decrease_factor: Any = 0.8,
    increase_factor: Any = 1.5,
    max_learning_rate: Any = 1.0,
    atol: Any = 0.0,
    rtol: Any = 0.0,
    store_grad: bool = False,
    verbose: bool = False,
) -> GradientTransformationExtraArgs:
    """A rate with which a function falls enough, found by making it smaller (Armijo, 1966).

    The update takes ``value`` and ``grad`` at the parameters, the function as ``value_fn``, and
    more arguments of that; a ``TypeError`` names those that it does not take.

    Args:
        max_backtracking_steps: how often the rate is made smaller at most.
        slope_rtol: the share of the slope that the function must fall by.
        decrease_factor: what the rate is multiplied by to make it smaller.
        increase_factor: what the last rate is multiplied by to begin with.
        max_learning_rate: the largest rate.
        atol: by how much the value may be too large.
        rtol: by how much, relative to the value at the parameters.
        store_grad: whether the gradient at the new parameters is computed and kept, for
            ``value_and_grad_from_state``.
        verbose: whether a search that fails is printed.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> optimizer = optimizers.chain(optimizers.sgd(1.0), scale_by_backtracking_linesearch(10))
    >>> x, loss = np.float32(1.0), lambda x: 2 * x**2
    >>> known = {"value": loss(x), "grad": 4 * x, "value_fn": loss}
    >>> updates, state = optimizer.update(4 * x, optimizer.init(x), x, **known)
    >>> bool(abs(x + updates) < 1)
    True
    """
    limits = (max_backtracking_steps, slope_rtol, decrease_factor, increase_factor)
    how = (max_learning_rate, atol, rtol, store_grad, verbose)
    options = _Options(*limits, *how)

    def init(params: Any) -> ScaleByBacktrackingLinesearchState:
        one = jnp.ones((), scalar_dtype(params))
        kept = tree_zeros_like(params) if store_grad else None
        info = BacktrackingLinesearchInfo(jnp.zeros((), "int32"), one * jnp.inf)
        return ScaleByBacktrackingLinesearchState(one, one * jnp.inf, kept, info)

    return GradientTransformationExtraArgs(init, functools.partial(_updated, options))


def _updated(
    options: _Options,
    updates: Any,
    state: Any,
    params: Any,
    *,
    value: Any,
    grad: Any,
    value_fn: Callable[..., Any],
    **extra: Any,
) -> tuple[Any, Any]:
    """Updates and the next state."""
    function = with_arguments("scale_by_backtracking_linesearch", value_fn, extra)
    dtype, slope = state.learning_rate.dtype, slope_along(updates, grad)
    first = jnp.minimum(options.increase_factor * state.learning_rate, options.max_learning_rate)

    def error_at(rate: Any, new_value: Any) -> Any:
        error = new_value - (1 + options.rtol) * value - rate * options.slope_rtol * slope
        return jnp.maximum(jnp.where(jnp.isnan(error), jnp.inf, error), 0).astype(dtype)

    def searches(search: Any) -> Any:
        _, _, error, count = search
        return ~(error <= options.atol) & (count <= options.max_backtracking_steps)

    def smaller(search: Any) -> Any:
        rate, _, _, count = search
        rate = jnp.where(count > 0, options.decrease_factor * rate, rate).astype(dtype)
        new_value = function(tree_add_scale(params, rate, updates))
        return rate, new_value.astype(dtype), error_at(rate, new_value), count + 1

    start = (first.astype(dtype), jnp.asarray(value, dtype), jnp.asarray(jnp.inf, dtype))
    rate, new_value, error, count = while_loop(searches, smaller, (*start, jnp.zeros((), "int32")))
    is_kept = options.store_grad
    kept = gradient(function)(tree_add_scale(params, rate, updates)) if is_kept else None
    if options.verbose:
        text = "backtracking line search failed: rate {rate}, value {value} too large by {error}"
        report_if(error > options.atol, text, rate=rate, value=new_value, error=error)
    rate = jnp.where(jnp.isinf(error), 0, rate)
    info = BacktrackingLinesearchInfo(count, error)
    new = ScaleByBacktrackingLinesearchState(rate, new_value, kept, info)
    return tree_scale(rate, updates), tree_cast_like(new, state)


def value_and_grad_from_state(value_fn: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """The value and the gradient of a function, from the state of a line search if it has them.

    Args:
        value_fn: the function, of parameters and more arguments.

    Returns:
        A function of the same arguments, and of ``state``, the state of the optimizer.

    Raises:
        ValueError: at the call, the state has no value or no gradient.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> state = optimizers.lbfgs().init(np.float32(2.0))
    >>> value, grad = value_and_grad_from_state(lambda x: x**2)(np.float32(2.0), state=state)
    >>> float(value), float(grad)
    (4.0, 4.0)
    """

    def call(params: Any, *args: Any, state: Any, **kwargs: Any) -> tuple[Any, Any]:
        value, kept = tree_get(state, "value"), tree_get(state, "grad")
        if value is None or kept is None:
            raise ValueError(
                "value_and_grad_from_state: the state has no value and gradient. A backtracking "
                "line search keeps them with store_grad=True."
            )

        def compute() -> tuple[Any, Any]:
            new = value_and_grad(value_fn)(params, *args, **kwargs)
            both: tuple[Any, Any] = tree_cast_like(new, (value, kept))
            return both

        found: tuple[Any, Any] = cond(jnp.isfinite(value), lambda: (value, kept), compute)
        return found

    return call
