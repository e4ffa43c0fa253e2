"""Functions of arrays that are evaluated often: checked once for each type of arguments.

Of what a function of NumPy's name does, most is to check its parameters, to find dtypes and to
choose primitives, all of which the types of its arguments decide. So it is traced when it comes up
again; from then on, its equations are evaluated, as the function would evaluate them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from bindax_core.extend import (
    Array,
    ClosedJaxpr,
    DebugInfo,
    EvalTrace,
    Jaxpr,
    Var,
    config,
    trace_state,
)
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr

P = ParamSpec("P")
R = TypeVar("R")

_OFTEN = 4
"""The calls after which a function is traced, which takes some hundred times as long."""

_MOST_PLANS = 1024
_MOST_EQUATIONS = 32

_EXACT = frozenset({type(None), bool, int, str, np.dtype, type})
"""Types of parameters of which equal ones are interchangeable."""

_plans: dict[Any, Any] = {}
"""For each call that came up, how often, or how to evaluate it; False where that is unknown."""


class _Unknown(Exception):
    """An argument is no array, and no parameter that calls can be recognized by."""


def forget_evaluated() -> None:
    """Forget how functions are evaluated."""
    _plans.clear()


def evaluated(function: Callable[P, R]) -> Callable[P, R]:
    """The same function, faster where it is evaluated again for arrays of the same types.

    Args:
        function: a function of arrays and static parameters, which gives one array and has no
            effects.

    >>> import numpy as np
    >>> from bindax_core import Array
    >>> from bindax_lax_basic import add
    >>> from bindax_transforms.staging.evaluated import evaluated
    >>> twice = evaluated(lambda x: add(x, x))
    >>> [twice(Array.from_numpy(np.arange(2.0) + i)).tolist() for i in range(6)][-1]
    [10.0, 12.0]
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if trace_state.dynamic is not None:
            return function(*args, **kwargs)
        arrays: list[Any] = []
        key: list[Any] = [function, config.program_key]
        try:
            for x in args:
                if type(x) is Array:
                    arrays.append(x)
                    key.append(x.aval)
                else:
                    key.append(_recognized(x))
            for name, x in kwargs.items():
                key += (name, _recognized(x))
        except _Unknown:
            return function(*args, **kwargs)
        plan = _plans.get(known := tuple(key))
        if type(plan) is _Plan:
            return plan.evaluate(arrays)  # type: ignore[no-any-return]
        result = function(*args, **kwargs)
        if plan is not False:
            _note(known, plan or 0, function, args, kwargs, result)
        return result

    return call


def _recognized(x: Any) -> Any:
    """A value that stands for a parameter in keys."""
    kind = type(x)
    if kind in _EXACT:
        return kind, x
    if kind is float:
        return kind, x or repr(x)  # zeros have signs; nan is found by identity
    if kind is tuple:
        return kind, tuple([_recognized(each) for each in x])
    raise _Unknown


def _note(key: Any, count: int, function: Any, args: Any, kwargs: Any, result: Any) -> None:
    """Count a call, and find out how to evaluate it when it has come up often."""
    if len(_plans) >= _MOST_PLANS:
        _plans.clear()
    if count + 1 < _OFTEN:
        _plans[key] = count + 1
        return
    _plans[key] = False
    if type(result) is not Array or not any(type(x) is Array for x in args):
        return

    def of_arrays(*arrays: Any) -> list[Any]:
        given = iter(arrays)
        return [function(*[next(given) if type(x) is Array else x for x in args], **kwargs)]

    avals = [x.aval for x in args if type(x) is Array]
    try:
        closed = trace_to_jaxpr(of_arrays, avals, DebugInfo("evaluated", function))
    except Exception:  # what depends on values cannot be traced
        return
    plan = _Plan(closed)
    if plan.is_simple and closed.out_avals[0] is result.aval:
        _plans[key] = plan


class _Plan:
    """The equations of a function, each of which applies one primitive.

    Values have places in a list: the arrays first, then the constants, then results.
    """

    def __init__(self, closed: ClosedJaxpr) -> None:
        self.values: list[Any] = []
        self.steps: list[tuple[Any, list[int], dict[str, Any], int, Any]] = []
        self.is_simple = not closed.jaxpr.effects
        self._is_for_numpy = True
        self._count = len(closed.jaxpr.invars)
        arguments = list(range(self._count))
        self.values += [None] * self._count
        (self._result,) = self._add(closed.jaxpr, closed.consts, arguments)
        self.is_simple &= bool(self.steps) and self._result == self.steps[-1][3]

    def _constant(self, value: Any) -> int:
        self.values.append(value)
        return len(self.values) - 1

    def _add(self, jaxpr: Jaxpr, consts: Sequence[Any], arguments: Sequence[int]) -> list[int]:
        """Add the equations of a jaxpr; gives the places of the results."""
        places = dict(zip(jaxpr.invars, arguments, strict=True))
        for var, const in zip(jaxpr.constvars, consts, strict=True):
            places[var] = self._constant(const)

        def place(x: Any) -> int:
            if isinstance(x, Var):
                return places[x]
            return self._constant(Array.from_numpy(np.array(x.val, x.aval.dtype), x.aval))

        for eqn in jaxpr.eqns:
            operands = [place(x) for x in eqn.invars]
            inner = eqn.params.get("jaxpr")
            if eqn.primitive.name == "custom_jvp_call" and isinstance(inner, ClosedJaxpr):
                outs = self._add(inner.jaxpr, inner.consts, operands)
                places.update(zip(eqn.outvars, outs, strict=True))
                continue
            self.is_simple &= not eqn.primitive.multiple_results and not eqn.primitive.takes_values
            self.is_simple &= len(self.steps) < _MOST_EQUATIONS
            self._is_for_numpy &= not eqn.primitive.prefers_compiler
            places[eqn.outvars[0]] = out = self._constant(None)
            if not self.is_simple:
                continue
            if all(self.values[i] is not None for i in operands):  # the same each time
                given = [self.values[i] for i in operands]
                self.values[out] = eqn.primitive.bind(*given, **eqn.params)
            else:
                self.steps.append((eqn.primitive, operands, eqn.params, out, eqn.outvars[0].aval))
        return [place(x) for x in jaxpr.outvars]

    def evaluate(self, arrays: Sequence[Any]) -> Any:
        """Apply the primitives to arrays: by evaluation, as no operand is traced."""
        trace = trace_state.stack[0].trace
        if self._is_for_numpy and type(trace) is EvalTrace and config.eager == "numpy":
            found = trace.evaluate_steps(self.steps, [*arrays, *self.values[self._count :]])
            if found is not None:
                return found
        values = [*arrays, *self.values[self._count :]]
        for primitive, operands, params, out, _ in self.steps:
            (values[out],) = trace.process_primitive(
                primitive, [values[i] for i in operands], params
            )
        return values[self._result]
