"""A release has the addresses of the project, which the repository does not; without them none."""

from __future__ import annotations

import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
ADDRESS = "https://github.com/Someone/arrays"


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "scripts/release.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["release"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def workspace(tmp_path: Path, release: ModuleType) -> Path:
    """The files that say what the packages are."""
    for file in release.projects(ROOT):
        target = tmp_path / "workspace" / file.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, target)
    return tmp_path / "workspace"


def test_every_package_is_found(release: ModuleType) -> None:
    assert len(release.projects(ROOT)) == 4 + len([*ROOT.glob("plugins/*/pyproject.toml")])


def test_addresses_follow_from_one_setting(release: ModuleType) -> None:
    addresses = release.Addresses.of({"BINDAX_REPOSITORY": f"{ADDRESS}/"})
    assert addresses.labelled() == {
        "Repository": ADDRESS,
        "Documentation": "https://someone.github.io/arrays/",
        "Issues": f"{ADDRESS}/issues",
        "Changelog": f"{ADDRESS}/blob/main/CHANGELOG.md",
    }


@pytest.mark.parametrize("text", ["", "  ", "bindax", "http://github.com/a/b", "https://x.org/a/b"])
def test_without_an_address_there_is_no_release(release: ModuleType, text: str) -> None:
    with pytest.raises(release.ReleaseError, match=r"BINDAX_REPOSITORY (is not set|must be https)"):
        release.Addresses.of({"BINDAX_REPOSITORY": text})


def test_the_command_refuses() -> None:
    script = [sys.executable, str(ROOT / "scripts/release.py")]
    run = subprocess.run(
        [*script, "check", "."], env={"BINDAX_REPOSITORY": ""}, capture_output=True, text=True
    )
    assert run.returncode == 1
    assert run.stderr == (
        "release: BINDAX_REPOSITORY is not set, so the packages would not say where the project is "
        "kept. Set it to the address of the repository.\n"
    )


def test_packages_are_filled(release: ModuleType, workspace: Path) -> None:
    addresses = release.Addresses(ADDRESS, "https://site/")
    for file in release.fill(workspace, addresses):
        metadata = tomllib.loads(file.read_text(encoding="utf-8"))
        assert metadata["project"]["urls"] == addresses.labelled()
        name = file.relative_to(workspace)
        before = tomllib.loads((ROOT / name).read_text(encoding="utf-8"))
        del metadata["project"]["urls"]
        assert metadata == before
    with pytest.raises(release.ReleaseError, match="has addresses already"):
        release.fill(workspace, addresses)


def _distributions(release: ModuleType, workspace: Path, urls: dict[str, str]) -> Path:
    directory = workspace / "dist"
    directory.mkdir()
    lines = "".join(f"Project-URL: {label}, {url}\n" for label, url in urls.items())
    for file in release.projects(workspace):
        metadata = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
        start = f"{metadata['name'].replace('-', '_')}-{metadata['version']}"
        text = f"Metadata-Version: 2.4\nName: {metadata['name']}\n{lines}\nREADME\n".encode()
        with zipfile.ZipFile(directory / f"{start}-py3-none-any.whl", "w") as wheel:
            wheel.writestr(f"{start}.dist-info/METADATA", text)
        with tarfile.open(directory / f"{start}.tar.gz", "w:gz") as source:
            member = tarfile.TarInfo(f"{start}/PKG-INFO")
            member.size = len(text)
            source.addfile(member, io.BytesIO(text))
    return directory


def test_files_with_all_addresses_can_be_published(release: ModuleType, workspace: Path) -> None:
    addresses = release.Addresses(ADDRESS, "https://site/")
    directory = _distributions(release, workspace, addresses.labelled())
    assert len(release.check(workspace, directory, addresses)) == 2 * len(
        release.projects(workspace)
    )
    (directory / "bindax_core-0.1.0.tar.gz").unlink()
    with pytest.raises(release.ReleaseError, match=r"has no bindax_core-0\.1\.0\.tar\.gz"):
        release.check(workspace, directory, addresses)


def test_files_without_addresses_cannot(release: ModuleType, workspace: Path) -> None:
    directory = _distributions(release, workspace, {"Repository": ADDRESS})
    with pytest.raises(release.ReleaseError, match=r"does not have the addresses.*Build it after"):
        release.check(workspace, directory, release.Addresses(ADDRESS, "https://site/"))


def test_the_repository_claims_no_address() -> None:
    for file in (ROOT / "mkdocs.yml", ROOT / "CITATION.cff", ROOT / "pyproject.toml"):
        text = file.read_text(encoding="utf-8")
        assert "site_url: http" not in text
        assert "repository-code" not in text
        assert "project.urls" not in text
    assert "site_url: !ENV BINDAX_SITE\n" in (ROOT / "mkdocs.release.yml").read_text("utf-8")
