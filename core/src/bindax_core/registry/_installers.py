"""From what the hooks return to the tables of the kernel: one function for each hook.

Each checks what the hook returned, and raises ``PluginError`` when that is not as specified. The
loader installs the declarations, and removes them in reverse when one of them fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from bindax_core.errors import PluginError
from bindax_core.kernel import _aval
from bindax_core.kernel._cards import Extension
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._rule_tables import Rule
from bindax_core.kernel._site import Site
from bindax_core.registry._claims import Staged
from bindax_core.registry._manifest import Entry
from bindax_core.registry._provenance import Provenance, file_of, provenance_of
from bindax_core.runtime import _backend, _operations, _operators
from bindax_core.runtime._primitives_by_name import declared_primitives
from bindax_core.tree import _registry as tree
from bindax_core.tree._definition import NodeDefinition

Stage: TypeAlias = Callable[[str, Any, Entry], list[Staged]]
"""From the name of a hook, what it returned and the plugin to declarations."""


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


def _of_each(type_: type, stage: Callable[[Any, Entry], Staged]) -> Stage:
    """The stage of a hook that returns things of a type, which are a declaration each."""
    return lambda hook, result, plugin: [
        stage(one, plugin) for one in _listed(hook, result, type_, plugin)
    ]


def _of_names(kinds: str, stage: Callable[[str, Any, Entry], Staged]) -> Stage:
    """The stage of a hook that returns a mapping from names, which are a declaration each."""

    def staged(hook: str, result: Any, plugin: Entry) -> list[Staged]:
        if not isinstance(result, Mapping) or not all(isinstance(name, str) for name in result):
            raise PluginError(
                f"the hook {hook} of {plugin.value} must return a mapping from names to {kinds}, "
                f"but returned {result!r:.200}."
            )
        return [stage(*item, plugin) for item in result.items()]

    return staged


# -------------------------------------------------------------------------- primitives and rules


def _primitive(primitive: Primitive, plugin: Entry) -> Staged:
    name, owner = primitive.name, None
    for present in declared_primitives.get(name, ()):
        if present is not primitive and present.site.module.startswith("bindax_core."):
            owner = provenance_of(present.site)
    return Staged(
        kind="primitive",
        key=name,
        label=f"the primitive {name!r}",
        value=primitive,
        provenance=provenance_of(primitive.site),
        name=name,
        owner=owner,
    )


_extended: set[Rule] = set()
"""The rules in force that extensions gave."""


def _extensions(hook: str, result: Any, plugin: Entry) -> list[Staged]:
    """Rules for primitives of other packages."""
    return [
        _rule(extension.primitive, rule)
        for extension in _listed(hook, result, Extension, plugin)
        for rule in extension.rules
    ]


def _rule(primitive: Any, rule: Rule) -> Staged:
    if not rule.is_present:
        raise PluginError(
            f"the extension of {primitive.name} at {rule.site} says that the {rule.kind.name} "
            f"rule is absent or elsewhere; only the primitive's own card can say so. Leave it "
            f"out."
        )
    present = _present(primitive, rule)
    owner = None
    if present is not None and present.is_present and present.derived is None:
        owner = None if present in _extended else provenance_of(present.site)
    platform = f" on {rule.platform}" if rule.platform else ""
    return Staged(
        kind="rule",
        key=(rule.kind.name, primitive, rule.platform),
        label=f"the {rule.kind.name} rule of {primitive.name}{platform}",
        value=rule,
        provenance=provenance_of(rule.site),
        install=lambda: _install_rule(primitive, rule),
        remove=lambda: _remove_rule(primitive, rule, present),
        owner=owner,
    )


def _install_rule(primitive: Any, rule: Rule) -> None:
    old = _present(primitive, rule)
    replaced = None if old is None or not old.is_present else old
    if replaced is not None:
        rule.kind.remove(primitive, replaced)
    try:
        rule.kind.install(primitive, rule)
    except BaseException:
        if replaced is not None:
            rule.kind.install(primitive, replaced)
        raise
    _extended.add(rule)
    primitive.forget_types()


def _remove_rule(primitive: Any, rule: Rule, former: Rule | None) -> None:
    _extended.discard(rule)
    if former is not None and former.is_present:
        rule.kind.remove(primitive, rule)
        rule.kind.install(primitive, former)
    else:
        rule.kind.remove(primitive, rule, restore=former)
    primitive.forget_types()


def _present(primitive: Any, rule: Rule) -> Rule | None:
    same = (one for one in rule.kind.rules_of(primitive) if one.platform == rule.platform)
    return next(same, None)


# ------------------------------------------------------------------------------------- types


def _pytree_node(definition: NodeDefinition, plugin: Entry) -> Staged:
    kind = definition.type
    name = f"{kind.__module__}:{kind.__qualname__}"
    provenance = tree.provenance(definition)
    # Not find_definition: that would ask for the plugin that is being loaded.
    present = tree._definitions.get(kind)
    owner = None
    if present is not None and present is not definition:
        other = tree.provenance(present)
        owner = None if other.module == provenance.module else other

    @tree.journaled()  # for good, even inside ``scoped_registration`` of a test
    def install() -> None:
        present = tree._definitions.get(kind)
        if present is not definition:
            if present is not None:
                tree.unregister_pytree_node(kind)
            tree.register_node(definition)

    @tree.journaled()
    def remove() -> None:
        if tree._definitions.get(kind) is definition:
            tree.unregister_pytree_node(kind)

    return Staged(
        kind="pytree",
        key=kind,
        label=f"the pytree type {name}",
        value=definition,
        provenance=provenance,
        install=install,
        remove=remove,
        name=name,
        owner=owner,
    )


def _value_type(value_type: _aval.ValueType, plugin: Entry) -> Staged:
    name = f"{value_type.type.__module__}:{value_type.type.__qualname__}"
    present = _aval.value_types.get(value_type.type)
    owner = None
    if present is not None and present is not value_type:
        owner = provenance_of(_site_of(present.typeof) or Site("bindax_core", "?", 0))
    return Staged(
        kind="value",
        key=value_type.type,
        label=f"the value type {name}",
        value=value_type,
        provenance=_provenance(value_type.typeof, plugin),
        install=lambda: _aval.register_value_type(value_type),
        remove=lambda: _aval.unregister_value_type(value_type),
        name=name,
        owner=owner,
    )


# ------------------------------------------------------- backends, operations, transformations


def _backend_of(backend: Any, plugin: Entry) -> Staged:
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


def _array_operations(hook: str, result: Any, plugin: Entry) -> list[Staged]:
    """The array operations that interpreters need, for each kind of abstract value."""
    given = result if isinstance(result, Mapping) else {_aval.ShapedArray: result}
    for aval_type, operations in given.items():
        fits = isinstance(aval_type, type) and issubclass(aval_type, _aval.AbstractValue)
        if not fits or not isinstance(operations, _operations.ArrayOperations):
            raise PluginError(
                f"the hook {hook} of {plugin.value} must return ArrayOperations, or a mapping to "
                f"them from types of abstract values, but returned {result!r:.200}."
            )
    return [_operations_for(*item, plugin) for item in given.items()]


def _operations_for(
    aval_type: type[Any], operations: _operations.ArrayOperations, plugin: Entry
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


def _array_attribute(name: str, attribute: Any, plugin: Entry) -> Staged:
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


def _transformation(name: str, transformation: Any, plugin: Entry) -> Staged:
    if not callable(transformation):
        raise PluginError(
            f"the hook bindax_transformations of {plugin.value} offers {name!r} as "
            f"{transformation!r:.200}, which cannot be called."
        )
    return Staged(
        kind="transformation",
        key=name,
        label=f"the transformation {name!r}",
        value=transformation,
        provenance=_provenance(transformation, plugin),
        name=name,
    )


STAGES: dict[str, Stage] = {
    "bindax_primitives": _of_each(Primitive, _primitive),
    "bindax_extensions": _extensions,
    "bindax_pytree_nodes": _of_each(NodeDefinition, _pytree_node),
    "bindax_value_types": _of_each(_aval.ValueType, _value_type),
    "bindax_backends": _of_each(object, _backend_of),
    "bindax_array_operations": _array_operations,
    "bindax_array_attributes": _of_names("functions and properties", _array_attribute),
    "bindax_transformations": _of_names("transformations", _transformation),
}
"""The hooks in the order in which their declarations are installed."""


def _site_of(function: Any) -> Site | None:
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    return Site(function.__module__, code.co_filename, code.co_firstlineno)


def _provenance(function: Any, plugin: Entry) -> Provenance:
    """The provenance of something that stores no site: of a function it has, or of the plugin."""
    distribution = plugin.distribution
    site = _site_of(function) or Site(plugin.module, file_of(plugin.module) or "?", 1)
    return Provenance(distribution.name, distribution.version, *site)
