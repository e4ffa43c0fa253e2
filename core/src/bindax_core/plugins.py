"""The plugins of this process, for packages that report on them, compare them or write them down.

Programs need nothing of it. The names of the registry stand here as they are there, and each
release may change them.
"""

from __future__ import annotations

from bindax_core._exports import public_names as _public_names
from bindax_core.arrays._operators import ArrayOperators as ArrayOperators
from bindax_core.arrays._operators import supplied_attributes as supplied_attributes
from bindax_core.kernel._primitive import Primitive
from bindax_core.registry import _hooks, _manifest
from bindax_core.registry._declared import declared_primitives
from bindax_core.registry._installed import installed as installed
from bindax_core.registry._loader import AVAILABLE as AVAILABLE
from bindax_core.registry._loader import LOADED as LOADED
from bindax_core.registry._loader import QUARANTINED as QUARANTINED
from bindax_core.registry._loader import Loader as Loader
from bindax_core.registry._loader import Plugin as Plugin
from bindax_core.registry._loader import described as described
from bindax_core.registry._loader import is_found as is_found
from bindax_core.registry._loader import missing_in as missing_in
from bindax_core.registry._manifest import PLUGINS as PLUGINS
from bindax_core.registry._manifest import Distribution as Distribution
from bindax_core.registry._manifest import Entry as Entry
from bindax_core.registry._manifest import Manifest as Manifest
from bindax_core.registry._manifest import manifest as manifest
from bindax_core.registry._manifest import metadata_text as metadata_text
from bindax_core.registry._manifest import normalized as normalized
from bindax_core.registry._provenance import Provenance as Provenance
from bindax_core.registry._provenance import distribution_of as distribution_of
from bindax_core.registry._provenance import file_of as file_of
from bindax_core.registry._registrations import NAMED as NAMED
from bindax_core.registry._registrations import Conflict as Conflict
from bindax_core.registry._registrations import Declaration as Declaration
from bindax_core.registry._registrations import offers as offers
from bindax_core.registry._resolver import Resolver as Resolver

ENTRY_KINDS = _manifest.KINDS
"""The groups of entry points, that of plugins first."""


def hook_names() -> list[str]:
    """List the hooks that a plugin may have."""
    return [name for name in vars(_hooks) if name.startswith("bindax_")]


def find_distribution(name: str) -> Distribution | None:
    """Return the installed distribution of a name, or None.

    >>> find_distribution("bindax-core").name, find_distribution("bindax-nowhere")
    ('bindax-core', None)
    """
    return manifest().distributions.get(name)


def load_distribution(name: str) -> None:
    """Load the plugins of a distribution, as far as they may load.

    Raises:
        PluginError: one of them fails, or is written for another version of the plugin API.

    >>> load_distribution("bindax-lax-basic")
    >>> find_declared("bindax-lax-basic", "sin")
    Primitive('sin')
    """
    installed.resolver.load_distribution(name)


def find_declared(distribution: str, name: str) -> Primitive | None:
    """Return the primitive of a name that a distribution declared in this process, or None.

    >>> load_distribution("bindax-lax-basic")
    >>> find_declared("bindax-lax-basic", "sin"), find_declared("bindax-core", "sin")
    (Primitive('sin'), None)
    """
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


vars()["__all__"] = _public_names(vars())
