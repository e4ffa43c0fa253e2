"""What the registry loads when an instance of a container named in the manifest appears."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from bindax_core.extend import Array, NodeDefinition, hookimpl

_NAMESPACE = "bindax_numpy"


@hookimpl
def bindax_pytree_nodes() -> Iterable[NodeDefinition]:
    """The definitions of those container types whose libraries are installed."""
    if importlib.util.find_spec("xarray") is None:
        return ()
    from bindax_containers.labelled import DEFINITIONS

    return DEFINITIONS


@hookimpl
def bindax_array_attributes() -> Mapping[str, Callable[..., ModuleType]]:
    """The method by which xarray recognizes arrays that it need not convert.

    With it, operations of labelled arrays apply to traced ones. It is that of the array API
    standard, so that it is left out where another package brought it, or where there is no
    namespace to point to.
    """
    present = hasattr(Array, "__array_namespace__")
    if present or importlib.util.find_spec(_NAMESPACE) is None:
        return {}
    return {"__array_namespace__": _array_namespace}


def _array_namespace(self: Any, /, *, api_version: str | None = None) -> ModuleType:
    """The functions for this array, as the array API standard says."""
    return importlib.import_module(_NAMESPACE)
