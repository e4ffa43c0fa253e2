"""Offer rules for the primitives of others, and samples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """Offer rules for the primitives of others."""
    from bindax_experimental.checkify.rules import extensions as checkify_rules
    from bindax_experimental.jet.rules import extensions as jet_rules
    from bindax_experimental.sparse.sparsify import extensions as sparse_rules

    return [*checkify_rules(), *jet_rules(), *sparse_rules()]


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance suite calls of the primitive, and the checks of the rules."""
    from bindax_experimental import _conformance as checks
    from bindax_experimental.samples import conformance_samples
    from bindax_testing import rule_check

    return [
        *conformance_samples(),
        rule_check("checkify", checks.check_checkify),
        rule_check("jet", checks.check_jet),
        rule_check("sparse", checks.check_sparse),
    ]
