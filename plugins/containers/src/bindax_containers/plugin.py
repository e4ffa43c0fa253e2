"""Give the conformance suite instances of the container types."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from typing import Any

from bindax_core.extend import hookimpl


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give instances, if the libraries are installed."""
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
