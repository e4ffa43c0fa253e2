"""Tests for a GPU; where none can be used they are skipped, with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bindax
from bindax_core.extend import find_backend

PLATFORMS = ("cuda", "rocm")


def why_not() -> tuple[str | None, str]:
    """The platform of a GPU that works, or the reason why there is none."""
    reason = f"no plugin for {' or '.join(PLATFORMS)} is installed"
    for name in PLATFORMS:
        try:
            find_backend(name).devices()
        except (bindax.errors.BackendError, ImportError) as error:
            if "there is no backend" not in str(error):
                reason = str(error)
        else:
            return name, ""
    return None, f"no GPU can be used here: {reason}"


@pytest.fixture(scope="package", autouse=True)
def gpu() -> Iterator[str]:
    """The name of the platform, which programs run on meanwhile."""
    name, reason = why_not()
    if name is None:
        pytest.skip(reason)
    with bindax.config.override(backend=name):
        yield name
