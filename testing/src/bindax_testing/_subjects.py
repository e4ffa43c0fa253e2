"""Subjects of checks: a plugin's primitives, its samples, and its known failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from bindax_core.errors import PluginError
from bindax_core.extend import PluginContents, Primitive, plugin_contents, unresolved_conflicts
from bindax_testing._samples import EquivalentMutant, ExpectedFailure, Sample


@attrs.frozen(eq=False)
class Subject:
    """The primitives to check, and their samples.

    Attributes:
        name: the plugin.
        kinds: for each primitive the rule kinds to check, or None for all.
        samples: what to check them on.
        expected: which checks are known to fail.
        equivalent: which mistakes change nothing that matters.
        problems: what is wrong with the samples, in sentences.
        nothing: why there is nothing to check, or empty.
    """

    name: str
    kinds: Mapping[Primitive, frozenset[str] | None]
    samples: tuple[Sample, ...]
    expected: tuple[ExpectedFailure, ...] = ()
    equivalent: tuple[EquivalentMutant, ...] = ()
    problems: tuple[str, ...] = ()
    nothing: str = ""

    @property
    def primitives(self) -> list[Primitive]:
        """The primitives, by name."""
        return sorted(self.kinds, key=lambda primitive: primitive.name)


def subject_of(name: str, more: Iterable[Any] = ()) -> Subject:
    """Return the subject of an installed plugin, which is loaded.

    Args:
        name: the plugin or its distribution.
        more: samples and expected failures besides those that its ``bindax_samples`` hook gives.

    Raises:
        PluginError: when no such plugin is installed, or it may not load.
        PluginLoadError: when it fails to load.
    """
    plugins = plugin_contents(name)
    kinds: dict[Primitive, frozenset[str] | None] = {}
    for plugin in plugins:
        kinds.update(dict.fromkeys(plugin.primitives))
    extended: dict[Primitive, set[str]] = {}
    for plugin in plugins:
        for kind, primitive in plugin.rules:
            if primitive not in kinds:
                extended.setdefault(primitive, set()).add(kind)
    # Rules for the primitives of others are checked on the samples of whoever owns these.
    owners = [
        other
        for other in plugin_contents()
        if other not in plugins and not extended.keys().isdisjoint(other.primitives)
    ]
    kinds.update((primitive, frozenset(some)) for primitive, some in extended.items())
    given: list[Any] = list(more)
    problems = unresolved_conflicts(frozenset(plugin.distribution for plugin in plugins))
    for plugin in (*plugins, *owners):
        found, problem = samples_of(plugin)
        given += found
        problems += [problem] if problem else []
    made = subject(name, kinds, given, problems)
    return made if kinds else attrs.evolve(made, nothing=_why_nothing(name, plugins))


def _why_nothing(name: str, plugins: Iterable[PluginContents]) -> str:
    """Why a plugin has no rules to check, and what to do instead."""
    text = f"the plugin {name!r} declares no primitive and brings no rule for one"
    if any("pytree" in plugin.declared for plugin in plugins):
        text += "; check its containers with bindax_testing.check_pytree"
    return f"{text}."


def subject(
    name: str,
    kinds: Mapping[Primitive, frozenset[str] | None],
    given: Iterable[Any],
    problems: Iterable[str] = (),
) -> Subject:
    """A subject from primitives and samples, which are checked."""
    samples: list[Sample] = []
    expected: list[ExpectedFailure] = []
    equivalent: list[EquivalentMutant] = []
    found = list(problems)
    for one in given:
        if isinstance(one, Sample):
            samples.append(one)
        elif isinstance(one, ExpectedFailure):
            expected.append(one)
        elif isinstance(one, EquivalentMutant):
            equivalent.append(one)
        else:
            found.append(
                f"{one!r:.80} is no Sample, ExpectedFailure or EquivalentMutant; make samples "
                f"with bindax_testing.sample."
            )
    labels = [sample.label for sample in samples]
    found += [
        f"two samples have the label {label!r}; give one of them another."
        for label, count in Counter(labels).items()
        if count > 1
    ]
    return Subject(
        name, dict(kinds), tuple(samples), tuple(expected), tuple(equivalent), tuple(found)
    )


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


def sample_named(name: str, label: str) -> Sample:
    """A sample of a plugin by its label.

    Raises:
        PluginError: when the plugin has no such sample.
    """
    for sample in subject_of(name).samples:
        if sample.label == label:
            return sample
    raise PluginError(f"the plugin {name!r} has no sample with the label {label!r}.")
