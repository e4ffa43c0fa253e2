"""Subjects of checks: a plugin's primitives, its samples, and its known failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import attrs

import bindax_transforms.rules
from bindax_core.extend import Primitive, RuleKind, rule_kinds, rules
from bindax_diagnosis import (
    PluginContents,
    installed_plugins,
    plugin_contents,
    unresolved_conflicts,
)
from bindax_testing._containers import without_sample
from bindax_testing._pytrees._nodes import nodes_of, qualified
from bindax_testing._refusals import Refusal
from bindax_testing._samples import (
    ContainerSample,
    EquivalentMutant,
    ExpectedFailure,
    RuleCheck,
    Sample,
)
from bindax_testing._transformations._subject import TransformationSample

BUILT_IN = frozenset(
    kind.name
    for kind in (*vars(rules).values(), *vars(bindax_transforms.rules).values())
    if isinstance(kind, RuleKind)
) | {"lowering.stablehlo"}
"""Rule kinds of core and of the transformations; the suite has checks of those that compute."""


@attrs.frozen(eq=False)
class Subject:
    """The primitives and containers of a plugin to check, and their samples."""

    name: str
    kinds: Mapping[Primitive, frozenset[str] | None]  # those of rules to check, None for all
    samples: tuple[Sample, ...]
    expected: tuple[ExpectedFailure, ...] = ()
    equivalent: tuple[EquivalentMutant, ...] = ()
    problems: tuple[str, ...] = ()  # with the samples, in sentences
    nothing: str = ""  # why there is nothing to check
    types: tuple[type, ...] = ()
    containers: tuple[ContainerSample, ...] = ()
    checks: tuple[RuleCheck, ...] = ()  # of rule kinds that third parties bring
    transformations: tuple[TransformationSample, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    installed: bool = False  # whether it is a plugin, which another process finds by its name

    @property
    def primitives(self) -> list[Primitive]:
        """The primitives, by name."""
        return sorted(self.kinds, key=lambda primitive: primitive.name)

    @property
    def container_names(self) -> list[str]:
        """The names of the containers of which there are samples."""
        reached = {type(node.value) for one in self.containers for node in nodes_of(one.value)}
        return [qualified(kind) for kind in self.types if kind in reached]


def subject_of(name: str, more: Iterable[Any] = ()) -> Subject:
    """Return the subject of an installed plugin, which is loaded, with more samples.

    >>> [primitive.name for primitive in subject_of("parallel").primitives][:3]
    ['all_gather', 'all_to_all', 'pmax']
    """
    plugins = plugin_contents(name)
    kinds: dict[Primitive, frozenset[str] | None] = {
        primitive: None for plugin in plugins for primitive in plugin.primitives
    }
    extended: dict[Primitive, set[str]] = {}
    for plugin in plugins:
        for kind, primitive in plugin.rules:
            if primitive not in kinds:
                extended.setdefault(primitive, set()).add(kind)
    # Rules for the primitives of others are checked on the samples of whoever owns these.
    owners = [
        other
        for other in _plugins_in({_package(primitive.site.module) for primitive in extended})
        if other not in plugins and not extended.keys().isdisjoint(other.primitives)
    ]
    kinds.update((primitive, frozenset(some)) for primitive, some in extended.items())
    foreign = _foreign_kinds(kinds)
    homes = [one for one in _plugins_in(foreign.values()) if one not in (*plugins, *owners)]
    given: list[Any] = list(more)
    problems = unresolved_conflicts(frozenset(plugin.distribution for plugin in plugins))
    for plugin in (*plugins, *owners, *homes):
        found, problem = samples_of(plugin)
        # Of the packages that define rule kinds, the checks; of owners of primitives, the samples.
        given += found if plugin in plugins else [x for x in found if _is_shared(x, plugin, homes)]
        problems += [problem] if problem else []
    types = tuple(kind for plugin in plugins for kind in plugin.types)
    made = subject(name, kinds, given, problems)
    problems = [*made.problems, *without_sample(types, made.containers)]
    problems += _without_check(foreign, made.checks)
    is_empty = not (kinds or types or made.transformations)
    nothing = f"the plugin {name!r} declares {_NOTHING}." if is_empty else ""
    return attrs.evolve(
        made, problems=tuple(problems), types=types, nothing=nothing, installed=True
    )


_NOTHING = "no primitive and no container, and brings no rule for a primitive"


def _is_shared(one: Any, plugin: PluginContents, homes: Iterable[PluginContents]) -> bool:
    """Tell whether something that another plugin gives is needed to check this one."""
    if isinstance(one, RuleCheck):
        return True
    own = isinstance(one, ContainerSample | TransformationSample | Refusal)
    return not (plugin in homes or own)


def _foreign_kinds(kinds: Mapping[Primitive, frozenset[str] | None]) -> dict[str, str]:
    """The rule kinds of third parties that primitives have, each with the package that made it."""
    found: dict[str, str] = {}
    for name, kind in list(rule_kinds.items()):
        if name in BUILT_IN:
            continue
        if any(
            primitive in kind.functions and (some is None or name in some)
            for primitive, some in kinds.items()
        ):
            found[name] = _package(kind.site.module)
    return found


def _package(module: str) -> str:
    return module.partition(".")[0].partition(":")[0]


def _plugins_in(packages: Collection[str]) -> Iterator[PluginContents]:
    """The plugins that stand in some importable packages; they are loaded."""
    for record in installed_plugins():
        if _package(record["module"]) in packages:
            yield from plugin_contents(record["plugin"])


def _without_check(kinds: Iterable[str], checks: Iterable[RuleCheck]) -> list[str]:
    """Sentences about rule kinds of third parties that nobody gave a check for."""
    known = {check.kind for check in checks}
    return [
        f"there is no check for rules of the kind {kind!r}, so they were not checked; yield "
        f"bindax_testing.rule_check({kind!r}, function) from the hook bindax_samples of the "
        f"package that defines the kind."
        for kind in sorted(kinds)
        if kind not in known
    ]


def subject(
    name: str,
    kinds: Mapping[Primitive, frozenset[str] | None],
    given: Iterable[Any],
    problems: Iterable[str] = (),
) -> Subject:
    """A subject from primitives and samples, which are checked."""
    known = (
        Sample,
        ExpectedFailure,
        EquivalentMutant,
        ContainerSample,
        RuleCheck,
        TransformationSample,
        Refusal,
    )
    by_kind: dict[type, list[Any]] = {kind: [] for kind in known}
    found = list(problems)
    for one in given:
        kind = next((kind for kind in known if isinstance(one, kind)), None)
        if kind is not None:
            by_kind[kind].append(one)
        else:
            found.append(
                f"{one!r:.80} is no Sample, ExpectedFailure, EquivalentMutant, ContainerSample, "
                f"RuleCheck, TransformationSample or Refusal; make samples with "
                f"bindax_testing.sample or container."
            )
    samples, expected, equivalent, containers, checks, transformations, refusals = map(
        tuple, by_kind.values()
    )
    labels = [sample.label for sample in samples]
    found += [
        f"two samples have the label {label!r}; give one of them another."
        for label, count in Counter(labels).items()
        if count > 1
    ]
    return Subject(
        name,
        dict(kinds),
        samples,
        expected,
        equivalent,
        tuple(found),
        types=tuple({type(node.value): None for one in containers for node in nodes_of(one.value)}),
        containers=containers,
        checks=checks,
        transformations=transformations,
        refusals=refusals,
    )


def subject_with(primitives: Primitive | Iterable[Primitive], samples: Iterable[Any]) -> Subject:
    """The subject of primitives that no plugin offers."""
    listed = [primitives] if isinstance(primitives, Primitive) else list(primitives)
    return subject(", ".join(p.name for p in listed), dict.fromkeys(listed), samples)


def samples_of(plugin: PluginContents) -> tuple[list[Any], str]:
    """Return the samples that a plugin's hook gives, and the mistakes in them."""
    given: list[Any] = []
    try:
        for result in plugin.hooks.bindax_samples():
            given.extend(result)
    except Exception as error:
        return given, (
            f"the hook bindax_samples of {plugin.target} raised {type(error).__name__}: {error}"
        )
    return given, ""
