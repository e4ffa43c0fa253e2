"""Running the checks on rules that reach functions with a mistake in their text."""

from __future__ import annotations

import gc
import inspect
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import CodeType

import attrs
import numpy as np

from bindax_core.extend import Primitive, subjaxprs
from bindax_diagnosis import plugin_contents
from bindax_mutation._report import KILLED, SURVIVED, Mutant, MutationReport
from bindax_mutation._run import SECONDS, Progress, Step, fails, forget, gathered, narrowed
from bindax_mutation._text import (
    Edit,
    cached_functions,
    changed_codes,
    edits_of,
    forget_values,
    in_force,
    reached,
    watched,
)
from bindax_testing.extend import Case, Plan, checking, make_plan, subject_of
from bindax_transforms import clear_caches

Users = dict[CodeType, dict[Primitive, set[str]]]
_SIMPLE = 2
"""The highest rank of the checks that come first."""
_REACHING = 6
"""Primitives whose checks look for a mistake in a function that many reach."""
_SUSPECTS = 2
"""Failing primitives after which nothing more is tried."""
_NOT_RUN = "no sample that was tried runs its line"


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
    package = sys.modules[plugin_contents(name)[0].target.partition(".")[0]]
    directory = str(Path(inspect.getfile(package)).parent)
    with checking():
        users = _users(plan, directory)
        tried = partial(_tried, plan, users, directory, seconds, {})
        mutants = gathered(edits_of(list(users)), tried, count, seed, progress)
    return MutationReport(subject.name, seed, time.perf_counter() - start, mutants)


def _users(plan: Plan, directory: str) -> Users:
    """The functions of the package that rules reach: the primitives and the checks they are of."""
    users: Users = {}
    cached = cached_functions(directory, gc.get_objects())
    for primitive in plan.subject.primitives:
        for check, case in _steps(plan, primitive, _different(plan.cases[primitive])):
            _forget(plan, [primitive])
            forget_values(cached)
            with reached(directory, plan.rules) as found:
                fails(plan, check, case)
            for code in sorted(filter(_is_of_rules, found), key=_place):
                users.setdefault(code, {}).setdefault(primitive, set()).add(check.name)
    return users


def _is_of_rules(code: CodeType) -> bool:
    """Tell whether a function is none of those that samples are made of."""
    file = Path(code.co_filename)
    return not {"samples", "conformance"} & {name.lstrip("_") for name in (*file.parts, file.stem)}


def _place(code: CodeType) -> tuple[str, int, str]:
    return code.co_filename, code.co_firstlineno, code.co_qualname


def _different(cases: Sequence[Case]) -> list[Case]:
    """Cases that may reach different functions.

    They differ in the kinds of their dtypes, in the checks that are made, or in the programs among
    their parameters.
    """
    found: dict[object, Case] = {}
    for case in cases:
        kinds = [aval.dtype.kind for aval in case.avals]
        program = case.label if subjaxprs(dict(case.params)) else ""
        found.setdefault((*kinds, *case.skip, program, case.reference is None), case)
    return list(found.values())


def _steps(plan: Plan, primitive: Primitive, cases: Sequence[Case]) -> list[Step]:
    checks = plan.telling(primitive)
    return [(c, case) for case in cases for c in checks if case.skip.get(c.name) is None]


def _near(plan: Plan, edit: Edit, users: Collection[Primitive]) -> list[Primitive]:
    """The primitives whose checks are the likeliest to notice.

    First those whose names share words with the function's, then those with rules in its file. Of
    many that reach a common function, some from all over the package, since neighbours are alike.
    """
    words = set(re.findall("[a-z]+", edit.code.co_qualname))
    file = edit.code.co_filename
    rules = [found for code, found in plan.rules.items() if code.co_filename == file]
    beside = {one.primitive for found in rules for one in found}
    shared = {p: 2 * len(words & set(p.name.split("_"))) + (p in beside) for p in users}
    own = sorted((p for p in users if shared[p]), key=lambda p: -shared[p])[:_REACHING]
    others = [p for p in users if p not in own]
    spread = np.linspace(0, len(others) - 1, min(_REACHING - len(own), len(others))).astype(int)
    return [*own, *(others[i] for i in spread)]


def _in_turn(plan: Plan, near: Mapping[Primitive, set[str]]) -> Iterator[tuple[Primitive, Step]]:
    """The steps that reach a function, cheap checks first; of each primitive a case in turn."""
    steps = {p: _steps(plan, p, plan.cases[p]) for p in near}
    for is_composed in (False, True):
        for rank in range(max(len(plan.cases[p]) for p in near)):
            for primitive, checks in near.items():
                case = plan.cases[primitive][rank : rank + 1]
                for step in steps[primitive]:
                    fits = step[0].name in checks and (step[0].rank > _SIMPLE) == is_composed
                    if fits and [step[1]] == case:
                        yield primitive, step


def _tried(
    plan: Plan,
    users: Users,
    directory: str,
    seconds: float,
    sound: dict[Step, bool],
    edit: Edit,
) -> Mutant | None:
    """Return the fate of a change: killed by a check that passes without it, or surviving.

    None where the function cannot be replaced.
    """
    codes, own = changed_codes(edit), users[edit.code]
    if edit.code not in codes:
        return None
    near = {primitive: own[primitive] for primitive in _near(plan, edit, own)}
    suspected: set[Primitive] = set()
    suspects: list[tuple[Primitive, Step]] = []
    _forget(plan, near)
    deadline = time.process_time() + seconds
    with in_force(codes, directory), watched(edit, codes) as runs:
        for primitive, step in _in_turn(plan, near):
            if time.process_time() > deadline or len(suspects) == _SUSPECTS:
                break
            if primitive not in suspected and sound.get(step, True) and fails(plan, *step):
                suspected.add(primitive)
                suspects.append((primitive, step))
    _forget(plan, near)
    mutant = Mutant(
        next(iter(near)).name, "text", str(edit), SURVIVED, reason="" if runs else _NOT_RUN
    )
    for primitive, step in suspects:
        if sound.setdefault(step, not fails(plan, *step)):
            name, kind = step[0].name, step[0].kind
            return attrs.evolve(
                mutant, primitive=primitive.name, status=KILLED, check=name, blamed=kind, reason=""
            )
    # What failed fails without the change, too, which is known now.
    return _tried(plan, users, directory, seconds, sound, edit) if suspects else mutant


def _forget(plan: Plan, primitives: Iterable[Primitive]) -> None:
    clear_caches()
    for primitive in primitives:
        forget(plan, primitive)
