"""The plugin that the registry loads: private attributes of JAX's arrays that packages read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bindax_core.extend import hookimpl


def _value(self: Any) -> np.ndarray[Any, Any]:
    """The elements as a NumPy array."""
    return np.asarray(self)


def _committed(self: Any) -> bool:
    """True if the array is bound to its devices, as ``committed`` says."""
    return bool(self.committed)


@hookimpl
def bindax_array_attributes() -> Mapping[str, Any]:
    """The properties of arrays that JAX has under private names, and bindax under public ones."""
    return {"_value": property(_value), "_committed": property(_committed)}
