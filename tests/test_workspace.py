"""The packages fit together: one set of versions, and contracts that forget no module."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROJECTS = [
    *(ROOT, ROOT / "core", ROOT / "testing", ROOT / "mutation"),
    *sorted((ROOT / "plugins").iterdir()),
]


def project(directory: Path) -> dict[str, Any]:
    return tomllib.loads((directory / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("directory", PROJECTS, ids=lambda directory: directory.name)
def test_package_declares_what_the_others_declare(directory: Path) -> None:
    metadata, root = project(directory)["project"], project(ROOT)["project"]
    for key in ("version", "requires-python", "license", "license-files"):
        assert metadata[key] == root[key]
    assert (directory / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    for requirement in metadata["dependencies"]:
        lower_and_upper = re.fullmatch(r"[\w-]+>=[\d.]+,<[\d.]+", requirement)
        assert lower_and_upper, f"{requirement} is not a range"


@pytest.mark.parametrize("directory", PROJECTS, ids=lambda directory: directory.name)
def test_package_says_what_it_is(directory: Path) -> None:
    metadata, root = project(directory)["project"], project(ROOT)["project"]
    classifiers = set(metadata["classifiers"]) - {"Framework :: Pytest"}
    assert classifiers == set(root["classifiers"])
    assert metadata["classifiers"] == sorted(metadata["classifiers"])
    description = metadata["description"]
    assert 30 < len(description) <= 120
    assert description[0].isupper()
    assert description.endswith((".", "?"))
    others = [project(other)["project"]["description"] for other in PROJECTS if other != directory]
    assert description not in others
    # Where the project is kept is said by the release alone: scripts/release.py.
    assert "urls" not in metadata
    assert (directory / metadata["readme"]).is_file()


@pytest.mark.parametrize("directory", PROJECTS, ids=lambda directory: directory.name)
def test_package_is_typed(directory: Path) -> None:
    tools = project(directory)["tool"]
    packages = [f"src/{name}" for name in tools.get("setuptools", {}).get("package-data", ())]
    packages = packages or tools["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages
    assert all((directory / package / "py.typed").is_file() for package in packages)


def test_contract_on_public_names_has_every_private_module() -> None:
    contracts = project(ROOT)["tool"]["importlinter"]["contracts"]
    (contract,) = (c for c in contracts if c["id"] == "public-names")
    package = ROOT / "core/src/bindax_core"
    names = {path.parent.name for path in package.glob("*/__init__.py")} - {"tree"} | {"tree.*"}
    names |= {path.stem for path in package.glob("_[!_]*.py")}
    assert set(contract["forbidden_modules"]) == {f"bindax_core.{name}" for name in names}


def test_sources_name_no_registry() -> None:
    for directory in PROJECTS:
        text = (directory / "pyproject.toml").read_text(encoding="utf-8")
        assert not re.search(r"https?://\S*(simple|pypi)|\[\[tool\.uv\.index\]\]", text)


def test_no_file_takes_part_in_an_import_circle() -> None:
    grimp = pytest.importorskip("grimp")
    packages = project(ROOT)["tool"]["importlinter"]["root_packages"]
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    imports = {one: set(graph.find_modules_directly_imported_by(one)) for one in graph.modules}
    while free := {one for one, imported in imports.items() if not imported & imports.keys()}:
        for one in free:
            del imports[one]
    assert sorted(imports) == []
