"""Compiled programs on arrays of extended dtypes, which run on the arrays that represent them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from bindax_core.kernel._extended import is_extended
from bindax_core.kernel._jaxpr import ClosedJaxpr, Jaxpr, subjaxprs
from bindax_core.runtime._array import Array


def has_extended_dtypes(jaxpr: ClosedJaxpr) -> bool:
    """Whether any value in a program has an extended dtype."""
    known = jaxpr.cache.get("has_extended_dtypes")
    if known is None:
        known = jaxpr.cache["has_extended_dtypes"] = _has_extended(jaxpr.jaxpr)
    return bool(known)


def _has_extended(jaxpr: Jaxpr) -> bool:
    atoms = [*jaxpr.constvars, *jaxpr.invars, *jaxpr.outvars]
    for eqn in jaxpr.eqns:
        atoms += [*eqn.invars, *eqn.outvars]
        if any(has_extended_dtypes(program) for _, program in subjaxprs(eqn.params)):
            return True
    dtypes = {getattr(atom.aval, "dtype", None) for atom in atoms}
    return any(dtype is not None and is_extended(dtype) for dtype in dtypes)


@attrs.frozen
class Overlaid:
    """An executable on arrays of extended dtypes, from one on the arrays that represent them."""

    jaxpr: ClosedJaxpr
    physical: Any
    donated: Sequence[bool]

    def __call__(self, *operands: Any) -> list[Array]:
        given = [x.physical() if isinstance(x, Array) else x for x in operands]
        outs = self.physical(*given)
        for x, y, is_donated in zip(operands, given, self.donated, strict=True):
            if is_donated and isinstance(x, Array) and x is not y and y.is_deleted():
                x.delete()
        return [Array.of_physical(a, x) for a, x in zip(self.jaxpr.out_avals, outs, strict=True)]

    def __getattr__(self, name: str) -> Any:
        if name == "run_unchecked":  # it would not see the arrays as they are
            raise AttributeError(name)
        return getattr(self.physical, name)


@attrs.frozen
class OverlaidProgram:
    """A lowered program on arrays of extended dtypes."""

    jaxpr: ClosedJaxpr
    physical: Any
    donated: Sequence[bool]

    def as_text(self) -> str:
        """The program in the compiler's language, on the arrays that represent the operands."""
        return str(self.physical.as_text())

    def compile(self) -> Overlaid:
        """The program, ready to be called."""
        return Overlaid(self.jaxpr, self.physical.compile(), self.donated)
