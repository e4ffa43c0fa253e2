"""The published matrix of conformance is about what the packages declare."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/conformance.md"
PLUGINS = sorted(
    path.parent.name
    for path in ROOT.glob("plugins/*/pyproject.toml")
    if '[project.entry-points."bindax.v1.primitives"]' in path.read_text(encoding="utf-8")
)
SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([\w.]+)` \|(.*)\|$", re.MULTILINE)


def sections() -> dict[str, str]:
    return dict(SECTION.findall(PAGE.read_text(encoding="utf-8")))


def declared(plugin: str) -> set[str]:
    text = (ROOT / "plugins" / plugin / "pyproject.toml").read_text(encoding="utf-8")
    groups = tomllib.loads(text)["project"]["entry-points"]
    return set(groups.get("bindax.v1.primitives", ()))


@pytest.mark.parametrize("plugin", PLUGINS)
def test_every_declared_primitive_is_listed(plugin: str) -> None:
    names = {name for name, _ in ROW.findall(sections()[plugin])}
    assert declared(plugin) <= names


def test_nothing_fails_and_every_reason_is_given() -> None:
    for text in sections().values():
        assert "✗" not in text
        notes = set(re.findall(r"^(\d+)\. \S", text, re.MULTILINE))
        rows = [cells for _, cells in ROW.findall(text)]
        assert {n for cells in rows for n in re.findall(r"\[(\d+)\]", cells)} == notes


def test_the_kernel_is_there_and_nothing_depends_on_the_day() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert "`custom_vjp_call`" in sections()["bindax_core"]
    assert not re.search(r"\d{4}-\d\d-\d\d|\d s\b|/work|site-packages|at 0x", text)
