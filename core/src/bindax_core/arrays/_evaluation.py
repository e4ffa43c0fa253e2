"""Evaluation: the interpreter at the bottom of the trace stack, which computes now.

It runs a primitive's ``impl`` rule on NumPy arrays, or compiles the operation: where the rule says
that a compiler is better, where the bytes are out of NumPy's reach, or where ``config.eager`` says
so. No path depends on the size of an array.
"""

from __future__ import annotations

import contextvars
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bindax_core._extension_points import runtime
from bindax_core.arrays._array import Array
from bindax_core.arrays._executable_cache import compiling_backend, run_operation
from bindax_core.arrays._live_memory import describe_live_arrays
from bindax_core.arrays._operands import to_numpy
from bindax_core.arrays._origins import LARGE, note_origin
from bindax_core.arrays._rules import impl, stablehlo
from bindax_core.arrays._settings import config
from bindax_core.errors import RuleOutputError
from bindax_core.kernel._rule_errors import explain_failure
from bindax_core.kernel._rules import abstract_eval
from bindax_core.kernel._stack import evaluate_with
from bindax_core.kernel._trace import Trace

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

_ndarray = np.ndarray
_implementations = impl.functions


class _SlowState:
    """The two methods of a ``ContextVar``, by NumPy's documented functions."""

    def set(self, state: dict[str, Any]) -> dict[str, Any]:
        return dict(np.seterr(**state))

    def reset(self, previous: dict[str, Any]) -> None:
        np.seterr(**previous)


def _find_state() -> tuple[Any, Any]:
    """Find the variable that holds NumPy's handling of errors, and its value that ignores all.

    To set its context variable is several times faster than to enter ``np.errstate``.
    """
    with np.errstate(all="ignore"):
        for variable, value in contextvars.copy_context().items():
            if variable.name == "numpy.ufunc.extobj":
                return variable, value
        return _SlowState(), np.geterr()


floating_errors, IGNORED = _find_state()
"""The variable that holds how NumPy handles floating-point errors, and the value that ignores all.

XLA computes ``log(0)`` and overflows without a word, and so must evaluation. The state is NumPy's
own, for the thread or task at hand, around each ``impl`` rule; the user's code never runs under it.
"""


Step: TypeAlias = tuple["Primitive", Sequence[int], dict[str, Any], int, Any]
"""A primitive with the places of its operands, its parameters, and place and type of its result."""


class EvalTrace(Trace):
    """The interpreter at the bottom: evaluation, which boxes nothing."""

    __slots__ = ()

    def pure(self, value: Any) -> Any:
        """Leave a value as it is."""
        return value

    def boxed(self, operands: Sequence[Any]) -> Sequence[Any]:
        """Leave operands as they are."""
        return operands

    def process_primitive(
        self, primitive: Primitive, operands: Sequence[Any], params: dict[str, Any]
    ) -> Sequence[Any]:
        """Compute the results of a primitive."""
        function = _implementations.get(primitive) or impl.find(primitive)
        if function is None:
            if stablehlo.find(primitive) is not None:
                return run_operation(primitive, operands, params)
            function = impl.get(primitive)  # raises: it says what is missing
        if primitive.takes_values:
            try:
                return function(*operands, **params)  # type: ignore[no-any-return]
            except Exception as error:
                explain_failure(primitive, "impl", error, operands, params)
                raise
        if primitive.prefers_compiler or config.eager == "compile":
            backend = compiling_backend(operands)
            if backend is not None:
                return run_operation(primitive, operands, params, backend)
        avals: list[Any] = []
        arrays: list[Any] = []
        foreign: list[Any] = []  # memory that the caller can write to
        for x in operands:
            if type(x) is Array:
                aval, array = x.aval, x._host
                if array is None:
                    if not x._is_within_reach():
                        return run_operation(primitive, operands, params)
                    array = x.numpy()
            else:
                aval, array = to_numpy(x)
                if isinstance(array, _ndarray) and (array is x or array.base is not None):
                    foreign.append(array)
            avals.append(aval)
            arrays.append(array)
        out_avals = primitive.out_avals(tuple(avals), params)
        token = floating_errors.set(IGNORED)  # a compiled program would not warn either
        try:
            outs = function(*arrays, **params)
        except Exception as error:
            if isinstance(error, MemoryError):
                _note_memory(error, primitive, out_avals)
            explain_failure(primitive, "impl", error, arrays, params)
            raise
        finally:
            floating_errors.reset(token)
        if not primitive.multiple_results:
            (aval,) = out_avals
            return [_result(primitive, outs, aval, foreign)]
        if type(outs) not in (list, tuple) or len(outs) != len(out_avals):
            raise _disagreement(primitive, f"{outs!r:.80}", f"{len(out_avals)} results")
        return [
            _result(primitive, x, aval, foreign) for x, aval in zip(outs, out_avals, strict=True)
        ]

    def evaluate_steps(self, steps: Sequence[Step], values: list[Any]) -> Array | None:
        """Evaluate primitives of one result each; the values between them are NumPy arrays.

        Args:
            steps: the primitives, none of which takes values or prefers the compiler.
            values: arrays and NumPy arrays by place; those of results are filled in.

        Returns:
            The last result. None where an operand is out of NumPy's reach, or a rule failed or gave
            what it should not: ``process_primitive`` of one after the other says what is wrong.
        """
        for i, x in enumerate(values):
            if type(x) is Array:
                if x._host is None and not x._is_within_reach():
                    return None
                values[i] = x.numpy()
        token = floating_errors.set(IGNORED)
        try:
            for primitive, places, params, place, aval in steps:
                result = _implementations[primitive](*[values[i] for i in places], **params)
                result = result if type(result) is _ndarray else np.asarray(result)
                if result.dtype != aval.dtype or result.shape != aval.shape:
                    return None
                values[place] = result
        except Exception:
            return None
        finally:
            floating_errors.reset(token)
        return _result(primitive, result, aval, ())


evaluate_with(EvalTrace)


def _result(primitive: Primitive, result: Any, aval: Any, foreign: Sequence[Any]) -> Array:
    """A result of an ``impl`` rule: of the type that was promised, in memory of its own.

    Where it is large, its line is noted.
    """
    if type(result) is not _ndarray:
        result = np.asarray(result)
    dtype = result.dtype
    if (dtype is not aval.dtype and dtype != aval.dtype) or result.shape != aval.shape:
        got = f"{result.dtype.name}[{','.join(map(str, result.shape))}]"
        raise _disagreement(primitive, got, aval.str_short())
    for x in foreign:
        if result is x or (result.base is not None and np.may_share_memory(result, x)):
            result = result.copy()
            break
    made = Array(aval, result)
    if result.nbytes >= LARGE:
        note_origin(made)
    return made


def _note_memory(error: MemoryError, primitive: Primitive, out_avals: Sequence[Any]) -> None:
    """Add to an error, once, which operation it is of and what takes the memory."""
    if getattr(error, "__notes__", None):
        return
    results = ", ".join(aval.str_short() for aval in out_avals)
    error.add_note(
        f"There was no memory for {primitive.name}, which gives {results}.\n"
        f"{describe_live_arrays()}\n"
        f"Delete what is not needed; under jit temporary arrays are left out, and "
        f"bindax.inspect(f)(...) shows the memory of a program by line."
    )


def _disagreement(primitive: Primitive, got: str, promised: str) -> RuleOutputError:
    both = (impl.rule_of(primitive), abstract_eval.rule_of(primitive))
    sites = [runtime.plugins.describe_site(rule.site) for rule in both if rule is not None]
    error = RuleOutputError(
        f"the impl rule of {primitive.name} returned {got}, but its abstract_eval rule says "
        f"{promised}. One of them is wrong: {' and '.join(sites)}. Set "
        f"config.check_rules to True to have all that rules return checked."
    )
    error.primitive = primitive
    return error
