"""The entry points of each package name its primitives, transformations and definitions."""

from __future__ import annotations

import importlib
import tomllib
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from bindax_core import find_primitive, find_transformation
from bindax_core.extend import Primitive, plugin_contents

ROOT = Path(__file__).resolve().parent.parent


def _entry_points(directory: Path) -> dict[str, dict[str, str]]:
    text = (directory / "pyproject.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["project"].get("entry-points", {})


PACKAGES = [
    directory
    for directory in sorted((ROOT / "plugins").iterdir())
    if "bindax.v1" in _entry_points(directory)
]


def _resolve(entry: str) -> Any:
    module, _, path = entry.partition(":")
    return reduce(getattr, filter(None, path.split(".")), importlib.import_module(module))


@pytest.mark.parametrize("directory", PACKAGES, ids=lambda directory: directory.name)
def test_entry_points_name_what_is_found(directory: Path) -> None:
    pytest.importorskip(f"bindax_{directory.name}")
    groups = _entry_points(directory)
    offered = groups.get("bindax.v1.primitives", {})
    for name, entry in offered.items():
        assert _resolve(entry) is find_primitive(name)
    for name, entry in groups.get("bindax.v1.transformations", {}).items():
        assert _resolve(entry) is find_transformation(name)
    (plugin,) = plugin_contents(f"bindax-{directory.name}")
    assert {primitive.name for primitive in plugin.primitives} == offered.keys()


@pytest.mark.parametrize("directory", PACKAGES, ids=lambda directory: directory.name)
def test_every_public_primitive_has_an_entry_point(directory: Path) -> None:
    package = pytest.importorskip(f"bindax_{directory.name}")
    public = {one.name for one in vars(package).values() if isinstance(one, Primitive)}
    own = {one for one in public if package.__name__ in find_primitive(one).site.module}
    assert own <= _entry_points(directory).get("bindax.v1.primitives", {}).keys()


@pytest.mark.parametrize("directory", PACKAGES, ids=lambda directory: directory.name)
def test_nothing_is_said_twice(directory: Path) -> None:
    """Hooks of a kind whose entries name objects would say again what the entries say."""
    pytest.importorskip(f"bindax_{directory.name}")
    (plugin,) = _entry_points(directory)["bindax.v1"].values()
    hooks = {name for name in vars(_resolve(plugin)) if name.startswith("bindax_")}
    assert hooks <= {
        "bindax_array_attributes",
        "bindax_array_operations",
        "bindax_backends",  # the platforms of XLA are those of installed PJRT plugins
        "bindax_extensions",
        "bindax_function_checks",
        "bindax_samples",
    }
