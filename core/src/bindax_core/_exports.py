"""Names of modules that re-export what they import from others."""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType
from typing import Any

from bindax_core._tracebacks import api_boundary


def public_names(namespace: Mapping[str, Any]) -> list[str]:
    """List the names that a module offers: those without an underscore in front, modules aside.

    A re-exporting module ends with ``vars()["__all__"] = public_names(vars())``. Type checkers do
    not see that, and need not: they know the names from the imports.

    Args:
        namespace: the ``vars()`` of the module.

    >>> import math
    >>> public_names({"one": 1, "math": math, "_two": 2})
    ['one']
    """
    return sorted(
        name
        for name, value in namespace.items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and value is not annotations
    )


def bound_functions(namespace: MutableMapping[str, Any]) -> None:
    """Make the functions of a package those that users call.

    Errors that leave them show the user's own frames, and they are pickled by the name that they
    have in the package; ``inspect.unwrap`` gives the function of the module that defines it.

    Args:
        namespace: the ``vars()`` of the package, after all imports.

    >>> names = {"__name__": "bindax_mine", "double": lambda x: 2 * x}
    >>> bound_functions(names)
    >>> names["double"].__module__, names["double"].__qualname__, names["double"](3)
    ('bindax_mine', 'double', 6)
    """
    for name, value in list(namespace.items()):
        if isinstance(value, FunctionType) and not name.startswith("_"):
            bounded = namespace[name] = api_boundary(value)
            bounded.__module__, bounded.__qualname__ = namespace["__name__"], name


def global_name(value: Any) -> str | None:
    """The name by which pickles find what a module defines, or None where they do not.

    Other processes do not have what is defined in ``__main__``.

    Args:
        value: an object with ``__module__`` and ``__qualname__``.

    >>> import json
    >>> global_name(json.JSONDecoder.decode), global_name(lambda: 0)
    ('JSONDecoder.decode', None)
    """
    module = getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    if module in (None, "__main__") or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(str(module))
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is value else None


class _FormerModules:
    """Import modules by the names that they had before they were renamed.

    The base classes of ``importlib.abc`` would bring ten more modules of the standard library.
    """

    renamed: dict[str, str] = {}  # noqa: RUF012

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(fullname, loader) if fullname in self.renamed else None

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to the import system to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(self.renamed[module.__name__])


_former = _FormerModules()


def former_modules(package: str, names: Mapping[str, str]) -> None:
    """Let pickles that earlier versions wrote find the modules of a package that are renamed.

    Args:
        package: the name of the package.
        names: the former name of each module, and the one it has now.

    >>> former_modules("json", {"reader": "decoder"})  # your package stands in the place of json
    >>> import_module("json.reader").__name__
    'json.decoder'
    """
    _former.renamed.update({f"{package}.{old}": f"{package}.{new}" for old, new in names.items()})
    if _former not in sys.meta_path:
        sys.meta_path.append(_former)
