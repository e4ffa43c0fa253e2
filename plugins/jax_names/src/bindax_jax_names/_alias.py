"""The modules of the alias: each name is found when it is first asked for."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from bindax_jax_names._missing import asked_for, missing_message, record_missing
from bindax_jax_names._providers import provider_names
from bindax_jax_names._source_names import SOURCE_NAMES
from bindax_jax_names._table import jax_release, known_names, release_numbers, submodules

_ABSENT = object()
_COMPLETE = ("jax.numpy", "jax.scipy.special")
_WITH_VERSIONS = ("jax", "jax.lib", "jax.version")
_VERSIONS: dict[str, Callable[[], Any]] = {
    "__version__": jax_release,
    "__version_info__": release_numbers,
}
_modules: dict[str, AliasModule] = {}
_lock = threading.RLock()


class AliasModule(ModuleType):
    """A module of JAX by name, made of what bindax has.

    Every name is looked up once: in the modules that stand for this one, then among the modules
    inside it. A name that JAX has and bindax does not raises an ``AttributeError`` that says so.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, f"Stands for {path} of JAX; made of bindax.")
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return sorted(word for word in dir(self) if not word.startswith("_"))
        if name in _VERSIONS and self.__name__ in _WITH_VERSIONS:
            return _VERSIONS[name]()
        found = _find(self.__name__, name)
        if found is _ABSENT:
            if name.startswith("__") or not _is_known(self.__name__, name):
                raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
            place = asked_for(sys._getframe(1))
            record_missing(f"{self.__name__}.{name}", place)
            raise AttributeError(missing_message(self.__name__, name, place))
        self.__dict__[name] = found
        return found

    def __dir__(self) -> list[str]:
        path = self.__name__
        words = known_names().get(path, frozenset()) | set(SOURCE_NAMES.get(path, ()))
        return sorted(word for word in words | inside(path) if _find(path, word) is not _ABSENT)


def alias_module(path: str) -> AliasModule:
    """The module of the alias for a path that ``is_path`` accepts."""
    with _lock:
        found = _modules.get(path)
        if found is None:
            found = _modules[path] = AliasModule(path)
            if path.startswith(_COMPLETE):
                fill(found)
        return found


def fill(module: AliasModule) -> None:
    """Look all names of a module up, for packages that go through its ``vars``."""
    for word in known_names().get(module.__name__, ()):
        found = _find(module.__name__, word)
        if found is not _ABSENT:
            module.__dict__.setdefault(word, found)


def is_path(path: str) -> bool:
    """Tell whether the alias has a module of this path."""
    return path in known_names() or path in _source_paths()


def inside(path: str) -> frozenset[str]:
    """The names of the modules inside a module of the alias."""
    start = f"{path}."
    private = {p[len(start) :].split(".")[0] for p in _source_paths() if p.startswith(start)}
    return submodules().get(path, frozenset()) | private


@cache
def _source_paths() -> set[str]:
    """The private modules of JAX that are served, with the packages they are in."""
    paths = {"jax._src"}
    for path in SOURCE_NAMES:
        parts = path.split(".")
        paths.update(".".join(parts[:i]) for i in range(2, len(parts) + 1))
    return paths


def _is_known(path: str, name: str) -> bool:
    return name in known_names().get(path, ()) or path.startswith("jax._src")


def _find(path: str, name: str) -> Any:
    """The object of bindax for a name of JAX, or a marker that there is none."""
    place = SOURCE_NAMES.get(path, {}).get(name)
    if place is not None:
        source, _, attribute = place.partition(":")
        return getattr(
            alias_module(source) if is_path(source) else import_module(source), attribute
        )
    if name in inside(path):
        return alias_module(f"{path}.{name}")
    for provider in provider_names(path):
        module = _imported(provider)
        found = _ABSENT if module is None else getattr(module, name, _ABSENT)
        if found is not _ABSENT:
            return found
    return _ABSENT


def _imported(name: str) -> ModuleType | None:
    """A module of bindax, or None when this bindax has no such module."""
    parent, _, _ = name.rpartition(".")
    if parent and (_imported(parent) is None or not hasattr(sys.modules[parent], "__path__")):
        return None
    if name not in sys.modules and find_spec(name) is None:
        return None
    return import_module(name)
