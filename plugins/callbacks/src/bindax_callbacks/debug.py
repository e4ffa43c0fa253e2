"""Looking into programs while they run: ``debug.print``, ``debug.log``, ``debug.callback``."""

from __future__ import annotations

import logging
import string
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO, Any

from bindax_callbacks.breakpoint import Prompt, stops
from bindax_callbacks.host_function import make_callback
from bindax_callbacks.host_rules import effects, host_rules, map_elements
from bindax_core.extend import Effect, Primitive, api_boundary, primitive, rules
from bindax_transforms.zeros import Zero

__all__ = ["breakpoint", "callback", "debug_callback_p", "log", "print"]

_logger = logging.getLogger("bindax")


@api_boundary
def callback(
    callback: Callable[..., Any], *args: Any, ordered: bool = False, **kwargs: Any
) -> None:
    """Call a Python function when the program runs, for what it does; its result is ignored.

    Transformations do not see it: derivatives call it with the primal values, ``vmap`` once for
    each element. Where a computation is repeated (``checkpoint``) or made for nothing (``cond``
    with a mapped predicate), the function is called there, too.

    Args:
        callback: the function.
        args: its arguments: arrays and trees of arrays become ``Array`` values; whatever else
            stands there is passed as it is.
        ordered: whether it is called after all ordered callbacks that the program has before.
        kwargs: its arguments by name.

    Raises:
        TypeError: when ``callback`` is no function.
        ValueError: under ``vmap`` when ordered.

    >>> from bindax_callbacks import debug
    >>> from bindax_transforms import jit
    >>> seen = []
    >>> @jit
    ... def f(x):
    ...     debug.callback(seen.append, x)
    ...     return 2.0 * x
    >>> f(3.0), seen
    (Array(6., dtype=float64, weak_type=True), [Array(3., dtype=float64)])
    """
    _bind("debug.callback", callback, None, (args, kwargs), ordered)


@api_boundary
def print(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Print values when the program runs.

    Args:
        fmt: a format string with the fields of ``str.format``: ``"x = {}"``, ``"{name:.3f}"``.
        args: the values of its fields by position.
        ordered: whether it prints after all ordered effects that the program has before.
        kwargs: the values of its fields by name.

    Raises:
        TypeError: when ``fmt`` is no string.
        ValueError: at once, when fields and values do not fit; under ``vmap`` when ordered.

    >>> from bindax_callbacks import debug
    >>> from bindax_transforms import grad
    >>> def f(x):
    ...     y = x * x
    ...     debug.print("x = {}, y = {y:.2f}", x, y=y)
    ...     return y
    >>> float(grad(f)(3.0))
    x = 3.0, y = 9.00
    6.0
    """
    _check_format("debug.print", fmt, args, kwargs)
    _bind("debug.print", partial(_write, fmt), "debug.print", (args, kwargs), ordered)


@api_boundary
def log(fmt: str, *args: Any, ordered: bool = False, **kwargs: Any) -> None:
    """Log values when the program runs, by the logger ``"bindax"`` as information.

    Args:
        fmt: a format string with the fields of ``str.format``, as for ``debug.print``.
        args: the values of its fields by position.
        ordered: whether it is logged after all ordered effects that the program has before.
        kwargs: the values of its fields by name.

    Raises:
        TypeError: when ``fmt`` is no string.
        ValueError: at once, when fields and values do not fit; under ``vmap`` when ordered.

    >>> import logging, sys
    >>> from bindax_callbacks import debug
    >>> logger, handler = logging.getLogger("bindax"), logging.StreamHandler(sys.stdout)
    >>> logger.addHandler(handler)
    >>> logger.setLevel(logging.INFO)
    >>> debug.log("x = {}", 3.0)
    x = 3.0
    >>> logger.removeHandler(handler)
    >>> logger.setLevel(logging.NOTSET)
    """
    _check_format("debug.log", fmt, args, kwargs)
    _bind("debug.log", partial(_write_log, fmt), "debug.log", (args, kwargs), ordered)


@api_boundary
def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: None = None,
    stdin: IO[str] | None = None,
    stdout: IO[str] | None = None,
) -> None:
    """Stop when the program runs, and read commands at a prompt.

    The prompt stands in the function that called it, whose variables have the values of this run;
    ``help`` lists the commands. Expressions are evaluated; ``c`` goes on, as the end of the input
    does, and ``q`` ends the program. Under ``vmap`` it stops for each element.

    Args:
        backend: ``"cli"`` or None: the prompt in the terminal.
        filter_frames: whether the functions of bindax are left out of the stack.
        num_frames: how many functions the stack has at most, the innermost first.
        ordered: whether it stops after all ordered effects that the program has before.
        token: None; order is kept with ``ordered``.
        stdin: where commands come from, by default the terminal.
        stdout: where answers go, by default the terminal.

    Raises:
        ValueError: when ``backend`` is another; under ``vmap`` when ordered.

    >>> import io
    >>> from bindax_callbacks import debug
    >>> from bindax_transforms import jit
    >>> answers = io.StringIO()
    >>> @jit
    ... def f(x):
    ...     y = 2.0 * x
    ...     debug.breakpoint(stdin=io.StringIO("y + 1"), stdout=answers)
    ...     return y
    >>> float(f(3.0)), "Array(7." in answers.getvalue()
    (6.0, True)
    """
    if backend not in (None, "cli"):
        raise ValueError(f"debug.breakpoint has the backend 'cli', but got {backend!r}.")
    if token is not None:
        raise ValueError("debug.breakpoint takes no token; ordered=True keeps the order.")
    traced, restored = stops(filter_frames, num_frames)

    def stop(*values: Any) -> None:
        Prompt(restored(*values), stdin, stdout).run()

    _bind("debug.breakpoint", stop, "debug.breakpoint", (tuple(traced), {}), ordered)


def _check_format(caller: str, fmt: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    if not isinstance(fmt, str):
        raise TypeError(
            f'{caller} takes a format string first, but got {fmt!r:.80}; write {caller}("{{}}", x).'
        )
    _FieldChecker(caller, fmt).vformat(fmt, args, kwargs)


def _bind(
    caller: str, function: Callable[..., Any], name: str | None, arguments: Any, ordered: bool
) -> None:
    made, operands = make_callback(caller, function, None, arguments, name=name)
    debug_callback_p.bind(*operands, callback=made, ordered=bool(ordered))


def _write(fmt: str, *args: Any, **kwargs: Any) -> None:
    # One write, so that lines of several threads stay whole.
    sys.stdout.write(fmt.format(*args, **kwargs) + "\n")
    sys.stdout.flush()


def _write_log(fmt: str, *args: Any, **kwargs: Any) -> None:
    _logger.info("%s", fmt.format(*args, **kwargs))


class _FieldChecker(string.Formatter):
    """Goes through a format string without formatting the values, which may be traced."""

    def __init__(self, caller: str, fmt: str) -> None:
        self._caller = caller
        self._fmt = fmt

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        try:
            return super().get_value(key, args, kwargs)
        except LookupError:
            raise ValueError(
                f"the format string {self._fmt!r} of {self._caller} has the field {key!r}, for "
                f"which no value was given. Write braces that are no field twice."
            ) from None

    def format_field(self, value: Any, format_spec: str) -> str:
        return ""

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion not in (None, "s", "r", "a"):
            raise ValueError(
                f"the format string {self._fmt!r} of {self._caller} has the conversion "
                f"!{conversion}; there are !s, !r and !a."
            )
        return value

    def check_unused_args(
        self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        unused = [str(key) for key in (*range(len(args)), *kwargs) if key not in used_args]
        if unused:
            raise ValueError(
                f"the format string {self._fmt!r} of {self._caller} has no field for the values "
                f"{', '.join(unused)}; an f-string has none left, because it was formatted before."
            )


def _jvp(primals: Sequence[Any], tangents: Sequence[Zero], **params: Any) -> tuple[Any, Any]:
    return debug_callback_p.bind(*primals, **params), []


debug_callback_p: Primitive = primitive(
    "debug_callback",
    host_rules(),
    effects(
        Effect("debug", repeatable=True), Effect("ordered debug", ordered=True, repeatable=True)
    ),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(map_elements, takes_primitive=True),
    rules.transpose.absent(
        "a program runs backwards with cotangents, so the tangents that the callback asks for "
        "never exist; print primal values, or use jvp"
    ),
    multiple_results=True,
)
"""Calls a host function for what it does. Parameters: ``callback``, from flat arrays to none;
``ordered``, whether it keeps the order of the program."""
