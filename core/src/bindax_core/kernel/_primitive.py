"""Primitives, and ``bind``, the one point at which operations are intercepted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.errors import AbstractionError, RuleOutputError
from bindax_core.kernel import _rule_tables, rules
from bindax_core.kernel._adapters import planned
from bindax_core.kernel._aval import find_value_type, unknown_type_message, value_types
from bindax_core.kernel._site import Site, caller_site
from bindax_core.kernel._trace import Tracer, find_top_trace, full_raise, staging, trace_state
from bindax_core.registry._declared import declare
from bindax_core.runtime._array import Array

_SIGNATURE_LIMIT = 4096
_NUMBERS = frozenset((bool, int, float, complex))
_asarray, _ndarray, _new_array = np.asarray, np.ndarray, Array.__new__

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


class _Signature:
    """What is known of a primitive for operands of some types with some parameters.

    Attributes:
        params: the parameters.
        exact: the names and values of those that only the same object stands for.
        out_avals: the types of the results.
        out_aval: the type of the result, of a primitive that has one.
        is_slow: whether a compiler is faster than the ``impl`` rule.
        compute: the ``impl`` rule, or what it planned; set at the first evaluation.
        takes_params: whether ``compute`` takes the parameters, which a plan has already.
        is_shared: whether the primitive remembers it.
    """

    __slots__ = (
        "compute",
        "exact",
        "is_shared",
        "is_slow",
        "out_aval",
        "out_avals",
        "params",
        "takes_params",
    )

    def __init__(self, primitive: Primitive, avals: Any, params: dict[str, Any]) -> None:
        self.params = params
        # NumPy's dtypes equal names and even None, wherever in a parameter they are.
        self.exact = tuple([item for item in params.items() if not _has_numbers(item[1])])
        self.out_avals = tuple(rules.abstract_eval.get(primitive)(*avals, **params))
        self.out_aval = None if primitive.multiple_results else self.out_avals[0]
        self.compute: Any = None
        self.takes_params = self.is_shared = self.is_slow = False


class Primitive:
    """A named operation, the atom of traced programs; what it means is in its rules.

    Made by ``primitive(name, *rules)``. By default it has one result; with ``multiple_results``
    ``bind`` returns a list.
    """

    __slots__ = (
        "__weakref__",
        "_latest",
        "_memories",
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
        self.prefers_compiler: Any = False
        self._signatures: dict[Any, _Signature] = {}
        self._latest: dict[Any, _Signature] = {}
        self._memories: list[dict[Any, Any]] = [self._signatures, self._latest]
        declare(self)

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
        if not staging or trace_state.dynamic is None:
            # On few numbers all the time goes into what happens here: hence the two cases.
            host = other = None
            if len(operands) == 2:
                x, y = operands
                if type(x) is Array and type(y) is Array and (other := y._host) is not None:
                    host = x._host
                    key: Any = (x.aval, y.aval)
            elif len(operands) == 1:
                (x,) = operands
                if type(x) is Array:
                    host = x._host
                    key = x.aval
            if host is not None:
                try:
                    known = self._latest[key]
                    if known.params != params:
                        return self._interpret(operands, params)
                except (KeyError, ValueError):  # not known; a parameter that is an array
                    return self._interpret(operands, params)
                for name, value in known.exact:
                    if params[name] is not value:
                        return self._interpret(operands, params)
                if known.takes_params:
                    out = known.compute(*[x._host for x in operands], **params)
                else:
                    out = known.compute(host) if other is None else known.compute(host, other)
                if (aval := known.out_aval) is None:
                    return self._wrap_all(out, known.out_avals, ())
                if type(out) is not _ndarray:
                    out = _asarray(out)
                if out.dtype is not aval.dtype or out.shape != aval.shape:
                    self._require_type(out, aval)
                array = _new_array(Array)
                array.aval, array._host = aval, out
                array._buffer = array._backend = None
                return array
        return self._interpret(operands, params)

    def _interpret(self, operands: Sequence[Any], params: dict[str, Any]) -> Any:
        """``bind``, in general."""
        trace = find_top_trace(operands)
        if trace.main.level == 0:
            outs = self.evaluate(operands, params)
            return outs if self.multiple_results else outs[0]
        tracers = [
            x if isinstance(x, Tracer) and x._trace is trace else full_raise(trace, x)
            for x in operands
        ]
        outs = trace.process_primitive(self, tracers, params)
        outs = [x.full_lower() if isinstance(x, Tracer) else x for x in outs]
        return outs if self.multiple_results else outs[0]

    def evaluate(self, operands: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
        """Compute the results now, by the ``impl`` rule on the host or through a backend."""
        function = _implementations.get(self) or rules.impl.find(self)
        if function is None:
            return self._evaluate_compiled(operands, params)
        if self.takes_values:
            return function(*operands, **params)  # type: ignore[no-any-return]
        if self.prefers_compiler is True and (outs := self._compiled(operands, params)) is not None:
            return outs
        arrays: list[Any] = []
        avals: list[Any] = []
        foreign: list[Any] = []
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
                if isinstance(array, _ndarray) and (array is x or array.base is not None):
                    foreign.append(array)
                avals.append(aval)
                arrays.append(array)
        types = tuple(avals)
        known = self._signature(types, params)
        compute = known.compute
        if compute is None:
            compute = known.compute = planned(function, avals, params)
            known.takes_params = bool(params) and compute is function
            slow = self.prefers_compiler
            known.is_slow = slow if type(slow) is bool else slow(*avals, **params)
        if known.is_slow and (outs := self._compiled(operands, params)) is not None:
            return outs
        if known.is_shared and not known.is_slow:
            self._latest[types[0] if len(types) == 1 else types] = known
        out = compute(*arrays, **params) if known.takes_params else compute(*arrays)
        if self.multiple_results:
            return self._wrap_all(out, known.out_avals, foreign)
        aval = known.out_avals[0]
        return [Array(aval, self._host_array(out, aval, foreign))]

    def _compiled(self, operands: Sequence[Any], params: dict[str, Any]) -> Sequence[Any] | None:
        """The results from a compiler; None where nothing compiles."""
        if run_compiled is None or compiler_for is None:
            return None
        compiler = compiler_for(operands)
        return None if compiler is None else run_compiled(self, operands, params, compiler)

    def _wrap_all(self, outs: Any, avals: Sequence[Any], foreign: Sequence[Any]) -> list[Array]:
        """What an ``impl`` rule returned as arrays of the types that were promised."""
        if type(outs) not in (list, tuple) or len(outs) != len(avals):
            raise RuleOutputError(self._wrong_output(f"{outs!r:.80}", len(avals)))
        wrapped = []
        for i, x in enumerate(outs):
            aval = avals[i]
            if foreign or type(x) is not _ndarray or x.dtype is not aval.dtype:
                x = self._host_array(x, aval, foreign)
            elif x.shape != aval.shape:
                self._require_type(x, aval)
            wrapped.append(Array(aval, x))
        return wrapped

    def _host_array(self, result: Any, aval: Any, foreign: Sequence[Any]) -> Any:
        """What an ``impl`` rule returned, as an array of the type that was promised."""
        if type(result) is not _ndarray:
            result = _asarray(result)
        self._require_type(result, aval)
        for x in foreign:  # never alias memory that the caller can write to
            if result is x or (result.base is not None and np.may_share_memory(result, x)):
                return result.copy()
        return result

    def _require_type(self, result: Any, aval: Any) -> None:
        if result.dtype != aval.dtype or result.shape != aval.shape:
            got = f"{result.dtype.name}[{','.join(map(str, result.shape))}]"
            raise RuleOutputError(self._wrong_output(got, aval.str_short()))

    def _evaluate_compiled(self, operands: Sequence[Any], params: dict[str, Any]) -> Sequence[Any]:
        if run_compiled is not None and rules.stablehlo.find(self) is not None:
            return run_compiled(self, operands, params)
        return rules.impl.get(self)(*operands, **params)  # type: ignore[no-any-return]  # raises

    def out_avals(self, avals: tuple[Any, ...], params: dict[str, Any]) -> Sequence[Any]:
        """The types of the results, from the ``abstract_eval`` rule; they are remembered."""
        return self._signature(avals, params).out_avals

    def _signature(self, avals: tuple[Any, ...], params: dict[str, Any]) -> _Signature:
        """What is known of an application, remembered unless a parameter is a function or program.

        The memory would keep alive what such a parameter closes over.
        """
        key: Any = (avals, *params, *params.values()) if params else avals
        try:
            known = self._signatures.get(key)
        except TypeError:  # a parameter without hash
            return _Signature(self, avals, params)
        if known is None:
            known = _Signature(self, avals, params)
            if all(map(_is_shared, params.values())):
                if len(self._signatures) >= _SIGNATURE_LIMIT:
                    self.forget_signatures()
                known.is_shared = True
                self._signatures[key] = known
        return known

    def new_memory(self) -> dict[Any, Any]:
        """A dictionary for what ``evaluation`` says; it is emptied when a rule is exchanged."""
        self._memories.append({})
        return self._memories[-1]

    def evaluation(
        self, avals: tuple[Any, ...], params: dict[str, Any] | None
    ) -> tuple[Callable[..., Any], Any] | None:
        """How ``bind`` evaluates arrays on the host, and the type of its one result.

        None unless the last that were evaluated of these types were so with these parameters.
        """
        known = self._latest.get(avals[0] if len(avals) == 1 else avals)
        if known is None or params is None or known.params != params or known.takes_params:
            return None
        if any(params[name] is not x for name, x in known.exact) or len(known.out_avals) != 1:
            return None
        compute, aval = known.compute, known.out_avals[0]
        return (lambda *xs: compute(*xs)[0]) if self.multiple_results else compute, aval

    def forget_signatures(self) -> None:
        """Forget the remembered result types (after a rule was exchanged for a test)."""
        for memory in self._memories:
            memory.clear()

    def _wrong_output(self, got: str, promised: Any) -> str:
        both = (rules.impl.rule_of(self), rules.abstract_eval.rule_of(self))
        sites = [_rule_tables.describe_site(rule.site) for rule in both if rule is not None]
        count = f"{promised} results" if isinstance(promised, int) else promised
        return (
            f"the impl rule of {self.name} returned {got}, but its abstract_eval rule says "
            f"{count}. One of them is wrong: {' and '.join(sites)}."
        )


_implementations = rules.impl.functions


def _is_shared(value: Any) -> bool:
    """Whether an equal parameter can come again: no function or program, nor one in a tuple."""
    if type(value) is tuple:
        return all(map(_is_shared, value))
    by_identity: Any = object.__hash__
    return value is None or type(value).__hash__ is not by_identity


def _has_numbers(value: Any) -> bool:
    """Whether a parameter is a number, or a tuple of such, whose equals stand for it."""
    return type(value) in _NUMBERS or (type(value) is tuple and all(map(_has_numbers, value)))


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
