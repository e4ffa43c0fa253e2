"""Blame: the rule at fault, found from the functions that ran when an error came up."""

from __future__ import annotations

import concurrent.futures as futures
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

import bindax_core
import bindax_transforms
from bindax_core.extend import Primitive, code_of, rule_kinds
from bindax_testing._limits import TimeLimitExceeded

_OURS = tuple(
    str(Path(file).parent)
    for file in (bindax_core.__file__, bindax_transforms.__file__, __file__, futures.__file__)
)
"""Frames of the kernel, the transformations and the suite say little to the author of a rule."""

EVALUATION = ("impl", "abstract_eval")


class Culprit(NamedTuple):
    """A rule of a primitive."""

    primitive: Primitive
    kind: str


def rules_by_code(primitives: Iterable[Primitive]) -> dict[CodeType, list[Culprit]]:
    """The rules of primitives by the code of their functions; several may share one function."""
    found: dict[CodeType, list[Culprit]] = {}
    for primitive in primitives:
        for kind in list(rule_kinds.values()):
            for rule in kind.rules_of(primitive):
                code = code_of(rule.function)
                if code is not None:
                    found.setdefault(code, []).append(Culprit(primitive, kind.name))
    return found


def culprit_of(
    codes: Iterable[CodeType], rules: dict[CodeType, list[Culprit]], default: Culprit
) -> Culprit:
    """The rule of the innermost function that is one; of several that share it, the likeliest."""
    refused: Culprit | None = None
    for code in codes:
        candidates = rules.get(code)
        if candidates:
            refuses = all(one.kind == "abstract_eval" for one in candidates)
            if refuses and default.kind not in EVALUATION:
                # Abstract evaluation that raises refuses operands: the rule that gave them is
                # further out.
                refused = refused or candidates[0]
                continue
            own = [one for one in candidates if one.primitive is default.primitive]
            if own:
                return default if default in own else own[0]
            if len({one.primitive for one in candidates}) == 1:
                return candidates[0]
    return default if refused is None or default.primitive is refused.primitive else refused


def codes_of(error: BaseException) -> list[CodeType]:
    """The functions that an error went through, the innermost first."""
    if isinstance(error, TimeLimitExceeded):
        return error.codes
    return [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]


def own_frames(error: BaseException) -> str:
    """The last lines of a traceback that are not the kernel's."""
    frames = traceback.extract_tb(error.__traceback__)
    kept = [frame for frame in frames if not frame.filename.startswith(_OURS)] or frames
    return "".join(traceback.format_list(kept[-3:]))


def codes_called(call: Callable[[], Any]) -> set[CodeType]:
    """The code of the functions that a call goes through, in this thread."""
    found: set[CodeType] = set()
    before = sys.getprofile()
    sys.setprofile(lambda frame, event, _: found.add(frame.f_code) if event == "call" else None)
    try:
        call()
    finally:
        _profile_again(before)
    return found


def _profile_again(profiler: Any) -> None:
    """Give a thread its profiler back, which is no function if it is of ``cProfile``."""
    if hasattr(profiler, "enable"):
        profiler.enable()
    else:
        sys.setprofile(profiler)
