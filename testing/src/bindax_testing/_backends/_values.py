"""Checks of one primitive on a backend: its values, in each dtype, and where they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from types import MappingProxyType
from typing import Any

import attrs
import numpy as np

from bindax_core import config
from bindax_core.errors import BackendError, MissingRuleError
from bindax_core.extend import (
    ShapedArray,
    code_of,
    find_backend,
    impl,
    is_differentiable,
    is_extended,
    typeof,
)
from bindax_testing._backends._accuracy import (
    ELEMENTWISE,
    EXACT,
    Distance,
    Measurement,
    allowed_units,
    distances,
    kind_of,
)
from bindax_testing._backends._execution import Function, Refused, compiled_by, results_of
from bindax_testing._blame import codes_called
from bindax_testing._cases import Case
from bindax_testing._checks._purity import special_case
from bindax_testing._compare import (
    Mismatch,
    NotApplicable,
    host,
    host_parts,
    require_type,
    type_of_result,
)

SPECIAL = "special values"
SPECIAL_ENDING = f": {SPECIAL}"
"""The end of a stated difference that is one of special values alone."""
FALLBACK = "no fallback"


def dtype_of(case: Case) -> str:
    """The dtype that a case counts for: that of the first operand, or else of the first result."""
    avals = case.avals or case.out_avals()
    return avals[0].str_short().partition("[")[0] if avals else "none"


def _dtypes_of(case: Case) -> frozenset[str]:
    """The dtypes of the operands and the results of a case."""
    avals = (*case.avals, *case.out_avals())
    return frozenset(aval.str_short().partition("[")[0] for aval in avals)


class Values:
    """The comparison of a backend with the reference, which keeps what it measured.

    Attributes:
        backend: the name of the backend.
        units: bounds that the backend states, by primitive, in place of those of the table.
        measured: the greatest distance of each primitive and dtype.
        refused: the primitives that the backend does not support, each with what its error said.
        differences: where the backend states that results differ from the reference, and how.
        differing: the differences that were seen.
        unsupported: the primitives and dtypes that the backend states not to support.
    """

    def __init__(
        self,
        backend: str,
        units: Mapping[str, float],
        differences: Mapping[str, str] = MappingProxyType({}),
        unsupported: frozenset[str] = frozenset(),
    ) -> None:
        self.backend = backend
        self.units = units
        self.measured: dict[tuple[str, str], Measurement] = {}
        self.refused: dict[str, str] = {}
        self.differences = differences
        self.differing: set[str] = set()
        self.unsupported = unsupported

    def run(self, case: Case, compiler: str | None) -> None:
        """Compare results of all draws: types, and elements within the units that are allowed."""
        self._require_stated(case, "compiled")
        kind = kind_of(case)
        compiled = compiled_by(self.backend, case.fresh())
        for row in case.draws:
            self._compare(case, compiled, kind, row, "")

    def special(self, case: Case, compiler: str | None) -> None:
        """Compare results for zeros, infinities and NaN."""
        self._require_stated(case, "compiled")
        self._require_stated(case, "compiled special values")
        made, kind = special_case(case), kind_of(case)
        if kind == EXACT:  # as sums are of one number that is much greater than the others
            kind = kind_of(made)
        compiled = compiled_by(self.backend, made.fresh())
        for row in made.draws:
            self._compare(made, compiled, kind, row, " for special values", measure=False)

    def _require_stated(self, case: Case, check: str) -> None:
        if check in case.skip:
            raise NotApplicable(case.skip[check])

    def difference(self, case: Case, *, special: bool = False) -> str | None:
        """The stated difference that the results of a case may have, as the backend names it."""
        ending = SPECIAL_ENDING if special else ""
        name = case.primitive.name
        names = (f"{name} {dtype_of(case)}{ending}", f"{name}{ending}")
        return next((one for one in names if one in self.differences), None)

    def _results(self, case: Case, compiled: Function, row: Sequence[Any]) -> list[Any]:
        """The results of the backend; that it refuses the primitive is remembered.

        It is not where it refuses a dtype that it states not to support.
        """
        try:
            return list(compiled(*row))
        except Refused as refused:
            if self.unsupported & _dtypes_of(case):
                raise NotApplicable(str(refused)) from refused
            self.refused.setdefault(case.primitive.name, str(refused))
            raise

    def _compare(
        self,
        case: Case,
        compiled: Function,
        kind: str,
        row: Sequence[Any],
        what: str,
        *,
        measure: bool = True,
    ) -> None:
        wanted = case.call(*row)
        before = [host_parts(x).copy() for x in row]
        got = self._results(case, compiled, row)
        require_types(got, wanted, what)
        _require_operands(row, before)
        name = case.primitive.name
        for i, distance in enumerate(distances(case, kind, got, wanted, row)):
            dtype = typeof(wanted[i]).dtype
            allowed = allowed_units(kind, dtype)
            stated = self.units.get(f"{name} {dtype}", self.units.get(name))
            if stated is not None and is_differentiable(dtype):
                allowed = stated
            found = _Found(i, kind, distance, allowed, row)
            if measure:
                self._keep(case, found)
            if found.worst > allowed:
                self._require_difference(case, found.text(what, got[i], wanted[i]), bool(what))

    def _require_difference(self, case: Case, text: str, special: bool) -> None:
        """Raise what is wrong with a result, unless the backend states that it differs."""
        stated = self.difference(case, special=special)
        if stated is None:
            raise Mismatch(text)
        self.differing.add(stated)
        raise NotApplicable(f"stated: {self.differences[stated]}")

    def _keep(self, case: Case, found: _Found) -> None:
        """Remember the greatest distance."""
        key = case.primitive.name, dtype_of(case)
        known = self.measured.get(key)
        units, conditioned, kind = found.units, found.worst, found.kind
        allowed, at = found.allowed, found.elements if found.units else ""
        if known is not None:
            at = at if units > known.units else known.at
            units, conditioned = max(units, known.units), max(conditioned, known.conditioned)
            if known.allowed > allowed:
                kind, allowed = known.kind, known.allowed
        self.measured[key] = Measurement(*key, kind, units, conditioned, allowed, at)

    def no_fallback(self, case: Case, compiler: str | None) -> None:
        """Raise where another evaluates the primitive, and nothing says so."""
        called: list[str] = []
        with ExitStack() as stack:
            on_host = find_backend(self.backend).platform == "host"
            if not on_host and impl.find(case.primitive) is not None:
                watch = _noting(called, "the rule impl on the host")
                stack.enter_context(impl.wrapped(case.primitive, watch))
            stack.enter_context(config.override(derived_rules="error"))
            codes = codes_called(lambda: self._results_or_notice(case))
        compilers = _other_compilers(self.backend)
        called += [compilers[code] for code in codes & compilers.keys()]
        if called:
            raise Mismatch(
                f"is not evaluated by the backend, but by {called[0]}, and nothing says so: raise "
                f"an error that names the primitive and the backend, or, unless "
                f"config.derived_rules is 'error', warn."
            )

    def _results_or_notice(self, case: Case) -> None:
        try:
            results_of(self.backend, case.fresh(), *case.operands)
        except (MissingRuleError, BackendError) as error:
            if case.primitive.name in self.refused:
                raise NotApplicable(self.refused[case.primitive.name]) from error
            text = str(error).partition(". ")[0]
            raise NotApplicable(f"it is evaluated on the host, as a notice says: {text}") from error


def _noting(called: list[str], name: str) -> Callable[[Any], Any]:
    """A wrapper of functions that notes calls under a name."""

    def wrapped(function: Any) -> Any:
        def noting(*args: Any, **kwargs: Any) -> Any:
            called.append(name)
            return function(*args, **kwargs)

        return noting

    return wrapped


def _other_compilers(name: str) -> dict[Any, str]:
    """The code that compiles for backends besides one, each with the name of its backend."""
    own = {vars(kind).get("compile") for kind in type(find_backend(name)).__mro__}
    others = [find_backend("numpy"), find_backend(None)]
    return {
        code_of(type(one).compile): f"the backend {one.name!r}"
        for one in others
        if one.name != name and type(one).compile not in own
    }


def require_types(got: Sequence[Any], wanted: Sequence[Any], what: str = "") -> None:
    """Raise unless results have the types of others, in their bytes, too."""
    if len(got) != len(wanted):
        raise Mismatch(f"there should be {len(wanted)} results{what}, but there are {len(got)}.")
    for i, (a, b) in enumerate(zip(got, wanted, strict=True)):
        require_type(f"result {i}{what}", typeof(a), typeof(b))
        aval = typeof(b)
        plain = aval.plain() if isinstance(aval, ShapedArray) else aval  # values lie in no mesh
        found, due = type_of_result(host(a)).str_short(), plain.str_short()
        if found != due:
            raise Mismatch(f"result {i}{what} is said to be {due}, but its array is {found}.")


def _require_operands(row: Sequence[Any], before: Sequence[Any]) -> None:
    for i, (x, old) in enumerate(zip(row, before, strict=True)):
        if host_parts(x).tobytes() != old.tobytes():
            raise Mismatch(f"changes its operand {i} in place, which was not donated.")


@attrs.frozen(eq=False)
class _Found:
    """The distances of a result, and where it is furthest from the reference."""

    position: int
    kind: str
    distance: Distance
    allowed: float
    row: Sequence[Any]

    @property
    def worst(self) -> float:
        """The greatest distance, conditioned."""
        return float(np.max(self.distance.conditioned, initial=0.0))

    @property
    def units(self) -> float:
        """The greatest distance in units in the last place."""
        return float(np.max(self.distance.units, initial=0.0))

    @property
    def index(self) -> tuple[int, ...]:
        """The element that is furthest away."""
        apart = self.distance.conditioned if self.worst > self.allowed else self.distance.units
        return tuple(int(k) for k in np.unravel_index(int(np.argmax(apart)), apart.shape))

    @property
    def elements(self) -> str:
        """The elements of elementwise operands there."""
        shape, row = self.distance.units.shape, self.row
        if self.kind != ELEMENTWISE or any(is_extended(typeof(x).dtype) for x in row):
            return ""
        if any(np.shape(x) not in ((), shape) for x in row):
            return ""
        return ", ".join(repr(np.broadcast_to(host(x), shape)[self.index].item()) for x in row)

    def text(self, what: str, got: Any, wanted: Any) -> str:
        """A sentence about the element that is furthest away."""
        a, b, at = host_parts(got), host_parts(wanted), self.index
        given = f" for {self.elements}" if self.elements else ""
        apart = "and has to be the same"
        if np.isfinite(self.worst) and self.allowed:
            apart = (
                f"{self.worst:.3g} units in the last place away, and at most {self.allowed:g} are "
                f"allowed ({self.kind})"
            )
        where = f" at {at}" if at else ""
        return (
            f"result {self.position}{what} should be {b[at]!r}{where}{given}, but is {a[at]!r}: "
            f"{apart}."
        )
