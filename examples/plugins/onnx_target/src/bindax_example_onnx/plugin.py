"""The hooks, called once, when something of this package is first used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Extension, hookimpl


@hookimpl
def bindax_extensions() -> Iterable[Extension]:
    """The rules that this package brings for the primitives of others."""
    from bindax_example_onnx.rules import rules

    return list(rules())


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the check of lowering rules, which the suite runs on samples of the owners."""
    from bindax_example_onnx.conformance import check_model
    from bindax_testing import rule_check

    return [rule_check("lowering.onnx", check_model, name="model")]
