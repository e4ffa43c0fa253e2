"""The plugin that the registry loads when an instance of a listed container appears."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from bindax_core.extend import NodeDefinition, hookimpl


@hookimpl
def bindax_pytree_nodes() -> Iterable[NodeDefinition]:
    """The definitions of those container types whose libraries are installed."""
    if importlib.util.find_spec("xarray") is None:
        return ()
    from bindax_containers.labelled import DEFINITIONS

    return DEFINITIONS


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Instances of the container types, for the conformance kit."""
    if importlib.util.find_spec("xarray") is None:
        return []
    import numpy as np
    import xarray

    from bindax_testing import container

    variable = xarray.Variable(("time", "place"), np.arange(6.0).reshape(2, 3), {"units": "K"})
    coords = {"place": ["a", "b", "c"], "height": ("place", np.array([1.0, np.nan, 3.0])), "run": 7}
    array = xarray.DataArray(variable, coords, name="temperature")
    dataset = xarray.Dataset({"t": array, "scalar": 2.0}, attrs={"title": "x"})
    return [container(variable), container(array), container(dataset)]
