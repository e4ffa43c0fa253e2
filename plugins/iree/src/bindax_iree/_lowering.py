"""From jaxprs to StableHLO artifacts, by the lowering rules of primitives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import (
    BackendError,
    ClosedJaxpr,
    Jaxpr,
    MissingRuleError,
    Var,
    config,
    find_backend,
    float0,
    subjaxprs,
)
from bindax_export import ExportError
from bindax_iree._errors import CompilationError
from bindax_iree._support import PLATFORM

_REFUSALS = (BackendError, ExportError, MissingRuleError)

_CALLS_HOST = "it is computed by a function of this process, which a program of IREE cannot call"

_EMBEDDED = 16
"""Constants with more elements are operands of the program, whose text they are no part of."""


@attrs.frozen(eq=False)
class Lowered:
    """A program in StableHLO.

    Attributes:
        name: its name.
        artifact: its portable artifact.
        constants: the arrays that are its first operands.
        kept: the positions of the operands that it takes after them.
        primitives: the names of those that it is made of.
    """

    name: str
    artifact: bytes
    constants: tuple[np.ndarray[Any, Any], ...]
    kept: tuple[int, ...]
    primitives: tuple[str, ...]

    def as_text(self) -> str:
        """The program as text of StableHLO."""
        return str(_stablehlo().exporting.artifact_text(self.artifact))


def lower(jaxpr: ClosedJaxpr, name: str) -> Lowered:
    """Lower a jaxpr to StableHLO.

    Raises:
        CompilationError: when a primitive has no lowering, or calls the host.
    """
    program, constants = _with_constants_as_operands(jaxpr)
    try:
        made = _exported(program, name)
    except _REFUSALS as error:
        found = _culprit(jaxpr.jaxpr)
        primitive = "" if found is None else f" the primitive {found} in"
        reason = _CALLS_HOST if "calls the Python function" in str(error) else clause(error)
        raise CompilationError(
            f"the backend 'iree' cannot compile{primitive} {name}: {reason}. Compile it "
            f'with jit(..., backend="xla").'
        ) from error
    count = len(constants)
    taken = [i for i in made.kept if i < count]
    kept = [i - count for i in made.kept if i >= count]
    names = tuple(dict.fromkeys(_primitives(jaxpr.jaxpr)))
    return Lowered(name, made.module, tuple(constants[i] for i in taken), tuple(kept), names)


def _stablehlo() -> Any:
    """The backend that builds StableHLO."""
    return find_backend("xla")


def _exported(jaxpr: ClosedJaxpr, name: str) -> Any:
    backend = _stablehlo()
    with config.override(derived_rules="silent"):  # a call of the host is refused, not slow
        return backend.exporting.export_program(
            backend,
            jaxpr,
            name=name,
            platforms=(PLATFORM,),
            dimensions=None,
            in_shardings=None,
            out_shardings=None,
            result_names=None,
        )


def _primitives(jaxpr: Jaxpr) -> Iterator[str]:
    for eqn in jaxpr.eqns:
        yield eqn.primitive.name
        for _, inner in subjaxprs(eqn.params):
            yield from _primitives(inner.jaxpr)


def _culprit(jaxpr: Jaxpr) -> str | None:
    """The name of the first primitive, from the inside, that cannot be lowered alone."""
    for eqn in jaxpr.eqns:
        for _, inner in subjaxprs(eqn.params):
            found = _culprit(inner.jaxpr)
            if found is not None:
                return found
        operands = list(dict.fromkeys(x for x in eqn.invars if isinstance(x, Var)))
        alone = Jaxpr([], operands, list(eqn.outvars), [eqn])
        try:
            _exported(ClosedJaxpr(alone, []), eqn.primitive.name)
        except _REFUSALS:
            return eqn.primitive.name
    return None


def _with_constants_as_operands(
    closed: ClosedJaxpr,
) -> tuple[ClosedJaxpr, list[np.ndarray[Any, Any]]]:
    """The program with its large constants as first operands, and their values."""
    jaxpr, values = closed.jaxpr, [np.asarray(const) for const in closed.consts]
    pairs = list(zip(jaxpr.constvars, values, strict=True))
    large = [(v, x) for v, x in pairs if x.size > _EMBEDDED and x.dtype != float0]
    names = {v for v, _ in large}
    small = [(v, x) for v, x in zip(jaxpr.constvars, closed.consts, strict=True) if v not in names]
    made = Jaxpr(
        [v for v, _ in small], [*(v for v, _ in large), *jaxpr.invars], jaxpr.outvars, jaxpr.eqns
    )
    return ClosedJaxpr(made, [x for _, x in small]), [x for _, x in large]
