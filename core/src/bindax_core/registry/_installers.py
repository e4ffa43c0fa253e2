"""From what the hooks return to the tables of the kernel: one installer for each hook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from bindax_core.errors import PluginError
from bindax_core.kernel import _primitive
from bindax_core.kernel._aval import (
    AbstractValue,
    ShapedArray,
    ValueType,
    register_value_type,
    unregister_value_type,
    value_types,
)
from bindax_core.kernel._cards import Extension
from bindax_core.kernel._primitives_by_name import declared_primitives
from bindax_core.kernel._rule_tables import Rule
from bindax_core.kernel._site import Site
from bindax_core.registry._declarations import Installer, Staged
from bindax_core.registry._manifest import Entry
from bindax_core.registry._provenance import Provenance, file_of, provenance_of
from bindax_core.runtime import _backend, _operations, _operators
from bindax_core.tree import _registry as tree
from bindax_core.tree._definition import NodeDefinition
from bindax_core.tree._table import lock


def _listed(hook: str, result: Any, type_: type, plugin: Entry) -> list[Any]:
    """Return a hook's result as a list of things of one type."""
    if isinstance(result, str | Mapping) or not isinstance(result, Iterable):
        raise PluginError(
            f"the hook {hook} of {plugin.value} must return an iterable of {type_.__name__}, but "
            f"returned {result!r:.200}."
        )
    listed = list(result)
    for one in listed:
        if not isinstance(one, type_):
            raise PluginError(
                f"the hook {hook} of {plugin.value} must return an iterable of {type_.__name__}, "
                f"but one of them is {one!r:.200}."
            )
    return listed


def _nothing() -> None:
    """Offering something under a name is the claim itself."""


class PrimitiveInstaller:
    """Primitives under their names."""

    hook = "bindax_primitives"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        return [
            self._staged(primitive)
            for primitive in _listed(self.hook, result, _primitive.Primitive, plugin)
        ]

    def _staged(self, primitive: Any) -> Staged:
        name = primitive.name
        owner = None
        for present in declared_primitives.get(name, ()):
            if present is not primitive and _is_kernel(present.site):
                owner = provenance_of(present.site)
        return Staged(
            kind="primitive",
            key=name,
            label=f"the primitive {name!r}",
            value=primitive,
            provenance=provenance_of(primitive.site),
            install=_nothing,
            remove=_nothing,
            name=name,
            owner=owner,
        )


def _is_kernel(site: Site) -> bool:
    return site.module.partition(".")[0] == "bindax_core"


class ExtensionInstaller:
    """Rules for primitives of other packages."""

    hook = "bindax_extensions"

    def __init__(self) -> None:
        self._ours: set[Rule] = set()

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        return [
            self._staged(extension, rule, plugin)
            for extension in _listed(self.hook, result, Extension, plugin)
            for rule in extension.rules
        ]

    def _staged(self, extension: Extension, rule: Rule, plugin: Entry) -> Staged:
        primitive = extension.primitive
        if not rule.is_present:
            raise PluginError(
                f"the extension of {primitive.name} at {rule.site} says that the {rule.kind.name} "
                f"rule is absent or elsewhere; only the primitive's own card can say so. Leave it "
                f"out."
            )
        present = _present(primitive, rule)
        owner = None
        if present is not None and present.is_present and present.derived is None:
            owner = None if present in self._ours else provenance_of(present.site)
        platform = f" on {rule.platform}" if rule.platform else ""
        return Staged(
            kind="rule",
            key=(rule.kind.name, primitive, rule.platform),
            label=f"the {rule.kind.name} rule of {primitive.name}{platform}",
            value=rule,
            provenance=provenance_of(rule.site),
            install=lambda: self._install(primitive, rule),
            remove=lambda: self._remove(primitive, rule, present),
            owner=owner,
        )

    def _install(self, primitive: Any, rule: Rule) -> None:
        old = _present(primitive, rule)
        if old is not None and old.is_present:
            rule.kind.remove(primitive, old)
        try:
            rule.kind.install(primitive, rule)
        except BaseException:
            if old is not None and old.is_present:
                rule.kind.install(primitive, old)
            raise
        self._ours.add(rule)
        primitive.forget_types()

    def _remove(self, primitive: Any, rule: Rule, former: Rule | None) -> None:
        self._ours.discard(rule)
        if former is not None and former.is_present:
            rule.kind.remove(primitive, rule)
            rule.kind.install(primitive, former)
        else:
            rule.kind.remove(primitive, rule, restore=former)
        primitive.forget_types()


def _present(primitive: Any, rule: Rule) -> Rule | None:
    for other in rule.kind.rules_of(primitive):
        if other.platform == rule.platform:
            return other
    return None


class PytreeInstaller:
    """Container types."""

    hook = "bindax_pytree_nodes"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        definitions = _listed(self.hook, result, NodeDefinition, plugin)
        return [self._staged(definition) for definition in definitions]

    def _staged(self, definition: NodeDefinition) -> Staged:
        kind = definition.type
        name = f"{kind.__module__}:{kind.__qualname__}"
        provenance = tree.provenance(definition)
        # Not find_definition: that would ask for the plugin that is being loaded.
        present = tree._definitions.get(kind)
        owner = None
        if present is not None and present is not definition:
            other = tree.provenance(present)
            owner = None if other.module == provenance.module else other
        return Staged(
            kind="pytree",
            key=kind,
            label=f"the pytree type {name}",
            value=definition,
            provenance=provenance,
            install=lambda: _outside_scopes(self._install, definition),
            remove=lambda: _outside_scopes(self._remove, definition),
            name=name,
            owner=owner,
        )

    def _install(self, definition: NodeDefinition) -> None:
        present = tree._definitions.get(definition.type)
        if present is not definition:
            if present is not None:
                tree.unregister_pytree_node(definition.type)
            tree.register_node(definition)

    def _remove(self, definition: NodeDefinition) -> None:
        if tree._definitions.get(definition.type) is definition:
            tree.unregister_pytree_node(definition.type)


def _outside_scopes(change: Callable[[NodeDefinition], None], definition: NodeDefinition) -> None:
    """Change the tree registry for good, even inside ``scoped_registration`` of a test."""
    token = tree._journal.set(None)
    try:
        change(definition)
    finally:
        tree._journal.reset(token)


class ValueInstaller:
    """Types whose instances are operands of primitives."""

    hook = "bindax_value_types"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        return [
            self._staged(value_type, plugin)
            for value_type in _listed(self.hook, result, ValueType, plugin)
        ]

    def _staged(self, value_type: ValueType, plugin: Entry) -> Staged:
        name = f"{value_type.type.__module__}:{value_type.type.__qualname__}"
        present = value_types.get(value_type.type)
        owner = None
        if present is not None and present is not value_type:
            owner = provenance_of(_site_of(present.typeof) or Site("bindax_core", "?", 0))
        return Staged(
            kind="value",
            key=value_type.type,
            label=f"the value type {name}",
            value=value_type,
            provenance=_provenance(value_type.typeof, plugin),
            install=lambda: register_value_type(value_type),
            remove=lambda: unregister_value_type(value_type),
            name=name,
            owner=owner,
        )


class BackendInstaller:
    """Backends."""

    hook = "bindax_backends"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        return [self._staged(one, plugin) for one in _listed(self.hook, result, object, plugin)]

    def _staged(self, backend: Any, plugin: Entry) -> Staged:
        missing = [
            name
            for name in ("name", "priority", "platform", "compile", "lower", "to_host", "put")
            if not hasattr(backend, name)
        ]
        if missing:
            raise PluginError(
                f"the backend {backend!r:.200} of {plugin.value} lacks {', '.join(missing)}; see "
                f"bindax_core.extend.Backend for what a backend has."
            )
        present = _backend.backends.get(backend.name)
        owner = None
        if present is not None and present is not backend:
            owner = provenance_of(_site_of(type(present).compile) or Site("bindax_core", "?", 0))
            owner = owner if owner.distribution == "bindax-core" else None
        return Staged(
            kind="backend",
            key=backend.name,
            label=f"the backend {backend.name!r}",
            value=backend,
            provenance=_provenance(type(backend).compile, plugin),
            install=lambda: _backend.register_backend(backend),
            remove=lambda: _backend.unregister_backend(backend),
            name=backend.name,
            owner=owner,
        )


class OperationsInstaller:
    """The array operations that interpreters need, for each kind of abstract value."""

    hook = "bindax_array_operations"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        given = result if isinstance(result, Mapping) else {ShapedArray: result}
        for aval_type, operations in given.items():
            fits = isinstance(aval_type, type) and issubclass(aval_type, AbstractValue)
            if not fits or not isinstance(operations, _operations.ArrayOperations):
                raise PluginError(
                    f"the hook {self.hook} of {plugin.value} must return ArrayOperations, or a "
                    f"mapping to them from types of abstract values, but returned {result!r:.200}."
                )
        return [self._staged(*item, plugin) for item in given.items()]

    def _staged(
        self, aval_type: type[Any], operations: _operations.ArrayOperations, plugin: Entry
    ) -> Staged:
        return Staged(
            kind="operations",
            key=aval_type,
            label=f"the array operations for {aval_type.__name__}",
            value=operations,
            provenance=_provenance(operations.add, plugin),
            install=lambda: _operations.register_array_operations(operations, aval_type),
            remove=lambda: _operations.unregister_array_operations(aval_type),
        )


class AttributeInstaller:
    """Operators, methods and properties of arrays and tracers."""

    hook = "bindax_array_attributes"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        if not isinstance(result, Mapping) or not all(isinstance(name, str) for name in result):
            raise PluginError(
                f"the hook {self.hook} of {plugin.value} must return a mapping from names to "
                f"functions and properties, but returned {result!r:.200}."
            )
        return [self._staged(name, result[name], plugin) for name in result]

    def _staged(self, name: str, attribute: Any, plugin: Entry) -> Staged:
        supplied = {name: attribute}
        function = attribute.fget if isinstance(attribute, property) else attribute
        return Staged(
            kind="attribute",
            key=name,
            label=f"the array attribute {name!r}",
            value=attribute,
            provenance=_provenance(function, plugin),
            install=lambda: _operators.install_array_attributes(supplied),
            remove=lambda: _operators.remove_array_attributes(supplied),
        )


class TransformationInstaller:
    """Transformations of functions under their names."""

    hook = "bindax_transformations"

    def stage(self, result: Any, plugin: Entry) -> list[Staged]:
        """See ``Installer``."""
        if not isinstance(result, Mapping) or not all(isinstance(name, str) for name in result):
            raise PluginError(
                f"the hook {self.hook} of {plugin.value} must return a mapping from names to "
                f"transformations, but returned {result!r:.200}."
            )
        for name, transformation in result.items():
            if not callable(transformation):
                raise PluginError(
                    f"the hook {self.hook} of {plugin.value} offers {name!r} as "
                    f"{transformation!r:.200}, which cannot be called."
                )
        return [
            Staged(
                kind="transformation",
                key=name,
                label=f"the transformation {name!r}",
                value=transformation,
                provenance=_provenance(transformation, plugin),
                install=_nothing,
                remove=_nothing,
                name=name,
            )
            for name, transformation in result.items()
        ]


def _site_of(function: Any) -> Site | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return Site(function.__module__, code.co_filename, code.co_firstlineno)


def _provenance(function: Any, plugin: Entry) -> Provenance:
    """The provenance of something that stores no site: of a function it has, or of the plugin."""
    site = _site_of(function)
    distribution = plugin.distribution
    if site is None:
        site = Site(plugin.module, file_of(plugin.module) or "?", 1)
    return Provenance(distribution.name, distribution.version, *site)


def installers() -> Sequence[Installer]:
    """An installer for each hook, in the order of installation."""
    return (
        PrimitiveInstaller(),
        ExtensionInstaller(),
        PytreeInstaller(),
        ValueInstaller(),
        BackendInstaller(),
        OperationsInstaller(),
        AttributeInstaller(),
        TransformationInstaller(),
    )


@contextmanager
def journaled_tree() -> Iterator[list[Any]]:
    """Collect what is registered in the tree registry by calls, so that it can be undone."""
    journal: list[Any] = []
    token = tree._journal.set(journal)
    try:
        yield journal
    finally:
        tree._journal.reset(token)


def undo_journal(journal: list[Any]) -> None:
    """Undo what ``journaled_tree`` collected."""
    with lock:
        for kind, former in reversed(journal):
            tree._set(kind, former)
