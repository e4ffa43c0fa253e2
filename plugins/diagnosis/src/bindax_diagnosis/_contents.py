"""The contents of loaded plugins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bindax_core.extend import Primitive
from bindax_core.plugins import LOADED, Plugin, installed


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
