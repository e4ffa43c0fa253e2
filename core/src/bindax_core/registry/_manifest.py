"""The static manifest: what the installed distributions offer, read from metadata alone.

Entry points in the groups ``bindax.v1`` and ``bindax.v1.*`` say what a distribution brings. Reading
them imports nothing, neither a plugin nor ``importlib.metadata``: the metadata directories on
``sys.path`` are listed once per process, and the sections of their ``entry_points.txt`` are parsed
when somebody asks for one.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import NamedTuple

from bindax_core._site import absolute_path

SUPPORTED_API_VERSIONS = frozenset({1})
"""The plugin API versions that this kernel speaks; a plugin's is in the name of its groups."""

PLUGINS = "plugins"
"""The kind of the entries in the group ``bindax.v1`` itself: the modules that hold the hooks."""

_OFFERED = (
    *("primitives", "rules", "pytrees", "values", "backends", "operations", "transformations"),
    *("rule_kinds", "canonical_rule_kinds", "settings", "text_forms", "accelerators"),
)
KINDS = (PLUGINS, *_OFFERED)
"""The kinds of entries; each but the first is the last part of a group name."""

_BY_OBJECTS = ("primitives", "pytrees", "values", "backends", "transformations")
"""The kinds whose entries may name what is declared, so that it takes no hook."""
_BY_HOOKS = ("rules", "operations")

_OPENING = "[bindax.v"
_HEADER = re.compile(r"\[bindax\.v[^\n]*")
_GROUP = re.compile(r"\[\s*bindax\.v(\d+)(?:\.(.+?))?\s*\]")
_VERSION = re.compile(r"^Version:\s*(\S+)", re.MULTILINE)
_EXTRAS = re.compile(r"\s*\[[^\]]*\]\s*$")


def normalized(name: str) -> str:
    """A distribution's name as package indexes compare it: ``"bindax-lax-basic"``."""
    plain = name.replace("_", "-").replace(".", "-").lower()
    return re.sub("-+", "-", plain) if "--" in plain else plain


class Distribution(NamedTuple):
    """An installed distribution: name, version or ``"unknown"``, and directory of metadata."""

    name: str
    version: str
    metadata: str

    @property
    def label(self) -> str:
        """Name and version, for messages."""
        return f"{self.name} {self.version}"

    @property
    def entry_points(self) -> str:
        """The path of the file that holds its part of the manifest."""
        return self.metadata + os.sep + "entry_points.txt"


class Entry(NamedTuple):
    """One line of the manifest: ``name = value`` in the group of a kind."""

    kind: str
    name: str
    value: str
    distribution: Distribution
    line: int

    @property
    def module(self) -> str:
        """The module that the entry points into."""
        return self.value.partition(":")[0].strip()

    @property
    def attribute(self) -> str:
        """The object inside the module, or the empty string for the module itself."""
        return self.value.partition(":")[2].strip()

    @property
    def offered_name(self) -> str:
        """The offer itself: the type of a pytree or value entry, the kind of rules, the name.

        A type is the name if that has a colon, and the value names its definition; else the value.
        """
        if self.kind in ("pytrees", "values"):
            return self.name if ":" in self.name else f"{self.module}:{self.attribute}"
        if self.kind == "rules":
            # A suffix tells entries of one distribution for one kind apart.
            return self.name.partition("@")[0].strip()
        return self.name

    @property
    def names_object(self) -> bool:
        """Tell whether the value names what is declared, not a plugin or a type."""
        if self.kind in ("pytrees", "values"):
            return ":" in self.name
        return self.kind in _BY_OBJECTS and ":" in self.value

    @property
    def is_implied(self) -> bool:
        """Tell whether this stands for the plugin of a distribution that has no module of hooks."""
        return self.line == 0

    @property
    def label(self) -> str:
        """The entry with its file and line, for messages."""
        return f"the {self.kind} entry {self.name!r} ({self.place})"

    @property
    def place(self) -> str:
        """The file and line of the manifest, for messages."""
        return f"{self.distribution.entry_points}:{self.line}"


class Problem(NamedTuple):
    """Something in the metadata that could not be used, with the place and the remedy."""

    distribution: Distribution
    line: int
    text: str


class Refusal(NamedTuple):
    """A distribution whose plugins were written for plugin API versions that are not supported."""

    distribution: Distribution
    versions: tuple[int, ...]

    @property
    def remedy(self) -> str:
        """The mistake and its remedy, as one sentence."""
        wanted = " and ".join(str(version) for version in self.versions)
        ours = " and ".join(str(version) for version in sorted(SUPPORTED_API_VERSIONS))
        name = self.distribution.name
        if min(self.versions) > max(SUPPORTED_API_VERSIONS):
            remedy = f"upgrade bindax-core, or install a release of {name} for plugin API {ours}"
        else:
            remedy = f"install a newer release of {name}, or an older bindax-core"
        return (
            f"{self.distribution.label} was written for plugin API version {wanted}, and the "
            f"installed bindax-core supports version {ours}: {remedy}."
        )


class _Section(NamedTuple):
    distribution: Distribution
    kind: str
    api: int
    text: str
    start: int
    end: int

    @property
    def line(self) -> int:
        """The line of the header."""
        return self.text.count("\n", 0, self.start) + 1


@lru_cache(maxsize=64)
def _group(header: str) -> tuple[int, str]:
    """The plugin API version and the kind of a header; no kind when it is not for bindax."""
    match = _GROUP.fullmatch(header)
    if match is None:
        return 0, ""
    if match[2] == PLUGINS:  # there is no such group: plugins are in the one without a suffix
        return int(match[1]), "plugins group"
    return int(match[1]), match[2] or PLUGINS


class Manifest:
    """The offers of the distributions on a search path; immutable once read.

    A distribution found in more than one directory or zip file of the path counts once, from the
    first; found twice in one, from the newest version.

    Two search paths that find the same distributions give equal manifests, whatever their order:
    everything here is sorted by distribution, and then by name.

    Attributes:
        distributions: all that are installed, by name.
        refusals: those that were refused, by name.
    """

    def __init__(self, path: Sequence[str]) -> None:
        self.refusals: dict[str, Refusal] = {}
        self._problems: list[Problem] = []
        self._sections: dict[str, list[_Section]] = {kind: [] for kind in KINDS}
        self._entries: dict[str, tuple[Entry, ...]] = {}
        self._offers: dict[str, dict[str, list[Entry]]] = {}
        self._without_hooks: list[Distribution] = []
        found: dict[str, tuple[Distribution, str]] = {}
        for distribution, text in _installed(path):
            found.setdefault(distribution.name, (distribution, text))
        self.distributions: dict[str, Distribution] = {
            name: found[name][0] for name in sorted(found)
        }
        for name in self.distributions:
            distribution, text = found[name]
            if _OPENING in text:
                self._add(distribution, text)

    def _add(self, distribution: Distribution, text: str) -> None:
        if distribution.version == "unknown":
            version = _VERSION.search(metadata_text(distribution.metadata))
            distribution = distribution._replace(version=version[1] if version else "unknown")
            self.distributions[distribution.name] = distribution
        sections = []
        # Searching is several times faster here than parsing lines that nobody may ask for.
        for header in _HEADER.finditer(text):
            if header.start() == 0 or text[header.start() - 1] == "\n":
                section = self._section(distribution, header)
                if section is not None:
                    sections.append(section)
        supported = [section for section in sections if section.api in SUPPORTED_API_VERSIONS]
        if sections and not supported:
            versions = tuple(sorted({section.api for section in sections}))
            self.refusals[distribution.name] = Refusal(distribution, versions)
        for section in supported or sections:
            self._sections[section.kind].append(section)
        if supported and all(section.kind != PLUGINS for section in supported):
            self._without_hooks.append(distribution)
        for section in supported:
            if section.kind in _BY_HOOKS and distribution in self._without_hooks:
                reason = 'the group "bindax.v1" is missing, so nothing of this group can be loaded'
                self._problems.append(Problem(distribution, section.line, reason))

    def _section(self, distribution: Distribution, found: re.Match[str]) -> _Section | None:
        text, header = found.string, found[0].rstrip()
        api, kind = _group(header)
        if kind in KINDS:
            end = text.find("\n[", found.end())
            end = len(text) if end < 0 else end
            return _Section(distribution, kind, api, text, found.end(), end)
        if not header.endswith("]"):
            reason = f"the line {header!r:.80} is damaged: it should be a group, as in [bindax.v1]"
        elif kind and api in SUPPORTED_API_VERSIONS:
            known = ", ".join(f"bindax.v{api}.{kind}" for kind in KINDS[1:])
            reason = (
                f"the group {header.strip('[ ]')!r} is unknown; known are bindax.v{api}, {known}"
            )
        else:
            return None
        line = text.count("\n", 0, found.start()) + 1
        self._problems.append(Problem(distribution, line, reason))
        return None

    def entries(self, kind: str) -> tuple[Entry, ...]:
        """All entries of a kind, by distribution and name."""
        known = self._entries.get(kind)
        if known is None:
            supported = [one for one in self._sections[kind] if one.api in SUPPORTED_API_VERSIONS]
            parsed = [_parse(section) for section in supported]
            known = tuple(entry for entries, _ in parsed for entry in entries)
            if kind == PLUGINS and self._without_hooks:
                both = (*known, *self._implied())
                known = tuple(sorted(both, key=lambda entry: (entry.distribution, entry.name)))
            self._entries[kind] = known
            self._problems.extend(problem for _, problems in parsed for problem in problems)
        return known

    def _implied(self) -> Iterator[Entry]:
        """The plugins of distributions whose entries name objects, and which have no hooks."""
        for owner in self._without_hooks:
            sections = (one for kind in _BY_OBJECTS for one in self._sections[kind])
            entries = chain.from_iterable(_parse(one)[0] for one in sections if one[0] == owner)
            first = next((entry for entry in entries if entry.names_object), None)
            if first is not None:
                yield Entry(PLUGINS, owner.name, first.module.partition(".")[0], owner, 0)

    def refused(self, kind: str, name: str | None = None) -> tuple[Entry, ...]:
        """Entries written for plugin API versions that are not supported."""
        refused = [one for one in self._sections[kind] if one.api not in SUPPORTED_API_VERSIONS]
        entries = (entry for section in refused for entry in _parse(section)[0])
        return tuple(entry for entry in entries if name is None or entry.offered_name == name)

    def find(self, kind: str, name: str) -> tuple[Entry, ...]:
        """The entries of a kind that offer something, by distribution."""
        offers = self._offers.get(kind)
        if offers is None:
            offers = {}
            for entry in self.entries(kind):
                offers.setdefault(entry.offered_name, []).append(entry)
            self._offers[kind] = offers
        return tuple(offers.get(name, ()))

    def types(self, qualified_name: str) -> Sequence[Entry]:
        """The entries of pytree and value types with the value ``module:qualname``."""
        return (*self.find("pytrees", qualified_name), *self.find("values", qualified_name))

    def plugins_behind(self, entry: Entry) -> tuple[Entry, ...]:
        """The plugin whose module an entry names, or else all plugins of its distribution."""
        distribution = entry.distribution.name
        ours = tuple(one for one in self.entries(PLUGINS) if one.distribution.name == distribution)
        same = tuple(one for one in ours if one.value == entry.value)
        return same or ours

    def remedy(self, distribution: str) -> str:
        """Why a distribution was refused, with the remedy; empty if it was not."""
        refusal = self.refusals.get(distribution)
        return "" if refusal is None else refusal.remedy

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The entries that could not be used, after everything was read."""
        for kind in KINDS:
            self.entries(kind)
        return tuple(sorted(set(self._problems)))


def _parse(section: _Section) -> tuple[list[Entry], list[Problem]]:
    distribution, kind, _, text, start, end = section
    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text[start + 1 : end].split("\n"), section.line + 1):
        name, equals, value = line.partition("=")
        name, value = name.strip(), value.strip()
        if not name or name[0] in "#;":
            continue
        if value.endswith("]"):
            value = _EXTRAS.sub("", value)
        if not equals or not value:
            reason = f"the line {line.strip()!r} is not of the form name = module:object"
            problems.append(Problem(distribution, number, reason))
        elif name in entries:
            reason = f"{name!r} is declared twice in one group; line {entries[name].line} counts"
            problems.append(Problem(distribution, number, reason))
        else:
            entries[name] = Entry(kind, name, value, distribution, number)
    return [entries[name] for name in sorted(entries)], problems


def _installed(path: Iterable[str]) -> Iterator[tuple[Distribution, str]]:
    """Each distribution with the text of its entry points, in the order of the search path."""
    for directory in dict.fromkeys(absolute_path(item) for item in path):
        try:
            names = os.listdir(directory)
        except NotADirectoryError:
            yield from _installed_in_archive(directory)
            continue
        except OSError:  # sys.path may name directories that do not exist
            continue
        best: dict[str, Distribution] = {}
        for name in sorted(names):
            # A leading tilde is what an interrupted uninstallation leaves.
            if name.endswith("-info") and name[0] != "~":
                found = _distribution(directory, name)
                if found is not None:
                    other = best.get(found.name)
                    if other is None or _version_key(found) > _version_key(other):
                        best[found.name] = found
        for found in best.values():
            yield found, _read(found.entry_points)


def _installed_in_archive(file: str) -> Iterator[tuple[Distribution, str]]:
    """As ``_installed``, for a zip file on the search path."""
    import zipfile

    try:
        with zipfile.ZipFile(file) as archive:
            for name in sorted(archive.namelist(), reverse=True):
                directory, slash, base = name.partition("/")
                if slash and base == "entry_points.txt":
                    distribution = _distribution(file, directory)
                    if distribution is not None:
                        yield distribution, archive.read(name).decode("utf-8", "replace")
    except (OSError, zipfile.BadZipFile):
        return


def _distribution(directory: str, name: str) -> Distribution | None:
    """The distribution of a metadata directory called ``name-version.dist-info``, or similar."""
    base, _, suffix = name.rpartition(".")
    if suffix not in ("dist-info", "egg-info"):
        return None
    project, _, rest = base.partition("-")
    if not project:
        return None
    version = rest.partition("-")[0] or "unknown"
    return Distribution(normalized(project), version, directory + os.sep + name)


def _read(file: str) -> str:
    """The text of a file that usually does not exist; without the costs of a text stream."""
    try:
        descriptor = os.open(file, os.O_RDONLY)
    except OSError:
        return ""
    try:
        chunks = []
        while chunk := os.read(descriptor, 1 << 16):
            chunks.append(chunk)
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return b"".join(chunks).decode("utf-8", "replace")


def metadata_text(directory: str) -> str:
    """The metadata of a distribution; empty when it has none."""
    return first_text(directory, "METADATA", "PKG-INFO")


def first_text(directory: str, *names: str) -> str:
    """The text of the first of some files that is there; empty when none is."""
    return next(filter(None, (_read(os.path.join(directory, name)) for name in names)), "")


def _version_key(distribution: Distribution) -> list[tuple[int, int | str]]:
    """A key that sorts distributions by version, pre-releases before their release."""
    key: list[tuple[int, int | str]] = []
    for part in re.findall(r"\d+|[a-z]+", distribution.version.lower()):
        if part.isdigit():
            key.append((2, int(part)))
        else:
            key.append((3 if part == "post" else 0, part))
    return [*key, (1, 0)]


_lock = threading.RLock()


@cache
def _scan() -> Manifest:
    return Manifest(sys.path)


def manifest() -> Manifest:
    """The manifest of this process, read at the first call and by ``refresh_manifest``."""
    with _lock:
        return _scan()


def refresh_manifest() -> None:
    """Have the manifest read again, for distributions installed or removed since."""
    with _lock:
        _scan.cache_clear()
