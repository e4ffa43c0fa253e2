"""The plugin that the registry loads: the primitives of this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Primitive, hookimpl
from bindax_random import gamma_numbers, keys, quantiles, threefry, uniform_numbers


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives of random numbers."""
    return (
        quantiles.multiply_add_p,
        quantiles.quantile_p,
        keys.random_bits_p,
        keys.random_fold_in_p,
        gamma_numbers.random_gamma_p,
        keys.random_split_p,
        keys.random_unwrap_p,
        keys.random_wrap_p,
        uniform_numbers.unit_floats_p,
        threefry.threefry2x32_numbers_p,
        threefry.threefry2x32_p,
    )


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of the primitives."""
    from bindax_random._conformance import conformance_samples

    return conformance_samples()
