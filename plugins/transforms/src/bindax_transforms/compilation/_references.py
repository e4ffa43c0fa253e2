"""References that a compiled function takes as arguments or closes over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import update_wrapper
from typing import Any, NamedTuple

from bindax_core.extend import (
    DebugInfo,
    Tracer,
    is_value,
    trace_state,
    tree_unflatten,
    typeof,
)
from bindax_transforms._flat import parameter_names
from bindax_transforms.staging.reference import Reference, check_distinct
from bindax_transforms.staging.staged_program import (
    StagedProgram,
    kept_apart,
    on_values,
    stage_with_references,
    store_last,
)
from bindax_transforms.staging.static_arguments import JitOptions, with_static

_MOST_CLOSING = 16
"""Programs of a function for different references."""


class ReferenceType(NamedTuple):
    """The type of an argument that is a reference, in the key of a trace."""

    kind: type[Reference]
    aval: Any

    def str_short(self) -> str:
        """Format the type as messages print it."""
        return f"Ref{{{self.aval.str_short()}}}"


def operand_type(x: Any) -> Any:
    """The type of an argument in the key of a trace; None of what is no array or reference."""
    if is_value(x):
        return typeof(x)
    return ReferenceType(x.kind, x.aval) if isinstance(x, Reference) else None


class CarriedReferences(NamedTuple):
    """The references of a traced function: those from outside, and which are written.

    ``written`` has a flag for each of those from outside, then for each among the arguments. Where
    rules of custom functions have ``kept`` arguments, there is a program for each reference.
    """

    captured: tuple[Reference, ...]
    written: tuple[bool, ...]
    kept: bool = False

    def operands(self, leaves: Sequence[Any], names: Callable[[], list[str]]) -> list[Any]:
        """The values of the references from outside, and the arguments without references."""
        check_distinct(leaves, names)
        for i, x in enumerate(leaves):
            if isinstance(x, Reference) and x in self.captured:
                raise ValueError(
                    f"a mutable array reference is closed over and passed as the argument "
                    f"{names()[i]}: a function has one name for it. Remove one of the two."
                )
        values = [x.load() if isinstance(x, Reference) else x for x in leaves]
        return [*(x.load() for x in self.captured), *values]

    def store(self, leaves: Sequence[Any], outs: Sequence[Any]) -> Sequence[Any]:
        """Store the last results in the references that are written; gives the others."""
        references = [*self.captured, *(x for x in leaves if isinstance(x, Reference))]
        pairs = zip(references, self.written, strict=True)
        return store_last([x for x, flag in pairs if flag], outs)


def _carried(staged: StagedProgram, num_arguments: int) -> tuple[StagedProgram, CarriedReferences]:
    """The references of a program whose last results are new values of its arguments.

    Results that are the values that came in are left out.

    Args:
        staged: a jaxpr that returns the values of arguments that are references after its
            results, and then those of references from outside.
        num_arguments: how many arguments are references.
    """
    jaxpr = staged.program.jaxpr
    end = len(jaxpr.outvars) - len(staged.targets)
    start = end - num_arguments
    returned = jaxpr.outvars[start:end]
    invars = set(jaxpr.invars)
    flags = tuple(x not in invars for x in returned)
    kept = [x for x, flag in zip(returned, flags, strict=True) if flag]
    outs = [*jaxpr.outvars[:start], *jaxpr.outvars[end:], *kept]
    program = type(staged.program)(jaxpr.replace(outvars=outs), staged.program.consts)
    references = CarriedReferences(staged.references, (*staged.written, *flags))
    return staged.with_program(program), references


def stage_function(
    function: Callable[..., Sequence[Any]], avals: Sequence[Any], origin: DebugInfo
) -> tuple[StagedProgram, CarriedReferences | None]:
    """The program of a flat function, and the references of calls; None without any.

    Args:
        function: takes values, and references where the type is a ``ReferenceType``.
        avals: the types of the arguments.
        origin: what is traced and for what, for messages.
    """
    if ReferenceType not in map(type, avals):
        staged = stage_with_references(function, avals, origin)
        closed_over, written = staged.references, staged.written
        return staged, CarriedReferences(closed_over, written) if closed_over else None
    kinds = [x.kind if type(x) is ReferenceType else None for x in avals]
    types = [x.aval if type(x) is ReferenceType else x for x in avals]
    kept: list[bool] = []
    staged = stage_with_references(on_values(function, kinds, kept), types, origin)
    staged, references = _carried(staged, len(kinds) - kinds.count(None))
    return staged, references._replace(kept=any(kept))


def leaf_names(jitted: Any, args: Any, kwargs: Any) -> list[str]:
    """The names of the arguments of a call, for messages."""
    if jitted._has_static:
        args, kwargs, _ = jitted._split(args, kwargs)
    return parameter_names(jitted._fun, args, kwargs)


def call_with_references(jitted: Any, entry: Any, leaves: list[Any], args: Any, kwargs: Any) -> Any:
    """Call a traced function with the values of references, and store their new ones."""
    operands = entry.operands(leaves, lambda: leaf_names(jitted, args, kwargs))
    if entry.references.kept:
        return _closing_over(jitted, entry, leaves, args, kwargs)
    traced = trace_state.dynamic is not None or any(isinstance(x, Tracer) for x in operands)
    outs = jitted._outs(entry, operands, traced)
    return entry.unflatten(entry.references.store(leaves, outs))


def _closing_over(jitted: Any, entry: Any, leaves: list[Any], args: Any, kwargs: Any) -> Any:
    """Call a function that closes over the references among the arguments, traced for these.

    A rule that runs after the call has the reference itself, and not what stood for it in a trace
    that has ended.
    """
    values, restored = kept_apart(leaves)
    key = tuple(id(x) for x in leaves if isinstance(x, Reference))
    made = entry.closing.get(key)
    if made is None:
        function = with_static(jitted._fun, jitted._options, args, kwargs)

        def closed(*values: Any) -> Any:
            given, by_name = tree_unflatten(entry.tree, restored(values))
            return function(*given, **by_name)

        options = jitted._options
        plain = JitOptions(
            keep_unused=options.keep_unused, inline=options.inline, backend=options.backend
        )
        made = type(jitted)(update_wrapper(closed, jitted._fun), plain)
        while len(entry.closing) >= _MOST_CLOSING:
            del entry.closing[next(iter(entry.closing))]
        entry.closing[key] = made
    return made(*values)
