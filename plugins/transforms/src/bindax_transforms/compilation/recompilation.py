"""The warning about functions that ``jit`` compiles again and again.

Two counts are kept, both of compilations alone, so that calls of what is compiled have nothing to
count: the programs of one function, with the number of calls when each was compiled; and functions
that were made at one line, compiled, hardly called and thrown away.
"""

from __future__ import annotations

from types import CodeType
from typing import Any, NamedTuple

from bindax_core.errors import RecompilationWarning
from bindax_core.extend import code_of, describe_function, is_internal, warn_user
from bindax_transforms.compilation.call_differences import changes_of_calls, ordinal

MOST_PROGRAMS = 24
"""The number of programs of a function that are compiled without a warning."""

MOST_FUNCTIONS = 64
"""The number of functions of one line, thrown away after few calls, without a warning."""

CALLS_OF_EACH = 10
"""The number of calls for each program, on average, from which on they are worth compiling."""

_MOST_LINES = 512
_thrown_away: dict[_Made, int | None] = {}
"""Numbers of functions thrown away; None where the user was told. There is no lock, which a
destructor could meet in the thread that holds it; a count that is lost does no harm."""


class _Made(NamedTuple):
    """Where a function was made, and what it was compiled to, without the values in it."""

    file: str
    line: int
    name: str
    program: int


class Compilations:
    """The compilations of one function.

    Attributes:
        made: where the function was made; None before the first compilation.
        calls: the numbers of calls at the last compilations.
        is_warned_of: whether the user was told.
    """

    __slots__ = ("calls", "is_warned_of", "made")

    def __init__(self) -> None:
        self.made: _Made | None = None
        self.calls: list[int] = []
        self.is_warned_of: bool = False

    def end(self, calls: int) -> None:
        """Count the function as thrown away, if it was hardly called."""
        # While the interpreter ends, names of modules are None.
        if self.made is None or calls >= (CALLS_OF_EACH or 0):
            return
        count = _thrown_away.get(self.made, 0)
        if count is not None:
            if len(_thrown_away) >= _MOST_LINES:
                _thrown_away.clear()
            _thrown_away[self.made] = count + 1


def note_compilation(jitted: Any, entry: Any) -> None:
    """Count that a traced function is to be compiled; warn when that happened too often.

    Functions of packages are left out: no user can call them less often.
    """
    shared = jitted._shared
    noted: Compilations = shared.compilations
    code = _code(jitted._fun)
    if noted.is_warned_of or code is None or is_internal(code):
        return
    noted.calls.append(shared.hits)
    del noted.calls[: -MOST_PROGRAMS - 1]
    if noted.made is None:
        primitives = [eqn.primitive.name for eqn in entry.jaxpr.jaxpr.eqns]
        program = hash((*entry.jaxpr.in_avals, *primitives))
        made = noted.made = _Made(code.co_filename, code.co_firstlineno, code.co_name, program)
        if (_thrown_away.get(made) or 0) >= MOST_FUNCTIONS:
            _thrown_away[made] = None
            noted.is_warned_of = True
            warn_user(_new_function(jitted), RecompilationWarning)
    elif len(noted.calls) > MOST_PROGRAMS < len(shared.entries) and (
        shared.hits - noted.calls[0] < CALLS_OF_EACH * MOST_PROGRAMS
    ):
        noted.is_warned_of = True
        warn_user(_new_arguments(jitted), RecompilationWarning)


class Recompilations(NamedTuple):
    """The programs that a function under ``jit`` was traced for.

    Attributes:
        programs: how many there are.
        changes: what changed most between the calls that made them.
        advice: what helps.

    >>> from bindax_transforms import jit
    >>> recompilations(jit(lambda x: x))
    Recompilations(programs=0, changes=(), advice='')
    """

    programs: int
    changes: tuple[str, ...]
    advice: str


def recompilations(jitted: Any) -> Recompilations:
    """Return the programs that a function under ``jit`` was traced for, and what made them many.

    Args:
        jitted: what ``jit`` returned.

    >>> import numpy as np
    >>> from bindax_transforms import jit, recompilations
    >>> double = jit(lambda x: x + x)
    >>> results = [double(np.ones(n)) for n in (3, 4, 5)]
    >>> recompilations(double).programs, recompilations(double).changes
    (3, ('x: float64[4] -> float64[5]; the 3rd size',))
    """
    keys = list(jitted._shared.entries)
    if len(keys) < 2:
        return Recompilations(len(keys), (), "")
    changes, advice = changes_of_calls(jitted, keys)
    return Recompilations(len(keys), tuple(changes), advice)


def thrown_away(function: Any) -> int:
    """The number of functions that were made where this one was, and thrown away."""
    code = _code(function)
    if code is None:
        return 0
    here = code.co_filename, code.co_firstlineno, code.co_name
    counts = [count for made, count in _thrown_away.copy().items() if made[:3] == here]
    return sum(MOST_FUNCTIONS if count is None else count for count in counts)


def _code(function: Any) -> CodeType | None:
    return code_of(function) or code_of(type(function).__call__)


def _new_function(jitted: Any) -> str:
    return (
        f"jit compiles {describe_function(jitted._fun)} for the {ordinal(MOST_FUNCTIONS + 1)} "
        f"time: it is a new function at each call, so that what was compiled is never found again. "
        f"Make the function once, outside of the loop, and jit it there; pass as arguments what it "
        f"closes over."
    )


def _new_arguments(jitted: Any) -> str:
    shared = jitted._shared
    changes, advice = changes_of_calls(jitted, list(shared.entries))
    times = f"for the {ordinal(len(shared.entries))} time"
    calls = f"in {shared.hits + shared.misses} calls:"
    head = f"jit compiles {describe_function(jitted._fun)} {times}, {calls}"
    return "\n  ".join([head, *changes, advice])
