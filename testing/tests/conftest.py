"""The suite is tested with the operations that the tests of the transformations bring."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "plugins/transforms/tests")]

from toy_operations import checked_jaxprs, toy_operations  # noqa: E402

__all__ = ["checked_jaxprs", "toy_operations"]
