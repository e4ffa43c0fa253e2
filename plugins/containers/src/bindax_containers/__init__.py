"""Containers of other libraries as pytrees of bindax: attrs classes and xarray objects.

What is registered for xarray needs no import of this package: its metadata names the types, and
bindax loads it when an instance appears.
"""

from bindax_containers.attrs_classes import attrs_definition as attrs_definition
from bindax_containers.attrs_classes import register_attrs as register_attrs
from bindax_containers.attrs_classes import static as static
from bindax_core.extend import public_names as _public_names
from bindax_core.extend import register_internal as _register_internal

vars()["__all__"] = _public_names(vars())
_register_internal(__file__)
