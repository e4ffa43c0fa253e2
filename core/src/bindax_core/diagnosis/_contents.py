"""Installed distributions and plugins, and what each of them declares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bindax_core.kernel._primitive import Primitive
from bindax_core.registry._declared import declared_primitives
from bindax_core.registry._installed import installed
from bindax_core.registry._loader import LOADED, Plugin
from bindax_core.registry._manifest import Distribution, Entry, manifest
from bindax_core.registry._provenance import distribution_of


def find_distribution(name: str) -> Distribution | None:
    """Return the installed distribution of a name, or None."""
    return manifest().distributions.get(name)


def load_distribution(name: str) -> None:
    """Load the plugins of a distribution, as far as they may load.

    Raises:
        PluginError: one of them fails, or is written for another version of the plugin API.
    """
    installed.resolver.load_distribution(name)


def find_declared(distribution: str, name: str) -> Primitive | None:
    """Return the primitive of a name that a distribution declared in this process, or None."""
    for primitive in declared_primitives.get(name, ()):
        owner = distribution_of(primitive.site.module)
        if owner is not None and owner.name == distribution:
            return primitive
    return None


def manifest_entries(kind: str) -> tuple[Entry, ...]:
    """Return the entries of the group ``bindax.v1.<kind>``, by distribution and name.

    >>> [entry.name for entry in manifest_entries("canonical_rule_kinds")]
    ['jvp', 'transpose', 'vmap']
    """
    return manifest().entries(kind)


@dataclass(frozen=True)
class PluginContents:
    """The declarations of a loaded plugin.

    Attributes:
        name: the plugin.
        distribution: the distribution that brings it.
        target: the module or object that its entry point names.
        primitives: the primitives that it owns.
        rules: the kinds and primitives of the rules that it gives for primitives of others.
        declared: the kinds of its declarations, such as ``"primitive"`` and ``"pytree"``.
        types: the container types that it defines.
        hooks: its hooks, which are called as functions.
    """

    name: str
    distribution: str
    target: str
    primitives: tuple[Primitive, ...]
    rules: tuple[tuple[str, Primitive], ...]
    declared: frozenset[str]
    types: tuple[type, ...]
    hooks: Any = field(repr=False, compare=False)


def plugin_contents(name: str | None = None) -> list[PluginContents]:
    """The contents of the plugins of a name, which are loaded, or of all that are loaded.

    Args:
        name: a plugin or a distribution; None for all that are loaded already.

    Raises:
        PluginError: when no such plugin is installed, or it may not load.
        PluginLoadError: when it fails to load.

    >>> [one.name for one in plugin_contents("bindax-transforms")]
    ['transforms']
    """
    loader = installed.resolver.loader
    plugins = loader.plugins() if name is None else loader.load_named(name)
    return [_contents(plugin) for plugin in plugins if plugin.status == LOADED]


def _contents(plugin: Plugin) -> PluginContents:
    declared = plugin.installed
    return PluginContents(
        name=plugin.name,
        distribution=plugin.entry.distribution.name,
        target=plugin.entry.value,
        primitives=tuple(one.value for one in declared if one.kind == "primitive"),
        rules=tuple((one.key[0], one.key[1]) for one in declared if one.kind == "rule"),
        declared=frozenset(one.kind for one in declared),
        types=tuple(one.value.type for one in declared if one.kind == "pytree"),
        hooks=plugin.hooks,
    )
