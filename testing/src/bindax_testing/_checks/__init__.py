"""The checks of rules, one module for each family."""

from bindax_testing._checks import (
    _batching,
    _compositions,
    _derivatives,
    _purity,
    _staging,
    _transposition,
    _types,
)
from bindax_testing._checks._base import Check as Check

CHECKS: dict[str, Check] = {
    check.name: check
    for check in (
        *_types.CHECKS,
        *_purity.CHECKS,
        *_staging.CHECKS,
        *_derivatives.CHECKS,
        *_transposition.CHECKS,
        *_batching.CHECKS,
        *_compositions.CHECKS,
    )
}
"""The checks by name, in the order of reports."""
