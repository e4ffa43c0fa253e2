"""The contents of manifests that no load of a plugin needs: conflicts and requirements."""

from __future__ import annotations

import re

from bindax_core.plugins import (
    NAMED,
    Conflict,
    Distribution,
    Entry,
    Resolver,
    metadata_text,
    normalized,
)

_REQUIRES = re.compile(r"^Requires-Dist:\s*([A-Za-z0-9._-]+)", re.MULTILINE)


def required(distribution: Distribution) -> set[str]:
    """The names of the distributions that the metadata of one requires."""
    return {normalized(name) for name in _REQUIRES.findall(metadata_text(distribution.metadata))}


def conflicts(resolver: Resolver) -> list[Conflict]:
    """All conflicts: those that the manifests show, and those found while loading."""
    current, registrations = resolver.loader.manifest(), resolver.loader.registrations
    named = [(kind, entry) for kind in NAMED for entry in current.entries(f"{kind}s")]
    owners = {entry.distribution for _, entry in named}
    allowed = {owner for owner in owners if registrations.may_load(owner)}
    offers: dict[tuple[str, str], list[Entry]] = {}
    for kind, entry in named:
        if entry.distribution in allowed:
            offers.setdefault((kind, entry.offered_name), []).append(entry)
    every = [registrations.offered_conflict(entries) for entries in offers.values()]
    every.extend(list(registrations.conflicts.values()))
    found = {(one.kind, one.label): one for one in every if one is not None}
    return [found[key] for key in sorted(found)]
