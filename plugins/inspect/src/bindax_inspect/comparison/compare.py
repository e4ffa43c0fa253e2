"""``compare``: the first equation whose results differ between two ways to run a program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_core.extend import ClosedJaxpr, JaxprEqn, Var, api_boundary, is_value, tree_leaves
from bindax_inspect.comparison.bodies import Pairs, has_bodies, run_bodies
from bindax_inspect.comparison.difference import Comparison, Difference
from bindax_inspect.comparison.errors_of_values import ErrorOfValue, error_of, scale_of_sum
from bindax_inspect.comparison.programs import FlatProgram, flat_program
from bindax_inspect.comparison.saved import compare_saved, is_exported
from bindax_inspect.comparison.ways import Way, way_of
from bindax_transforms import check_function, make_jaxpr


@api_boundary
def compare(
    f: Callable[..., Any],
    args: Sequence[Any],
    *,
    a: Any = "eager",
    b: Any = "compiled",
    rtol: float | None = None,
) -> Comparison:
    """Find the first equation whose results differ between two ways to run a program.

    Both runs go equation by equation through functions under ``jit``, functions with rules of
    their own and ``checkpoint``; where a loop or a ``cond`` differs, into its bodies, step by
    step. Effects, such as prints, happen in both runs.

    Args:
        f: a function of pytrees of arrays, transformed or not.
        args: the tuple of its arguments.
        a: a way to run it: ``"eager"``, as outside of ``jit``; ``"compiled"``, all equations
            together; the name of a backend, such as ``"numpy"`` or ``"xla"``, which runs each
            equation by itself; a float type, such as ``"float64"``, in place of those of the
            program; a device; a tuple of these; or a program that ``bindax.export`` made or read.
        b: another way.
        rtol: the relative error that counts as rounding of one equation; by default twice the 3/4
            power of the unit roundoff of the coarser type, 1e-5 for float32. Its square root is
            what the rounding of all equations may add up to.

    Returns:
        What was found; its text names line, equation, inputs, results and errors.

    Raises:
        ValueError: when a name is none of a way.
        TypeError: when ``f`` is no function, or ``args`` no tuple, or both are exported programs.

    >>> import bindax_lax_basic as lax
    >>> compare(lambda x: lax.exp(lax.sin(x)), (1.0,), a="eager", b="float64")
    eager and float64 agree: ...
    """
    _check_call(f, args)
    if is_exported(a) or is_exported(b):
        return _with_exported(f, args, a, b, rtol)
    ways = way_of(a, "a"), way_of(b, "b")
    search = _Search(ways, rtol)
    closed = make_jaxpr(f)(*args)
    leaves = tree_leaves(tuple(args))
    pairs = list(zip(*[way.operands(leaves) for way in ways], strict=True))
    try:
        search.program(closed, pairs, ())
    except _Found as found:
        return Comparison(ways, search.compared, search.largest, found.difference)
    return Comparison(ways, search.compared, search.largest, None)


def _check_call(f: Any, args: Any) -> None:
    """Refuse what is no function, or no tuple of arrays."""
    check_function("compare", "f", f)
    if not isinstance(args, tuple | list):
        raise TypeError(
            f"args of compare must be the tuple of the arguments of f, but got {args!r:.60}; for "
            f"one argument write (x,)."
        )
    for leaf in tree_leaves(args):
        if not is_value(leaf):
            raise TypeError(
                f"args of compare must hold arrays, but got {leaf!r:.60}; give f what is no array "
                f"with functools.partial."
            )


def _with_exported(
    f: Callable[..., Any], args: Sequence[Any], a: Any, b: Any, rtol: float | None
) -> Comparison:
    """The comparison of an exported program with a way to run the one of today."""
    if is_exported(a) and is_exported(b):
        raise TypeError("a and b of compare are exported programs; one of them must be a way.")
    ways = [
        Way(f"the export of {x.fun_name}", "") if is_exported(x) else way_of(x, name)
        for x, name in ((a, "a"), (b, "b"))
    ]
    first = is_exported(a)
    exported, way = (a, ways[1]) if first else (b, ways[0])
    found = compare_saved(f, args, exported, way, rtol, is_first=first)
    return Comparison((ways[0], ways[1]), *found, unit="result")


class _Found(Exception):
    """The search has ended."""

    def __init__(self, difference: Difference) -> None:
        super().__init__()
        self.difference = difference


class _Parting(NamedTuple):
    """An equation whose results differ by more than rounding; the fields of ``Difference``."""

    equation: JaxprEqn
    path: tuple[str, ...]
    inputs: list[Any]
    results: list[Any]
    which: int
    error: ErrorOfValue


class _Search:
    """A walk through two runs of a program.

    Attributes:
        compared: the number of equations whose results agreed.
        largest: the largest relative error among them.
    """

    def __init__(self, ways: tuple[Way, Way], rtol: float | None) -> None:
        self.ways = ways
        self.compared = 0
        self.largest = 0.0
        self._rtol = rtol
        self._flat: dict[int, tuple[ClosedJaxpr, FlatProgram]] = {}

    def program(
        self, closed: ClosedJaxpr, args: Sequence[Any], path: tuple[str, ...]
    ) -> list[tuple[Any, Any]]:
        """The pairs of results of a program for pairs of arguments; raises when they part."""
        flat = self._flat.setdefault(id(closed), (closed, flat_program(closed)))[1]
        jaxpr = flat.closed.jaxpr
        a, b = self.ways
        consts = [way.operands(flat.closed.consts) for way in self.ways]
        env: list[dict[Var, Any]] = [dict(zip(jaxpr.constvars, own, strict=True)) for own in consts]
        for k in (0, 1):
            env[k].update(zip(jaxpr.invars, [x[k] for x in args], strict=True))

        noisy: set[Var] = set()

        def read(atom: Any) -> tuple[Any, Any]:
            return a.read(env[0], atom), b.read(env[1], atom)

        given = [[x[k] for x in args] for k in (0, 1)]
        runs = zip(
            *[w.results(flat.closed, x) for w, x in zip(self.ways, given, strict=True)], strict=True
        )
        for eqn, inner, freed, outs in zip(
            jaxpr.eqns, flat.paths, jaxpr.last_uses, runs, strict=True
        ):
            results = list(zip(*outs, strict=True))
            inputs = [read(x) for x in eqn.invars]
            depends = any(isinstance(x, Var) and x in noisy for x in eqn.invars)
            if self._check(eqn, inputs, results, (*path, *inner), depends):
                noisy.update(eqn.outvars)
            for v, pair in zip(eqn.outvars, results, strict=True):
                env[0][v], env[1][v] = pair
            for v in freed:
                env[0].pop(v, None)
                env[1].pop(v, None)
        return [read(x) for x in jaxpr.outvars]

    def _check(
        self,
        eqn: JaxprEqn,
        inputs: list[Any],
        results: list[Any],
        path: tuple[str, ...],
        depends: bool,
    ) -> bool:
        """Tell whether the results are the rounding of terms that cancel; raise where they part.

        Args:
            eqn: the equation.
            inputs: the pairs of its operands.
            results: the pairs of its results.
            path: where it is.
            depends: whether an operand is such rounding.
        """
        scale = scale_of_sum(eqn, [x for x, _ in inputs])
        errors = [error_of(x, y, self._rtol, scale) for x, y in results]
        for which, error in enumerate(errors):
            if error.is_beyond:
                is_sum_of_rounding = depends and bool(np.isfinite(error.relative))
                found = _Parting(eqn, path, inputs, results, which, error)
                self._examine(found, scale, enlarges=error.is_far and not is_sum_of_rounding)
        self.compared += 1
        if not depends:
            self.largest = max([self.largest, *(error.relative for error in errors)])
        plain = [error_of(x, y, self._rtol) for x, y in results] if scale else errors
        return any(error.is_far for error in plain)

    def _examine(self, found: _Parting, scale: float, *, enlarges: bool) -> None:
        """Raise where the equation is at fault, or ``enlarges`` a difference too much."""
        eqn, inputs = found.equation, found.inputs
        if has_bodies(eqn):

            def run(label: str, body: ClosedJaxpr, args: Sequence[Any]) -> list[Any]:
                return self.program(body, args, (*found.path, label))

            run_bodies(eqn, inputs, run, Pairs())
        _, b = self.ways
        alone = b.apply(eqn, b.operands([x for x, _ in inputs]))
        which = found.which
        own = error_of(found.results[which][0], alone[which], self._rtol, scale)
        if enlarges or (own.is_beyond and not has_bodies(eqn)):
            before = max([0.0, *(error_of(x, y, self._rtol).relative for x, y in inputs)])
            raise _Found(Difference(*found, before, own.relative))
