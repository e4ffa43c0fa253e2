"""Schedules: functions from the number of a step to a number, such as a learning rate."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import bindax_numpy as jnp
from bindax_optimizers.hyperparameters import (
    InjectHyperparamsState,
    InjectStatefulHyperparamsState,
    StatefulSchedule,
    WrappedSchedule,
    inject_hyperparams,
)
from bindax_optimizers.transformation import Schedule

__all__ = [
    "InjectHyperparamsState",
    "InjectStatefulHyperparamsState",
    "Schedule",
    "StatefulSchedule",
    "WrappedSchedule",
    "constant_schedule",
    "cosine_decay_schedule",
    "cosine_onecycle_schedule",
    "exponential_decay",
    "inject_hyperparams",
    "join_schedules",
    "linear_onecycle_schedule",
    "linear_schedule",
    "piecewise_constant_schedule",
    "piecewise_interpolate_schedule",
    "polynomial_schedule",
    "sgdr_schedule",
    "warmup_constant_schedule",
    "warmup_cosine_decay_schedule",
    "warmup_exponential_decay_schedule",
]


def constant_schedule(value: float) -> Schedule:
    """The same number at each step.

    >>> constant_schedule(0.1)(100)
    0.1
    """
    return lambda count: value


def polynomial_schedule(
    init_value: float,
    end_value: float,
    power: float,
    transition_steps: int,
    transition_begin: int = 0,
) -> Schedule:
    """From one number to another, along a power of the steps that are left.

    Args:
        init_value: the first number.
        end_value: the last number.
        power: the power.
        transition_steps: the number of steps from one to the other; with none the first stays.
        transition_begin: the number of steps before.

    >>> half = polynomial_schedule(1.0, 0.0, 1, 10)
    >>> float(half(5))
    0.5
    """
    if transition_steps <= 0:
        return constant_schedule(init_value)
    begin = max(0, transition_begin)

    def schedule(count: Any) -> Any:
        done = jnp.clip(count - begin, 0, transition_steps)
        left = 1 - done / transition_steps
        return (init_value - end_value) * left**power + end_value

    return schedule


def linear_schedule(
    init_value: float, end_value: float, transition_steps: int, transition_begin: int = 0
) -> Schedule:
    """From one number to another along a line.

    >>> float(linear_schedule(1.0, 0.0, transition_steps=4)(1))
    0.75
    """
    return polynomial_schedule(init_value, end_value, 1, transition_steps, transition_begin)


def exponential_decay(
    init_value: float,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """Multiplied by a rate each so many steps, gradually or at once.

    Args:
        init_value: the first number.
        transition_steps: the number of steps to a multiplication; with none the number stays.
        decay_rate: what it is multiplied by; with 0 the number stays.
        transition_begin: the number of steps before.
        staircase: whether it is multiplied at once.
        end_value: the number at which it stays.

    >>> float(exponential_decay(1.0, 10, 0.5)(20))
    0.25
    """
    if transition_steps <= 0 or decay_rate == 0:
        return constant_schedule(init_value)
    begin = max(0, transition_begin)
    limit = None if end_value is None else (jnp.maximum if decay_rate < 1 else jnp.minimum)

    def schedule(count: Any) -> Any:
        since = count - begin
        power = since / transition_steps
        if staircase:
            power = jnp.floor(power)
        value = jnp.where(since <= 0, init_value, init_value * jnp.power(decay_rate, power))
        return value if limit is None else limit(value, end_value)

    return schedule


def cosine_decay_schedule(
    init_value: float, decay_steps: int, alpha: float = 0.0, exponent: float = 1.0
) -> Schedule:
    """Down along half a cosine, to a fraction ``alpha`` (Loshchilov and Hutter, 2017).

    Raises:
        ValueError: ``decay_steps`` is not positive.

    >>> round(float(cosine_decay_schedule(1.0, 10)(5)), 4)
    0.5
    """
    if decay_steps <= 0:
        raise ValueError(f"decay_steps must be positive, but is {decay_steps}.")

    def schedule(count: Any) -> Any:
        done = jnp.minimum(count, decay_steps) / decay_steps
        cosine = 0.5 * (1 + jnp.cos(math.pi * done))
        return init_value * ((1 - alpha) * cosine**exponent + alpha)

    return schedule


def warmup_cosine_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    decay_steps: int,
    end_value: float = 0.0,
    exponent: float = 1.0,
) -> Schedule:
    """Up along a line, then down along half a cosine; ``decay_steps`` counts both.

    >>> rate = warmup_cosine_decay_schedule(0.0, 1.0, warmup_steps=4, decay_steps=12)
    >>> [round(float(rate(step)), 2) for step in (0, 2, 4, 12)]
    [0.0, 0.5, 1.0, 0.0]
    """
    alpha = 0.0 if peak_value == 0 else end_value / peak_value
    return join_schedules(
        [
            linear_schedule(init_value, peak_value, warmup_steps),
            cosine_decay_schedule(peak_value, decay_steps - warmup_steps, alpha, exponent),
        ],
        [warmup_steps],
    )


def piecewise_constant_schedule(
    init_value: float, boundaries_and_scales: Mapping[int, float] | None = None
) -> Schedule:
    """Multiplied by a number at each boundary.

    Raises:
        TypeError: the boundaries are no mapping.
        ValueError: a number is negative.

    >>> float(piecewise_constant_schedule(1.0, {3: 0.5})(4))
    0.5
    """
    scales = _checked_scales("piecewise_constant_schedule", boundaries_and_scales)

    def schedule(count: Any) -> Any:
        value = jnp.asarray(init_value, "float32")
        for boundary, factor in scales:
            value = value * jnp.where(count >= boundary, factor, 1.0)
        return value

    return schedule


def _checked_scales(name: str, given: Any) -> list[tuple[int, float]]:
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise TypeError(
            f"{name}: boundaries_and_scales must map steps to numbers, as {{100: 0.1}} does, but "
            f"it is {given!r:.60}."
        )
    if any(factor < 0 for factor in given.values()):
        raise ValueError(f"{name}: the numbers at boundaries must not be negative, as in {given}.")
    return sorted(given.items())


def piecewise_interpolate_schedule(
    interpolate_type: str,
    init_value: float,
    boundaries_and_scales: Mapping[int, float] | None = None,
) -> Schedule:
    """Between numbers at boundaries, each a multiple of the last one.

    Args:
        interpolate_type: ``"linear"`` or ``"cosine"``, the form of what is between.
        init_value: the number at step 0.
        boundaries_and_scales: for each boundary, the ratio to the number at the last one.

    Raises:
        TypeError: the boundaries are no mapping.
        ValueError: the type is another one, or a ratio is negative.

    >>> rate = piecewise_interpolate_schedule("linear", 1.0, {4: 0.5})
    >>> float(rate(2)), float(rate(10))
    (0.75, 0.5)
    """
    if interpolate_type not in ("linear", "cosine"):
        raise ValueError(
            f"piecewise_interpolate_schedule: interpolate_type must be 'linear' or 'cosine', but "
            f"is {interpolate_type!r}."
        )
    scales = _checked_scales("piecewise_interpolate_schedule", boundaries_and_scales)

    def schedule(count: Any) -> Any:
        value, start = jnp.asarray(init_value, "float32"), 0
        result = value
        for boundary, factor in scales:
            share = jnp.clip((count - start) / max(boundary - start, 1), 0, 1)
            if interpolate_type == "cosine":
                share = (1 - jnp.cos(math.pi * share)) / 2
            end = value * factor
            between = jnp.where(count < boundary, value + (end - value) * share, end)
            result = jnp.where(count < start, result, between)
            value, start = end, boundary
        return result

    return schedule


def linear_onecycle_schedule(
    transition_steps: int,
    peak_value: float,
    pct_start: float = 0.3,
    pct_final: float = 0.85,
    div_factor: float = 25.0,
    final_div_factor: float = 10000.0,
) -> Schedule:
    """Up and down along lines, then down further (Smith and Topin, 2018).

    Args:
        transition_steps: the number of all steps.
        peak_value: the largest number.
        pct_start: the share of steps up.
        pct_final: the share of steps up and down.
        div_factor: the ratio of the largest to the first number.
        final_div_factor: the ratio of the first to the last number.

    Raises:
        ValueError: there is no step.

    >>> rate = linear_onecycle_schedule(100, 1.0)
    >>> [round(float(rate(step)), 2) for step in (0, 30, 85)]
    [0.04, 1.0, 0.04]
    """
    _require_steps("linear_onecycle_schedule", transition_steps)
    scales = {
        int(pct_start * transition_steps): div_factor,
        int(pct_final * transition_steps): 1.0 / div_factor,
        transition_steps: 1.0 / final_div_factor,
    }
    return piecewise_interpolate_schedule("linear", peak_value / div_factor, scales)


def cosine_onecycle_schedule(
    transition_steps: int,
    peak_value: float,
    pct_start: float = 0.3,
    div_factor: float = 25.0,
    final_div_factor: float = 10000.0,
) -> Schedule:
    """Up and down along half cosines (Smith and Topin, 2018).

    Args:
        transition_steps: the number of all steps.
        peak_value: the largest number.
        pct_start: the share of steps up.
        div_factor: the ratio of the largest to the first number.
        final_div_factor: the ratio of the first to the last number.

    Raises:
        ValueError: there is no step.

    >>> rate = cosine_onecycle_schedule(100, 1.0)
    >>> [round(float(rate(step)), 2) for step in (0, 30, 100)]
    [0.04, 1.0, 0.0]
    """
    _require_steps("cosine_onecycle_schedule", transition_steps)
    scales = {
        int(pct_start * transition_steps): div_factor,
        int(transition_steps): 1.0 / (div_factor * final_div_factor),
    }
    return piecewise_interpolate_schedule("cosine", peak_value / div_factor, scales)


def _require_steps(name: str, steps: int) -> None:
    if steps <= 0:
        raise ValueError(f"{name}: transition_steps must be positive, but is {steps}.")


def warmup_constant_schedule(init_value: float, peak_value: float, warmup_steps: int) -> Schedule:
    """Up along a line, then constant.

    >>> rate = warmup_constant_schedule(0.0, 1.0, warmup_steps=4)
    >>> float(rate(2)), float(rate(9))
    (0.5, 1.0)
    """
    return linear_schedule(init_value, peak_value, warmup_steps)


def warmup_exponential_decay_schedule(
    init_value: float,
    peak_value: float,
    warmup_steps: int,
    transition_steps: int,
    decay_rate: float,
    transition_begin: int = 0,
    staircase: bool = False,
    end_value: float | None = None,
) -> Schedule:
    """Up along a line, then as ``exponential_decay``.

    Args:
        init_value: the first number.
        peak_value: the largest number.
        warmup_steps: the number of steps up.
        transition_steps: as for ``exponential_decay``, as the others.
        decay_rate: as there.
        transition_begin: as there, counted from the end of the steps up.
        staircase: as there.
        end_value: as there.

    >>> rate = warmup_exponential_decay_schedule(0.0, 1.0, 4, 10, 0.5)
    >>> [round(float(rate(step)), 2) for step in (2, 4, 14)]
    [0.5, 1.0, 0.5]
    """
    down = exponential_decay(
        peak_value, transition_steps, decay_rate, transition_begin, staircase, end_value
    )
    return join_schedules(
        [linear_schedule(init_value, peak_value, warmup_steps), down], [warmup_steps]
    )


def sgdr_schedule(cosine_kwargs: Iterable[Mapping[str, Any]]) -> Schedule:
    """Several ``warmup_cosine_decay_schedule`` one after the other (Loshchilov and Hutter, 2017).

    Args:
        cosine_kwargs: the arguments of each.

    >>> cycle = {"init_value": 0.0, "peak_value": 1.0, "warmup_steps": 2, "decay_steps": 4}
    >>> rate = sgdr_schedule([cycle, cycle])
    >>> [round(float(rate(step)), 2) for step in (1, 2, 4, 6)]
    [0.5, 1.0, 0.0, 1.0]
    """
    cycles = list(cosine_kwargs)
    ends = list(itertools.accumulate(cycle["decay_steps"] for cycle in cycles))
    return join_schedules([warmup_cosine_decay_schedule(**cycle) for cycle in cycles], ends[:-1])


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[int]) -> Schedule:
    """Schedules one after the other, each counting from its boundary.

    Raises:
        ValueError: there is not one boundary between each two schedules.

    >>> rate = join_schedules([constant_schedule(1.0), constant_schedule(0.5)], [10])
    >>> float(rate(9)), float(rate(10))
    (1.0, 0.5)
    """
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(
            f"join_schedules needs a boundary between each two of {len(schedules)} schedules, "
            f"but got {len(boundaries)}."
        )

    def schedule(count: Any) -> Any:
        value = schedules[0](count)
        for boundary, following in zip(boundaries, schedules[1:], strict=True):
            value = jnp.where(count < boundary, value, following(count - boundary))
        return value

    return schedule
