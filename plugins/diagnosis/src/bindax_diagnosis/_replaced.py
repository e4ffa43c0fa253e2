"""Functions of NumPy and of the installed plugins that another plugin has put its own in place of.

A plugin brings what it has through hooks. One that writes to another package's modules or classes
changes programs that do not use it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bindax_core.extend import Distribution, code_of
from bindax_core.plugins import (
    PLUGINS,
    ArrayOperators,
    Manifest,
    file_of,
    normalized,
    supplied_attributes,
)
from bindax_diagnosis._manifests import required


class Replaced(NamedTuple):
    """A function in a module or class of a package, by another distribution."""

    name: str
    distribution: Distribution
    file: str
    line: int


def replaced_functions(manifest: Manifest) -> list[Replaced]:
    """Find what plugins have replaced in loaded modules of NumPy and of other distributions.

    A package may put in its modules what is of the distributions that it requires.
    """
    owner_of = _owners(manifest)
    found: dict[tuple[str, int, str, str], Replaced] = {}
    for module_name, module in sorted(sys.modules.items()):
        package = module_name.partition(".")[0]
        own = owner_of(getattr(module, "__file__", None) or "")
        if own is None and package not in ("numpy", "bindax", "bindax_core"):
            continue
        allowed = _allowed(manifest, normalized(package) if own is None else own.name)
        for name, function in _functions(module_name, module):
            code = code_of(function)
            by = None if code is None else owner_of(code.co_filename)
            if code is None or by is None or by.name in allowed:
                continue
            place = (code.co_filename, code.co_firstlineno)
            # One record for all modules of a package that export the same name.
            key = (*place, package, name.rpartition(".")[2])
            if key not in found or len(name) < len(found[key].name):
                found[key] = Replaced(name, by, *place)
    return sorted(found.values())


def _owners(manifest: Manifest) -> Callable[[str], Distribution | None]:
    """Return a function from files to the distributions of the plugins whose packages have them."""
    roots: list[tuple[str, Distribution]] = []
    for entry in manifest.entries(PLUGINS):
        file = file_of(entry.module.partition(".")[0])
        if file is not None:
            path = Path(file)
            root = f"{path.parent}/" if path.name == "__init__.py" else str(path)
            roots.append((root, entry.distribution))

    @cache
    def owner_of(file: str) -> Distribution | None:
        owners = (
            distribution
            for root, distribution in roots
            if file == root or (root.endswith("/") and file.startswith(root))
        )
        return next(owners, None)

    return owner_of


@lru_cache(maxsize=256)
def _allowed(manifest: Manifest, name: str) -> set[str]:
    """A distribution, and those that it requires, directly or through others."""
    allowed, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in allowed:
            allowed.add(one)
            if one in manifest.distributions:
                waiting += required(manifest.distributions[one])
    return allowed


def _functions(module_name: str, module: Any) -> Iterator[tuple[str, Any]]:
    """The functions of a module, and the methods of the classes that it defines."""
    for name, value in list(getattr(module, "__dict__", {}).items()):
        if isinstance(value, type):
            if value.__module__ == module_name:
                for key, method in list(vars(value).items()):
                    if value is ArrayOperators and method is supplied_attributes.get(key):
                        continue
                    yield f"{module_name}.{name}.{key}", _plain(method)
        elif callable(value):
            yield f"{module_name}.{name}", value


def _plain(method: Any) -> Any:
    """The function of a property, a class method or a static method."""
    method = getattr(method, "fget", None) or method
    return getattr(method, "__func__", method)
