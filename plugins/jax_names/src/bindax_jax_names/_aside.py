"""``import_package``: one package against bindax, in a process that may have the real JAX, too.

The package and those of its dependencies that need JAX are imported a second time, as modules
inside ``bindax_jax_names.beside``. Their builtins have an ``__import__`` of their own, so that each
``import jax`` in them, at whatever time, gives the alias; nobody else's does.
"""

from __future__ import annotations

import builtins
import importlib
import pkgutil
import re
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

from bindax_jax_names._alias import alias_module, is_path
from bindax_jax_names._finder import VersionFinder, unknown_module
from bindax_jax_names._install import use_rules_of_jax

PREFIX = "bindax_jax_names.beside"
UNDECLARED = ("jaxtyping", "jmp", "einops")
"""Packages that import JAX where it is installed, and do not say so in their metadata."""

_asked: set[str] = set()


def import_package(name: str) -> ModuleType:
    """Import a package that is written for JAX against bindax, beside the real JAX if need be.

    The package and those of its dependencies that need JAX become modules of their own; what
    other code imports by these names, before or after, is not touched. Arrays of one world are
    no arrays of the other: pass NumPy arrays between them.

    Args:
        name: the name of the package as it is imported, such as ``"optax"``; a module inside one
            is given by its full name.

    Returns:
        The module.

    Raises:
        ModuleNotFoundError: when there is no such package.
        ImportError: when it needs a name of JAX that bindax does not have.

    >>> from bindax_core import config
    >>> before = {"enable_x64": config.enable_x64, "conventions": config.conventions}
    >>> import_package("jax.numpy").ones(2).shape
    (2,)
    >>> for setting, value in before.items():  # JAX's rules for dtypes hold for the whole process
    ...     config.update(setting, value)
    """
    use_rules_of_jax()
    VersionFinder.install()
    top = name.partition(".")[0]
    if top != "jax":
        _asked.add(top)
        belongs.cache_clear()
    _import(name)
    return alias_module(name) if top == "jax" else sys.modules[f"{PREFIX}.{name}"]


@cache
def belongs(top: str) -> bool:
    """Tell whether a package is imported against the alias: it needs JAX, or was asked for."""
    return top in _asked or top in UNDECLARED or bool(_distributions(top) & _needing_jax())


@cache
def _top_levels() -> Mapping[str, Sequence[str]]:
    return metadata.packages_distributions()


def _distributions(top: str) -> set[str]:
    """The distributions that a package may be from."""
    return {_canonical(name) for name in _top_levels().get(top, ())}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _needing_jax() -> frozenset[str]:
    """The installed distributions that require JAX, directly or by others."""
    needs: dict[str, set[str]] = {}
    for distribution in metadata.distributions():
        required = [entry for entry in distribution.requires or () if "extra ==" not in entry]
        names = {_canonical(re.split(r"[\s;<>=!~\[(]", entry, maxsplit=1)[0]) for entry in required}
        needs[_canonical(distribution.metadata["Name"] or "")] = names
    found = {"jax"}
    while True:
        more = {name for name, required in needs.items() if required & found} - found
        if not more:
            return frozenset(name for name in found - {"jax"} if not name.startswith("bindax"))
        found |= more


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] = (),
    level: int = 0,
) -> ModuleType:
    """Stand for ``__import__`` in the modules beside: names that need JAX are found here."""
    top = name.partition(".")[0]
    if level or (top != "jax" and name != "importlib" and not belongs(top)):
        return builtins.__import__(name, globals, locals, fromlist, level)
    if name == "importlib":
        return _importlib
    if top == "jax":
        return _import_alias(name, fromlist)
    try:
        words = fromlist or ("__name__",)
        leaf = builtins.__import__(f"{PREFIX}.{name}", globals, locals, words, 0)
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith(f"{PREFIX}."):
            raise
        missing = error.name[len(PREFIX) + 1 :]
        raise ModuleNotFoundError(f"No module named {missing!r}", name=missing) from None
    return leaf if fromlist else sys.modules[f"{PREFIX}.{top}"]


def _import_alias(name: str, fromlist: Sequence[str]) -> ModuleType:
    if not is_path(name):
        raise unknown_module(name)
    module = alias_module(name)
    for word in fromlist or ():
        if word != "*":
            try:
                getattr(module, word)
            except AttributeError as error:
                raise ImportError(str(error), name=name) from None
    return module if fromlist else alias_module("jax")


class _Importlib(ModuleType):
    """``importlib`` as the modules beside see it: ``import_module`` finds what they import."""

    def __getattr__(self, name: str) -> Any:
        return getattr(importlib, name)

    @staticmethod
    def import_module(name: str, package: str | None = None) -> ModuleType:
        """Import a module; one that needs JAX is found among those beside."""
        if name.startswith("."):
            return importlib.import_module(name, package)
        return _import(name, fromlist=("__name__",))


_importlib = _Importlib("importlib")
_builtins = {**vars(builtins), "__import__": _import}


class _SourceLoader(SourceFileLoader):
    """Runs a module with the builtins above."""

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["__builtins__"] = _builtins
        super().exec_module(module)


class BesideFinder(MetaPathFinder):
    """Finds the modules of ``bindax_jax_names.beside``: those of other names, a second time."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module beside; None for others."""
        if not name.startswith(f"{PREFIX}."):
            return None
        real = name[len(PREFIX) + 1 :]
        found = _spec_of(real, path if "." in real else None)
        if found is None:
            return None
        if found.origin is None or found.loader is None:
            spec = ModuleSpec(name, None, is_package=True)
            spec.submodule_search_locations = list(found.submodule_search_locations or ())
            return spec
        kind: type[Loader] = _SourceLoader
        if isinstance(found.loader, ExtensionFileLoader):
            kind = ExtensionFileLoader
        return importlib.util.spec_from_file_location(
            name,
            found.origin,
            loader=kind(name, found.origin),  # type: ignore[call-arg]
            submodule_search_locations=found.submodule_search_locations,
        )


def _spec_of(name: str, path: Sequence[str] | None) -> ModuleSpec | None:
    """The spec of a module by its own name, by the finders that there are."""
    if path is not None:
        return _spec_inside(name, path)
    for finder in sys.meta_path:
        found = None if isinstance(finder, BesideFinder) else finder.find_spec(name, None)
        if found is not None:
            return found
    return None


def _spec_inside(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """The spec of a module in one of some folders, or of the folders of its name together."""
    folders: list[str] = []
    for entry in path:
        finder = pkgutil.get_importer(entry)
        found = None if finder is None else finder.find_spec(name)
        if found is not None and found.loader is not None:
            return found
        if found is not None:
            folders += found.submodule_search_locations or ()
    if not folders:
        return None
    spec = ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = folders
    return spec
