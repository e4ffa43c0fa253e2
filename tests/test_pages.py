"""Pages that follow from the code are what the code says; every public page is on the site."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest
import site_pages

import bindax

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"


def script(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, ROOT / f"scripts/{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    specification.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    return script("pages")


def test_parts_are_what_the_code_says(pages: ModuleType) -> None:
    for package in ("bindax_xla_backend", "bindax_iree"):
        pytest.importorskip(package, reason="the page has its settings, too")
    files = [str(path.relative_to(ROOT)) for path in pages.outdated()]
    assert not files, "run: uv run python scripts/pages.py"


def test_every_setting_is_on_the_page() -> None:
    for package in ("bindax_xla_backend", "bindax_iree"):
        pytest.importorskip(package, reason="the page has its settings, too")
    listed = re.findall(
        r"^\| `(\w+)` \| `BINDAX_", (DOCS / "settings.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    hidden = {
        "abstract_mesh",
        "default_device",
        "mesh",
        "no_collectives",
        "nnx_logical_axis_rules",
        "open_sums",
    }  # no variable can name them
    assert sorted(listed) == sorted(set(bindax.config.names()) - hidden)


def test_every_contract_and_every_picture_is_on_the_page(pages: ModuleType) -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    assert all(f"| {contract['name']} |" in text for contract in pages.contracts())
    shown = set(re.findall(r"\]\(pictures/layers/([\w-]+\.svg)\)", text))
    assert shown == set(pages.pictures())


def test_every_package_is_on_the_map() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.parent for path in ROOT.glob("plugins/*/pyproject.toml")]
    missing = [room.name for room in rooms if f"`plugins/{room.name}`" not in text]
    assert not missing


def test_every_decision_is_listed_and_has_its_four_headings() -> None:
    folder = DOCS / "decisions"
    records = sorted(folder.glob("[0-9]*.md"))
    listed = re.findall(
        r"\((\d{4}-[\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8")
    )
    assert listed == [record.name for record in records]
    for record in records:
        headings = re.findall(r"^## (.*)$", record.read_text(encoding="utf-8"), re.MULTILINE)
        assert headings == ["Question", "Decision", "Reasons", "Consequences"], record.name


def test_every_page_is_in_the_navigation_of_the_site() -> None:
    listed = set(re.findall(r"[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text(encoding="utf-8")))
    found = {path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")}
    found |= {name for name in site_pages.names() if name.endswith(".md")}
    # Pages of names, operations, packages and records are reached from their first page.
    folders = ("lax/", "decisions/", "packages/", "examples/", "reference/numpy/", "reference/nnx/")
    folders += ("reference/extend/", "reference/optimizers/")
    reached = {name for name in found if name.startswith(folders)}
    assert found - reached <= listed <= found
    assert {f"{name}/README.md" for name in ("lax", "decisions", "packages", "examples")} <= listed


def test_the_site_has_seven_sections() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    sections = re.findall(r"^  - (.*):$", text, re.MULTILINE)
    assert sections == [
        *("Get started", "User guide", "Modules and training", "Extend", "Scale", "Reference"),
        "How it is made",
    ]
