"""The checks of transformations: what they make of a function is the function, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs

from bindax_core.errors import UnexpectedTracerError
from bindax_core.extend import Tracer, typeof
from bindax_testing._checks import Check
from bindax_testing._checks._base import differentiable, direction, of_some
from bindax_testing._checks._batching import batched
from bindax_testing._checks._compositions import same_values
from bindax_testing._checks._derivatives import tangents_of
from bindax_testing._compare import (
    Kept,
    Mismatch,
    NotApplicable,
    host,
    require_same,
    require_type,
)
from bindax_testing._functions._call import FunctionCall, flat_function
from bindax_testing._functions._extensions import FunctionCheck
from bindax_testing._transformations._subject import Program
from bindax_transforms import checking_leaks, jit, jvp, vjp, vmap

KIND = "transformation"
"""The kind of what is to blame where no rule is."""

INSIDE = "programs inside"
"""The check of what operations are made of that apply programs."""

Run = Callable[[Program], None]


@attrs.frozen(eq=False)
class ProgramCheck:
    """A check of a transformation on programs; on the first one alone where that is enough."""

    check: Check
    concerns: Callable[[Program], bool] = lambda program: program.log is None
    first: bool = False

    def programs(self, programs: Iterable[Program]) -> list[Program]:
        """Those of some programs that it concerns."""
        found = [one for one in programs if self.concerns(one)]
        return found[:1] if self.first else found


_CHECKS: list[ProgramCheck] = []


def _check(name: str, rank: int, **options: Any) -> Callable[[Run], Run]:
    def register(run: Run) -> Run:
        made = Check(name, KIND, lambda case, compiler: run(case), rank)
        _CHECKS.append(ProgramCheck(made, **options))
        return run

    return register


def checks_of_transformations(own: Iterable[Any]) -> list[ProgramCheck]:
    """All checks; those of the contexts that packages check functions in are among them."""
    contexts = [
        ProgramCheck(Check(one.name, KIND, _in_context(one), 3), first=True)
        for one in own
        if isinstance(one, FunctionCheck) and one.name.startswith("inside ")
    ]
    return [*_CHECKS, *contexts]


# --------------------------------------------------------------------------------- identity


@_check("types", 0, concerns=lambda program: True)
def _types(program: Program) -> None:
    got, wanted = program.values(*program.operands), program.call(*program.operands)
    if len(got) != len(wanted):
        raise Mismatch(f"there should be {len(wanted)} results, but there are {len(got)}.")
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        if isinstance(a, Tracer):
            raise Mismatch(
                f"result {i} is a traced value, {a!r:.80}, which is of no use outside: return "
                f"what it stands for."
            )
        require_type(f"result {i}", typeof(a), typeof(b))


@_check("values", 1, concerns=lambda program: True)
def _values(program: Program) -> None:
    require_values(program.values(*program.operands), program.call(*program.operands))


def require_values(got: Sequence[Any], wanted: Sequence[Any], after: str = "") -> None:
    """Raise unless the values of results are those of the function."""
    if len(got) != len(wanted):
        raise Mismatch(f"there should be {len(wanted)} results{after}, but there are {len(got)}.")
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        require_same(f"result {i}{after}", a, b, types=False)


@_check("purity", 2)
def _purity(program: Program) -> None:
    """The same transformed function gives what belongs to its operands, whatever came before."""
    given = program.given
    made = given.transform(program.fresh())
    first = program.leaves(*program.operands)
    for row in (*program.draws, program.operands):
        got = given.values(lambda *xs: program.call(*xs), *row)
        require_values(got, program.call(*row), " of a call after others")
        out = given.value(made(*map(given.lift, row)))
        wanted = given.values(program.fresh(), *row)
        same_values("a result of a function that was transformed once", out, wanted)
    again = program.leaves(*program.operands)
    same_values("the result of the same call again", again, first)


@_check("tracers", 2, first=True)
def _tracers(program: Program) -> None:
    program.leaves(*program.operands)  # what is made once is kept by right
    try:
        with checking_leaks():
            program.leaves(*program.operands)
    except UnexpectedTracerError as error:
        raise Kept(f"it keeps traced values: {error}") from error


class _OfTheFunction(Exception):
    """An error of a function that is transformed."""


@_check("errors", 2, first=True)
def _errors(program: Program) -> None:
    def raising(*operands: Any) -> list[Any]:
        program.call(*operands)
        raise _OfTheFunction

    try:
        program.values(*program.operands)
        program.given.values(raising, *program.operands)
    except _OfTheFunction:
        after = program.call(*program.operands)
        if any(isinstance(x, Tracer) for x in after):
            raise Mismatch("it stays in effect after an error of the function.") from None
        got = program.values(*program.operands)
        require_values(got, after, " after an error of the function")
        return
    raise Mismatch("it keeps back an error that the function raises.")


# --------------------------------------------------------------------- what functions contain


@_check(INSIDE, 2, concerns=lambda program: program.plain is not None)
def _inside(program: Program) -> None:
    """It goes into the programs that operations apply: what it knows is as without them."""
    if program.plain is None:
        raise NotApplicable("it contains no program")
    got = program.leaves(*program.operands)
    wanted = program.given.leaves(program.plain, *program.operands)
    if len(got) != len(wanted):
        raise Mismatch(f"the result has {len(got)} arrays, and {len(wanted)} without the program.")
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        what = f"array {i} of the result, which is compared with that of the same operations alone,"
        require_same(what, a, b, types=False, scale=4.0)


@_check("effects", 2, concerns=lambda program: program.log is not None)
def _effects(program: Program) -> None:
    log = [] if program.log is None else program.log

    def happened(call: Callable[..., Any]) -> list[Any]:
        log.clear()
        call(*program.operands)
        return list(log)

    wanted = happened(program.call)
    for what, call in (("", program.values), (" in a compiled function", jit(program.values))):
        got = happened(call)
        if sorted(map(str, got)) == sorted(map(str, wanted)) and got != wanted:
            raise Mismatch(f"effects{what} happen in the order {got}, and not {wanted}.")
        if got != wanted:
            raise Mismatch(f"the effects{what} are {got}, and not {wanted}.")


# ----------------------------------------------------------------------------------- orders


@_check("jit", 3)
def _jit(program: Program) -> None:
    operands = program.operands
    wanted = program.leaves(*operands)
    same_values("jit of the transformed function", jit(program.leaves)(*operands), wanted)
    compiled = jit(program.fresh())
    same_values("of jit", program.given.leaves(lambda *xs: compiled(*xs), *operands), wanted)


@_check("vmap", 3)
def _vmap(program: Program) -> None:
    rows, batch = batched(program)
    wanted = [program.leaves(*row) for row in rows]
    for i, out in enumerate(vmap(program.leaves)(*batch)):
        for row, one in zip(wanted, host(out), strict=True):
            what = f"array {i} of vmap of the transformed function"
            require_same(what, one, host(row[i]), types=False, scale=4.0)
    got = program.given.values(vmap(program.fresh()), *batch)
    same_values("the transformed function of vmap", got, vmap(program.call)(*batch))


@_check("jvp", 3)
def _jvp(program: Program) -> None:
    positions, results = program.positions, differentiable(program.call(*program.operands))
    if not positions or not results:
        raise NotApplicable("nothing has a tangent")
    primals = [program.operands[i] for i in positions]
    tangents = tangents_of(program, positions)

    def forward(call: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        return lambda *xs: list(jvp(of_some(call, program.operands, positions), xs, tangents)[1])

    def reverse(call: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def pulled(*xs: Any) -> list[Any]:
            outs, pullback = vjp(of_some(call, program.operands, positions), *xs)
            rng = program.rng()
            return list(pullback([direction(rng, typeof(x).tangent_aval()) for x in outs]))

        return pulled

    for name, derived in (("jvp", forward), ("vjp", reverse)):
        if name == "jvp" and program.label == "custom_vjp":
            continue  # which has no derivative in forward mode
        wanted = derived(program.call)(*primals)
        outer = derived(program.values)(*primals)
        same_values(f"{name} of the transformed function", outer, wanted)
        inner = program.given.values(derived(program.call), *primals)
        same_values(f"the transformed function of {name}", inner, wanted)


@_check("nesting", 3, first=True)
def _nesting(program: Program) -> None:
    """Functions that use values of a transformation outside, of the same one and of ``vmap``."""
    given, x = program.given, program.operands[0]

    def twice(y: Any) -> list[Any]:
        return given.values(lambda z: [z * z, z * y], y)

    def alone(y: Any) -> list[Any]:
        return [y * y, y * y]

    inside = "of the transformation inside itself"
    require_values(given.values(twice, x), alone(x), f" {inside}")
    pairs = zip(given.leaves(twice, x), given.leaves(alone, x), strict=True)
    for i, (a, b) in enumerate(pairs):
        require_same(f"array {i} of the result {inside}", a, b, types=False, scale=4.0)
    (rows,) = vmap(lambda y: given.values(lambda z: [z * y + z], 2.0))(x)
    require_same("a function that uses a mapped value", rows, 2.0 * x + 2.0, types=False)


def _in_context(one: FunctionCheck) -> Callable[[Any, str | None], None]:
    """The transformed function in a loop or branch, by the check that a package has for that."""

    def run(program: Any, compiler: str | None) -> None:
        operands = program.operands
        flat, values = flat_function(program.values, operands, program.values, operands)
        one.run(FunctionCall(flat, [values], program.label, {}, program.seed))

    return run
