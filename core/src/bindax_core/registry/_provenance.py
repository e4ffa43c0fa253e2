"""Provenance: the distribution, version, file and line of a declaration.

Declaring stores a ``Site`` (three fields of the calling frame). The distribution behind a module is
found when somebody asks, which is when a message or a table is printed.
"""

from __future__ import annotations

import os
import re
import sys
from functools import lru_cache
from typing import NamedTuple

from bindax_core._site import Site, absolute_path
from bindax_core.registry._manifest import (
    KINDS,
    Distribution,
    Manifest,
    first_text,
    manifest,
    normalized,
)


class Provenance(NamedTuple):
    """Where a declaration comes from: from no distribution if it is in a script or a notebook."""

    distribution: str | None
    version: str | None
    module: str
    file: str
    line: int

    def __str__(self) -> str:
        owner = "no installed distribution"
        if self.distribution is not None:
            owner = f"{self.distribution} {self.version}"
        return f"{owner} ({self.file}:{self.line})"


def provenance_of(site: Site) -> Provenance:
    """The provenance of a declaration at a site."""
    distribution = distribution_of(site.module)
    if distribution is None:
        return Provenance(None, None, *site)
    return Provenance(distribution.name, distribution.version, *site)


def distribution_of(module: str) -> Distribution | None:
    """The distribution that a module belongs to, or None."""
    return None if module == "__main__" else _find(manifest(), module)


@lru_cache(maxsize=4096)
def _find(current: Manifest, module: str) -> Distribution | None:
    """Try the cheap ways first: modules in manifests, equal names, lists of installed files."""
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        return None
    mentioned = _mentioned(current, module)
    if mentioned is not None:
        return mentioned
    return current.distributions.get(normalized(package)) or _listed(current, module)


def _mentioned(current: Manifest, module: str) -> Distribution | None:
    """The distribution whose manifest mentions the longest package that also holds the module."""
    packages = _owners(current)
    while module:
        owners = packages.get(module)
        if owners is not None:  # of a namespace package that several share, it is none
            return next(iter(owners)) if len(owners) == 1 else None
        module = module.rpartition(".")[0]
    return None


@lru_cache(maxsize=8)
def _owners(current: Manifest) -> dict[str, set[Distribution]]:
    """The distributions that mention a module, for each module and each package that holds it."""
    owners: dict[str, set[Distribution]] = {}
    mentions = {(entry.module, entry.distribution) for k in KINDS for entry in current.entries(k)}
    for module, distribution in mentions:
        while module:
            owners.setdefault(module, set()).add(distribution)
            module = module.rpartition(".")[0]
    return owners


def _listed(current: Manifest, module: str) -> Distribution | None:
    """Search the lists of installed files; slow, so last."""
    path = re.escape(module.replace(".", "/"))
    line = re.compile(rf"^(\.\./)?{path}(/__init__)?\.py(,|$)", re.MULTILINE)
    for distribution in current.distributions.values():
        if line.search(first_text(distribution.metadata, "RECORD", "installed-files.txt")):
            return distribution
    return None


def file_of(module: str) -> str | None:
    """The file of a module, without importing it; None when that takes an import to know."""
    loaded = sys.modules.get(module)
    if loaded is not None:
        return getattr(loaded, "__file__", None)
    path = module.replace(".", os.sep)
    for directory in sys.path:
        for candidate in (f"{path}.py", os.path.join(path, "__init__.py")):
            file = os.path.join(directory or os.curdir, candidate)
            if os.path.isfile(file):
                return absolute_path(file)
    return None
