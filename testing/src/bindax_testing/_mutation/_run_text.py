"""Running the checks on rules that reach functions with a mistake in their text."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import CodeType

import attrs
import numpy as np

from bindax_core.extend import Primitive, plugin_contents
from bindax_testing._mutation._report import KILLED, SURVIVED, Mutant, MutationReport
from bindax_testing._mutation._run import (
    MANY,
    SECONDS,
    Progress,
    Step,
    fails,
    forget,
    narrowed,
)
from bindax_testing._mutation._text import (
    Edit,
    changed_code,
    directory_of,
    edits_of,
    in_force,
    reached,
)
from bindax_testing._plan import Plan, checking, make_plan
from bindax_testing._subjects import subject_of
from bindax_transforms import clear_caches

_REACHING = 3
"""Primitives whose checks look for a mistake in a function that many reach."""


def mutate_text(
    name: str,
    *,
    count: int,
    seed: int = 0,
    primitives: Sequence[str] = (),
    seconds: float = SECONDS,
    progress: Progress | None = None,
) -> MutationReport:
    """Change the text of functions that the rules of a plugin reach, one place at a time.

    Constants are off by one, operators and operands exchanged, comparisons turned. Some of these
    mistakes are equivalent or change errors alone, so that not every survivor is a missing sample.

    Args:
        name: the plugin or its distribution, installed.
        count: how many changes to try, drawn by the seed.
        seed: what the changes and the samples are drawn from.
        primitives: the names of the primitives to look at; all when there are none.
        seconds: how long the checks may look for one mistake.
        progress: called with each ``Mutant`` as it is decided.

    Raises:
        PluginError: as ``mutate_plugin`` does.
    """
    start = time.perf_counter()
    subject = narrowed(subject_of(name), list(primitives))
    plan = make_plan(subject, seed=seed)
    directory = directory_of(plugin_contents(name)[0].target)
    mutants: list[Mutant] = []
    sound: dict[Step, bool] = {}
    with checking():
        users = _users(plan, directory)
        edits = edits_of(list(users))
        for i in np.random.default_rng(seed).permutation(len(edits)):
            if len(mutants) == count:
                break
            code = changed_code(edits[i])
            if code is not None:
                mutant = _tried(plan, edits[i], code, users[edits[i].code], seconds, sound)
                mutants.append(mutant)
                if progress is not None:
                    progress(mutant)
    return MutationReport(subject.name, seed, time.perf_counter() - start, mutants)


def _users(plan: Plan, directory: str) -> dict[CodeType, list[Primitive]]:
    """The functions of the package that checks reach, each with the primitives they are of."""
    users: dict[CodeType, list[Primitive]] = {}
    for primitive in plan.subject.primitives:
        forget(plan, primitive)
        with reached(directory) as found:
            for check, case in _steps(plan, primitive, 1):
                fails(plan, check, case)
        for code in sorted(found, key=lambda c: (c.co_filename, c.co_firstlineno, c.co_qualname)):
            users.setdefault(code, []).append(primitive)
    return users


def _steps(plan: Plan, primitive: Primitive, cases: int) -> list[Step]:
    checks = [
        check
        for check in plan.checks_of(primitive)
        if check.why_not(primitive, plan.setting) is None
    ]
    chosen = plan.cases[primitive][:cases]
    return [(c, case) for case in chosen for c in checks if case.skip.get(c.name) is None]


def _tried(
    plan: Plan,
    edit: Edit,
    code: CodeType,
    users: Sequence[Primitive],
    seconds: float,
    sound: dict[Step, bool],
) -> Mutant:
    deadline = time.perf_counter() + seconds
    # Few primitives reach what is made for them; their checks are the likeliest to notice.
    near = sorted(users, key=lambda p: p.name not in edit.code.co_qualname)[:_REACHING]
    suspects: list[tuple[Primitive, Step]] = []
    clear_caches()
    with in_force(edit, code):
        for primitive in near:
            forget(plan, primitive)
            for step in _steps(plan, primitive, MANY):
                if time.perf_counter() > deadline:
                    break
                if sound.get(step, True) and fails(plan, *step):
                    suspects.append((primitive, step))
                    break
    clear_caches()
    mutant = Mutant(near[0].name, "text", str(edit), SURVIVED)
    for primitive in near:
        forget(plan, primitive)
    for primitive, step in suspects:
        if sound.setdefault(step, not fails(plan, *step)):
            kind = step[0].kind
            return attrs.evolve(
                mutant, primitive=primitive.name, status=KILLED, check=step[0].name, blamed=kind
            )
    return mutant
