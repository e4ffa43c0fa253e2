"""Hyperparameters in the state of an optimizer, where they are read, written and scheduled."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_leaves
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    Schedule,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils import tree_dtype

__all__ = [
    "InjectHyperparamsState",
    "InjectStatefulHyperparamsState",
    "StatefulSchedule",
    "WrappedSchedule",
    "inject_hyperparams",
]


class InjectStatefulHyperparamsState(NamedTuple):
    """The number of steps, the hyperparameters by name, states of schedules, the inner state.

    >>> InjectStatefulHyperparamsState._fields
    ('count', 'hyperparams', 'hyperparams_states', 'inner_state')
    """

    count: Any
    hyperparams: Any
    hyperparams_states: Any
    inner_state: Any


InjectHyperparamsState = InjectStatefulHyperparamsState


@runtime_checkable
class StatefulSchedule(Protocol):
    """A schedule that keeps a state, such as a rate that follows the loss.

    >>> isinstance(WrappedSchedule(lambda count: 0.1), StatefulSchedule)
    True
    """

    def init(self) -> Any:
        """The first state."""

    def update(self, state: Any, **extra_args: Any) -> Any:
        """The next state."""

    def __call__(self, state: Any, **extra_args: Any) -> Any:
        """The number at a state."""


class WrappedScheduleState(NamedTuple):
    """The number of the step."""

    count: Any


class WrappedSchedule:
    """A function from the number of the step, as a schedule with a state."""

    def __init__(self, schedule_fn: Schedule) -> None:
        self.schedule_fn = schedule_fn

    def init(self) -> WrappedScheduleState:
        """The first state."""
        return WrappedScheduleState(zero_count())

    def update(self, state: WrappedScheduleState, **extra_args: Any) -> WrappedScheduleState:
        """The next state."""
        return WrappedScheduleState(safe_increment(state.count))

    def __call__(self, state: WrappedScheduleState, **extra_args: Any) -> Any:
        """The number at a state."""
        return self.schedule_fn(state.count)


def inject_hyperparams(
    inner_factory: Callable[..., Any],
    static_args: str | Iterable[str] = (),
    hyperparam_dtype: Any = None,
) -> Callable[..., GradientTransformationExtraArgs]:
    """An optimizer whose numbers are in its state, where they can be read and changed.

    Args:
        inner_factory: what makes the optimizer, such as ``adam``.
        static_args: names of its arguments that are not put into the state. Booleans and what is
            no number or function never are.
        hyperparam_dtype: the dtype of the numbers; by default the highest one of the parameters.

    Returns:
        A function with the arguments of ``inner_factory``, each a number or a schedule.

    Raises:
        ValueError: ``static_args`` has a name that is none of its arguments.

    >>> from bindax import optimizers
    >>> optimizer = inject_hyperparams(optimizers.sgd)(learning_rate=0.5)
    >>> state = optimizer.init({"w": np.float32(1)})
    >>> state.hyperparams["learning_rate"] = 0.25
    >>> updates, state = optimizer.update({"w": np.float32(1)}, state)
    >>> float(updates["w"])
    -0.25
    """
    static = {static_args} if isinstance(static_args, str) else set(static_args)
    signature = inspect.signature(inner_factory)
    if unknown := static - set(signature.parameters):
        raise ValueError(
            f"inject_hyperparams: static_args names {sorted(unknown)}, but the arguments are "
            f"{[*signature.parameters]}."
        )

    @functools.wraps(inner_factory)
    def make(*args: Any, **kwargs: Any) -> GradientTransformationExtraArgs:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return _injected(inner_factory, bound.arguments, static, hyperparam_dtype)

    return make


def _injected(
    factory: Callable[..., Any], arguments: dict[str, Any], static: set[str], given_dtype: Any
) -> GradientTransformationExtraArgs:
    may_change = {k: x for k, x in arguments.items() if k not in static and not _is_bool(x)}
    schedules = {k: _as_stateful(x) for k, x in may_change.items() if callable(x)}
    numbers = {k: x for k, x in may_change.items() if _is_number(x)}
    others = {k: x for k, x in arguments.items() if k not in schedules and k not in numbers}

    def dtype_for(params: Any) -> Any:
        if given_dtype is not None:
            return given_dtype
        return tree_dtype(params, "highest") if tree_leaves(params) else "float32"

    def inner(values: dict[str, Any]) -> GradientTransformationExtraArgs:
        return with_extra_args_support(factory(**others, **values))

    def init(params: Any) -> InjectStatefulHyperparamsState:
        dtype = dtype_for(params)
        states = {k: schedule.init() for k, schedule in schedules.items()}
        values = {k: _as_array(x, dtype) for k, x in numbers.items()}
        values |= {k: _as_array(f(states[k]), dtype) for k, f in schedules.items()}
        return InjectStatefulHyperparamsState(
            zero_count(), values, states, inner(values).init(params)
        )

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        dtype = dtype_for(params)
        former = state.hyperparams_states
        values = {k: _as_array(x, dtype) for k, x in state.hyperparams.items()}
        for k, schedule in schedules.items():
            values[k] = _as_array(schedule(former[k], **extra), values[k].dtype)
        states = {k: f.update(former[k], **extra) for k, f in schedules.items()}
        updates, inner_state = inner(values).update(updates, state.inner_state, params, **extra)
        count = safe_increment(state.count)
        return updates, InjectStatefulHyperparamsState(count, values, states, inner_state)

    return GradientTransformationExtraArgs(init, update)


def _is_bool(x: Any) -> bool:
    return isinstance(x, bool | np.bool)


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float | Array | np.ndarray | np.generic)


def _as_stateful(x: Any) -> Any:
    return x if isinstance(x, StatefulSchedule) else WrappedSchedule(x)


def _as_array(x: Any, dtype: Any) -> Any:
    """An array; the dtype is that of floats without one of their own."""
    if isinstance(x, Array):
        return x
    is_float = jnp.issubdtype(jnp.asarray(x).dtype, jnp.floating)
    return jnp.asarray(x, dtype if is_float else None)
