"""Installed distributions and what each declares, for packages that name it in files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bindax_core.registry._declared import declared_primitives
from bindax_core.registry._installed import installed
from bindax_core.registry._manifest import Distribution, Entry, manifest
from bindax_core.registry._provenance import distribution_of

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


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
