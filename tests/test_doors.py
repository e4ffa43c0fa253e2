"""Every public module says in ``__all__`` what it offers, and ``help()`` lists it."""

from __future__ import annotations

import importlib
import pydoc
import re
import subprocess
import sys
from types import ModuleType

import pytest

DOORS = (
    "bindax",
    "bindax.ad_checkpoint",
    "bindax.custom_batching",
    "bindax.custom_derivatives",
    "bindax.debug",
    "bindax.errors",
    "bindax.experimental",
    "bindax.extend",
    "bindax.lax",
    "bindax.lax.linalg",
    "bindax.numpy",
    "bindax.tree",
    "bindax.tree_util",
    "bindax.typing",
    "bindax_callbacks",
    "bindax_callbacks.debug",
    "bindax_containers",
    "bindax_control_flow",
    "bindax_core",
    "bindax_core.errors",
    "bindax_core.extend",
    "bindax_core.tree",
    "bindax_core.tree_util",
    "bindax_lax_basic",
    "bindax_lax_basic.extend",
    "bindax_linalg",
    "bindax_numpy",
    "bindax_special",
    "bindax_testing",
    "bindax_transforms",
    "bindax_xla_backend",
    "bindax_xla_backend.extend",
)
HELPERS = {"Any", "TYPE_CHECKING", "annotations", "import_module"}
"""What modules import for themselves, and do not offer."""


@pytest.mark.parametrize("name", DOORS)
def test_door_lists_its_words(name: str) -> None:
    if name.startswith("bindax_xla_backend"):
        pytest.importorskip("jaxlib")
    door = importlib.import_module(name)
    words = list(door.__all__)
    assert len(words) == len({*words})
    assert not HELPERS.intersection(words)
    values = {word: getattr(door, word) for word in words}
    shown = {*re.findall(r"\w+", pydoc.plain(pydoc.render_doc(door)))}
    # pydoc shows modules only where they are files of the package.
    assert not [w for w, x in values.items() if w not in shown and not isinstance(x, ModuleType)]


def test_the_door_of_bindax_has_what_plugins_bring() -> None:
    import bindax

    assert {"grad", "jit", "lax", "numpy", "tree", "Array", "pure_callback"} <= {*bindax.__all__}
    assert {"hookimpl", "primitive", "rules"} <= {*bindax.extend.__all__}


def test_listing_the_words_loads_nothing() -> None:
    code = """
import sys, bindax
words = bindax.__all__
print([m for m in ("bindax_transforms", "bindax_lax_basic", "pluggy") if m in sys.modules])
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
