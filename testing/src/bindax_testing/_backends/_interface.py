"""Checks of a backend itself: buffers, layouts, donation, errors, threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context
from functools import lru_cache
from typing import Any

import numpy as np

from bindax_core import config
from bindax_core.errors import BackendError, BindaxError, DeletedArrayError, MissingRuleError
from bindax_core.extend import (
    Array,
    Primitive,
    ShapedArray,
    abstract_eval,
    as_array,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    typeof,
    vmap,
)
from bindax_testing._backends._execution import BackendCall, BackendCheck, refusal, results_of
from bindax_testing._checks._purity import identical
from bindax_testing._compare import Mismatch, NotApplicable, host, require_same, require_type
from bindax_transforms import jit

DTYPES = ("float32", "float64", "int32", "int8", "uint8", "bool", "complex64")
_X = np.arange(12.0, dtype=np.float32).reshape(3, 4) - 4.5
_Y = np.float32(0.5) - np.arange(12.0, dtype=np.float32).reshape(3, 4)[::-1]

OWN: list[BackendCheck] = []


def _check(name: str) -> Callable[[Callable[[BackendCall], None]], Callable[[BackendCall], None]]:
    def register(run: Callable[[BackendCall], None]) -> Callable[[BackendCall], None]:
        OWN.append(BackendCheck(name, run))
        return run

    return register


def _combined(x: Any, y: Any) -> list[Any]:
    return [x * y + x, x]


def _fresh() -> Callable[..., list[Any]]:
    """The function as one that nothing was remembered for."""
    return lambda x, y: _combined(x, y)


def _require_all(call: BackendCall, what: str, got: list[Any], *operands: Any) -> None:
    wanted = call.expected(_combined, *operands)
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        require_same(f"result {i} {what}", a, b)


# ---------------------------------------------------------------------------------- buffers


@_check("buffers")
def _buffers(call: BackendCall) -> None:
    """Arrays that are put on the backend come back, of each dtype and layout in memory."""
    backend = call.backend
    for dtype in DTYPES:
        for x in _arrays(dtype):
            aval = ShapedArray(x.shape, x.dtype)
            buffer = backend.put(x, aval)
            backend.block_until_ready(buffer)
            found = np.asarray(backend.to_host(buffer, aval))
            if not identical(found, np.ascontiguousarray(x).reshape(x.shape)):
                raise Mismatch(
                    f"to_host gives {found.dtype}{list(found.shape)} {found.tolist()!r:.80} for "
                    f"what put was given, {aval.str_short()} {x.tolist()!r:.80}."
                )
    if not list(backend.devices()):
        raise Mismatch("devices() is empty; it must name at least one device.")


def _arrays(dtype: str) -> Iterator[np.ndarray[Any, Any]]:
    whole = np.arange(24).reshape(2, 3, 4).astype(dtype)
    yield whole
    yield whole[0, 0, 1]
    yield whole[:, :0]
    yield whole[::-1, :, ::2]
    yield whole.T
    yield np.broadcast_to(whole[:1], (2, 3, 4))


@_check("lowered")
def _lowered(call: BackendCall) -> None:
    """A program that is lowered first prints itself, and computes the same."""
    with config.override(backend=call.name):
        lowered = jit(_fresh(), backend=call.name).lower(_X, _Y)
        text: Any = lowered.as_text()
        compiled = lowered.compile()
        _require_all(call, "of lower(...).compile()", list(compiled(_X, _Y)), _X, _Y)
    if not isinstance(text, str) or not text:
        raise Mismatch(f"as_text() of a lowered program should be text, but is {text!r:.80}.")


# ---------------------------------------------------------------------------------- layouts


@_check("layouts")
def _layouts(call: BackendCall) -> None:
    """Results do not depend on how operands lie in memory."""
    padded = np.zeros((6, 8), np.float32)
    padded[::2, ::2] = _X
    forms = {
        "by columns": np.asfortranarray(_X),
        "backwards": _X[::-1, ::-1].copy()[::-1, ::-1],
        "with gaps": padded[::2, ::2],
        "that is read only": _read_only(_X),
    }
    for name, x in forms.items():
        for made in (x, as_array(x)):
            got = call.results(_combined, made, _Y)
            _require_all(call, f"of an operand {name}", got, x, _Y)
    row = np.broadcast_to(_X[0], (3, 4))
    _require_all(call, "of a repeated row", call.results(_combined, row, _Y), row, _Y)
    (once,) = call.results(lambda x: [x + x], _X)
    again = call.results(_combined, once, np.asarray(once))
    _require_all(call, "of a result", again, np.asarray(once), np.asarray(once))


def _read_only(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    x = x.copy()
    x.flags.writeable = False
    return x


@_check("aliases")
def _aliases(call: BackendCall) -> None:
    """One array as two operands and as a result; what a caller writes later changes no result."""
    x = call.results(lambda x: [x + x], _X)[0]
    _require_all(call, "of one array twice", call.results(_combined, x, x), host(x), host(x))
    mine = _X.copy()
    out, kept = call.results(_combined, mine, _Y)
    before = host(out).copy(), host(kept).copy()
    mine[...] = -1.0
    call.results(_combined, _Y, mine)
    for i, (got, one) in enumerate(zip((out, kept), before, strict=True)):
        if not identical(got, one):
            raise Mismatch(f"result {i} changes when the caller writes to an operand afterwards.")


# --------------------------------------------------------------------------------- donation


@_check("donation")
def _donation(call: BackendCall) -> None:
    """A donated operand is used up or keeps its values; the others keep theirs in any case."""

    def run(x: Any, y: Any) -> list[Any]:
        return [x * y + x, y - x]

    wanted = call.expected(run, _X, _Y)
    ignored = False
    for donated in ((0,), (1,), (0, 1)):
        operands = [_placed(call, _X), _placed(call, _Y)]
        got = call.results(run, *operands, donate_argnums=donated)
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            require_same(f"result {i} with the operands {donated} donated", a, b)
        for i, (x, old) in enumerate(zip(operands, (_X, _Y), strict=True)):
            ignored |= _kept(i, x, old, i in donated) and i in donated
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            require_same(f"result {i}, which is read again,", a, b)
    mine = _X.copy()
    call.results(run, mine, _Y, donate_argnums=(0,))
    if not identical(mine, _X):
        raise Mismatch("writes to the memory of a NumPy array that was donated.")
    if ignored:
        raise NotApplicable("it ignores donation: donated operands keep their values")


def _placed(call: BackendCall, x: Any) -> Any:
    """An array on the backend: the result of a program."""
    return call.results(lambda x: [x + np.float32(0.0)], x)[0]


def _kept(i: int, x: Any, old: Any, donated: bool) -> bool:
    """Tell whether an operand has its values after a call; raise where it has others."""
    try:
        values = host(x)
    except DeletedArrayError:
        if donated:
            return False
        raise Mismatch(f"operand {i} was deleted, though it was not donated.") from None
    if not identical(values, old):
        how = "was donated, and can still be used" if donated else "was not donated"
        raise Mismatch(f"operand {i} {how}, but has other values after the call.")
    return True


# ----------------------------------------------------------------------------------- errors


@lru_cache(maxsize=1)
def _unknown() -> Primitive:
    """A primitive that no backend supports."""
    reason = "checks of backends apply it, to see what they say"
    absent = [kind.absent(reason) for kind in (impl, jvp, vmap, transpose, lowering["stablehlo"])]
    return primitive("bindax_testing.unknown", abstract_eval(lambda x: x), *absent)


@_check("errors")
def _errors(call: BackendCall) -> None:
    """Wrong operands and primitives without a rule raise errors that say so."""
    _require_refusal(call)
    compiled = jit(_fresh(), backend=call.name).lower(_X, _Y).compile()
    for what, operands in {
        "another shape": (_X[:2], _Y),
        "another dtype": (_X.astype(np.int32), _Y),
        "an operand less": (_X,),
    }.items():
        try:
            compiled(*operands)
        except (TypeError, ValueError, BindaxError):
            continue
        raise Mismatch(f"a compiled program takes operands with {what} without an error.")
    gone = _placed(call, _X)
    gone.delete()
    try:
        results_of(call.name, _combined, gone, _Y)
    except DeletedArrayError:
        pass
    else:
        raise Mismatch("takes an operand that was deleted.")
    _require_all(call, "after errors", call.results(_combined, _X, _Y), _X, _Y)


def _require_refusal(call: BackendCall) -> None:
    unknown = _unknown()
    try:
        results_of(call.name, lambda x: [unknown.bind(x)], _X)
    except (MissingRuleError, BackendError) as error:
        found = refusal(call.name, error, [unknown.name])
        if isinstance(found, Mismatch):
            raise found from error
        return
    except Exception as error:
        raise Mismatch(
            f"a primitive without any rule raises {type(error).__name__}: {error}, and no "
            f"MissingRuleError that names it."
        ) from error
    raise Mismatch("a primitive without any rule raises no error.")


# ---------------------------------------------------------------------------------- threads


@_check("threads")
def _threads(call: BackendCall) -> None:
    """Threads that run one program, and compile others, do not disturb each other."""
    shared = jit(_fresh(), backend=call.name)
    problems: list[BaseException] = []
    barrier = threading.Barrier(3)

    def work(number: int) -> None:
        try:
            barrier.wait(5.0)
            for k in range(5):
                x = _X * np.float32(number + k)
                with config.override(backend=call.name):
                    _require_all(call, "in a thread", list(shared(x, _Y)), x, _Y)
                fresh = call.results(lambda x: [x * np.float32(number)], x)
                require_same("a result in a thread", fresh[0], x * np.float32(number))
        except BaseException as error:
            problems.append(error)

    run = [threading.Thread(target=copy_context().run, args=(work, i)) for i in range(3)]
    for one in run:
        one.start()
    for one in run:
        one.join()
    if problems:
        raise problems[0]


@_check("results")
def _results(call: BackendCall) -> None:
    """Results are arrays of the announced types: none, several, weak ones, operands, constants."""
    constant = as_array(_Y)
    cases: dict[str, tuple[Callable[..., list[Any]], tuple[Any, ...]]] = {
        "no result": (lambda x: [], (_X,)),
        "no operand": (lambda: [constant + constant], ()),
        "an operand": (lambda x, y: [y, x, y], (_X, _Y)),
        "weak types": (lambda x: [x, x + 1, x * 2.0], (1.5,)),
        "no elements": (lambda x: [x * x], (_X[:0],)),
        "literals": (lambda x: [x + 2.0, 3.0 - x], (_X,)),
    }
    for what, (function, operands) in cases.items():
        got, wanted = call.results(function, *operands), call.expected(function, *operands)
        if len(got) != len(wanted):
            raise Mismatch(f"{what}: there should be {len(wanted)} results, not {len(got)}.")
        for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
            require_type(f"result {i} ({what})", typeof(a), typeof(b))
            require_same(f"result {i} ({what})", a, b)
            if not isinstance(a, Array):
                raise Mismatch(f"result {i} ({what}) should be an Array, but is {a!r:.80}.")
