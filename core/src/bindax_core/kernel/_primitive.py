"""Primitives, and ``bind``: the one point where every operation is intercepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core._extension_points import runtime
from bindax_core._site import Site, Statement, caller_site, running_statement
from bindax_core.kernel import _rules as rules
from bindax_core.kernel._aval import as_operand
from bindax_core.kernel._parameters import is_no_parameter, is_reusable, wrong_parameter
from bindax_core.kernel._rule_errors import explain_failure, require_types
from bindax_core.kernel._stack import find_top_trace, full_lower, next_trace
from bindax_core.kernel._trace import MainTrace, full_raise

_MEMORY_LIMIT = 4096


class Primitive:
    """A named operation, which jaxprs are made of; its rules say what it means.

    Made by ``primitive(name, *rules)``. By default it has one result; with ``multiple_results``
    ``bind`` returns a list.

    Attributes:
        name: what jaxprs print and manifests offer.
        multiple_results: whether rules take and return sequences of results.
        site: where it is declared.
        statement: the statement of a module that was run then.
        takes_values: whether the ``impl`` rule takes the operands as they are given.
        prefers_compiler: whether NumPy has no fast form of it.
    """

    __slots__ = (
        *("__weakref__", "_out_avals", "multiple_results", "name", "prefers_compiler", "site"),
        *("statement", "takes_values"),
    )

    def __init__(
        self, name: str, *, multiple_results: bool = False, site: Site | None = None
    ) -> None:
        self.name: str = name
        self.multiple_results: bool = multiple_results
        self.site: Site = caller_site() if site is None else site
        self.statement: Statement = running_statement()
        self.takes_values: bool = False
        self.prefers_compiler: bool = False
        self._out_avals: dict[Any, Sequence[Any]] = {}
        runtime.plugins.declare(self)

    def __repr__(self) -> str:
        return f"Primitive({self.name!r})"

    def __str__(self) -> str:
        return self.name

    def bind(self, *operands: Any, **params: Any) -> Any:
        """Apply the primitive: by the interpreter of the highest level that takes part.

        Args:
            operands: the array operands: arrays, tracers, NumPy and Python numbers.
            params: static and hashable.
        """
        trace = find_top_trace(operands)
        if trace is None:  # an operand stands for an array, or for a tracer of a higher level
            return self.bind(*map(as_operand, operands), **params)
        outs = trace.process_primitive(self, trace.boxed(operands), params)
        return [full_lower(x) for x in outs] if self.multiple_results else full_lower(outs[0])

    def out_avals(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Sequence[Any]:
        """Return the types of the results; those for plain types of operands are cached."""
        key: Any = (avals, *params, *params.values()) if params else avals
        try:
            known = self._out_avals.get(key)
        except TypeError:  # a parameter without hash
            known = key = None
        if known is None:
            plain = tuple([aval.plain() for aval in avals])
            if plain != avals:
                return runtime.placed_results(self, avals, plain, params)
            known = self.result_types(avals, params)
            if key is not None and all(map(is_reusable, params.values())):
                if len(self._out_avals) >= _MEMORY_LIMIT:
                    self._out_avals.clear()
                self._out_avals[key] = known
        return known

    def count_results(self, avals: tuple[Any, ...], params: dict[str, Any]) -> int | None:
        """Count the results; None where that would mean to trace a function again."""
        known = self in rules.abstract_eval.functions and all(map(is_reusable, params.values()))
        return len(self.out_avals(avals, params)) if known else None

    def result_types(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Sequence[Any]:
        """Return what the rule says."""
        for name, value in filter(lambda item: is_no_parameter(item[1]), params.items()):
            raise TypeError(wrong_parameter(self.name, name, value))
        function = rules.abstract_eval.get(self)
        try:
            outs = function(*avals, **params)
        except Exception as error:
            explain_failure(self, "abstract_eval", error, avals, params)
            raise
        require_types(self, outs)
        return tuple(outs)

    def forget_types(self) -> None:
        """Clear the cached result types, after a rule was replaced."""
        self._out_avals.clear()


class CallPrimitive(Primitive):
    """A primitive whose functions may close over tracers of any level.

    Every trace on the stack interprets it, from the top, whatever its operands are.
    """

    __slots__ = ()

    def bind_call(
        self,
        operands: Sequence[Any],
        below: MainTrace | None,
        params: Callable[[MainTrace], dict[str, Any]],
    ) -> list[Any]:
        """Apply the call by the next trace.

        Args:
            operands: the operands.
            below: the trace that has done its part; None for a call by the user.
            params: gives the parameters that the next trace sees.
        """
        trace = next_trace(operands, below)
        tracers = [full_raise(trace, x) for x in operands]
        return [full_lower(x) for x in trace.process_primitive(self, tracers, params(trace.main))]
