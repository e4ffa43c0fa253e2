"""The import system's part: ``import jax`` gives the alias."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from bindax_jax_names._alias import AliasModule, alias_module, is_path
from bindax_jax_names._missing import asked_for, missing_message, record_missing
from bindax_jax_names._table import jax_release, known_names

_LOADED = (
    *("jax.api_util", "jax.core", "jax.custom_batching", "jax.custom_derivatives", "jax.debug"),
    *("jax.dtypes", "jax.errors", "jax.interpreters", "jax.interpreters.ad", "jax.lib"),
    *("jax.interpreters.batching", "jax.interpreters.mlir", "jax.interpreters.partial_eval"),
    *("jax.interpreters.pxla", "jax.interpreters.xla", "jax.sharding", "jax.tree"),
    *("jax.tree_util", "jax.typing", "jax.version"),
)
"""Modules that are loaded by ``import jax``; names in them are found when they are asked for."""


class AliasLoader(Loader):
    """Gives the modules of the alias, which are made already."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module of the alias."""
        return alias_module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Note the modules that JAX loads with itself, which packages ask ``sys.modules`` for."""
        if module.__name__ == "jax":
            for path in _LOADED:
                inner = sys.modules.setdefault(path, alias_module(path))
                inner.__spec__ = inner.__spec__ or ModuleSpec(path, self, is_package=True)


class VersionFinder(MetaPathFinder):
    """Answers ``importlib.metadata`` for the distribution ``jax``."""

    @classmethod
    def install(cls) -> None:
        """Have it asked, if the distribution is not there."""
        if not _is_installed("jax") and not any(isinstance(f, cls) for f in sys.meta_path):
            sys.meta_path.insert(0, cls())

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """None: it finds no modules."""
        return None

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterable[Distribution]:
        """The distribution ``jax``, and ``jaxlib`` where it is not installed."""
        name = None if context is None else context.name
        if name == "jax":
            return [_Named("jax")]
        if name == "jaxlib" and not _is_installed("jaxlib"):
            return [_Named("jaxlib")]
        return []

    def invalidate_caches(self) -> None:
        """Do nothing: there is nothing to forget."""


class AliasFinder(VersionFinder):
    """Finds ``jax`` and what is in it, and answers for the version of the distribution."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module of the alias; None for anything that is not of JAX."""
        if name != "jax" and not name.startswith("jax."):
            return None
        if is_path(name):
            return ModuleSpec(name, AliasLoader(), is_package=True)
        parent, _, last = name.rpartition(".")
        if last in known_names().get(parent, ()) or parent.startswith("jax._src"):
            # `from jax import name`: the import system looks for a module after the attribute.
            place = asked_for(sys._getframe(1))
            record_missing(name, place)
            raise ImportError(missing_message(parent, last, place), name=name)
        raise unknown_module(name)


class _Named(Distribution):
    """A distribution of a name and the version that the alias says it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: {self._name}\nVersion: {jax_release()}\n"

    def locate_file(self, path: Any) -> Any:
        return Path(__file__).parent / path


def _is_installed(name: str) -> bool:
    """Tell whether a distribution is on the path, whatever the alias answers."""
    context = DistributionFinder.Context(name=name)
    finders = [f for f in sys.meta_path if not isinstance(f, VersionFinder)]
    searches = [getattr(finder, "find_distributions", None) for finder in finders]
    return any(True for search in searches if search for _ in search(context))


def unknown_module(name: str) -> ModuleNotFoundError:
    """The error for a module that the alias does not have."""
    if name.startswith("jax._src"):
        parent, _, last = name.rpartition(".")
        text = missing_message(parent, last, asked_for(sys._getframe(1)))
    else:
        text = (
            f"No module named {name!r}: JAX {jax_release()}, whose names the alias has, has no "
            f"such module. The program is for an older or a newer JAX."
        )
    return ModuleNotFoundError(text, name=name)


def is_alias_installed() -> bool:
    """Tell whether ``import jax`` gives the alias in this process."""
    return any(isinstance(finder, AliasFinder) for finder in sys.meta_path)


def real_jax() -> ModuleType | None:
    """The real JAX, if this process has imported it."""
    module = sys.modules.get("jax")
    return None if module is None or isinstance(module, AliasModule) else module
