"""``checkify``: an interpreter that keeps the first failure beside what a program computes.

It is the dynamic trace, so that every operation comes to it, those on constants too. It applies the
rule of the primitive, or the primitive itself, and the rules add to the state that it keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_core.extend import (
    DebugInfo,
    MainTrace,
    Primitive,
    RuleKind,
    Trace,
    ValueTracer,
    api_boundary,
    bind_flat,
    call_rule,
    full_raise,
    is_active,
    is_value,
    new_main,
    trace_state,
    tree_flatten,
    tree_unflatten,
    typeof,
    wraps,
)
from bindax_experimental.checkify.check import failure_number, first_of_batch
from bindax_experimental.checkify.errors import Error, ErrorCategory, Slot, slot_avals, user_checks
from bindax_transforms import check_function, flatten_function


class Checks:
    """The state of the interpreter: the first failure so far, and the kinds that are looked for.

    Rules of the kind ``checkify`` take it first, and call ``fail_if``.

    Attributes:
        enabled: the kinds of errors that are looked for.
        code: the number of the first failure, 0 as long as there is none.
        payload: the values of messages, by place.
        found_any: whether the program has a check at all.
        main: the interpreter that applies the rules.
    """

    def __init__(
        self, enabled: frozenset[ErrorCategory], code: Any = None, payload: Any = None
    ) -> None:
        self.enabled = enabled
        self.code: Any = np.int32(0) if code is None else code
        self.payload: dict[Slot, list[Any]] = dict(payload or {})
        self.found_any: bool = False
        self.main: MainTrace | None = None

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The places of the values of messages."""
        return tuple(self.payload)

    @property
    def values(self) -> list[Any]:
        """The number of the failure, and the values of messages, as a list."""
        return [self.code, *(x for values in self.payload.values() for x in values)]

    def fail_if(self, failed: Any, kind: ErrorCategory, message: str, *values: Any) -> None:
        """Note a failure, if its kind is looked for and there was none before.

        Args:
            failed: a boolean scalar.
            kind: the class of the error.
            message: a format string.
            values: arrays for its fields.
        """
        if kind in self.enabled:
            number, slot, strong = failure_number(kind, message, values)
            code = lax.select(failed, np.int32(number), np.int32(0))
            self.merge(code, (slot,), strong)

    def merge(
        self, code: Any, slots: Sequence[Slot], values: Sequence[Any], batch: int = 0
    ) -> None:
        """Note the failure that a number stands for, if there was none before."""
        self.found_any = True
        if 0 in typeof(code).shape:
            return
        code, values = first_of_batch(batch, code, values)
        zero = np.int32(0)
        fresh = lax.bitwise_and(lax.eq(self.code, zero), lax.ne(code, zero))
        self.code = lax.select(fresh, code, self.code)
        rest = iter(values)
        for slot in slots:
            new = [next(rest) for _ in slot]
            old = self.payload.get(slot) or [lax.full(s, 0, dtype) for s, dtype in slot]
            self.payload[slot] = [lax.select(fresh, x, y) for x, y in zip(new, old, strict=True)]

    def replace(self, slots: Sequence[Slot], values: Sequence[Any]) -> list[Any]:
        """Take the state from a program's results; gives the results that follow it."""
        self.found_any = True
        count = len(slot_avals(slots))
        self.code, rest = values[0], iter(values[1 : 1 + count])
        self.payload = {**self.payload, **{slot: [next(rest) for _ in slot] for slot in slots}}
        return list(values[1 + count :])

    def state(self, slots: Sequence[Slot]) -> list[Any]:
        """The state with room for the values of the given places, as operands of a program."""
        found = []
        for slot in slots:
            found += self.payload.get(slot) or [lax.full(s, 0, dtype) for s, dtype in slot]
        return [self.code, *found]


def _adapt(primitive: Primitive, function: Callable[..., Any], options: dict[str, Any]) -> Any:
    def rule(checks: Checks, operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return call_rule(primitive, "checkify", function, (checks, *operands), params, is_value)

    return rule


checked: RuleKind = RuleKind(
    "checkify", adapt=_adapt, signature="(checks, *operands, **params) -> result"
)
"""The results of a primitive, with notes in ``checks`` of what is wrong with its operands or
them. A primitive without the rule is applied as it is."""


class CheckTracer(ValueTracer):
    """A value of a function that is checked; Python code may look at it, if it is concrete."""

    __slots__ = ()


class CheckTrace(Trace):
    """Applies ``checkify`` rules, with the interpreter below as the dynamic one."""

    __slots__ = ()

    def pure(self, value: Any) -> Any:
        """Box a value."""
        return CheckTracer(self, value)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[Any], params: dict[str, Any]
    ) -> list[Any]:
        """Apply a primitive and its checks."""
        checks, below = self.main.global_data
        operands = [tracer.value for tracer in tracers]
        rule = checked.find(primitive)
        with _dynamic(below):
            if rule is not None:
                outs = rule(checks, operands, params)
            else:
                outs = bind_flat(primitive, operands, params)
        return [CheckTracer(self, x) for x in outs]


@contextmanager
def _dynamic(main: MainTrace | None) -> Iterator[None]:
    """Have another interpreter handle the operations on values of none."""
    previous, trace_state.dynamic = trace_state.dynamic, main
    try:
        yield
    finally:
        trace_state.dynamic = previous


def run_checked(
    checks: Checks,
    function: Callable[..., Any],
    operands: Sequence[Any],
    origin: DebugInfo | None = None,
    main: MainTrace | None = None,
) -> Any:
    """The results of a function of flat values; failures are noted in ``checks``.

    Args:
        checks: what they are noted in.
        function: the function.
        operands: its operands.
        origin: what is run, for messages.
        main: the interpreter at work, for a function that later interpreters have prepared.
    """
    with _interpreter(checks, origin or DebugInfo("checkify"), main) as main:
        boxed = [full_raise(main.trace, x) for x in operands]
        return _unboxed(main, function(*boxed))


def run_silently(
    function: Callable[..., Any], args: Sequence[Any], main: MainTrace | None = None
) -> Any:
    """The results of a function, which may be nested, of any arguments, without its checks."""
    with _interpreter(Checks(frozenset()), DebugInfo("checkify"), main) as main:
        return _unboxed(main, function(*args))


@contextmanager
def _interpreter(checks: Checks, origin: DebugInfo, main: MainTrace | None) -> Iterator[MainTrace]:
    """A new interpreter on the stack, or one that is at work, which notes in ``checks``."""
    data, previous = (checks, trace_state.dynamic), checks.main
    try:
        if main is None or not is_active(main):
            with new_main(CheckTrace, data, origin=origin, dynamic=True) as new:
                checks.main = new
                yield new
        else:
            kept, main.global_data, checks.main = main.global_data, data, main
            try:
                with _dynamic(main):
                    yield main
            finally:
                main.global_data = kept
    finally:
        checks.main = previous


def _unboxed(main: MainTrace, result: Any) -> Any:
    if type(result) in (list, tuple):
        return type(result)(_unboxed(main, x) for x in result)
    return (
        result.value if isinstance(result, CheckTracer) and result._trace.main is main else result
    )


@api_boundary
def checkify(
    f: Callable[..., Any], errors: frozenset[ErrorCategory] = user_checks
) -> Callable[..., tuple[Error, Any]]:
    """Transform a function so that it returns beside its results which check failed first.

    The checks in loops, branches and compiled functions count. ``jit``, ``vmap`` and ``grad``
    apply outside and inside: for ``vmap(checkify(f))`` there is one error for each element, and
    for ``checkify(vmap(f))`` one for all, that of the first element that has one.

    Args:
        f: a function of arrays and trees of arrays.
        errors: the checks that are made: ``user_checks``, ``nan_checks``, ``index_checks``,
            ``div_checks``, or a union of them with ``|``. Others are passed over.

    Returns:
        A function with the same arguments, that returns the pair of an ``Error`` and the result.

    Raises:
        TypeError: when ``f`` is no function, or ``errors`` no set of classes of errors.

    >>> from bindax_experimental.checkify import all_checks, index_checks
    >>> error, out = checkify(lambda x, i: x[i], errors=index_checks)(np.arange(3.0), np.int32(7))
    >>> print(error.get())
    out-of-bounds indexing for array of shape (3,): index 7 is out of bounds for axis 0 with size 3.
    """
    check_function("checkify", "f", f)
    try:
        enabled = frozenset(errors)
    except TypeError:
        enabled = frozenset({None})  # type: ignore[arg-type]
    if not all(isinstance(kind, type) for kind in enabled):
        raise TypeError(
            f"errors of checkify must be a set of classes of errors, as checkify.user_checks is, "
            f"but it is {errors!r:.80}."
        )

    @wraps(f)
    @api_boundary
    def with_error(*args: Any, **kwargs: Any) -> tuple[Error, Any]:
        leaves, in_tree = tree_flatten((args, kwargs))
        checks = Checks(enabled)
        flat, out_tree = flatten_function(f, in_tree)
        outs = run_checked(checks, flat, leaves, DebugInfo("checkify", f))
        code, *payload = checks.values
        return Error(code, checks.slots, payload), tree_unflatten(out_tree(), outs)

    return with_error
