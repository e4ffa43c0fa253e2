"""Jaxprs that say the same, made one (hash consing), so that one is compiled for all of them.

A function that is called again is traced again, since it may see other values of what it closes
over. Where the new jaxpr says the same as an earlier one, what was made of that is found again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_core.extend import Array, ClosedJaxpr, Var
from bindax_transforms._flat import cached_on_jaxpr
from bindax_transforms.custom._custom_call import CustomCall

_LIMIT = 2048
_first: dict[Any, ClosedJaxpr] = {}


def intern_jaxpr(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The first of the jaxprs that say the same as this one.

    It serves to run the jaxpr, and its ``cache`` to keep executables. Derivatives are another
    matter: custom rules do not count, and may see other values now (``has_functions``).

    Args:
        closed: a jaxpr without constants, as ``convert_constvars`` makes it. One with constants
            is returned as it is.

    >>> from bindax_transforms import intern_jaxpr, make_jaxpr
    >>> first, second = make_jaxpr(lambda x: x)(1.0), make_jaxpr(lambda y: y)(1.0)
    >>> first is second, intern_jaxpr(first) is intern_jaxpr(second)
    (False, True)
    """

    def first() -> ClosedJaxpr:
        if len(_first) >= _LIMIT:
            _first.clear()
        return closed if closed.consts else _first.setdefault(_program_key(closed), closed)

    return cached_on_jaxpr(closed, "interned", first)


def has_functions(closed: ClosedJaxpr) -> bool:
    """Tell whether equations have Python functions, such as custom rules, as parameters."""
    values = (value for eqn in closed.eqns for value in eqn.params.values())
    return cached_on_jaxpr(closed, "has functions", lambda: any(map(_is_or_has_function, values)))


def _is_or_has_function(value: Any) -> bool:
    if isinstance(value, ClosedJaxpr):
        return has_functions(value)
    if type(value) is tuple:
        return any(map(_is_or_has_function, value))
    return isinstance(value, CustomCall) or callable(value)


def _program_key(closed: ClosedJaxpr) -> Any:
    """A hashable value that jaxprs share when they say the same.

    Variables are numbered in the order in which they are bound.
    """
    jaxpr = closed.jaxpr
    numbers: dict[Var, int] = {v: i for i, v in enumerate(jaxpr.invars)}

    def atom(x: Any) -> Any:
        return numbers[x] if type(x) is Var else (x.aval, constant_key(x.val))

    eqns = []
    for eqn in jaxpr.eqns:
        operands = tuple([atom(x) for x in eqn.invars])
        for v in eqn.outvars:
            numbers[v] = len(numbers)
        avals = tuple([v.aval for v in eqn.outvars])
        params = tuple([(name, _parameter_key(value)) for name, value in eqn.params.items()])
        eqns.append((eqn.primitive, operands, params, avals))
    outs = tuple([atom(x) for x in jaxpr.outvars])
    return tuple([v.aval for v in jaxpr.invars]), tuple(eqns), outs


def constant_key(value: Any) -> Any:
    """A hashable value that constants of one type share when they are equal."""
    # Keys and others of an extended dtype are what represents them; their types say the rest.
    found = np.asarray(value.physical() if isinstance(value, Array) else value)
    # What has no bytes of its own is told apart by its object, which the jaxpr keeps alive.
    return id(value) if found.dtype == object else found.tobytes()


def _parameter_key(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return intern_jaxpr(value)
    if type(value) is tuple:
        return tuple([_parameter_key(x) for x in value])
    if isinstance(value, CustomCall):
        return type(value)  # what runs is the jaxpr beside it
    if type(value) in (bool, float, complex):  # True equals 1, and -0.0 equals 0.0
        return type(value), repr(value)
    return value
