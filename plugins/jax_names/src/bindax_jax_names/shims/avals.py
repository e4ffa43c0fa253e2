"""Attributes that JAX's types of arrays have and those of bindax have not."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import ShapedArray
from bindax_jax_names._alias import alias_module


def _sharding(aval: ShapedArray) -> Any:
    """The sharding of a type; one that says nothing of it is over no axis of any mesh."""
    if aval.placement is not None:
        return aval.placement
    sharding = alias_module("jax.sharding")
    spec = sharding.PartitionSpec(*[None] * aval.ndim)
    return sharding.NamedSharding(sharding.AbstractMesh((), ()), spec)


_ATTRIBUTES: dict[str, Any] = {
    "sharding": property(_sharding),
    "vma": frozenset(),
    "manual_axis_type": None,
    "is_ref": False,
    "memory_space": None,
    "itemsize": property(lambda aval: aval.dtype.itemsize),
    "nbytes": property(lambda aval: aval.size * aval.dtype.itemsize),
    "to_tangent_aval": ShapedArray.tangent_aval,
    "to_ct_aval": ShapedArray.tangent_aval,
}


def add_attributes() -> None:
    """Give types of arrays the attributes: ``sharding``, and others that they have not."""
    for name, value in _ATTRIBUTES.items():
        if name == "sharding" or not hasattr(ShapedArray, name):
            setattr(ShapedArray, name, value)
