"""The arguments of a function that is to be traced: which are static, which are donated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import index
from typing import Any, NamedTuple, TypeAlias

from bindax_core.extend import (
    Tracer,
    as_array,
    describe_function,
    tree_flatten,
    tree_flatten_with_path,
)
from bindax_transforms._flat import parameter_names, parameters_of

STATIC = "To pass it as static, name it in static_argnames or give its position in static_argnums."
"""The advice about arguments that cannot be traced."""


class JitOptions(NamedTuple):
    """The options that ``jit`` was given for a function."""

    static_argnums: tuple[int, ...] = ()
    static_argnames: tuple[str, ...] = ()
    donate_argnums: tuple[int, ...] = ()
    donate_argnames: tuple[str, ...] = ()
    keep_unused: bool = False
    inline: bool = False
    backend: str | None = None
    shardings: Any = None
    compiler_options: tuple[tuple[str, Any], ...] = ()


def require_options(options: object) -> None:
    """Refuse what is no ``JitOptions``."""
    if not isinstance(options, JitOptions):
        raise TypeError(
            f"JittedFunction takes a function and JitOptions, but got {options!r:.80}; "
            f"bindax.jit makes one."
        )


def argument_paths(fun: Callable[..., Any], args: Any, kwargs: Any) -> list[tuple[str, Any]]:
    """Each leaf of a call's arguments with its path, beginning with the parameter's name."""
    leaves, _ = tree_flatten((args, kwargs))
    return list(zip(parameter_names(fun, args, kwargs), leaves, strict=True))


def name_overflow(error: OverflowError, fun: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Say in an error of a call which argument is an integer that its dtype does not hold."""
    for path, x in argument_paths(fun, args, kwargs):
        if type(x) is int:
            try:
                as_array(x)
            except OverflowError as own:
                error.args = (f"jit of {describe_function(fun)}: argument {path}: {own}",)


def positions(
    given: int | Iterable[int] | None, parameter: str = "static_argnums"
) -> tuple[int, ...]:
    """One position, several or none, as a tuple."""
    if given is None:
        return ()
    try:
        return tuple([index(i) for i in (given if isinstance(given, Iterable) else (given,))])
    except TypeError:
        raise TypeError(
            f"{parameter}, the positions of arguments, must be integers, but got {given!r:.80}; "
            f"names are given in {parameter.replace('argnums', 'argnames')}."
        ) from None


def words(given: str | Iterable[str] | None, parameter: str = "static_argnames") -> tuple[str, ...]:
    """One name, several or none, as a tuple."""
    if given is None:
        return ()
    wanted: Any = given
    several = isinstance(wanted, Iterable) and not isinstance(wanted, str)
    names: tuple[str, ...] = tuple(wanted) if several else (wanted,)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{parameter} must be names of parameters, but got {given!r:.80}.")
    return names


def places(
    fun: Callable[..., Any], argnums: Any, argnames: Any, kind: str
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The positions and names of arguments that are ``static``, or that ``jit`` may ``donate``.

    As in JAX, who gives both has said it all; otherwise each stands for the other one, too.
    """
    nums, names = positions(argnums, f"{kind}_argnums"), words(argnames, f"{kind}_argnames")
    if argnums is not None and argnames is not None:
        return nums, names
    return complete(fun, nums, names, f"{kind}_argnames")


def complete(
    fun: Callable[..., Any],
    given: tuple[int, ...],
    names: tuple[str, ...],
    parameter: str = "static_argnames",
    transformation: str = "jit",
) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions for names and names for positions, so that either way of passing works.

    Args:
        fun: the function.
        given: positions of its arguments.
        names: names of its arguments.
        parameter: what the names were given as.
        transformation: whose arguments these are, for the message.

    Raises:
        ValueError: when no argument can be passed by a name, or the names of parameters are not
            known, so that what is passed by position would be missed.
    """
    if not given and not names:
        return given, names
    parameters = parameters_of(fun)
    if parameters is None:
        if names and parameter == "donate_argnames":
            raise ValueError(
                f"jit of {describe_function(fun)}: the signature is not known, so that "
                f"donate_argnames={names!r} would miss arguments passed by position. Give their "
                f"positions in donate_argnums."
            )
        return given, names
    ordered = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    known = {p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)}
    unnamed = {p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
    for name in names:
        if name in unnamed:
            raise ValueError(
                f"{parameter} of {transformation} names {name!r}, but {describe_function(fun)} "
                f"takes it by position alone; give its position in "
                f"{parameter.replace('names', 'nums')}."
            )
        if name not in known and not takes_any:
            raise ValueError(
                f"{parameter} of {transformation} names {name!r}, but the parameters of "
                f"{describe_function(fun)} are {', '.join(sorted(known))}."
            )
    more = tuple(ordered.index(n) for n in names if n in ordered)
    reached = (ordered[i] for i in given if -len(ordered) <= i < len(ordered))
    other = tuple(name for name in reached if name in known)
    return tuple(dict.fromkeys(given + more)), tuple(dict.fromkeys(names + other))


def _positional_count(fun: Callable[..., Any]) -> int | None:
    """The number of arguments that a function takes by position; None where there is no bound."""
    parameters = parameters_of(fun)
    if parameters is None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return None
    return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) for p in parameters)


def check_compiler(backend: Any, options: Any) -> tuple[Any, ...]:
    """Check the name of a backend and the options of a compiler; gives the options in order."""
    if backend is not None and not isinstance(backend, str):
        raise TypeError(f"jit: backend must be the name of a backend, but is {backend!r:.60}.")
    if not isinstance(options, Mapping):
        raise TypeError(f"jit: compiler_options must be a dict, but it is {options!r:.60}.")
    return tuple(sorted(options.items()))


def check_positions(
    fun: Callable[..., Any],
    static: tuple[int, ...],
    donated: tuple[int, ...] = (),
    transformation: str = "jit",
) -> None:
    """Raise when a position names no parameter, or one argument is both static and donated."""
    if not static and not donated:
        return
    count = _positional_count(fun)
    for name, given in (("static_argnums", static), ("donate_argnums", donated)):
        for i in given:
            if count is not None and not -count <= i < count:
                raise ValueError(
                    f"{name} of {transformation} names position {i}, but {describe_function(fun)} "
                    f"takes {count} positional arguments."
                )
    from_front = [{i % count if count else i for i in given} for given in (static, donated)]
    both = from_front[0] & from_front[1]
    if both:
        raise ValueError(
            f"jit of {describe_function(fun)}: argument {min(both)} is both static and donated; a "
            f"static argument is part of the program, and has no memory to give."
        )


def present(positions: Sequence[int], args: Any) -> set[int]:
    """Positions counted from the front, without those that a call does not reach."""
    return {i % len(args) for i in positions if -len(args) <= i < len(args)}


Statics: TypeAlias = tuple[()] | tuple[tuple[int | str, ...], tuple[Any, ...], tuple[type, ...]]
"""The static arguments of a call, as a part of the key of its program: positions and names, values,
and the types of these, because ``1 == 1.0 == True``; empty where there are none."""


Split: TypeAlias = Callable[[Any, Any], tuple[Any, Any, Statics]]
"""From the arguments of a call, by position and by name, to those of both that are not static, and
those that are."""


class Splits(dict[Any, Split]):
    """Functions that take the static arguments out of calls, one for each form of calls.

    A form is the number of arguments by position, followed by the names of the others.
    """

    def __init__(self, argnums: tuple[int, ...], argnames: tuple[str, ...]) -> None:
        self._argnums = argnums
        self._argnames = argnames

    def __missing__(self, form: tuple[Any, ...]) -> Split:
        if len(self) >= _MOST_FORMS:
            self.clear()
        count, *names = form
        static = sorted({i % count for i in self._argnums if -count <= i < count})
        split = self[form] = _split_of(count, names, static, sorted({*names} & {*self._argnames}))
        return split


_MOST_FORMS = 256
"""The most forms of calls with the same static arguments for which there are functions."""


@lru_cache(maxsize=1024)
def splits(argnums: tuple[int, ...], argnames: tuple[str, ...]) -> Splits:
    """The functions that take static arguments at these positions, and of these names, out."""
    return Splits(argnums, argnames)


def _split_of(count: int, names: Sequence[str], places: list[int], named: list[str]) -> Split:
    """Write the function for one form of calls: no call looks for what is static."""
    if not places and not named:
        return lambda args, kwargs: (args, kwargs, ())
    given = [f"a{i}" for i in range(count)]
    by_name = {name: f"k{i}" for i, name in enumerate(names)}
    static = [given[i] for i in places] + [by_name[name] for name in named]
    dynamic = [x for x in given if x not in static]
    others = [f"names[{i}]: k{i}" for i, name in enumerate(names) if name not in named]
    types = [f"type({x})" for x in static]
    source = [
        "def split(args, kwargs):",
        f" {_items(given)} = args",
        f" {_items(by_name.values())} = kwargs.values()",
        f" statics = which, {_items(static)}, {_items(types)}",
        f" return {_items(dynamic)}, {{{', '.join(others)}}}, statics",
    ]
    found: dict[str, Any] = {"which": (*places, *named), "names": names}
    exec("\n".join(source), found)
    split: Split = found["split"]
    return split


def _items(written: Iterable[str]) -> str:
    """The source of a tuple of what is written, or of the variables that one is unpacked into."""
    return f"({''.join(f'{one}, ' for one in written)})"


def split_static(
    fun: Callable[..., Any], options: JitOptions, args: Any, kwargs: Any, name: str = "jit"
) -> tuple[Any, Any, Statics]:
    """The arguments that are not static, by position and by name, and those that are.

    Raises:
        TypeError: a static argument is traced.
        ValueError: a static argument has no hash; ``checkpoint`` lets it pass.
    """
    split = splits(options.static_argnums, options.static_argnames)[len(args), *kwargs]
    dynamic_args, dynamic_kwargs, statics = split(args, kwargs)
    try:
        hash(statics)
    except TypeError:
        _refuse_unhashable(fun, statics, name)
    return dynamic_args, dynamic_kwargs, statics


def _refuse_unhashable(fun: Callable[..., Any], statics: Statics, name: str) -> None:
    """Raise an error that names the static argument that has no hash."""
    for which, value, _ in zip(*statics, strict=True):
        try:
            hash(value)
        except TypeError:
            if isinstance(value, Tracer):
                raise TypeError(
                    f"{name} of {describe_function(fun)}: the static argument {which!r} is traced: "
                    f"{value.aval.str_short()}. What is differentiated, mapped or an argument of "
                    f"a traced function has no value to specialize on; do not declare it static."
                ) from None
            if name == "checkpoint":
                continue  # it keeps no program by the value
            raise ValueError(
                f"{name} of {describe_function(fun)}: Non-hashable static arguments are not "
                f"supported: {which!r} is {value!r:.80} of type {type(value).__name__}. They are "
                f"part of the cache key; pass a tuple instead of a list, or a frozen class."
            ) from None


def refuse_incomparable(fun: Callable[..., Any], statics: Statics, known: Iterable[Any]) -> None:
    """Raise an error that names the static values that cannot be compared, where there are any.

    Args:
        fun: the function.
        statics: the static arguments of a call.
        known: those of other calls.
    """
    for other in known:
        for which, mine, theirs in zip(*statics[:2], other[1] if other else (), strict=False):
            try:
                bool(mine == theirs)
            except Exception as error:
                raise ValueError(
                    f"jit of {describe_function(fun)}: static arguments must be comparable by ==, "
                    f"but {which!r}, of type {type(mine).__name__}, was compared with that of "
                    f"another call, which raised {type(error).__name__}: {error}"
                ) from error


def with_static(
    fun: Callable[..., Any], options: JitOptions, args: Any, kwargs: Any
) -> Callable[..., Any]:
    """The function of the arguments that are not static."""
    static = present(options.static_argnums, args)
    static_kwargs = {k: v for k, v in kwargs.items() if k in options.static_argnames}

    def dynamic(*dynamic_args: Any, **dynamic_kwargs: Any) -> Any:
        given = iter(dynamic_args)
        full = [args[i] if i in static else next(given) for i in range(len(args))]
        return fun(*full, **dynamic_kwargs, **static_kwargs)

    return dynamic


def donated_leaves(options: JitOptions, args: Any, kwargs: Any) -> tuple[bool, ...]:
    """For each leaf of the arguments that are not static, whether it is donated."""
    flags: list[bool] = []
    donated = present(options.donate_argnums, args)
    static = present(options.static_argnums, args)
    for i, arg in enumerate(args):
        if i not in static:
            flags += [i in donated] * len(tree_flatten(arg)[0])
    dynamic = {k: v for k, v in kwargs.items() if k not in options.static_argnames}
    for path, _ in tree_flatten_with_path(dynamic)[0]:
        flags.append(path[0].key in options.donate_argnames)
    return tuple(flags)
