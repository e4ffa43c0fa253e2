"""Functions of objects compiled ahead of their calls, and as programs of states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bindax_transforms
from bindax_core.extend import api_boundary, tree_leaves
from bindax_nnx.lift._names import named_after, variable_name
from bindax_nnx.lift.structure import Arguments, CallScope, finish
from bindax_nnx.lift.templates import Template
from bindax_nnx.object import Object


class _Stage:
    """A stage of compilation, which knows the arguments that it is for.

    Args:
        made: the stage of the flat function.
        arguments: what ``lower`` was called with.
        statics: the static arguments, by position and by name.
        function: the compiled function, for messages.
    """

    def __init__(
        self, made: Any, arguments: Arguments, statics: Mapping[int | str, Any], function: Any
    ) -> None:
        self._made, self._form = made, arguments.form
        self._statics, self._function = statics, function
        self._given: tuple[Any, ...] = ()  # the first arguments, which calls leave out

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._made, name)


class Lowered(_Stage):
    """A function of objects in the backend's language; what ``nnx.jit(f).lower(...)`` gives."""

    def compile(self, *args: Any, **kwargs: Any) -> Compiled:
        """Compile now, with options as those of ``bindax.jit(f).lower(...).compile``."""
        compiled = object.__new__(Compiled)
        compiled.__dict__.update(self.__dict__, _made=self._made.compile(*args, **kwargs))
        return compiled


class Compiled(_Stage):
    """A function of objects compiled for arguments of one structure and types."""

    @api_boundary
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the program. Static arguments are part of it, and are left out.

        Raises:
            TypeError: the arguments have another structure, or other types.
        """
        arguments = Arguments(with_statics(self._statics, (*self._given, *args), kwargs))
        if arguments.form != self._form:
            raise TypeError(
                f"{self._function!r} was compiled for other objects: arguments are passed as to "
                f"lower, with objects of the same structure, but static arguments are left out. "
                f"Lower and compile it again for these, or call the function itself."
            )
        returned = self._made(*arguments.leaves)
        return finish(returned.outcome, arguments, returned.outs)


def with_statics(
    statics: Mapping[int | str, Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments with the static ones where they belong; positions are in order."""
    given, named = list(args), dict(kwargs)
    for place, value in statics.items():
        if isinstance(place, int):
            given.insert(place, value)
        else:
            named[place] = value
    return tuple(given), named


def trace_with_states(
    fun: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any], options: Any
) -> Any:
    """The program of a function with states in the place of the objects that it takes.

    Args:
        fun: a function of objects and arrays, which changes no object and returns none.
        args: its arguments.
        kwargs: its keyword arguments.
        options: those of ``jit``.

    Raises:
        TypeError: the function changes an object, or returns one.
    """
    arguments = Arguments((tuple(args), dict(kwargs)))
    template, leaves = Template(arguments), arguments.leaves
    numbers = tree_leaves(template.fill(range(len(leaves))))

    def pure(*args: Any, **kwargs: Any) -> Any:
        given = dict(zip(numbers, tree_leaves((args, kwargs)), strict=True))
        scope = CallScope(arguments.form, [given.get(i, x) for i, x in enumerate(leaves)])
        given, named = scope.arguments
        result = fun(*given, **named)
        outcome = scope.leave(result).outcome
        _require_pure(scope, outcome.restructured is not None, fun)
        return result

    given, named = template.fill(leaves)
    return bindax_transforms.jit(named_after(pure, fun), **options).trace(*given, **named)


def _require_pure(scope: CallScope, is_restructured: bool, fun: Any) -> None:
    name = getattr(fun, "__name__", type(fun).__name__)
    remedy = "return nnx.state of the object to have it among the results"
    if scope.changed:
        changed = variable_name(scope.roots, scope.variables[scope.changed[0][0]])
        raise TypeError(
            f"{name} changes {changed}, but a program of states changes nothing; {remedy}, and do "
            f"not change it."
        )
    if is_restructured:
        raise TypeError(
            f"{name} changes objects, but a program of states does not: {scope.describe_changes()}."
        )
    for leaf in scope.leaves:
        if isinstance(leaf, Object):
            raise TypeError(
                f"{name} returns a {type(leaf).__name__}, but a program of states returns arrays "
                f"and states; {remedy}."
            )
