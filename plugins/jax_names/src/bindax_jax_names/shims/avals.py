"""Attributes and arguments of JAX's types of arrays, and methods of its primitives."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import DeviceMemories, Primitive, ShapedArray
from bindax_core.sharding import Sharding
from bindax_jax_names.shims.copies import deep_copy
from bindax_jax_names.shims.extend_backend import client_of
from bindax_jax_names.shims.jaxprs import add_attributes_of_jaxprs

_plain_new: Any = ShapedArray.__new__


def _new(
    cls: Any, shape: Any, dtype: Any, weak_type: bool = False, *, sharding: Any = None, **more: Any
) -> Any:
    """A type with the arguments that JAX knows; those that say nothing here are taken."""
    if dtype is None:
        raise ValueError("ShapeDtypeStruct: dtype must be specified, but it is None.")
    own = {name: value for name, value in more.items() if name == "mat"}
    return _plain_new(cls, tuple(shape), dtype, weak_type, sharding=sharding, **own)


def _get_bind_params(primitive: Primitive, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters with which an equation is applied again: all that it has."""
    return dict(params)


def _devices(sharding: Sharding) -> tuple[Any, ...]:
    """The devices of a sharding, in order."""
    return tuple(sharding.device_assignment)


def _devices_of_process(sharding: Sharding) -> tuple[Any, ...]:
    """The devices of a sharding that this process reaches, in order."""
    return tuple(d for d in sharding.device_assignment if getattr(d, "is_local", True))


def _at_least_vspace(aval: ShapedArray) -> Any:
    """The type of tangents."""
    return aval.tangent_aval()


_ATTRIBUTES: dict[str, Any] = {
    "at_least_vspace": _at_least_vspace,
    "vma": property(lambda aval: aval.mat.varying),
    "manual_axis_type": property(lambda aval: aval.mat),
    "is_ref": False,
    "memory_space": None,
    "itemsize": property(lambda aval: aval.dtype.itemsize),
    "nbytes": property(lambda aval: aval.size * aval.dtype.itemsize),
    "to_tangent_aval": ShapedArray.tangent_aval,
    "to_ct_aval": ShapedArray.tangent_aval,
}


def add_attributes() -> None:
    """Give types of arrays, primitives and devices JAX's attributes, arguments and methods."""
    for name, value in _ATTRIBUTES.items():
        if not hasattr(ShapedArray, name):
            setattr(ShapedArray, name, value)
    ShapedArray.__new__ = _new  # type: ignore[method-assign]
    Primitive.get_bind_params = _get_bind_params  # type: ignore[attr-defined]
    Primitive.__deepcopy__ = deep_copy  # type: ignore[attr-defined]
    DeviceMemories.client = property(client_of)  # type: ignore[attr-defined]
    Sharding._device_assignment = property(_devices)  # type: ignore[attr-defined]
    Sharding._addressable_device_assignment = property(  # type: ignore[attr-defined]
        _devices_of_process
    )
    add_attributes_of_jaxprs()
