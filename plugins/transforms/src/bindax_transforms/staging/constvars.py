"""Constants of jaxprs as leading arguments."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ClosedJaxpr


def convert_constvars(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[Any]]:
    """Turn the constants of a jaxpr into leading arguments; return the jaxpr and the constants.

    Args:
        closed: the jaxpr.

    >>> import numpy as np
    >>> from bindax_transforms import make_jaxpr
    >>> closed = make_jaxpr(lambda x: x * np.ones(2))(3.0)
    >>> len(closed.jaxpr.constvars), len(closed.jaxpr.invars)
    (1, 1)
    >>> converted, constants = convert_constvars(closed)
    >>> len(converted.jaxpr.constvars), len(converted.jaxpr.invars), constants
    (0, 2, [Array([1., 1.], dtype=float64)])
    """
    jaxpr = closed.jaxpr
    if not jaxpr.constvars:
        return closed, []
    if "converted" not in closed.cache:
        converted = jaxpr.replace(constvars=(), invars=[*jaxpr.constvars, *jaxpr.invars])
        closed.cache["converted"] = ClosedJaxpr(converted)
    return closed.cache["converted"], closed.consts


hoist_consts = convert_constvars
"""The name in plugin API 1."""
