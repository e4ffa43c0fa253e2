"""Jaxprs: typed, functional, first-order programs in A-normal form, as data.

A ``Jaxpr`` binds constants and arguments, applies primitives one equation at a time, and returns
atoms. A ``ClosedJaxpr`` has the values of the constants with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core.kernel._effects import Effect, effects
from bindax_core.kernel._source_info import SourceInfo

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive


class Var:
    """A variable of a jaxpr; equal only to itself."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"Var({id(self):#x}:{self.aval.str_short()})"


class Literal:
    """A scalar constant inside a jaxpr; ``val`` is any legal operand."""

    __slots__ = ("aval", "val")

    def __init__(self, val: Any, aval: Any) -> None:
        self.val: Any = val
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"Literal({self.val}:{self.aval.str_short()})"


Atom = Var | Literal


class JaxprEqn:
    """One equation: ``outvars = primitive[params] invars``, and the user's line it came from."""

    __slots__ = ("invars", "outvars", "params", "primitive", "source_info")

    def __init__(
        self,
        primitive: Primitive,
        invars: Sequence[Atom],
        outvars: Sequence[Var],
        params: dict[str, Any],
        source_info: SourceInfo | None = None,
    ) -> None:
        self.primitive: Primitive = primitive
        self.invars: Sequence[Atom] = invars
        self.outvars: Sequence[Var] = outvars
        self.params: dict[str, Any] = params
        self.source_info: SourceInfo | None = source_info

    def replace(self, **changes: Any) -> JaxprEqn:
        """Return a copy with other fields."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        return JaxprEqn(**{**fields, **changes})

    @property
    def effects(self) -> frozenset[Effect]:
        """The effects of the equation, those of jaxprs among its parameters included."""
        return Jaxpr((), (), (), [self]).effects

    def __repr__(self) -> str:
        return runtime.show_jaxpr(self)


class Jaxpr:
    """A typed functional program: constants and arguments, equations, results.

    Attributes:
        constvars: the variables that constants are bound to.
        invars: the variables that arguments are bound to.
        eqns: the equations, in order.
        outvars: the results.
    """

    def __init__(
        self,
        constvars: Sequence[Var],
        invars: Sequence[Var],
        outvars: Sequence[Atom],
        eqns: Sequence[JaxprEqn],
    ) -> None:
        self.constvars: list[Var] = list(constvars)
        self.invars: list[Var] = list(invars)
        self.outvars: list[Atom] = list(outvars)
        self.eqns: list[JaxprEqn] = list(eqns)

    @cached_property
    def effects(self) -> frozenset[Effect]:
        """The effects of its equations, those of jaxprs among their parameters included."""
        own = effects.functions
        found = [own[e.primitive](**e.params) for e in self.eqns if e.primitive in own]
        found += [program.jaxpr.effects for program in self.programs]
        return frozenset().union(*found)

    @cached_property
    def programs(self) -> list[ClosedJaxpr]:
        """The jaxprs among the parameters of its equations."""
        return [program for eqn in self.eqns for _, program in subjaxprs(eqn.params)]

    @cached_property
    def last_uses(self) -> list[list[Var]]:
        """For each equation, the variables that nothing after it needs, so that they are freed."""
        needed = {x for x in self.outvars if type(x) is Var}
        freed: list[list[Var]] = []
        for eqn in reversed(self.eqns):
            mine = {x for x in (*eqn.invars, *eqn.outvars) if type(x) is Var} - needed
            needed |= mine
            freed.append(list(mine))
        return freed[::-1]

    def replace(self, **changes: Any) -> Jaxpr:
        """Return a copy with other fields."""
        fields = {name: getattr(self, name) for name in ("constvars", "invars", "outvars", "eqns")}
        return Jaxpr(**{**fields, **changes})

    def pretty_print(self, *, source_info: bool = False, name_stack: bool = False) -> str:
        """Return the jaxpr as text, on request with the lines and names of its equations."""
        return runtime.show_jaxpr(self, source_info, name_stack)

    def __repr__(self) -> str:
        return runtime.show_jaxpr(self)


def require_jaxpr(name: str, given: Any, *kinds: type) -> None:
    """Raise a TypeError that names the function, unless it was given a jaxpr."""
    if not isinstance(given, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise TypeError(f"{name} takes a {wanted}, but got {given!r:.80}; see bindax.make_jaxpr.")


class ClosedJaxpr:
    """A jaxpr with the values of its constants.

    Attributes:
        jaxpr: the jaxpr.
        consts: one value for each of ``jaxpr.constvars``.
        cache: what was derived from the jaxpr, such as its executable, and lives as long as it.

    >>> empty = ClosedJaxpr(Jaxpr([], [], [], []), [])
    >>> empty.in_avals, len(empty.jaxpr.eqns)
    ([], 0)
    """

    __slots__ = ("__weakref__", "cache", "consts", "jaxpr")

    def __init__(self, jaxpr: Jaxpr, consts: Sequence[Any] = ()) -> None:
        require_jaxpr("ClosedJaxpr", jaxpr, Jaxpr)
        if len(jaxpr.constvars) != len(consts):
            raise ValueError(
                f"a jaxpr with {len(jaxpr.constvars)} constants was closed over {len(consts)}."
            )
        self.jaxpr: Jaxpr = jaxpr
        self.consts: list[Any] = list(consts)
        self.cache: dict[Any, Any] = {}

    @property
    def eqns(self) -> list[JaxprEqn]:
        """The equations."""
        return self.jaxpr.eqns

    @property
    def in_avals(self) -> list[Any]:
        """The types of the arguments."""
        return [v.aval for v in self.jaxpr.invars]

    @property
    def out_avals(self) -> list[Any]:
        """The types of the results."""
        return [v.aval for v in self.jaxpr.outvars]

    @property
    def is_high(self) -> bool:
        """Tell whether operations in it, at any depth, stand for others."""
        return runtime.is_high(self)

    def pretty_print(self, *, source_info: bool = False, name_stack: bool = False) -> str:
        """Return the jaxpr as text, on request with the lines and names of its equations."""
        return self.jaxpr.pretty_print(source_info=source_info, name_stack=name_stack)

    def __repr__(self) -> str:
        return repr(self.jaxpr)


def subjaxprs(params: dict[str, Any]) -> list[tuple[str, ClosedJaxpr]]:
    """List the jaxprs among an equation's parameters, by name."""
    return [
        (name, entry)
        for name, value in params.items()
        for entry in (value if isinstance(value, (tuple, list)) else (value,))
        if isinstance(entry, ClosedJaxpr)
    ]
