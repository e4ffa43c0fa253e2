"""Accelerators are plugins, and Python does everything where none is usable."""

from __future__ import annotations

from typing import Any

import pytest

from bindax_core._fast_paths import FAST_PATHS, FastPaths
from bindax_core.errors import PluginError
from bindax_core.registry._accelerator import accelerator, given_objects
from bindax_core.registry._manifest import PLUGINS, Distribution, Entry
from bindax_core.tree_util import PyTreeDef

OWNER = Distribution("fast", "1.0", "/nowhere")
PLUGIN = Entry(PLUGINS, "fast", "json", OWNER, 1)


def test_functions_become_the_fast_paths() -> None:
    given: dict[str, Any] = {}
    functions = dict.fromkeys(FAST_PATHS, len)

    def connect(objects: Any) -> Any:
        given.update(objects)
        return functions

    (declared,) = accelerator(connect, PLUGIN)
    assert (declared.value, declared.label) == (functions, "the accelerator")
    assert given.keys() == given_objects().keys()
    assert given["PyTreeDef"] is PyTreeDef
    paths = FastPaths()
    paths.set(functions, OWNER.label)
    assert paths.provider == "fast 1.0"
    assert [getattr(paths, name) for name in FAST_PATHS] == [len] * len(FAST_PATHS)
    paths.clear()
    assert [getattr(paths, name) for name in FAST_PATHS] == [None] * len(FAST_PATHS)
    assert not paths.provider


def test_an_accelerator_that_lacks_functions_is_refused() -> None:
    with pytest.raises(
        PluginError, match="the accelerator of json must give the functions flatten, "
    ):
        list(accelerator(lambda objects: {"flatten": len}, PLUGIN))
