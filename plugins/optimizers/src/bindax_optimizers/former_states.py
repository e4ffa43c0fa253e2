"""Classes of states under the names that earlier pickles have for them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bindax_optimizers.accumulation import EmaState, MultiStepsState, TraceState
from bindax_optimizers.adaptive_momenta import ScaleByLionState
from bindax_optimizers.adaptive_moments import ScaleByAdamState, ScaleByAmsgradState
from bindax_optimizers.gradient_transformations import ScaleByScheduleState
from bindax_optimizers.numerics import zero_count
from bindax_optimizers.squared_gradients import (
    ScaleByRmsState,
    ScaleByRssState,
    ScaleByRStdDevState,
)


class RmsState:
    """The state of ``scale_by_rms`` when that had a parameter ``centered``."""

    def __new__(cls, nu: Any, mu: Any) -> Any:
        """The state of ``scale_by_rms``, or of ``scale_by_stddev``."""
        return ScaleByRmsState(nu) if mu is None else ScaleByRStdDevState(mu, nu)


class FormerMultiStepsState:
    """The state of ``multi_steps`` before it counted its steps."""

    def __new__(cls, count: Any, mean: Any, inner: Any) -> Any:
        """The state of ``MultiSteps``, which counts from here on."""
        return MultiStepsState(count, zero_count(), inner, mean)


MODULES: dict[str, dict[str, Any]] = {
    "gradient_transformations": {
        "AdamState": ScaleByAdamState,
        "LionState": ScaleByLionState,
        "RmsState": RmsState,
        "RssState": ScaleByRssState,
        "ScheduleState": ScaleByScheduleState,
        "TraceState": TraceState,
        "MultiStepsState": FormerMultiStepsState,
    },
    "adaptive_moments": {"AmsgradState": ScaleByAmsgradState},
    "partial_optimizers": {"EmaState": EmaState},
}
"""For each module, the classes that it had."""


def install() -> None:
    """Give each module its former classes, where pickles look for them."""
    for module, classes in MODULES.items():
        vars(import_module(f"bindax_optimizers.{module}")).update(classes)
