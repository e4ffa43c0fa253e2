"""Constants of jaxprs as leading arguments."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ClosedJaxpr


def convert_constvars(closed: ClosedJaxpr) -> tuple[ClosedJaxpr, list[Any]]:
    """Turn the constants of a jaxpr into leading arguments; return the jaxpr and the constants.

    Args:
        closed: the jaxpr.
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
