"""The examples of the documentation are evaluated by NumPy: compiling each would take minutes."""

from collections.abc import Iterator

import pytest

from bindax_core import config


@pytest.fixture(autouse=True)
def _without_a_compiler(request: pytest.FixtureRequest) -> Iterator[None]:
    if isinstance(request.node, pytest.DoctestItem):
        with config.override(backend="numpy"):
            yield
    else:
        yield
