"""Rules neither change their inputs nor remember anything; threads do not disturb each other."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import copy_context
from typing import Any

import numpy as np

from bindax_core.extend import is_differentiable, typeof
from bindax_testing._cases import AnyCall, Call, Case, replaced
from bindax_testing._checks._base import check, differentiable, value
from bindax_testing._checks._keeping import require_forgotten_arrays
from bindax_testing._checks._types import host_operands, no_impl, run_impl
from bindax_testing._compare import Mismatch, NotApplicable, host, host_parts, require_same

THREADS = 4
_INF, _NAN = np.inf, np.nan
SPECIAL = (0.0, -0.0, 1.0, -1.0, _INF, -_INF, _NAN, 1e30, -1e-30)
PAIRS = (
    (_INF, _INF),
    (_INF, -_INF),
    (0.0, _INF),
    (_NAN, 1.0),
    (-_INF, -0.0),
    (1.0, _NAN),
    (-_INF, _INF),
    (_INF, 0.5),
    (2.0, -_INF),
    (0.0, -0.0),
    (-1.0, _INF),
    (_INF, -2.0),
    (_NAN, _INF),
    (0.0, 0.0),
    (1e30, 1e30),
    (-_INF, -_INF),
    (-_INF, 0.5),
    (-0.0, 0.5),
)
"""Values of two operands, or of the two parts of a complex number, that rules get wrong."""
PARTS = tuple((1e30, 1.0) if pair == (1e30, 1e30) else pair for pair in PAIRS)
"""Of complex numbers: where the squares of both parts are too large, processors that round a
product and a sum together have an infinity for their difference, and others a NaN."""


def identical(a: Any, b: Any) -> bool:
    """Tell whether two values have the same type and bytes."""
    a, b = host(a), host(b)
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


def copies(values: Sequence[Any]) -> list[Any]:
    """The values as they are now."""
    return [host(x).copy() for x in values]


def require_unchanged(values: Sequence[Any], before: Sequence[Any]) -> None:
    """Raise unless operands are what they were before a rule saw them."""
    for i, (x, old) in enumerate(zip(values, before, strict=True)):
        if not identical(x, old):
            raise Mismatch(
                f"changes its operand {i} in place, from {old.tolist()!r:.60} to "
                f"{host(x).tolist()!r:.60}; work on a copy."
            )


@check("purity", "impl", rank=1, why_not=no_impl)
def _pure(case: Case, compiler: str | None) -> None:
    operands = host_operands(case)
    before = copies(operands)
    first = copies(run_impl(case, operands))
    require_unchanged(operands, before)
    second = run_impl(case, operands)
    for i, (x, y) in enumerate(zip(first, second, strict=True)):
        if not identical(x, y):
            raise Mismatch(
                f"is not deterministic: result {i} is {x.tolist()!r:.60}, and "
                f"{host(y).tolist()!r:.60} when it is called again with the same operands."
            )
    _require_any_layout(case, operands, first)
    _require_kept(case)
    require_forgotten_arrays(case)


def _require_kept(case: Case) -> None:
    """Raise unless a result stays as it is when the rule is called for others."""
    operands = host_operands(case)
    live = run_impl(case, operands)
    before = copies(live)
    for row in case.draws[1:]:
        run_impl(case, host_operands(replaced(case, [row])))
    for i, (x, old) in enumerate(zip(live, before, strict=True)):
        if not identical(x, old):
            raise Mismatch(
                f"writes to a result that it has returned: result {i} changes from "
                f"{old.tolist()!r:.60} to {host(x).tolist()!r:.60} when it is called again; return "
                f"a new array."
            )


def _require_any_layout(case: Case, operands: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Raise unless a rule computes the same however the elements of its operands lie in memory."""
    for how, moved in (("by columns", _by_columns), ("backwards", _backwards)):
        outs = run_impl(case, [moved(x) for x in operands])
        for i, (x, y) in enumerate(zip(outs, wanted, strict=True)):
            # Sums may be rounded in another order.
            what = f"result {i} of operands whose elements lie {how} in memory"
            require_same(what, x, y, types=False)


def _by_columns(x: Any) -> Any:
    return x.copy(order="F") if isinstance(x, np.ndarray) else x


def _backwards(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or not x.ndim:
        return x
    return x[..., ::-1].copy()[..., ::-1]


@check("threads", "impl", rank=2)
def _threads(case: Call, compiler: str | None) -> None:
    rows = list(case.draws)
    wanted = [case.call(*row) for row in rows]
    problems: list[BaseException] = []
    barrier = threading.Barrier(THREADS)

    def work(start: int) -> None:
        try:
            barrier.wait(5.0)
            for i in range(2 * len(rows)):
                at = (start + i) % len(rows)
                for got, expected in zip(case.call(*rows[at]), wanted[at], strict=True):
                    if not identical(got, expected):
                        raise Mismatch("gives another result while other threads call it, too.")
        except BaseException as error:
            problems.append(error)

    threads = [
        threading.Thread(target=copy_context().run, args=(work, i), daemon=True)
        for i in range(THREADS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]


def special_case(case: AnyCall) -> AnyCall:
    """The case with zeros, infinities and NaN among its floating-point operands, if it has any."""
    positions = [i for i in differentiable(case.operands) if case.avals[i].size]
    if not positions:
        raise NotApplicable("no floating-point operand with elements")
    rows = []
    for number, row in enumerate(case.draws):
        full = list(row)
        for i in positions:
            aval = case.avals[i]
            values = _special_values(aval, number, positions.index(i), len(positions))
            with np.errstate(over="ignore"):
                full[i] = value(values, aval) if aval.shape or not aval.weak_type else values.item()
        rows.append(full)
    return replaced(case, rows)


def _special_values(aval: Any, number: int, place: int, count: int) -> np.ndarray[Any, Any]:
    """The special values of an operand: its place among so many, in the draw of a number."""
    first = number * aval.size
    pairs = np.asarray(PAIRS)
    if aval.dtype.kind == "c":
        parts = np.roll(PARTS, -first - 3 * place, axis=0)
        values = parts[:, 0] + 0j
        values.imag = parts[:, 1]  # as a sum, an infinity would make the other part NaN
    elif count > 1:
        values = np.roll(pairs[:, place % 2], -first - place // 2)
    else:
        values = np.roll(SPECIAL, -first)
    return np.resize(values, aval.size).reshape(aval.shape)


@check("special values", "impl", rank=2)
def _special(case: Call, compiler: str | None) -> None:
    special = special_case(case)
    for row in special.draws:
        outs = special.call(*row)
        values = ", ".join(f"{host_parts(x).tolist()!r:.80}" for x in row)
        what = f"the result for special values, {values},"
        for out, again in zip(outs, special.call(*row), strict=True):
            if is_differentiable(typeof(out).dtype):
                require_same(what, again, out)
