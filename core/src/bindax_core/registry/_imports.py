"""Imports that a distribution makes and its metadata does not declare, for ``bindax doctor``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from bindax_core.registry._manifest import Entry, metadata_text, normalized
from bindax_core.registry._provenance import distribution_of, file_of

_REQUIRES = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9._-]+)", re.MULTILINE)
_OURS = "bindax"
_KIT = "bindax-testing"
"""Modules of samples need it, which the kit alone imports."""


def undeclared_imports(entry: Entry) -> dict[str, str]:
    """The distributions of bindax that a plugin's package imports without requiring them.

    For each, the place of one import, ``file:line``. Imports inside of functions and below
    ``if TYPE_CHECKING`` or ``try`` are optional ones.
    """
    required = _REQUIRES.findall(metadata_text(entry.distribution.metadata))
    declared = set(map(normalized, required))
    package = entry.module.partition(".")[0]
    file = file_of(package)
    known = {*declared, entry.distribution.name, _KIT}
    found: dict[str, str] = {}
    if file is None or not declared:
        return found
    directory = Path(file).parent
    files = sorted(directory.rglob("*.py")) if file.endswith("__init__.py") else [Path(file)]
    for path in files:
        for module, line in _imports(path):
            if not module.startswith(_OURS) or module == package:
                continue
            owner = distribution_of(module)
            if owner is not None and owner.name not in known:
                found.setdefault(owner.name, f"{path}:{line}")
    return found


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    """The top packages that a file imports as it is imported, each with the line."""
    try:
        body = ast.parse(path.read_bytes()).body
    except (OSError, SyntaxError, ValueError):  # it fails to load, which is said elsewhere
        return
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name.partition(".")[0], node.lineno
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module.partition(".")[0], node.lineno
