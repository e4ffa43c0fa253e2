"""The kernel's tests run without a compiler, and check every program that they build."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bindax_core import config


@pytest.fixture(autouse=True)
def checked_jaxprs() -> Iterator[None]:
    """Every program that a test builds is type-checked, and runs without a compiler."""
    with config.override(check_jaxprs=True, backend="numpy"):
        yield
