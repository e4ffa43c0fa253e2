"""Programs that carry the values of references which their functions use.

The caller that stages a function applies its jaxpr to the values of the references, and stores what
they hold in the end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bindax_core.extend import ClosedJaxpr, DebugInfo, PyTreeDef, Var, eval_jaxpr
from bindax_transforms._flat import merge, partition
from bindax_transforms.staging.backward_logs import are_logs_wanted, log_last, logging_results
from bindax_transforms.staging.jaxpr_trace import JaxprBuilder, stage
from bindax_transforms.staging.reference import Reference


class StagedProgram(NamedTuple):
    """A jaxpr that carries the values of references.

    It takes the values of all ``references`` before its arguments, and returns the values of those
    that are ``written`` after its results. Between the two come the leaves of what backward rules
    ``logs``, if they do.
    """

    program: ClosedJaxpr
    references: tuple[Reference, ...] = ()
    written: tuple[bool, ...] = ()
    logs: PyTreeDef | None = None

    @property
    def reads(self) -> list[Reference]:
        """The references that it reads and does not write."""
        if not self.references:
            return []
        return partition(self.written, self.references)[0]

    @property
    def targets(self) -> list[Reference]:
        """The references that it writes."""
        if not self.references:
            return []
        return partition(self.written, self.references)[1]

    def with_program(self, program: ClosedJaxpr) -> StagedProgram:
        """Another jaxpr that carries the same references."""
        if program is self.program:
            return self
        return self._replace(program=program)

    def load(self) -> list[Any]:
        """The values of the references."""
        if not self.references:
            return []
        return [reference.load() for reference in self.references]

    def store(self, outs: Sequence[Any]) -> Sequence[Any]:
        """Store what it returned for references, and log; gives its other results."""
        if self.references:
            outs = store_last(self.targets, outs)
        return log_last(self.logs, outs)

    def store_first(self, outs: Sequence[Any]) -> Sequence[Any]:
        """The same of a program whose results for references come first."""
        if self.references:
            targets = self.targets
            for reference, value in zip(targets, outs, strict=False):
                reference.store(value)
            outs = outs[len(targets) :]
        return log_last(self.logs, outs)

    def apply(self, *args: Any) -> Sequence[Any]:
        """Apply the jaxpr to arguments, and store the values of references."""
        jaxpr, consts = self.program.jaxpr, self.program.consts
        return self.store(eval_jaxpr(jaxpr, consts, *self.load(), *args))

    def for_loop(self) -> ClosedJaxpr:
        """The jaxpr of one step, which carries what it writes.

        It takes the values of the references that it reads alone, of those that it writes, and the
        arguments; it returns the values of the written ones, and the results.
        """
        if not self.references:
            return self.program
        jaxpr, count = self.program.jaxpr, len(self.references)
        reads, writes = partition(self.written, jaxpr.invars[:count])
        cut = len(jaxpr.outvars) - len(writes)
        changed = jaxpr.replace(
            invars=[*reads, *writes, *jaxpr.invars[count:]],
            outvars=[*jaxpr.outvars[cut:], *jaxpr.outvars[:cut]],
        )
        return ClosedJaxpr(changed, self.program.consts)


def store_last(references: Sequence[Reference], outs: Sequence[Any]) -> Sequence[Any]:
    """Store the last results in references; gives the others."""
    if not references:
        return outs
    cut = len(outs) - len(references)
    for reference, value in zip(references, outs[cut:], strict=True):
        reference.store(value)
    return outs[:cut]


def stage_with_references(
    function: Callable[..., Sequence[Any]], in_avals: Sequence[Any], origin: DebugInfo
) -> StagedProgram:
    """The jaxpr of a function of flat values, which may use references from outside.

    Args:
        function: takes one value for each type, and returns a sequence of values.
        in_avals: the types of the arguments.
        origin: what is traced and for what, for messages.

    >>> import numpy as np
    >>> from bindax_core.extend import ShapedArray
    >>> total = Reference(np.float32(0.0))
    >>> def add(x):
    ...     total.store(total.load() + x)
    ...     return [x]
    >>> staged = stage_with_references(add, [ShapedArray((), np.float32)], DebugInfo("example"))
    >>> staged.program
    { lambda a:float32[], b:float32[] .
      let c:float32[] = add a b
      in ( b, c ) }
    >>> staged.references == (total,), staged.written
    (True, (True,))
    """
    builder = JaxprBuilder()
    builder.carries_references = True
    logs: list[PyTreeDef | None] = []
    if are_logs_wanted():
        function = logging_results(function, logs)
    closed = stage(builder, function, in_avals, origin)
    references, logged = builder.references, logs[0] if logs else None
    if not references:
        return StagedProgram(closed, logs=logged)
    jaxpr, first = closed.jaxpr, list(references.values())
    cut = len(jaxpr.outvars) - len(first)
    last = jaxpr.outvars[cut:]
    written = tuple(x is not v for x, v in zip(last, first, strict=True))
    outs = [*jaxpr.outvars[:cut], *partition(written, last)[1]]
    closed = ClosedJaxpr(jaxpr.replace(outvars=outs), closed.consts)
    return StagedProgram(closed, tuple(references), written, logged)


def joined(programs: Sequence[StagedProgram]) -> list[StagedProgram]:
    """Programs that all take the values of the same references, and return those of the same."""
    if all(not staged.references for staged in programs):
        return list(programs)
    references = list(dict.fromkeys(r for staged in programs for r in staged.references))
    targets = {r for staged in programs for r in staged.targets}
    written = tuple(r in targets for r in references)
    return [_widened(staged, references, written) for staged in programs]


def _widened(
    staged: StagedProgram, references: Sequence[Reference], written: tuple[bool, ...]
) -> StagedProgram:
    jaxpr, count = staged.program.jaxpr, len(staged.references)
    cut = len(jaxpr.outvars) - len(staged.targets)
    own = dict(zip(staged.references, jaxpr.invars[:count], strict=True))
    first = [own.get(r) or Var(r.aval) for r in references]
    new: dict[Any, Any] = dict(zip(references, first, strict=True))
    new.update(zip(staged.targets, jaxpr.outvars[cut:], strict=True))
    last = [new[r] for r in partition(written, references)[1]]
    jaxpr = jaxpr.replace(
        invars=[*first, *jaxpr.invars[count:]], outvars=[*jaxpr.outvars[:cut], *last]
    )
    closed = ClosedJaxpr(jaxpr, staged.program.consts)
    return StagedProgram(closed, tuple(references), written, staged.logs)


def with_constants(program: ClosedJaxpr, values: Sequence[Any]) -> ClosedJaxpr:
    """A jaxpr whose leading arguments are constants of these values."""
    if not values:
        return program
    jaxpr, count = program.jaxpr, len(values)
    jaxpr = jaxpr.replace(
        constvars=[*jaxpr.constvars, *jaxpr.invars[:count]], invars=jaxpr.invars[count:]
    )
    return ClosedJaxpr(jaxpr, [*program.consts, *values])


def kept_apart(leaves: Sequence[Any]) -> tuple[list[Any], Callable[[Sequence[Any]], list[Any]]]:
    """The leaves that are no references, and a function that puts others in their places."""
    flags = [isinstance(x, Reference) for x in leaves]
    values, references = partition(flags, leaves)
    return values, lambda others: merge(flags, others, references)


def on_values(
    function: Callable[..., Sequence[Any]],
    kinds: Sequence[type[Reference] | None],
    kept: list[bool] | None = None,
) -> Callable[..., list[Any]]:
    """A function of values for one some of whose arguments are references.

    Args:
        function: a function of flat arguments.
        kinds: for each argument the class of the reference, or None.
        kept: gets for each call whether a reference is kept by a rule.

    Returns:
        A function of the values that references hold, which returns their new ones after the
        results.
    """

    def of_values(*values: Any) -> list[Any]:
        args = [
            x if kind is None else kind.stand_in(x) for x, kind in zip(values, kinds, strict=True)
        ]
        outs = list(function(*args))
        references = [x for x, kind in zip(args, kinds, strict=True) if kind]
        if kept is not None:
            kept.append(any(x.is_kept for x in references))
        return [*outs, *(x.load() for x in references)]

    return of_values
