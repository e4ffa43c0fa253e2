"""Fake installations: metadata directories and modules in a temporary directory."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bindax_core.registry import _manifest, _plugin_settings
from bindax_core.registry._declaration_kinds import KINDS, DeclarationKind
from bindax_core.registry._installed import import_scope
from bindax_core.registry._loader import Loader
from bindax_core.registry._manifest import Entry, Manifest
from bindax_core.registry._provenance import Provenance
from bindax_core.registry._registrations import Declaration
from bindax_core.registry._resolver import Resolver


def _write_distribution(directory: Path, name: str, version: str, entry_points: str) -> Path:
    """A metadata directory as an installer writes it."""
    path = directory / f"{name.replace('-', '_')}-{version}.dist-info"
    path.mkdir(parents=True)
    (path / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
    )
    (path / "entry_points.txt").write_text(textwrap.dedent(entry_points), encoding="utf-8")
    return path


@pytest.fixture
def write_distribution() -> Callable[[Path, str, str, str], Path]:
    return _write_distribution


class Site:
    """A fake site-packages directory."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(exist_ok=True)

    def distribution(self, name: str, entry_points: str, version: str = "1.0") -> Path:
        _manifest._scan.cache_clear()
        return _write_distribution(self.directory, name, version, entry_points)

    def module(self, name: str, text: str) -> Path:
        file = self.directory / f"{name.replace('.', '/')}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    def plugin(self, name: str, text: str, manifest: str = "", version: str = "1.0") -> None:
        """A distribution ``name-dist`` with one plugin ``name`` in a module ``name``."""
        head = f"[bindax.v1]\n{name} = {name}\n"
        self.distribution(f"{name}-dist", head + textwrap.dedent(manifest), version)
        head = "from bindax_core.registry._hooks import hookimpl\n"
        self.module(name, head + textwrap.dedent(text))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    before = set(sys.modules)
    made = Site(tmp_path / "site")
    monkeypatch.syspath_prepend(str(made.directory))
    _manifest._scan.cache_clear()  # this process's search path has changed
    yield made
    _manifest._scan.cache_clear()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(made.directory)):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def clean_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for variable in _plugin_settings._VARIABLES.values():
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    with _plugin_settings.configured():
        yield
    _plugin_settings.reload_settings()


class FakeInstaller:
    """Stands for a table: a dictionary from names to values."""

    def __init__(self, kind: str, hook: str, table: dict[Any, Any], key: Callable[[Any], Any]):
        self.kind, self.table, self._key = kind, table, key
        self.declarations = DeclarationKind(hook, self._declare, group=f"{kind}s")

    def _declare(self, value: Any, plugin: Entry) -> Iterator[Declaration]:
        if value == "invalid":
            raise TypeError("an invalid declaration")
        key = self._key(value)
        name = key if isinstance(key, str) else f"{key.__module__}:{key.__qualname__}"
        distribution = plugin.distribution

        def install() -> None:
            if value == "fails to install":
                raise RuntimeError("half-way")
            assert key not in self.table
            self.table[key] = value

        yield Declaration(
            plugin=plugin,
            kind=self.kind,
            key=key,
            label=f"the {self.kind} {name!r}",
            value=value,
            provenance=Provenance(
                distribution.name, distribution.version, plugin.module, "f.py", 3
            ),
            install=install,
            remove=lambda: self.table.pop(key),
            name=name,
        )


class Tables:
    """A loader and a resolver over fake tables."""

    def __init__(self, site: Site) -> None:
        self.primitives: dict[str, Any] = {}
        self.pytrees: dict[Any, Any] = {}
        self.rules: dict[str, Any] = {}
        fakes = [
            FakeInstaller("primitive", "bindax_primitives", self.primitives, lambda value: value),
            FakeInstaller("rule", "bindax_extensions", self.rules, lambda value: value),
            FakeInstaller("pytree", "bindax_pytree_nodes", self.pytrees, lambda value: value),
        ]
        self.path = [str(site.directory)]
        self._manifest: Manifest | None = None
        kinds = [fake.declarations for fake in fakes]
        self.loader = Loader(kinds, read_manifest=self.manifest)
        self.resolver = Resolver(self.loader)

    def manifest(self) -> Manifest:
        if self._manifest is None:
            self._manifest = Manifest(self.path)
        return self._manifest


@pytest.fixture
def tables(site: Site) -> Tables:
    return Tables(site)


class Real:
    """A resolver of its own over the kernel's tables."""

    def __init__(self, site: Site) -> None:
        self._path = [str(site.directory)]
        self._manifest: Manifest | None = None
        self.loader = Loader(KINDS, outside_traces=import_scope, read_manifest=self.manifest)
        self.resolver = Resolver(self.loader)

    def manifest(self) -> Manifest:
        self._manifest = self._manifest or Manifest(self._path)
        return self._manifest

    def status(self, name: str) -> str:
        (plugin,) = self.loader.named(name)
        return plugin.status


@pytest.fixture
def real(site: Site) -> Iterator[Real]:
    made = Real(site)
    yield made
    for plugin in made.loader.plugins():
        for declaration in reversed(plugin.installed):
            made.loader.registrations.unregister(declaration)
