"""Schedules: functions from the number of a step to a number, such as a learning rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import bindax_numpy as jnp
from bindax_optimizers.transformation import Schedule


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

    >>> half = polynomial_schedule(1.0, 0.0, 1, 10)
    >>> float(half(5))
    0.5
    """
    _positive("transition_steps", transition_steps)

    def schedule(count: Any) -> Any:
        done = jnp.clip(count - transition_begin, 0, transition_steps)
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

    >>> float(exponential_decay(1.0, 10, 0.5)(20))
    0.25
    """
    _positive("transition_steps", transition_steps)
    limit = None if end_value is None else (jnp.maximum if decay_rate < 1 else jnp.minimum)

    def schedule(count: Any) -> Any:
        since = count - transition_begin
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

    >>> round(float(cosine_decay_schedule(1.0, 10)(5)), 4)
    0.5
    """
    _positive("decay_steps", decay_steps)

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
    init_value: float, boundaries_and_scales: Mapping[int, float]
) -> Schedule:
    """Multiplied by a number at each boundary.

    >>> float(piecewise_constant_schedule(1.0, {3: 0.5})(4))
    0.5
    """
    if not isinstance(boundaries_and_scales, Mapping):
        raise TypeError(
            f"piecewise_constant_schedule: boundaries_and_scales must map steps to numbers, as "
            f"{{100: 0.1}} does, but it is {boundaries_and_scales!r:.60}."
        )

    def schedule(count: Any) -> Any:
        value = jnp.asarray(init_value, "float32")
        for boundary, factor in sorted(boundaries_and_scales.items()):
            value = value * jnp.where(count >= boundary, factor, 1.0)
        return value

    return schedule


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


def _positive(name: str, value: int) -> None:
    if value <= 0:
        raise ValueError(f"{name} must be positive, but is {value}.")
