"""``debug.breakpoint``: a prompt in the middle of a program that runs, compiled or not."""

from __future__ import annotations

import cmd
import linecache
import pprint
import sys
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import IO, Any

import attrs

from bindax_core.errors import TreeError
from bindax_core.extend import Tracer, is_internal, tree_flatten, tree_unflatten

__all__ = ["Prompt", "Stop", "stops"]


@attrs.frozen
class Stop:
    """A function that a program was written in, as it was when it was traced, at a line.

    ``variables`` are its own, traced ones with the values of this run; ``others`` those of the
    module.
    """

    name: str
    file: str
    line: int
    first_line: int
    variables: dict[str, Any]
    others: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} in {self.name}"

    def listing(self, around: int = 5) -> str:
        """The lines of the program around the one that was reached."""
        first = max(self.first_line, self.line - around)
        numbers = range(first, self.line + around + 1)
        lines = [(n, linecache.getline(self.file, n)) for n in numbers]
        return "\n".join(
            f"{'->' if n == self.line else '  '} {n:4d} {text.rstrip()}"
            for n, text in lines
            if text
        )


def _is_one_of(values: list[Any], x: Any) -> bool:
    return any(x is value for value in values)


def _is_tree(x: Any) -> bool:
    """Tell whether a value does not contain itself, as the builtins of a module may."""
    try:
        tree_flatten(x)
    except TreeError:
        return False
    return True


def stops(
    filter_frames: bool, num_frames: int | None
) -> tuple[list[Any], Callable[..., list[Stop]]]:
    """The functions that are running, innermost first, without those of bindax where asked for.

    The traced values among their variables, and a function that makes the stops from the values
    that these have when the program runs.
    """
    traced: list[Any] = []
    kept: list[tuple[Stop, Any, list[Any], list[bool]]] = []
    for frame in _frames(filter_frames):
        if num_frames is not None and len(kept) >= num_frames:
            break
        code = frame.f_code
        own = dict(frame.f_locals)
        cyclic = [x for x in own.values() if not _is_tree(x)]
        leaves, tree = tree_flatten(own, is_leaf=partial(_is_one_of, cyclic))
        flags = [isinstance(x, Tracer) and x._trace.main.alive for x in leaves]
        traced += [x for x, flag in zip(leaves, flags, strict=True) if flag]
        leaves = [None if flag else x for x, flag in zip(leaves, flags, strict=True)]
        place = code.co_name, code.co_filename, frame.f_lineno, code.co_firstlineno
        kept.append((Stop(*place, {}, frame.f_globals), tree, leaves, flags))

    def restored(*values: Any) -> list[Stop]:
        given, found = iter(values), []
        for stop, tree, leaves, flags in kept:
            full = [next(given) if flag else x for x, flag in zip(leaves, flags, strict=True)]
            found.append(attrs.evolve(stop, variables=tree_unflatten(tree, full)))
        return found

    return traced, restored


def _frames(filter_frames: bool) -> Iterator[FrameType]:
    here = sys.modules[__name__.rpartition(".")[0]].__path__[0]
    for frame, _ in traceback.walk_stack(sys._getframe(1)):
        code = frame.f_code
        if not (is_internal(code) if filter_frames else code.co_filename.startswith(here)):
            yield frame


class Prompt(cmd.Cmd):
    """A prompt for commands, and for expressions of the variables of a function."""

    prompt: str = "(bindax) "
    intro: str | None

    def __init__(self, stack: list[Stop], stdin: IO[str] | None, stdout: IO[str] | None) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput: bool = stdin is None
        self.stack = stack
        self.at: int = 0

    def run(self) -> None:
        """Read and answer commands until one goes on with the program."""
        self.intro = f"stopped at {self.here}" if self.stack else "stopped"
        self.cmdloop()

    @property
    def here(self) -> Stop:
        """The function that expressions are about."""
        return self.stack[self.at]

    def _say(self, text: str) -> None:
        self.stdout.write(text + "\n")
        self.stdout.flush()

    def _value(self, expression: str) -> Any:
        # Names of the function go first, also inside comprehensions.
        return eval(expression, {**self.here.others, **self.here.variables})

    def _show(self, expression: str, shown: Callable[[Any], str]) -> None:
        try:
            self._say(shown(self._value(expression)))
        except Exception as error:
            self._say(traceback.format_exception_only(error)[-1].rstrip())

    def default(self, line: str) -> None:
        """Print the value of an expression."""
        self._show(line, repr)

    def emptyline(self) -> bool:
        """Do nothing."""
        return False

    def do_p(self, arg: str) -> None:
        """P EXPRESSION: print its value."""
        self._show(arg, repr)

    def do_pp(self, arg: str) -> None:
        """Pp EXPRESSION: print its value on several lines."""
        self._show(arg, pprint.pformat)

    def do_a(self, arg: str) -> None:
        """a: print the variables of the function."""
        for name, value in self.here.variables.items():
            self._say(f"{name} = {value!r}")

    def do_l(self, arg: str) -> None:
        """l: print the lines of the function around the one that was reached."""
        self._say(self.here.listing())

    def do_u(self, arg: str) -> None:
        """u: go to the function that called this one."""
        self._move(1, "outermost")

    def do_d(self, arg: str) -> None:
        """d: go back to the function that this one called."""
        self._move(-1, "innermost")

    def _move(self, step: int, end: str) -> None:
        if not 0 <= self.at + step < len(self.stack):
            self._say(f"this is the {end} function")
            return
        self.at += step
        self._say(str(self.here))

    def do_bt(self, arg: str) -> None:
        """bt: print where the program is, the innermost function last."""
        for i in reversed(range(len(self.stack))):
            self._say(f"{'>' if i == self.at else ' '} {self.stack[i]}")

    def do_c(self, arg: str) -> bool:
        """c: go on with the program."""
        return True

    def do_q(self, arg: str) -> None:
        """q: end the program."""
        raise SystemExit(1)

    def do_EOF(self, arg: str) -> bool:
        """Go on with the program, at the end of the input."""
        return True

    do_args = do_a
    do_list = do_l
    do_up = do_u
    do_down = do_d
    do_where = do_bt
    do_w = do_bt
    do_continue = do_c
    do_cont = do_c
    do_quit = do_q
    do_exit = do_q
