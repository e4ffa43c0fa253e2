"""Every sample beside JAX: values, types, derivatives and batches, evaluated and compiled.

Results may differ by two units in the last place of their largest element, times a factor for the
functions in ``ROUNDINGS``; for sums, of the sum of the sizes of the terms, and for derivatives that
unitary matrices turn, of the largest number that they turn. Both libraries are run on groups of
samples, because compiling takes most of the time. A part of the samples is compared, the first of
each function among them; BINDAX_DIFFERENTIAL=all compares all of them.
"""

import collections
import os
import re
import warnings

import _differential as differential
import pytest
from _known_differences import (
    COMPILED_DIFFERENCES,
    DIFFERENCES,
    ROUNDINGS,
    SUMS,
    TURNED,
    known,
)

ALL = os.environ.get("BINDAX_DIFFERENTIAL") == "all"
UNITS = 2.0
GROUP = 24
EVERY = {"evaluated": 1, "compiled": 1 if ALL else 4}


def chosen(every):
    """Every so-manieth sample of each function, and the first."""
    seen, found = {}, []
    for subject in differential.subjects():
        number = seen[subject.name] = seen.get(subject.name, -1) + 1
        if number % every == 0:
            found.append(subject)
    return found


def keys():
    """The keys of the answers to the samples: labels, numbered where they are equal."""
    numbers, found = collections.Counter(), {}
    for subject in differential.subjects():
        found[id(subject)] = f"{subject.label} {numbers[subject.label]}"
        numbers[subject.label] += 1
    return found


KEYS = keys()


def groups(way):
    subjects = chosen(EVERY[way])
    if way == "compiled" and not ALL:  # to compile one of these takes seconds: their package does
        special = {differential.special_subject(s).name for s in differential.special_samples()}
        subjects = [subject for subject in subjects if subject.name not in special]
    found = [subjects[i : i + GROUP] for i in range(0, len(subjects), GROUP)]
    return [pytest.param(group, id=f"{group[0].name}-{i}") for i, group in enumerate(found)]


def compare(subject, inputs, got, wanted, known_ones=DIFFERENCES):
    """The differences that are not known, and the entries by which others are."""
    units = UNITS * ROUNDINGS.get(subject.name, (1.0, ""))[0]
    moving = [*inputs.directions, *inputs.cotangents]
    terms = differential.size_of_terms([*inputs.operands, *moving]) if subject.name in SUMS else 0.0
    turned = differential.largest(moving) if subject.name in TURNED else 0.0
    found = differential.all_differences(got, wanted, units, terms, turned)
    entries = [
        (known(known_ones, subject.name, subject.label, part), part, text) for part, text in found
    ]
    unknown = [f"{subject.label}, {part}: {text}" for entry, part, text in entries if not entry]
    return unknown, {entry for entry, _, _ in entries if entry}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("group", groups("evaluated"))
def test_evaluated_like_jax(group, jax_answers):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = [differential.by_bindax(subject) for subject in group]
        inputs = [given for _, given, _ in ours]
        theirs = jax_answers.each(
            [KEYS[id(subject)] for subject in group],
            lambda _: differential.answers_of_jax(group, inputs),
            shared=True,
        )
        found = [
            compare(subject, inputs, got, wanted)
            for subject, (got, inputs, _), wanted in zip(group, ours, theirs, strict=True)
        ]
    unknown = [text for texts, _ in found for text in texts]
    assert not unknown, "\n".join(unknown)


@pytest.mark.every(3)
@pytest.mark.timeout(900)
@pytest.mark.parametrize("group", groups("compiled"))
def test_compiled_like_evaluated(group):
    pytest.importorskip("bindax_xla_backend")
    # Ordinary runs compile the values alone.
    ours = [differential.by_bindax(subject, values_only=not ALL) for subject in group]
    inputs = [given for _, given, _ in ours]
    compiled = differential.compiled_by_bindax(group, inputs, values_only=not ALL)
    unknown = []
    for subject, (wanted, given, _), got in zip(group, ours, compiled, strict=True):
        evaluated = differential.by_name(wanted)
        unknown += compare(subject, given, got, evaluated, known_ones=COMPILED_DIFFERENCES)[0]
    assert not unknown, "\n".join(unknown)


def test_every_known_difference_is_of_a_sample():
    subjects = differential.subjects()
    names = {subject.name for subject in subjects}
    assert set(DIFFERENCES) | set(ROUNDINGS) | SUMS <= names
    for name, entries in DIFFERENCES.items():
        labels = [s.label for s in subjects if s.name == name]
        for entry in entries:
            assert any(re.search(entry.samples, label) for label in labels), (name, entry)
