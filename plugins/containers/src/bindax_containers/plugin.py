"""The plugin that the registry loads when an instance of a listed container appears."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

from bindax_core.extend import NodeDefinition, hookimpl


@hookimpl
def bindax_pytree_nodes() -> Iterable[NodeDefinition]:
    """The definitions of those container types whose libraries are installed."""
    if importlib.util.find_spec("xarray") is None:
        return ()
    from bindax_containers.labelled import DEFINITIONS

    return DEFINITIONS
