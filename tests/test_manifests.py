"""What a package's manifest offers is what its plugin brings: no name is in one alone."""

from __future__ import annotations

import importlib
import tomllib
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from bindax_core import find_primitive

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
def test_entry_points_and_hooks_agree(directory: Path) -> None:
    if directory.name == "xla_backend":
        pytest.importorskip("jaxlib")
    groups = _entry_points(directory)
    brought: dict[str, Any] = {}
    transformations: dict[str, Any] = {}
    for entry in groups["bindax.v1"].values():
        plugin = _resolve(entry)
        for primitive in getattr(plugin, "bindax_primitives", tuple)():
            brought[primitive.name] = primitive
        transformations |= getattr(plugin, "bindax_transformations", dict)()
    offered = groups.get("bindax.v1.primitives", {})
    assert offered.keys() == brought.keys()
    for name, entry in offered.items():
        assert _resolve(entry) is brought[name] is find_primitive(name)
    offered = groups.get("bindax.v1.transformations", {})
    assert offered.keys() == transformations.keys()
    for name, entry in offered.items():
        assert _resolve(entry) is transformations[name]
