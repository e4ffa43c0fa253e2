"""Modules that tests share, and the mode of tests; programs that need JAX are no tests."""

import sys
from pathlib import Path

import pytest

from bindax_core import config

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = ["make_references.py", "guide/*"]


@pytest.fixture(autouse=True)
def mode_of_test(request):
    """Graphs with updates for a test marked ``graph``, whatever the environment says.

    They hold in this process and in those that it starts. Other tests hold in each mode.
    """
    if not request.node.get_closest_marker("graph"):
        yield
        return
    names = ("nnx_graph_mode", "nnx_graph_updates")
    before = {name: getattr(config, name) for name in names}
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            setattr(config, name, True)
            patch.setenv(f"BINDAX_{name.upper()}", "1")
        yield
    for name, value in before.items():
        setattr(config, name, value)
