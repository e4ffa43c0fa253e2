"""What the tests that span packages share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bindax_core.extend import register_backend, unregister_backend

# Programs that tests run in processes of their own, since they import packages that are not
# installed, and those that type checkers read.
collect_ignore_glob = [
    "jax_packages/*",
    "jax_programs/*",
    "distributed_program.py",
    "several_devices/_divided_process.py",
    "typing/*",
]


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def eight_devices() -> Iterator[Any]:
    """A backend with eight devices beside the usual one: a process can hold several clients."""
    pytest.importorskip("jaxlib")
    from bindax_xla_backend import _jaxlib
    from bindax_xla_backend.extend import XlaBackend

    class Eight(XlaBackend):
        name = "xla-of-eight"
        priority = -1

        def make_client(self) -> Any:
            return _jaxlib.make_cpu_client(8)

    backend = Eight()
    register_backend(backend)
    yield backend
    unregister_backend(backend)
