"""The hooks of a plugin, plugin API version 1.

A plugin is a module (or an object) named by an entry point of the group ``bindax.v1``. It marks
functions of the names below with ``hookimpl``. Each is called once, when the plugin loads, without
arguments, and returns declarations; bindax checks all of them and then installs all of them. Only
``bindax_samples`` is not called then, but by the conformance kit. No hook is called per operation.
Only this module and the loader import pluggy, when the first plugin loads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from bindax_core.arrays._backend import Backend
    from bindax_core.arrays._operations import ArrayOperations
    from bindax_core.kernel._aval import ValueType
    from bindax_core.kernel._definitions import Extension
    from bindax_core.kernel._primitive import Primitive
    from bindax_core.tree._definition import NodeDefinition

PROJECT = "bindax"
"""The name that pluggy's markers are bound to."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def bindax_primitives() -> Iterable[Primitive]:  # type: ignore[empty-body]
    """Offer primitives under their names.

    Every name should also be in the group ``bindax.v1.primitives`` of the manifest, because that is
    what finds the plugin when a jaxpr that was stored as text names the primitive.
    """


@hookspec
def bindax_extensions() -> Iterable[Extension]:  # type: ignore[empty-body]
    """Give rules for primitives of other packages.

    Extensions are made by ``extend``. The rule kinds must be in the group ``bindax.v1.rules`` of
    the manifest, because a missing rule loads just the plugins that list its kind.
    """


@hookspec
def bindax_pytree_nodes() -> Iterable[NodeDefinition]:  # type: ignore[empty-body]
    """Define container types.

    Every type must be in the group ``bindax.v1.pytrees`` of the manifest, as ``module:qualname``.
    """


@hookspec
def bindax_value_types() -> Iterable[ValueType]:  # type: ignore[empty-body]
    """Define types whose instances are operands of primitives.

    Every type must be in the group ``bindax.v1.values`` of the manifest, as ``module:qualname``.
    """


@hookspec
def bindax_backends() -> Iterable[Backend]:  # type: ignore[empty-body]
    """Provide backends, which compile and run closed jaxprs.

    Every backend should be in the group ``bindax.v1.backends`` of the manifest, under its name.
    """


@hookspec
def bindax_array_operations() -> ArrayOperations:  # type: ignore[empty-body]
    """Supply the array operations that interpreters need.

    The plugin must have an entry in the group ``bindax.v1.operations`` of the manifest.
    """


@hookspec
def bindax_array_attributes() -> Mapping[str, Callable[..., Any] | property]:  # type: ignore[empty-body]
    """Supply operators, methods and properties of arrays and tracers.

    The plugin must have an entry in the group ``bindax.v1.operations`` of the manifest. It is named
    ``array`` if the plugin supplies operators; a plugin of methods alone chooses another name, and
    is loaded when an attribute is wanted that nothing loaded supplies.
    """


@hookspec
def bindax_transformations() -> Mapping[str, Callable[..., Any]]:  # type: ignore[empty-body]
    """Offer transformations of functions under their names.

    Every name should be in the group ``bindax.v1.transformations`` of the manifest, because that is
    what finds the plugin when a program says ``bindax.NAME``.
    """


@hookspec
def bindax_samples() -> Iterable[Any]:  # type: ignore[empty-body]
    """Give sample inputs of the plugin's primitives, for the conformance kit.

    Each is a ``Sample`` or ``ExpectedFailure`` of ``bindax_testing``, which the hook should import
    in its body: loading a plugin does not call this hook, only the kit does.
    """
