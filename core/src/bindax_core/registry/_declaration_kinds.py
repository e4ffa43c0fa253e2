"""From what plugins bring to the tables of the kernel: one function for each kind of declaration.

Each checks its object, and raises ``PluginError`` when that is not as specified. The loader
installs the declarations, and removes them in reverse when one of them fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from bindax_core._site import Site
from bindax_core.arrays import _backend, _operators
from bindax_core.arrays._shaped_array import ShapedArray
from bindax_core.errors import PluginError
from bindax_core.kernel import _aval
from bindax_core.kernel._primitive import Primitive
from bindax_core.kernel._rules import Rule
from bindax_core.registry._accelerator import accelerator
from bindax_core.registry._declared import declared_primitives
from bindax_core.registry._extensions import Extension
from bindax_core.registry._manifest import Entry
from bindax_core.registry._provenance import Provenance, file_of, provenance_of
from bindax_core.registry._registrations import Declaration, offers
from bindax_core.tree import _registry as tree
from bindax_core.tree._node_definition import NodeDefinition, qualified_name


def _listed(result: Any) -> list[Any] | None:
    """The objects in the result of a hook that returns an iterable, each alone in a tuple."""
    is_listed = isinstance(result, Iterable) and not isinstance(result, str | Mapping)
    return [(one,) for one in result] if is_listed else None


def _named(result: Any) -> list[Any] | None:
    """The names and objects in the result of a hook that returns a mapping from names."""
    is_named = isinstance(result, Mapping) and all(isinstance(name, str) for name in result)
    return list(result.items()) if is_named else None


def _by_aval_type(result: Any) -> list[Any] | None:
    """The types of abstract values and the array operations for them."""
    given = result if isinstance(result, Mapping) else {ShapedArray: result}
    fits = all(
        isinstance(aval_type, type)
        and issubclass(aval_type, _aval.AbstractValue)
        and isinstance(operations, _operators.ArrayOperations)
        for aval_type, operations in given.items()
    )
    return list(given.items()) if fits else None


class DeclarationKind(NamedTuple):
    """Turns results of one hook, and objects that entries of one group name, into declarations.

    Attributes:
        hook: the hook.
        declare: makes declarations of one of the ``items``.
        type: the type of the objects.
        group: the group of entries that may name the objects, if there is one.
        returns: what the hook returns, in words, if not an iterable of the type.
        items: the parts of a result, or None if it is not what the hook returns.
    """

    hook: str
    declare: Callable[..., Iterable[Declaration]]
    type: type = object
    group: str = ""
    returns: str = ""
    items: Callable[[Any], list[Any] | None] = _listed

    def of_hook(self, result: Any, plugin: Entry) -> list[Declaration]:
        """The declarations in the result of the hook."""
        returns = self.returns or f"an iterable of {self.type.__name__}"
        must = f"the hook {self.hook} of {plugin.value} must return {returns}, but"
        items = self.items(result)
        if items is None:
            raise PluginError(f"{must} returned {result!r:.200}.")
        for item in items:
            if not isinstance(item[-1], self.type):
                raise PluginError(f"{must} one of them is {item[-1]!r:.200}.")
        return [one for item in items for one in self.declare(*item, plugin)]

    def of_entry(self, entry: Entry, value: Any, plugin: Entry) -> list[Declaration]:
        """The declaration of the object that an entry names."""
        if not isinstance(value, self.type):
            raise PluginError(f"{entry.label} names {value!r:.200}, no {self.type.__name__}.")
        item = (entry.name, value) if self.items is _named else (value,)
        declared = list(self.declare(*item, plugin))
        for one in declared:
            if one.name != entry.offered_name and not _means(entry, one.key):
                raise PluginError(f"{entry.label} names {one.label}.")
        return declared


def _means(entry: Entry, key: Any) -> bool:
    return isinstance(key, type) and offers(entry, key)


# -------------------------------------------------------------------------- primitives and rules


def _primitive(primitive: Primitive, plugin: Entry) -> Iterator[Declaration]:
    name, owner = primitive.name, None
    for present in declared_primitives.get(name, ()):
        if present is not primitive and present.site.module.startswith("bindax_core."):
            owner = provenance_of(present.site)
    provenance = provenance_of(primitive.site)
    yield Declaration(plugin, "primitive", name, primitive, provenance, name, owner=owner)


_extended: set[Rule] = set()
"""The rules in force that extensions gave."""


def _extension(extension: Extension, plugin: Entry) -> Iterator[Declaration]:
    """Rules for a primitive of another package."""
    return (_rule(extension.primitive, rule, plugin) for rule in extension.rules)


def _rule(primitive: Any, rule: Rule, plugin: Entry) -> Declaration:
    if not rule.is_present:
        raise PluginError(
            f"the extension of {primitive.name} at {rule.site} says that the {rule.kind.name} "
            f"rule is absent or elsewhere; only the primitive's own definition can say so. Leave "
            f"it out."
        )
    present = _present(primitive, rule)
    owner = None
    if present is not None and present.is_present and present.derived is None:
        owner = None if present in _extended else provenance_of(present.site)
    platform = f" on {rule.platform}" if rule.platform else ""
    return Declaration(
        *(plugin, "rule", (rule.kind.name, primitive, rule.platform)),
        *(rule, provenance_of(rule.site)),
        label=f"the {rule.kind.name} rule of {primitive.name}{platform}",
        install=lambda: _install_rule(primitive, rule),
        remove=lambda: _remove_rule(primitive, rule, present),
        owner=owner,
    )


def _install_rule(primitive: Any, rule: Rule) -> None:
    old = _present(primitive, rule)
    if old is not None:
        rule.kind.remove(primitive, old)
    try:
        rule.kind.install(primitive, rule)
    except BaseException:
        if old is not None:
            rule.kind.install(primitive, old)
        raise
    _extended.add(rule)
    primitive.forget_types()


def _remove_rule(primitive: Any, rule: Rule, former: Rule | None) -> None:
    _extended.discard(rule)
    rule.kind.remove(primitive, rule)
    if former is not None:
        rule.kind.install(primitive, former)
    primitive.forget_types()


def _present(primitive: Any, rule: Rule) -> Rule | None:
    same = (one for one in rule.kind.rules_of(primitive) if one.platform == rule.platform)
    return next(same, None)


# ------------------------------------------------------------------------------------- types


def _pytree_node(definition: NodeDefinition, plugin: Entry) -> Iterator[Declaration]:
    kind = definition.type
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

    yield Declaration(
        *(plugin, "pytree", kind, definition, provenance, qualified_name(kind)),
        install=install,
        remove=remove,
        owner=owner,
    )


def _value_type(value_type: _aval.ValueType, plugin: Entry) -> Iterator[Declaration]:
    kind = value_type.type
    present = _aval.value_types.get(kind)
    owner = None
    if present is not None and present is not value_type:
        owner = provenance_of(_site_of(present.typeof) or Site("bindax_core", "?", 0))
    provenance = _provenance(value_type.typeof, plugin)
    yield Declaration(
        *(plugin, "value", kind, value_type, provenance, qualified_name(kind)),
        install=lambda: _aval.register_value_type(value_type),
        remove=lambda: _aval.unregister_value_type(value_type),
        owner=owner,
    )


# ------------------------------------------------------- backends, operations, transformations

_OF_BACKENDS = ("name", "priority", "platform", "compile", "lower", "to_host", "put")


def _backend_of(backend: Any, plugin: Entry) -> Iterator[Declaration]:
    missing = [name for name in _OF_BACKENDS if not hasattr(backend, name)]
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
    provenance = _provenance(type(backend).compile, plugin)
    yield Declaration(
        *(plugin, "backend", backend.name, backend, provenance, backend.name),
        install=lambda: _backend.register_backend(backend),
        remove=lambda: _backend.unregister_backend(backend),
        owner=owner,
    )


def _array_operations(
    aval_type: type[Any], operations: _operators.ArrayOperations, plugin: Entry
) -> Iterator[Declaration]:
    yield Declaration(
        *(plugin, "operations", aval_type, operations, _provenance(operations.add, plugin)),
        label=f"the array operations for {aval_type.__name__}",
        install=lambda: _operators.register_array_operations(operations, aval_type),
        remove=lambda: _operators.unregister_array_operations(aval_type),
    )


def _array_attribute(name: str, attribute: Any, plugin: Entry) -> Iterator[Declaration]:
    supplied = {name: attribute}
    function = attribute.fget if isinstance(attribute, property) else attribute
    yield Declaration(
        *(plugin, "attribute", name, attribute, _provenance(function, plugin)),
        label=f"the array attribute {name!r}",
        install=lambda: _operators.install_array_attributes(supplied),
        remove=lambda: _operators.remove_array_attributes(supplied),
    )


def _transformation(name: str, transformation: Any, plugin: Entry) -> Iterator[Declaration]:
    if not callable(transformation):
        raise PluginError(
            f"{plugin.value} offers the transformation {name!r} as {transformation!r:.200}, which "
            f"cannot be called."
        )
    provenance = _provenance(transformation, plugin)
    yield Declaration(plugin, "transformation", name, transformation, provenance, name)


KINDS = (
    DeclarationKind("bindax_primitives", _primitive, Primitive, "primitives"),
    DeclarationKind("bindax_extensions", _extension, Extension),
    DeclarationKind("bindax_pytree_nodes", _pytree_node, NodeDefinition, "pytrees"),
    DeclarationKind("bindax_value_types", _value_type, _aval.ValueType, "values"),
    DeclarationKind("bindax_backends", _backend_of, group="backends"),
    DeclarationKind(
        "bindax_array_operations",
        _array_operations,
        returns="ArrayOperations, or a mapping to them from types of abstract values",
        items=_by_aval_type,
    ),
    DeclarationKind(
        "bindax_array_attributes",
        _array_attribute,
        returns="a mapping from names to functions and properties",
        items=_named,
    ),
    DeclarationKind(
        "bindax_transformations",
        _transformation,
        group="transformations",
        returns="a mapping from names to transformations",
        items=_named,
    ),
    DeclarationKind(
        "bindax_accelerator",
        accelerator,
        returns="a function from objects of core to functions by name",
        items=lambda result: [(result,)] if callable(result) else None,
    ),
)
"""The kinds in the order in which their declarations are installed."""


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
