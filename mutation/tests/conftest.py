"""Mutation is tested with the primitives and fixtures of the tests of the conformance suite."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "testing/tests"), str(ROOT / "plugins/transforms/tests")]

from toy_operations import checked_jaxprs, toy_operations  # noqa: E402

__all__ = ["checked_jaxprs", "toy_operations"]
