"""The plugin that the registry loads: the primitives of this package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Primitive, hookimpl
from bindax_random.gamma_numbers import random_gamma_p
from bindax_random.keys import (
    random_bits_p,
    random_fold_in_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
)
from bindax_random.quantiles import multiply_add_p, quantile_p
from bindax_random.threefry import threefry2x32_numbers_p, threefry2x32_p
from bindax_random.uniform_numbers import unit_floats_p


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """The primitives of random numbers."""
    return (
        multiply_add_p,
        quantile_p,
        random_bits_p,
        random_fold_in_p,
        random_gamma_p,
        random_split_p,
        random_unwrap_p,
        random_wrap_p,
        unit_floats_p,
        threefry2x32_numbers_p,
        threefry2x32_p,
    )


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of the primitives."""
    from bindax_random._conformance import conformance_samples

    return conformance_samples()
