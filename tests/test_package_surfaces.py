"""Packages import of each other what is offered: the package, its ``extend``, its namespaces.

The facade and the names of JAX make namespaces of other packages' modules, which may be any that
is not private.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    path.name: path
    for pattern in ("core/src/*", "src/*", "testing/src/*", "plugins/*/src/*")
    for path in ROOT.glob(pattern)
    if (path / "__init__.py").exists()
}
NAMESPACES = {
    "bindax_core": {"errors", "plugins", "rules", "sharding", "tree", "tree_util"},
    "bindax_numpy": {"fft", "linalg"},
    "bindax_transforms": {"rules", "zeros"},  # which core forwards for plugin API 1
}
FACADES = ("bindax", "bindax_jax_names")


def _imports(file: Path) -> Iterator[tuple[str, int]]:
    """The modules and names that a file imports, with dots, each with the line."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield f"{alias.name}.", node.lineno
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                yield f"{node.module}.:{alias.name}", node.lineno


@pytest.mark.parametrize("package", sorted(PACKAGES))
def test_other_packages_are_imported_where_they_offer_it(package: str) -> None:
    wrong: list[str] = []
    for file in sorted(PACKAGES[package].rglob("*.py")):
        for imported, line in _imports(file):
            module, _, name = imported.partition(".:")
            owner, _, rest = module.rstrip(".").partition(".")
            if owner not in PACKAGES or PACKAGES[owner].parent == PACKAGES[package].parent:
                continue
            offered = {"", "extend", *NAMESPACES.get(owner, ())}
            is_private = any(
                part.startswith("_") and not part.startswith("__")
                for part in (*rest.split("."), name)
            )
            if is_private or (package not in FACADES and rest not in offered):
                wrong.append(f"{file.relative_to(ROOT)}:{line}: {imported}")
    assert wrong == []


def test_the_table_names_what_is_there() -> None:
    for package, names in NAMESPACES.items():
        for name in names:
            path = PACKAGES[package] / name
            assert path.is_dir() or path.with_suffix(".py").exists()
