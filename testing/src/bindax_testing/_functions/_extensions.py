"""Additions of packages to the checks of functions: checks, and kinds of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import attrs

from bindax_core.errors import PluginError
from bindax_core.extend import RuleKind
from bindax_diagnosis import installed_plugins, plugin_contents

Adapted = tuple[Callable[..., Any], tuple[Any, ...]]


@attrs.frozen(eq=False)
class FunctionCheck:
    """A check of functions that a package gives; made by ``function_check``.

    Attributes:
        name: what reports call it.
        run: takes a call; raises AssertionError where the function is wrong.
        in_double: whether it gets the call in double precision, where the function allows that.
        setup: lines that a program which repeats a failure begins with.
        rule: the kind of rule to blame where a single primitive fails; empty where the check is
            none of primitives.

    >>> FunctionCheck("nothing", lambda call: None).in_double
    True
    """

    name: str
    run: Callable[[Any], None]
    in_double: bool = True
    setup: str = ""
    rule: str = ""


@attrs.frozen(eq=False)
class FunctionAdapter:
    """An adapter from a package's functions to functions of arrays; made by ``function_adapter``.

    Attributes:
        adapt: ``(function, args)`` to a pure function and its arguments, or to None.

    >>> FunctionAdapter(lambda function, args: (function, args)).adapt(abs, (1.0,))[1]
    (1.0,)
    """

    adapt: Callable[[Any, tuple[Any, ...]], Adapted | None]


def function_check(
    name: str,
    run: Callable[[Any], None],
    *,
    in_double: bool = True,
    setup: str = "",
    rule: RuleKind | str = "",
) -> FunctionCheck:
    """Make a check of functions, for the hook ``bindax_function_checks``.

    Args:
        name: what reports call it.
        run: takes a ``FunctionCall``: ``operands``, some lists of them as ``draws``, and ``call``,
            a function of flat arrays that gives a list of arrays. It raises ``AssertionError``
            where the function is wrong, and ``NotApplicable`` where it has nothing to say.
        in_double: whether it gets the call in double precision, where the function allows that.
        setup: lines that a program which repeats a failure begins with, before bindax is imported.
        rule: the kind of rule to blame where a single primitive fails. With it, primitives are
            checked, too: ``run`` takes a ``Case`` then.

    >>> def is_finite(call):
    ...     assert all(abs(x).max() < float("inf") for x in call.call(*call.operands))
    >>> function_check("finite", is_finite).name
    'finite'
    """
    kind = rule if isinstance(rule, str) else rule.name
    return FunctionCheck(name, run, in_double, setup, kind)


def function_adapter(
    adapt: Callable[[Any, tuple[Any, ...]], Adapted | None],
) -> FunctionAdapter:
    """Say how functions that hold arrays are checked, for the hook ``bindax_function_checks``.

    Args:
        adapt: takes what was given to ``check_function``; returns a pure function and its
            arguments, which hold all arrays, or None for functions of other kinds.

    >>> function_adapter(lambda function, args: None).adapt(abs, (1.0,)) is None
    True
    """
    return FunctionAdapter(adapt)


@attrs.frozen(eq=False)
class HostFunctions:
    """The functions of users that the applications of a primitive call.

    Attributes:
        primitive: the name of the primitive.
        find: takes the parameters of an application; returns the functions by their roles.

    >>> HostFunctions("call", lambda params: {"callback": params["f"]}).find({"f": abs})
    {'callback': <built-in function abs>}
    """

    primitive: str
    find: Callable[[Mapping[str, Any]], Mapping[str, Callable[..., Any]]]


def host_functions(
    primitive: str, find: Callable[[Mapping[str, Any]], Mapping[str, Callable[..., Any]]]
) -> HostFunctions:
    """Say which functions of users a primitive calls, for the hook ``bindax_function_checks``.

    Reports blame these, and not the primitive.

    Args:
        primitive: its name.
        find: takes the parameters of an application; returns the functions by their roles, such
            as ``{"callback": function}``.

    >>> host_functions("call", lambda params: {"callback": params["function"]}).primitive
    'call'
    """
    return HostFunctions(primitive, find)


@lru_cache(maxsize=1)
def extensions() -> tuple[Any, ...]:
    """All additions of installed plugins."""
    return tuple(_extensions())


def host_functions_of(primitive: str, params: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    """The functions of users that an application of a primitive calls, by their roles."""
    for one in extensions():
        if isinstance(one, HostFunctions) and one.primitive == primitive:
            return dict(one.find(params))
    return {}


def _extensions() -> Iterator[Any]:
    """Additions from the hooks; plugins that do not load are left out."""
    records = [record for record in installed_plugins() if _may_give_checks(record)]
    for name in dict.fromkeys(record["plugin"] for record in records):
        try:
            contents = plugin_contents(name)
        except PluginError:
            continue
        for plugin in contents:
            for given in plugin.hooks.bindax_function_checks():
                yield from given


def _may_give_checks(record: Mapping[str, Any]) -> bool:
    """Tell whether a plugin's file names the hook: what need not be loaded is left alone."""
    try:
        text = Path(record["file"]).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return True
    return "bindax_function_checks" in text
