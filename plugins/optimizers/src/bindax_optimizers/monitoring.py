"""Measurements of updates in the state of an optimizer, and noise on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.accumulation import ema
from bindax_optimizers.numerics import safe_increment, zero_count
from bindax_optimizers.transformation import (
    GradientTransformation,
    GradientTransformationExtraArgs,
    chain,
    map_present,
    require_params,
    stateless,
    with_extra_args_support,
)
from bindax_optimizers.tree_utils import tree_add_scale, tree_random_like
from bindax_optimizers.tree_utils.randomness import is_key
from bindax_random import key as new_key
from bindax_random import split

__all__ = [
    "AddNoiseState",
    "MonitorState",
    "SnapshotState",
    "ZeroNansState",
    "add_noise",
    "keep_params_nonnegative",
    "measure_with_ema",
    "monitor",
    "snapshot",
    "zero_nans",
]


class SnapshotState(NamedTuple):
    """The last measurement, by its name.

    >>> SnapshotState._fields
    ('measurement',)
    """

    measurement: Any


def snapshot(measure_name: str, measure: Callable[[Any], Any]) -> GradientTransformation:
    """Keeps a measurement of the updates in the state; the updates stay as they are.

    Args:
        measure_name: its name.
        measure: from updates to a tree of arrays.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> transformation = snapshot("norm", optimizers.global_norm)
    >>> params = {"w": np.array([3.0, 4.0])}
    >>> _, state = transformation.update(params, transformation.init(params))
    >>> float(state.measurement["norm"])
    5.0
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        return updates, SnapshotState({measure_name: measure(updates)})

    return GradientTransformation(lambda p: SnapshotState({measure_name: measure(p)}), update)


class MonitorState(NamedTuple):
    """The last measurements by name, and the states of those that have some.

    >>> MonitorState._fields
    ('measurements', 'measure_states')
    """

    measurements: Any
    measure_states: Any


def monitor(measures: Mapping[str, Any]) -> GradientTransformationExtraArgs:
    """Keeps several measurements of the updates in the state; the updates stay as they are.

    Args:
        measures: by name, functions from updates to a tree of arrays, or transformations whose
            updates are the measurement, such as ``measure_with_ema`` makes.

    Raises:
        TypeError: when ``measures`` is no mapping.

    >>> import numpy as np
    >>> from bindax import optimizers
    >>> average = measure_with_ema(optimizers.global_norm, 0.9)
    >>> transformation = monitor({"norm": optimizers.global_norm, "average": average})
    >>> params = {"w": np.array([3.0, 4.0])}
    >>> _, state = transformation.update(params, transformation.init(params))
    >>> {name: round(float(x), 3) for name, x in state.measurements.items()}
    {'norm': 5.0, 'average': 5.0}
    """
    if not isinstance(measures, Mapping):
        raise TypeError(
            f"monitor: measures must be a mapping of names to functions, but it is "
            f"{measures!r:.60}."
        )

    def as_transformation(measure: Any) -> GradientTransformationExtraArgs:
        if callable(measure):
            return with_extra_args_support(stateless(lambda updates, _: measure(updates)))
        return with_extra_args_support(measure)

    parts = {name: as_transformation(measure) for name, measure in measures.items()}

    def init(params: Any) -> MonitorState:
        return MonitorState({}, tuple([one.init(params) for one in parts.values()]))

    def update(updates: Any, state: Any, params: Any = None, **extra: Any) -> tuple[Any, Any]:
        found, states = {}, []
        for (name, one), former in zip(parts.items(), state.measure_states, strict=True):
            found[name], new = one.update(updates, former, params, **extra)
            states.append(new)
        return updates, MonitorState(found, tuple(states))

    return GradientTransformationExtraArgs(init, update)


def measure_with_ema(
    measure: Callable[[Any], Any], decay: Any, debias: bool = True, accumulator_dtype: Any = None
) -> GradientTransformationExtraArgs:
    """The moving average of a measurement, for ``monitor``.

    Args:
        measure: from updates to a tree of arrays.
        decay: as for ``ema``.
        debias: as for ``ema``.
        accumulator_dtype: as for ``ema``.
    """
    average = ema(decay, debias, accumulator_dtype)
    of_measure = average._replace(init=lambda params: average.init(measure(params)))
    return chain(stateless(lambda updates, _: measure(updates)), of_measure)


class ZeroNansState(NamedTuple):
    """For each array, whether the last update had a NaN.

    >>> ZeroNansState._fields
    ('found_nan',)
    """

    found_nan: Any


def zero_nans() -> GradientTransformation:
    """Puts zeros in the place of NaNs.

    >>> import numpy as np
    >>> transformation = zero_nans()
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([1.0, np.nan]), state)
    >>> updates.tolist(), bool(state.found_nan)
    ([1.0, 0.0], True)
    """

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        found = tree_map(lambda u: jnp.any(jnp.isnan(u)), updates)
        out = tree_map(lambda u: jnp.where(jnp.isnan(u), jnp.zeros_like(u), u), updates)
        return out, ZeroNansState(found)

    def init(params: Any) -> ZeroNansState:
        return ZeroNansState(tree_map(lambda p: jnp.asarray(False), params))

    return GradientTransformation(init, update)


def keep_params_nonnegative() -> GradientTransformation:
    """Cuts updates so that no parameter becomes negative, if none was.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation, params = keep_params_nonnegative(), np.array([1.0, 3.0])
    >>> state = transformation.init(params)
    >>> updates, _ = transformation.update(np.array([-2.0, -2.0]), state, params)
    >>> updates.tolist()
    [-1.0, -2.0]
    """

    def cut(updates: Any, params: Any) -> Any:
        require_params("keep_params_nonnegative", params)
        return map_present(lambda u, p: jnp.where(p + u < 0, -p, u), updates, params)

    return stateless(cut)


class AddNoiseState(NamedTuple):
    """The number of steps, and the key of the next noise.

    >>> AddNoiseState._fields
    ('count', 'rng_key')
    """

    count: Any
    rng_key: Any


def add_noise(
    eta: Any, gamma: Any, key: Any = None, *, seed: int | None = None
) -> GradientTransformation:
    """Adds normal noise that fades with the steps (Neelakantan et al., 2015).

    Args:
        eta: the variance at the first step.
        gamma: the variance at step ``t`` is ``eta / t**gamma``.
        key: a key of ``bindax.random``, or a number to make one of; 0 if there is none.
        seed: the former name of such a number.

    Raises:
        ValueError: both ``key`` and ``seed`` are given.

    >>> import numpy as np
    >>> transformation = add_noise(0.01, 0.55, key=0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.ones(2), state)
    >>> int(state.count), bool((updates != 1.0).all())
    (1, True)
    """
    if key is not None and seed is not None:
        raise ValueError("add_noise takes either key or seed, and got both.")
    given = next((x for x in (key, seed) if x is not None), 0)

    def init(params: Any) -> AddNoiseState:
        return AddNoiseState(zero_count(), given if is_key(given) else new_key(given))

    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        count = safe_increment(state.count)
        following, now = split(state.rng_key)
        deviation = jnp.sqrt(eta / count**gamma)
        noise = tree_random_like(now, updates)
        return tree_add_scale(updates, deviation, noise), AddNoiseState(count, following)

    return GradientTransformation(init, update)
