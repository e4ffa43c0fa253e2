"""Primitives, and ``bind``, the one point at which operations are intercepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bindax_core import _rule_kinds as kinds
from bindax_core._array import Array
from bindax_core._aval import find_value_type, unknown_type_message, value_types
from bindax_core._trace import Tracer, escaped_message, full_raise, trace_state
from bindax_core.errors import (
    AbstractionError,
    PluginConflictError,
    RuleOutputError,
    UnexpectedTracerError,
)
from bindax_core.registry import _rules
from bindax_core.registry._site import Site, caller_site
from bindax_core.registry._transaction import record_undo

if TYPE_CHECKING:
    from bindax_core._aval import ShapedArray

_SIGNATURE_LIMIT = 4096

declared_primitives: dict[str, list[Primitive]] = {}
"""Every primitive declared in this process, by name; more than one where packages clash."""

run_compiled: Callable[..., Sequence[Any]] | None = None
"""Runs one primitive through a backend; set by what knows backends."""

compiler_for: Callable[[Sequence[Any]], Any] | None = None
"""The backend that compiles for some operands, if there is one; set by what knows backends."""


def set_run_compiled(
    function: Callable[..., Sequence[Any]] | None, compiler: Callable[[Sequence[Any]], Any]
) -> None:
    """Set what evaluates a primitive that NumPy has no fast rule for, or on values of a device.

    Args:
        function: ``(primitive, operands, params, backend=None) -> results``.
        compiler: from operands to the backend that compiles for them, or None.
    """
    global run_compiled, compiler_for
    run_compiled, compiler_for = function, compiler


class Primitive:
    """A named operation, the atom of traced programs; what it means is in its rules.

    Made by ``primitive(name, *rules)``. By default it has one result; with ``multiple_results``
    ``bind`` returns a list.
    """

    __slots__ = (
        "__weakref__",
        "_signatures",
        "multiple_results",
        "name",
        "prefers_compiler",
        "site",
        "takes_values",
    )

    def __init__(
        self, name: str, *, multiple_results: bool = False, site: Site | None = None
    ) -> None:
        self.name = name
        self.multiple_results = multiple_results
        self.site = caller_site() if site is None else site
        self.takes_values = False
        self.prefers_compiler = False
        self._signatures: dict[Any, list[ShapedArray]] = {}
        _declare(self)

    def __repr__(self) -> str:
        return f"Primitive({self.name!r})"

    def bind(self, *operands: Any, **params: Any) -> Any:
        """Apply the primitive: by the interpreter of the highest level that takes part.

        Args:
            operands: the array operands: arrays, tracers, NumPy and Python numbers.
            params: the parameters, static and hashable.

        Returns:
            The result, or with ``multiple_results`` the list of results.
        """
        state = trace_state
        top = None
        for x in operands:
            if isinstance(x, Tracer):
                main = x._trace.main
                if not main.alive or main.stack is not state.stack:
                    raise UnexpectedTracerError(escaped_message(x))
                if top is None or main.level > top.level:
                    top = main
        dynamic = state.dynamic
        if dynamic is not None and (top is None or dynamic.level > top.level):
            top = dynamic
        if top is None:
            outs = self.evaluate(operands, params)
            return outs if self.multiple_results else outs[0]
        trace = top.trace
        tracers = [
            x if isinstance(x, Tracer) and x._trace is trace else full_raise(trace, x)
            for x in operands
        ]
        outs = trace.process_primitive(self, tracers, params)
        if self.multiple_results:
            return [x.full_lower() if isinstance(x, Tracer) else x for x in outs]
        out = outs[0]
        return out.full_lower() if isinstance(out, Tracer) else out

    def evaluate(self, operands: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
        """Compute the results now, by the ``impl`` rule on the host or through a backend."""
        function = _implementations.get(self) or kinds.impl.find(self)
        if function is None:
            return self._evaluate_compiled(operands, params)
        if self.takes_values:
            return function(*operands, **params)  # type: ignore[no-any-return]
        if self.prefers_compiler and run_compiled is not None and compiler_for is not None:
            compiler = compiler_for(operands)
            if compiler is not None:
                return run_compiled(self, operands, params, compiler)
        arrays: list[Any] = []
        avals: list[Any] = []
        foreign: Sequence[Any] = ()
        for x in operands:
            if type(x) is Array:
                host = x._host
                if host is None:
                    if _is_out_of_reach(x) and run_compiled is not None:
                        return run_compiled(self, operands, params)
                    host = x.numpy()
                avals.append(x.aval)
                arrays.append(host)
            else:
                aval, array = _host_operand(x)
                if array is x:
                    foreign = operands
                avals.append(aval)
                arrays.append(array)
        out_avals = self.out_avals(tuple(avals), params)
        out = function(*arrays, **params)
        if not self.multiple_results:
            return (self._wrap(out, out_avals[0], foreign),)
        if not isinstance(out, (list, tuple)) or len(out) != len(out_avals):
            raise RuleOutputError(self._wrong_output(f"{out!r:.80}", len(out_avals)))
        return [self._wrap(x, aval, foreign) for x, aval in zip(out, out_avals, strict=True)]

    def _wrap(self, result: Any, aval: Any, foreign: Sequence[Any]) -> Array:
        """What an ``impl`` rule returned as an array of the type that was promised."""
        if type(result) is not np.ndarray:
            result = np.asarray(result)
        if (result.dtype is not aval.dtype and result.dtype != aval.dtype) or (
            result.shape != aval.shape
        ):
            got = f"{result.dtype.name}[{','.join(map(str, result.shape))}]"
            raise RuleOutputError(self._wrong_output(got, aval.str_short()))
        if foreign and (result.base is not None or any(result is x for x in foreign)):
            result = result.copy()  # never alias memory that the caller can write to
        return Array(aval, result)

    def _evaluate_compiled(self, operands: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
        if run_compiled is not None and kinds.stablehlo.find(self) is not None:
            return run_compiled(self, operands, params)
        return kinds.impl.get(self)(*operands, **params)  # type: ignore[no-any-return]  # raises

    def out_avals(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Sequence[Any]:
        """The types of the results, from the ``abstract_eval`` rule.

        They are remembered, unless a parameter is a function or a program: the memory would keep
        alive what it closes over.
        """
        key: Any = (avals, tuple(params.items())) if params else avals
        try:
            known = self._signatures.get(key)
        except TypeError:  # a parameter without hash: evaluated each time
            return kinds.abstract_eval.get(self)(*avals, **params)  # type: ignore[no-any-return]
        if known is None:
            known = list(kinds.abstract_eval.get(self)(*avals, **params))
            if not any(map(_is_one_of_a_kind, params.values())):
                if len(self._signatures) >= _SIGNATURE_LIMIT:
                    self._signatures.clear()
                self._signatures[key] = known
        return known

    def forget_signatures(self) -> None:
        """Forget the remembered result types (after a rule was exchanged for a test)."""
        self._signatures.clear()

    def _wrong_output(self, got: str, promised: Any) -> str:
        rules = (kinds.impl.rule_of(self), kinds.abstract_eval.rule_of(self))
        sites = [_rules.describe_site(rule.site) for rule in rules if rule is not None]
        count = f"{promised} results" if isinstance(promised, int) else promised
        return (
            f"the impl rule of {self.name} returned {got}, but its abstract_eval rule says "
            f"{count}. One of them is wrong: {' and '.join(sites)}."
        )


_implementations = kinds.impl.functions


def _is_one_of_a_kind(value: Any) -> bool:
    """Whether a parameter equals nothing but itself, or holds such: a function, a program."""
    if type(value) is tuple:
        return any(map(_is_one_of_a_kind, value))
    by_identity: Any = object.__hash__
    return type(value).__hash__ is by_identity


def _is_out_of_reach(x: Array) -> bool:
    """Whether an array's bytes are only on a device that NumPy cannot read."""
    return x._buffer is not None and not x._backend.host_accessible


def _host_operand(x: Any) -> tuple[Any, Any]:
    value_type = value_types.get(type(x)) or find_value_type(type(x))
    if value_type is None:
        raise AbstractionError(unknown_type_message(x))
    aval = value_type.typeof(x)
    return aval, x if value_type.to_numpy is None else value_type.to_numpy(x, aval)


def as_array(x: Any) -> Any:
    """An operand as an ``Array`` that shares no memory with it; tracers stay as they are.

    Raises:
        AbstractionError: when it is no legal operand.

    >>> as_array(2.5)
    Array(2.5, dtype=float64, weak_type=True)
    """
    if isinstance(x, (Array, Tracer)):
        return x
    aval, host = _host_operand(x)
    return Array(aval, np.array(host)) if isinstance(host, np.ndarray) else x


def _declare(primitive: Primitive) -> None:
    """Remember a primitive under its name.

    Two packages may declare one name, and each computes with its own primitive; the error comes
    when something is looked up by the name.
    """
    declared = declared_primitives.setdefault(primitive.name, [])
    for present in declared:
        if present.site.module == primitive.site.module:
            # The same module again: a reload, or a notebook cell that was run twice.
            declared.remove(present)
            break
    declared.append(primitive)
    record_undo(lambda: declared.remove(primitive))


def find_declared(name: str) -> Primitive | None:
    """The primitive declared under a name in this process, whether a plugin offers it or not.

    Raises:
        PluginConflictError: when more than one package declared it.
    """
    declared = declared_primitives.get(name, [])
    if len(declared) > 1:
        places = " and by ".join(_rules.describe_site(one.site) for one in declared)
        raise PluginConflictError(
            f"the primitive {name!r} is declared by {places}. Rename one of them, or uninstall a "
            f"package."
        )
    return declared[0] if declared else None
