"""Attributes of jaxprs, equations and primitives in JAX."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import attrs

from bindax_core.extend import (
    ClosedJaxpr,
    Jaxpr,
    JaxprEqn,
    Primitive,
    SourceInfo,
    Transformation,
    is_high,
)
from bindax_jax_names.shims._evaluations import evaluation_of, replace_evaluation
from bindax_transforms.autodiff.linear_program import LinearProgram


@attrs.frozen
class NameStack:
    """The named scopes and transformations around an equation."""

    stack: tuple[str, ...] = ()

    def __str__(self) -> str:
        return SourceInfo(None, 0, self.stack).names

    def __add__(self, other: NameStack) -> NameStack:
        return NameStack(self.stack + other.stack)

    def extend(self, name: str) -> NameStack:
        """The names with a scope inside."""
        return NameStack((*self.stack, name))

    def transform(self, name: str) -> NameStack:
        """The names with a transformation inside."""
        return NameStack((*self.stack, Transformation(name)))

    def __len__(self) -> int:
        return len(self.stack)

    def __getitem__(self, which: slice) -> NameStack:
        return NameStack(self.stack[which])


def _name_stack(source: SourceInfo) -> NameStack:
    return NameStack(source.stack)


def _context(eqn: JaxprEqn) -> Any:
    """Settings that JAX keeps with an equation; those of bindax are parts of programs."""
    return SimpleNamespace(
        compute_type=None, threefry_partitionable=True, cur_abstract_mesh=None, xla_metadata=None
    )


def _inner(name: str) -> property:
    return property(lambda closed: getattr(closed.jaxpr, name))


def _literals(jaxpr: Any) -> list[Any]:
    """The values of constants."""
    return list(jaxpr.consts)


def _replace(closed: ClosedJaxpr, **changes: Any) -> ClosedJaxpr:
    """Return a copy with other fields, of the program or of what it is closed over."""
    consts = changes.pop("consts", closed.consts)
    jaxpr = changes.pop("jaxpr", closed.jaxpr)
    return ClosedJaxpr(jaxpr.replace(**changes) if changes else jaxpr, consts)


def _with_consts(jaxpr: Any, consts: Sequence[Any]) -> ClosedJaxpr:
    """Return the program closed over other constants."""
    return ClosedJaxpr(jaxpr.jaxpr, consts)


def _closed(jaxpr: Jaxpr, name: str) -> list[Any]:
    atoms = jaxpr.invars if name == "in_avals" else jaxpr.outvars
    return [x.aval for x in atoms]


_pretty_print: Any = Jaxpr.pretty_print


def _printed(
    jaxpr: Any, *, source_info: bool = False, name_stack: bool = False, **appearance: Any
) -> str:
    """Return the program as text; colours and the like change nothing."""
    text: str = _pretty_print(jaxpr.jaxpr, source_info=source_info, name_stack=name_stack)
    return text


_OF_CLOSED: dict[str, Any] = {
    **{name: _inner(name) for name in ("invars", "outvars", "constvars", "effects")},
    "debug_info": None,
    "replace": _replace,
}
_OF_PLAIN: dict[str, Any] = {
    "jaxpr": property(lambda jaxpr: jaxpr),
    "consts": property(lambda jaxpr: ()),
    "in_avals": property(lambda jaxpr: _closed(jaxpr, "in_avals")),
    "out_avals": property(lambda jaxpr: _closed(jaxpr, "out_avals")),
    "debug_info": None,
    "is_high": property(is_high),
}
_OF_BOTH: dict[str, Any] = {
    "literals": property(_literals),
    "pretty_print": _printed,
    "num_consts": property(lambda jaxpr: len(jaxpr.constvars)),
    "all_invars": property(lambda jaxpr: [*jaxpr.constvars, *jaxpr.invars]),
    "with_consts": _with_consts,
    "map_jaxpr": lambda jaxpr, f: ClosedJaxpr(f(jaxpr.jaxpr), jaxpr.consts),
}
_OF_PRIMITIVE: dict[str, Any] = {
    **dict.fromkeys(("call_primitive", "map_primitive", "ref_primitive"), False),
    "impl": property(evaluation_of),
    "def_impl": replace_evaluation,
}


def add_attributes_of_jaxprs() -> None:
    """Give jaxprs, equations and primitives the attributes that they have in JAX."""
    for kind, attributes in (
        (ClosedJaxpr, _OF_CLOSED | _OF_BOTH),
        (Jaxpr, _OF_PLAIN | _OF_BOTH),
        (JaxprEqn, {"ctx": property(_context)}),
        (LinearProgram, {"args": property(lambda program: (program.jaxpr,))}),
        (SourceInfo, {"name_stack": property(_name_stack)}),
        (Primitive, _OF_PRIMITIVE),
    ):
        for name, value in attributes.items():
            if name == "pretty_print" or not hasattr(kind, name):
                setattr(kind, name, value)
