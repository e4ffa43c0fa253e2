"""Examples that export programs need the compiler."""

from importlib.util import find_spec

import pytest


@pytest.fixture(autouse=True)
def _with_a_compiler(request: pytest.FixtureRequest) -> None:
    exports = isinstance(request.node, pytest.DoctestItem) and "export(jit" in "".join(
        example.source for example in request.node.dtest.examples
    )
    if exports and find_spec("jaxlib") is None:
        pytest.skip("programs are exported with XLA")
