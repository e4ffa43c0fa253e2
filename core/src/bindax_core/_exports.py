"""The words of a door: a module that offers what it imports from others."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any


def public_names(namespace: Mapping[str, Any]) -> list[str]:
    """List the names that a module offers: those without an underscore in front, modules aside.

    A door ends with ``vars()["__all__"] = public_names(vars())``. Type checkers do not see that,
    and need not: they know the names from the imports.

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
