"""Installed packages in a temporary directory; every jaxpr of a test is checked."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from bindax_core import config
from bindax_core.registry import _manifest


@pytest.fixture(autouse=True)
def checked_jaxprs() -> Iterator[None]:
    with config.override(check_jaxprs=True, backend="numpy"):
        yield


class Site:
    """A directory as ``site-packages``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def distribution(self, name: str, entry_points: str, version: str) -> None:
        path = self.directory / f"{name.replace('-', '_')}-{version}.dist-info"
        path.mkdir(parents=True)
        (path / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
        )
        (path / "entry_points.txt").write_text(textwrap.dedent(entry_points), encoding="utf-8")
        _manifest._scan.cache_clear()

    def module(self, name: str, text: str) -> None:
        (self.directory / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")

    def plugin(self, name: str, text: str, manifest: str, version: str) -> None:
        """A distribution ``name-dist`` with one plugin ``name`` in a module ``name``."""
        self.distribution(f"{name}-dist", f"[bindax.v1]\n{name} = {name}\n{manifest}", version)
        self.module(name, f"from bindax_core.extend import hookimpl\n{textwrap.dedent(text)}")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    before = set(sys.modules)
    made = Site(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    _manifest._scan.cache_clear()  # this process's search path has changed
    yield made
    _manifest._scan.cache_clear()
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
