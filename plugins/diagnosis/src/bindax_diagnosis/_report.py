"""Reports on plugins, rules and containers for the command line and for programs.

Reports consist of dictionaries, lists, strings and numbers, so that they become JSON as they are.
"""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Rule, provenance_of, rule_kinds
from bindax_core.plugins import (
    AVAILABLE,
    ENTRY_KINDS,
    LOADED,
    PLUGINS,
    QUARANTINED,
    Entry,
    Plugin,
    Provenance,
    Resolver,
    described,
    file_of,
    offers,
)
from bindax_core.tree_util import registered_by, registered_nodes
from bindax_diagnosis._manifests import conflicts

Report = dict[str, Any]


def plugins_report(resolver: Resolver) -> list[Report]:
    """One record for each plugin and each refused distribution; see ``installed_plugins``."""
    known_conflicts = conflicts(resolver)
    records = []
    for plugin in resolver.loader.plugins():
        status, why = _status(resolver, plugin, known_conflicts)
        seconds, offers = round(plugin.seconds, 6), _offers(resolver, plugin)
        records.append(_plugin_record(plugin.entry, status, why, seconds, offers))
    current = resolver.loader.manifest()
    for entry in current.refused(PLUGINS):
        why = current.remedy(entry.distribution.name)
        records.append(_plugin_record(entry, "refused", why, 0.0, {}))
    return sorted(records, key=lambda record: (record["distribution"], record["plugin"]))


def _plugin_record(
    entry: Entry, status: str, why: str, seconds: float, offers: dict[str, list[str]]
) -> Report:
    return {
        "plugin": entry.name,
        "distribution": entry.distribution.name,
        "version": entry.distribution.version,
        "status": status,
        "why": why,
        "module": entry.value,
        "file": file_of(entry.module),
        "seconds": seconds,
        "offers": offers,
    }


def _status(resolver: Resolver, plugin: Plugin, conflicts: list[Any]) -> tuple[str, str]:
    settings = resolver.loader.settings()
    if plugin.status == QUARANTINED:
        return QUARANTINED, described(plugin.error)
    denied = settings.refusal(plugin.entry)
    if plugin.status == AVAILABLE and denied is not None:
        return "denied", denied
    mine = [
        conflict
        for conflict in conflicts
        if any(side.distribution == plugin.entry.distribution for side in conflict.claimants)
    ]
    open_ones = [conflict for conflict in mine if conflict.winner is None]
    if open_ones:
        return "conflict", "; ".join(conflict.message for conflict in open_ones)
    why = "; ".join(conflict.message for conflict in mine)
    if plugin.status == AVAILABLE and not settings.autoload:
        why = f"autoload is off by {settings.sources.get('autoload', 'code')}"
    return plugin.status, why


def _offers(resolver: Resolver, plugin: Plugin) -> dict[str, list[str]]:
    offers: dict[str, list[str]] = {}
    for kind in ENTRY_KINDS[1:]:
        names = [
            entry.offered_name
            for entry in resolver.loader.manifest().entries(kind)
            if entry.distribution == plugin.entry.distribution
            and plugin in resolver.loader.plugins_behind(entry)
        ]
        if names:
            offers[kind] = sorted(dict.fromkeys(names))
    return offers


def rules_report(resolver: Resolver, primitive: Any) -> Report:
    """The rules of a primitive; see ``rule_coverage``."""
    name = primitive.name
    kinds = dict(rule_kinds)
    entries = resolver.loader.manifest().entries("rules")
    offered = {entry.offered_name for entry in entries}
    records: list[Report] = []
    for kind_name in sorted(kinds.keys() | offered):
        kind = kinds.get(kind_name)
        rules = [] if kind is None else kind.rules_of(primitive)
        candidates = resolver.candidates(kind_name)
        if candidates and not any(rule.is_present for rule in rules):
            resolver.load_for_rule(kind_name, primitive)
            kind = rule_kinds.get(kind_name)
            rules = [] if kind is None else kind.rules_of(primitive)
        records.extend(_rule_record(kind_name, rule, candidates) for rule in rules)
        if not rules and (candidates or (kind is not None and kind.canonical)):
            records.append(_rule_record(kind_name, None, candidates))
    return {
        "primitive": name,
        **_place(provenance_of(primitive.site)),
        "multiple_results": primitive.multiple_results,
        "rules": records,
    }


def _rule_record(kind: str, rule: Rule | None, candidates: list[str]) -> Report:
    status, why = "present", ""
    if rule is None:
        status, why = "missing", "no rule is loaded"
    elif rule.derived is not None:
        status, why = "derived", rule.derived
    elif rule.provider is not None:
        status, why = "elsewhere", f"expected from {rule.provider}"
    elif not rule.is_present:
        status, why = "absent", rule.reason or ""
    return {
        "kind": kind,
        "platform": None if rule is None else rule.platform,
        "status": status,
        **_place(None if rule is None else provenance_of(rule.site)),
        "why": why,
        "candidates": [] if status in ("present", "derived") else candidates,
    }


def _place(given: Provenance | None) -> Report:
    return {key: getattr(given, key, None) for key in ("distribution", "version", "file", "line")}


def containers_report(resolver: Resolver) -> list[Report]:
    """One record for each container type that is registered or offered; see ``container_types``."""
    records = []
    current = resolver.loader.manifest()
    entries = current.entries("pytrees")
    known = registered_nodes()
    for definition in known:
        kind = definition.type
        # Under one name before and after loading: a manifest may name a type where it is exported.
        names = [entry.offered_name for entry in entries if offers(entry, kind)]
        provenance = registered_by(kind)
        if provenance is None:  # another thread has removed it
            continue
        built_in = provenance.module.startswith("bindax_core.")
        status = "built in" if built_in else "registered"
        name = names[0] if names else f"{kind.__module__}:{kind.__qualname__}"
        records.append(_container(name, status, provenance))
    known_conflicts = conflicts(resolver)
    for entry in entries:
        if any(offers(entry, definition.type) for definition in known):
            continue
        for plugin in resolver.loader.plugins_behind(entry):
            status, why = _status(resolver, plugin, known_conflicts)
            if status == LOADED:
                status, why = "absent", "the plugin is loaded, and did not bring it"
            records.append(_container(entry.offered_name, status, _manifest_place(entry), why))
    for entry in current.refused("pytrees"):
        why = current.remedy(entry.distribution.name)
        records.append(_container(entry.offered_name, "refused", _manifest_place(entry), why))
    return sorted(records, key=lambda record: (record["status"] != "built in", record["type"]))


def _container(name: str, status: str, place: Provenance, why: str = "") -> Report:
    return {"type": name, "status": status, **_place(place), "why": why}


def _manifest_place(entry: Entry) -> Provenance:
    owner = entry.distribution
    return Provenance(owner.name, owner.version, entry.module, owner.entry_points, entry.line)
