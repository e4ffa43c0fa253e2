"""The hooks of a plugin, plugin API version 1.

Entry points name most of what a plugin brings; hooks are for what takes code. They are in a module
(or an object) named by an entry point of the group ``bindax.v1``, which marks functions of the
names below with ``hookimpl``. Each is called once, when the plugin loads, without arguments, and
returns declarations; a hook brings everything of its kind. Only ``bindax_samples`` and
``bindax_function_checks`` are not called then, but by the conformance suite. No hook is called per
operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from bindax_core.arrays._backend import Backend
    from bindax_core.arrays._operators import ArrayOperations
    from bindax_core.kernel._aval import ValueType
    from bindax_core.kernel._primitive import Primitive
    from bindax_core.registry._extensions import Extension
    from bindax_core.tree._node_definition import NodeDefinition

PROJECT = "bindax"
"""The name that pluggy's markers are bound to."""

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl: pluggy.HookimplMarker = pluggy.HookimplMarker(PROJECT)


@hookspec
def bindax_primitives() -> Iterable[Primitive]:  # type: ignore[empty-body]
    """Offer primitives, whose names should be in the group ``bindax.v1.primitives``, too."""


@hookspec
def bindax_extensions() -> Iterable[Extension]:  # type: ignore[empty-body]
    """Give rules for primitives of other packages.

    Extensions are made by ``extend``. The rule kinds must be in the group ``bindax.v1.rules`` of
    the manifest, because a missing rule loads just the plugins that list its kind.
    """


@hookspec
def bindax_pytree_nodes() -> Iterable[NodeDefinition]:  # type: ignore[empty-body]
    """Define container types, which must be in the group ``bindax.v1.pytrees``, too."""


@hookspec
def bindax_value_types() -> Iterable[ValueType]:  # type: ignore[empty-body]
    """Define types of operands, which must be in the group ``bindax.v1.values``, too."""


@hookspec
def bindax_backends() -> Iterable[Backend]:  # type: ignore[empty-body]
    """Provide backends, whose names should be in the group ``bindax.v1.backends``, too."""


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
    """Offer transformations by name, which should be in ``bindax.v1.transformations``, too."""


@hookspec
def bindax_accelerator() -> Callable[..., Mapping[str, Callable[..., Any]]]:  # type: ignore[empty-body]
    """Supply faster code for what bindax does at each call.

    The function is given objects of core and returns the fast paths by name. The objects are those
    of one version of core, and no part of the plugin API: an accelerator requires that version. The
    plugin must have an entry in the group ``bindax.v1.accelerators`` of the manifest.
    """


@hookspec
def bindax_samples() -> Iterable[Any]:  # type: ignore[empty-body]
    """Give sample inputs of the plugin's primitives, for the conformance suite.

    Each is a ``Sample`` or ``ExpectedFailure`` of ``bindax_testing``, which the hook should import
    in its body: loading a plugin does not call this hook, only the suite does.
    """


@hookspec
def bindax_function_checks() -> Iterable[Any]:  # type: ignore[empty-body]
    """Give checks of functions, and kinds of functions, for ``bindax_testing.check_function``.

    Each is made by ``function_check`` or ``function_adapter`` of ``bindax_testing``, which the hook
    should import in its body: loading a plugin does not call this hook, only the suite does.
    """
