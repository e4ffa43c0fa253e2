"""Optimizers that are newer than most, as names of one module."""

from bindax_optimizers.averaged_optimizers import (
    ScheduleFreeState,
    schedule_free,
    schedule_free_adamw,
    schedule_free_eval_params,
    schedule_free_sgd,
)
from bindax_optimizers.muon import (
    MuonDimensionNumbers,
    MuonState,
    muon,
    orthogonalize_via_newton_schulz,
    scale_by_muon,
    scale_by_shape,
)

__all__ = [
    "MuonDimensionNumbers",
    "MuonState",
    "ScheduleFreeState",
    "muon",
    "orthogonalize_via_newton_schulz",
    "scale_by_muon",
    "scale_by_shape",
    "schedule_free",
    "schedule_free_adamw",
    "schedule_free_eval_params",
    "schedule_free_sgd",
]
