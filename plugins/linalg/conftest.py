"""Examples in docstrings make their operands with NumPy, as ``np``."""

from typing import Any

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def names_in_examples(doctest_namespace: dict[str, Any]) -> None:
    """Make the names known to every example."""
    doctest_namespace.update(np=np)
