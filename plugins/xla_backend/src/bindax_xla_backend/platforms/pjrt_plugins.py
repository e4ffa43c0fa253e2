"""PJRT plugins that are installed, found where those for JAX are, without importing any.

A package offers one as a module of the namespace package ``jax_plugins``, or as an entry point of
the group of that name. Its ``initialize`` would import JAX, so the library is looked for among its
files instead: the one that has the function ``GetPjrtApi``.
"""

from __future__ import annotations

import importlib.machinery
import mmap
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

PATHS_VARIABLE = "PJRT_NAMES_AND_LIBRARY_PATHS"
"""Plugins that no package offers: ``name:path,name:path``."""

_GROUP = "jax_plugins"
_SUFFIXES = (".so", ".dylib", ".dll")


@dataclass(frozen=True)
class PjrtPlugin:
    """A plugin for a platform, found at ``origin``; None when no file has what a library needs."""

    platform: str
    origin: str
    library: Path | None


def discover() -> dict[str, PjrtPlugin]:
    """The plugins that are installed, by platform; the first of several counts."""
    found: dict[str, PjrtPlugin] = {}
    for plugin in (*_named(), *_modules(), *_entry_points()):
        known = found.get(plugin.platform)
        if known is None or (known.library is None and plugin.library is not None):
            found[plugin.platform] = plugin
    return found


def _named() -> Iterator[PjrtPlugin]:
    for part in filter(None, os.environ.get(PATHS_VARIABLE, "").split(",")):
        name, _, path = part.partition(":")
        yield PjrtPlugin(name.strip(), f"the variable {PATHS_VARIABLE}", Path(path.strip()))


def _modules() -> Iterator[PjrtPlugin]:
    spec = importlib.machinery.PathFinder.find_spec(_GROUP)
    for directory in (spec.submodule_search_locations if spec else None) or ():
        folder = Path(directory)
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            if path.is_dir() and path.name.isidentifier() and path.name != "__pycache__":
                files = sorted(path.rglob("*"))
                yield PjrtPlugin(platform_of(path.name), str(path), _library(files))


def _entry_points() -> Iterator[PjrtPlugin]:
    for metadata in _metadata_directories():
        from importlib.metadata import PathDistribution  # slow, and seldom needed

        distribution = PathDistribution(metadata)
        files = [Path(str(file.locate())) for file in distribution.files or ()]
        origin = f"{distribution.name} {distribution.version}"
        for entry in distribution.entry_points.select(group=_GROUP):
            yield PjrtPlugin(platform_of(entry.value), origin, _library(files))


def _metadata_directories() -> Iterator[Path]:
    """Those of the distributions that have an entry point of the group."""
    heading = f"[{_GROUP}]".encode()
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:  # no directory, or not ours to read
            continue
        for name in sorted(n for n in names if n.endswith((".dist-info", ".egg-info"))):
            metadata = os.path.join(folder, name)
            try:
                with open(os.path.join(metadata, "entry_points.txt"), "rb") as stream:
                    found = heading in stream.read()
            except OSError:  # most have none
                continue
            if found:
                yield Path(metadata)


def platform_of(module: str) -> str:
    """The platform that the module of a plugin is for.

    >>> platform_of("jax_plugins.xla_cuda12"), platform_of("my_device")
    ('cuda', 'my_device')
    """
    name = module.partition(":")[0].rpartition(".")[2]
    return re.sub(r"\d+$", "", name.removeprefix("xla_")) if name.startswith("xla_") else name


def _library(files: Iterable[Path]) -> Path | None:
    for path in files:
        if path.suffix in _SUFFIXES and path.is_file() and _has_entry(path):
            return path
    return None


def _has_entry(path: Path) -> bool:
    with path.open("rb") as stream:
        if path.stat().st_size == 0:
            return False
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content.find(b"GetPjrtApi") >= 0
