"""The doctor: what is wrong with the installed plugins, as plain data, and what to do about it."""

from __future__ import annotations

import ast
import difflib
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bindax_core.errors import PluginLoadError, PluginWarning
from bindax_core.extend import distribution_of
from bindax_core.plugins import (
    ENTRY_KINDS,
    LOADED,
    QUARANTINED,
    Declaration,
    Entry,
    Loader,
    Manifest,
    Plugin,
    Resolver,
    described,
    file_of,
    hook_names,
    installed,
    is_found,
    missing_in,
    offers,
)
from bindax_diagnosis._manifests import conflicts, required
from bindax_diagnosis._replaced import Replaced, replaced_functions

Report = dict[str, Any]

_HOOKS = hook_names()
_KIT = "bindax-testing"
"""Modules of samples need it, which the conformance suite alone imports."""
_CORRECT = "correct its pyproject.toml, and install it again"


def doctor_report(resolver: Resolver, *, load: bool = True) -> list[Report]:
    """Return the problems of the installed plugins; see ``diagnose_plugins``."""
    loader = resolver.loader
    records = _load_each(loader) if load else []
    current = loader.manifest()
    records += [
        _problem(refusal.distribution.label, "refused", refusal.remedy)
        for refusal in current.refusals.values()
    ]
    for plugin in loader.plugins():
        records.extend(_plugin_records(loader, plugin))
    records.extend(map(_replaced_record, replaced_functions(current)))
    for conflict in conflicts(resolver):
        severity = "problem" if conflict.winner is None else "notice"
        remedy = conflict.remedy if conflict.winner is None else "none is needed"
        records.append(_problem("conflict", conflict.summary, remedy, severity=severity))
    for problem in current.problems:
        where = f"{problem.distribution.entry_points}:{problem.line}"
        text = f"{problem.text} ({where})"
        records.append(_problem(problem.distribution.label, text, _CORRECT))
    records.extend(_shared_names(loader))
    records.extend(_settings_records(resolver))
    return records


def unresolved_conflicts(distributions: frozenset[str]) -> list[str]:
    """Sentences on what some distributions do to others.

    These are conflicts that no setting decides, and functions of others that they replace.
    """
    replaced = [
        f"{one.distribution.label} replaces {one.name} by a function of its own ({one.file}:"
        f"{one.line}), which changes programs that do not use it."
        for one in replaced_functions(installed.resolver.loader.manifest())
        if one.distribution.name in distributions
    ]
    return replaced + [
        conflict.message
        for conflict in conflicts(installed.resolver)
        if conflict.winner is None
        and any(
            one.distribution and one.distribution.name in distributions
            for one in conflict.claimants
        )
    ]


def _shared_names(loader: Loader) -> Iterator[Report]:
    """Plugins of one name, which settings and ``load_plugins`` take together."""
    by_name: dict[str, list[str]] = {}
    for plugin in loader.plugins():
        by_name.setdefault(plugin.name, []).append(plugin.entry.distribution.name)
    for name, owners in by_name.items():
        if len(owners) > 1:
            text = f"{' and '.join(owners)} have a plugin of this name each"
            remedy = "name the distribution, not the plugin, in settings and in load_plugins"
            yield _problem(f"plugin {name!r}", text, remedy, severity="notice")


def _load_each(loader: Loader) -> list[Report]:
    """Load every plugin that may load; an interrupt ends the load of one, not the report."""
    records = []
    for plugin in loader.plugins():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PluginWarning)  # reported in full
                loader.load(plugin)
        except (PluginLoadError, PluginWarning):
            pass  # in strict mode, or where it makes warnings errors: it is in quarantine
        except KeyboardInterrupt as error:
            text = (
                "was interrupted while it was being loaded, by Ctrl-C or by a KeyboardInterrupt "
                "that it raises"
            )
            remedy = (
                f"see in the traceback what it was waiting for; if it never loads, deny it with "
                f"BINDAX_PLUGINS_DENY={plugin.entry.distribution.name}"
            )
            trace = "".join(traceback.format_exception(error))
            records.append(_problem(plugin.label, text, remedy, trace))
    return records


def _plugin_records(loader: Loader, plugin: Plugin) -> Iterator[Report]:
    name = plugin.entry.distribution.name
    if plugin.status == QUARANTINED:
        text = f"could not be loaded: {described(plugin.error)}"
        remedy = f"repair or upgrade {name}, or deny it with BINDAX_PLUGINS_DENY={name}"
        yield _problem(plugin.label, text, remedy, plugin.traceback)
    for note in notes_on(plugin, loader.manifest()):
        yield _problem(plugin.label, note, _CORRECT)
    if plugin.status != LOADED:
        return
    for entry in _entries_of(loader, plugin):
        missing = missing_in(entry)
        if missing:
            yield _problem(plugin.label, f"{entry.label} names {missing}", _CORRECT)
    for required_name, place in _undeclared_imports(plugin.entry).items():
        text = f"imports {required_name} ({place}), which its metadata does not require"
        remedy = f"add {required_name!r} to the dependencies in its pyproject.toml"
        yield _problem(plugin.label, text, remedy, severity="notice")


def notes_on(plugin: Plugin, current: Manifest) -> list[str]:
    """Sentences on functions that are no hooks, and on what hooks bring and the manifest lacks."""
    value = plugin.entry.value
    notes = [f"{value} defines {mistake}" for mistake in _mistaken_hooks(plugin.target)]
    if plugin.status == LOADED:
        if not plugin.hooks and not plugin.declared:
            notes.append(f"{value} has no hooks, so it brings nothing")
        notes += _differences(current, plugin)
    return notes


def _mistaken_hooks(target: Any) -> Iterator[str]:
    """The functions of a plugin that look like hooks and are none, with what is wrong."""
    names = [name for name in dir(target) if name.startswith("bindax_")]
    for name in names:
        function = getattr(target, name, None)
        # An imported package of such a name is no function, and pluggy marks with this attribute.
        marked = getattr(function, "bindax_impl", None) is not None
        if not callable(function) or (marked and name in _HOOKS):
            continue
        similar = difflib.get_close_matches(name, _HOOKS, n=1, cutoff=0.8)
        if name in _HOOKS:
            yield f"{name!r} without @hookimpl, so it is never called"
        elif marked:
            listed = f"did you mean {similar[0]!r}?" if similar else f"known: {', '.join(_HOOKS)}."
            yield f"{name!r} with @hookimpl, but there is no such hook: {listed}"
        elif similar:
            yield f"{name!r}, which is no hook, so it is never called; {similar[0]!r} is one"


def _differences(current: Manifest, plugin: Plugin) -> list[str]:
    """Where the manifest and what the hooks returned disagree, so that lazy loading would miss."""
    distribution = plugin.entry.distribution.name
    notes: list[str] = []
    for kind in ("primitive", "pytree", "value", "transformation"):
        brought = [one for one in plugin.declared if one.kind == kind and one.name is not None]
        group = f"{kind}s"
        entries = [one for one in current.entries(group) if one.distribution.name == distribution]
        names = {entry: entry.offered_name for entry in entries}
        offered, present = set(names.values()), {one.name for one in brought}
        notes.extend(
            f"the {kind} {one.name!r} is not in the group bindax.v1.{group} of the manifest of "
            f"{distribution}, so it is not found before the plugin is loaded"
            for one in sorted(brought, key=lambda one: str(one.name))
            if one.name not in offered and not any(_exports(entry, one) for entry in entries)
        )
        notes.extend(
            f"the {kind} {name!r} is offered in {entry.place}, but no hook returned it"
            for entry, name in names.items()
            if name not in present
            and not any(_exports(entry, one) for one in brought)
            and current.plugins_behind(entry) == (plugin.entry,)
            # A plugin may serve optional libraries.
            and is_found(entry.offered_name if ":" in entry.offered_name else entry.module)
        )
    return notes


def _exports(entry: Entry, declaration: Declaration) -> bool:
    """Tell whether an entry names a declared type where it is re-exported."""
    return isinstance(declaration.key, type) and offers(entry, declaration.key)


def _entries_of(loader: Loader, plugin: Plugin) -> Iterator[Entry]:
    """The offers of a plugin, which are found without importing it."""
    for kind in ENTRY_KINDS[1:]:
        for entry in loader.manifest().entries(kind):
            if loader.plugins_behind(entry)[:1] == [plugin]:
                yield entry


def _replaced_record(one: Replaced) -> Report:
    return _problem(
        one.distribution.label,
        f"replaces {one.name} by a function of its own ({one.file}:{one.line})",
        f"programs that do not use {one.distribution.name} change, too: it must bring what it has "
        f"through hooks; deny it with BINDAX_PLUGINS_DENY={one.distribution.name}",
    )


def _settings_records(resolver: Resolver) -> list[Report]:
    """Names in the settings that no installed plugin has: most likely misspelt."""
    settings = resolver.loader.settings()
    plugins = [plugin.name.replace("_", "-").lower() for plugin in resolver.loader.plugins()]
    known = {*resolver.loader.manifest().distributions, *plugins}
    records = []
    for setting in ("allow", "deny", "prefer"):
        for name in getattr(settings, setting) or ():
            if name not in known:
                source = settings.sources.get(setting, "code")
                text = f"the setting {setting} names {name!r}, which is not installed"
                remedy = f"correct the name, or remove it ({source})"
                records.append(_problem("settings", text, remedy, severity="notice"))
    return records


def _problem(
    subject: str, text: str, remedy: str, traceback: str = "", severity: str = "problem"
) -> Report:
    return {
        "severity": severity,
        "subject": subject,
        "text": text,
        "remedy": remedy,
        "traceback": traceback,
    }


def _undeclared_imports(entry: Entry) -> dict[str, str]:
    """The distributions of bindax that a plugin's package imports without requiring them.

    Each has the place of an import. Those in functions and below ``if`` or ``try`` are optional.
    """
    declared = required(entry.distribution)
    package = entry.module.partition(".")[0]
    file = file_of(package)
    known = {*declared, entry.distribution.name, _KIT}
    found: dict[str, str] = {}
    if file is None or not declared:
        return found
    directory = Path(file).parent
    files = sorted(directory.rglob("*.py")) if file.endswith("__init__.py") else [Path(file)]

    def undeclared(module: str) -> str | None:
        owner = None if module == package else distribution_of(module)
        return None if owner is None or owner.name in known else owner.name

    for path in files:
        for module, line in _imports(path, undeclared):
            name = undeclared(module)
            if name is not None:
                found.setdefault(name, f"{path}:{line}")
    return found


_STATEMENT = re.compile(rb"\b(?:from|import)\b(?:\\\n|[^\n])*")
_PACKAGE = re.compile(rb"\bbindax\w*")


def _imports(path: Path, wanted: Callable[[str], Any]) -> Iterator[tuple[str, int]]:
    """The top packages of bindax that a file imports as it is imported, each with the line.

    A file in which nothing that is wanted could be imported is not parsed, which takes long.
    """
    try:
        source = path.read_bytes()
        lines = b"\n".join(_STATEMENT.findall(source))
        if not any(wanted(name.decode()) for name in set(_PACKAGE.findall(lines))):
            return
        body = ast.parse(source).body
    except (OSError, SyntaxError, ValueError):  # it fails to load, which is said elsewhere
        return
    for node in body:
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        for name in names:
            if name.startswith("bindax"):
                yield name.partition(".")[0], node.lineno
