"""Staging: building the jaxpr of a function by tracing it with types in place of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    Atom,
    ClosedJaxpr,
    DebugInfo,
    Jaxpr,
    JaxprEqn,
    Literal,
    MainTrace,
    Primitive,
    Trace,
    Tracer,
    Var,
    config,
    current_source,
    full_raise,
    is_extended,
    new_main,
    rules,
    trace_state,
    typecheck_jaxpr,
    typeof,
    user_source_info,
)
from bindax_transforms.staging.names import own_names

_rules = rules.stage.functions
_CALLER_OF_BIND = 4
"""The frames from the search for the user's line to what called ``bind``."""


class JaxprTracer(Tracer):
    """Stands for a value of a jaxpr that is being built."""

    __slots__ = ("atom", "aval", "eqn")

    aval: Any  # a slot, in place of the property of the base

    def __init__(self, trace: Trace, aval: Any, atom: Atom, eqn: JaxprEqn | None = None) -> None:
        self._trace = trace
        self.aval = aval
        self.atom: Atom = atom
        self.eqn: JaxprEqn | None = eqn

    def history(self) -> str:
        eqn = self.eqn
        if eqn is None:
            return "it is an argument of the function"
        return f"it was made by {eqn.primitive.name} at {eqn.source_info}"


class JaxprBuilder:
    """Collects the variables, constants and equations of a jaxpr.

    Where its constants are ``residuals`` of a derivative, arrays of one number are variables, too,
    so that the derivative is a tree that has them as leaves. ``names_around`` counts the names that
    are around the jaxpr, which names of its equations do not begin with.

    Where it ``carries_references`` from outside, those that were used have an argument each in
    ``references``, for the values that they hold at first, and ``values_of`` has their current
    ones. A function that is staged in the middle of another jaxpr has that one ``around`` it.
    """

    carries_references: bool = False
    references: dict[Any, Var] | None = None  # made at the first use
    values_of: dict[Any, JaxprTracer] | None = None
    around: JaxprBuilder | None = None

    def __init__(self, *, residuals: bool = False) -> None:
        self._residuals = residuals
        self.names_around: int = len(current_source.info.stack)
        self.invars: list[Var] = []
        self.eqns: list[JaxprEqn] = []
        self.constvars: list[Var] = []
        self.constvals: list[Any] = []
        self._const_atoms: dict[int, Atom] = {}
        self._kept: list[Any] = []  # an id is only unique while its object lives

    def new_arg(self, aval: Any) -> Var:
        """Bind a new argument."""
        var = Var(aval)
        self.invars.append(var)
        return var

    def const(self, value: Any) -> Atom:
        """The atom for a constant: a literal for a scalar, else a variable bound to it."""
        atom = self._const_atoms.get(id(value))
        if atom is None:
            atom = self._new_const(value)
            self._const_atoms[id(value)] = atom
            self._kept.append(value)
        return atom

    def _new_const(self, value: Any) -> Atom:
        aval = typeof(value)
        variable = isinstance(value, Tracer) or (self._residuals and type(value) is Array)
        if not variable and is_literal(value, aval):
            return Literal(value.copy() if type(value) is np.ndarray else value, aval)
        if isinstance(value, np.ndarray):
            # The jaxpr outlives the caller's array; as an Array it goes to a device only once.
            value = Array.from_numpy(np.array(value))
        var = Var(aval)
        self.constvars.append(var)
        self.constvals.append(value)
        return var

    def build(self, outs: Sequence[Atom]) -> ClosedJaxpr:
        """The jaxpr that returns the given atoms."""
        closed = ClosedJaxpr(Jaxpr(self.constvars, self.invars, outs, self.eqns), self.constvals)
        if config.check_jaxprs:
            typecheck_jaxpr(closed)
        return closed


def is_literal(value: Any, aval: Any) -> bool:
    """Tell whether a constant is a number whose value is known without waiting for a device.

    A random key is none: there is one jaxpr for all keys that a loop closes over.
    """
    if getattr(aval, "shape", None) != () or is_extended(aval.dtype):
        return False
    return type(value) is not Array or value.on_host


class JaxprTrace(Trace):
    """Adds every operation to a jaxpr; computes nothing."""

    __slots__ = ()

    def pure(self, value: Any) -> JaxprTracer:
        atom = self.main.global_data.const(value)
        return JaxprTracer(self, atom.aval, atom)

    def takes(self, operands: Sequence[Any]) -> bool:
        """Tell whether this is the dynamic trace, or an operand is staged here."""
        if trace_state.dynamic is self.main:
            return True
        return any(getattr(x, "_trace", None) is self for x in operands)

    def process_primitive(
        self, primitive: Primitive, tracers: Sequence[JaxprTracer], params: dict[str, Any]
    ) -> list[JaxprTracer]:
        rule = _rules.get(primitive)
        if rule is not None:
            return rule(self, tracers, **params)  # type: ignore[no-any-return]
        return self.record(primitive, tracers, params, _CALLER_OF_BIND)

    def record(
        self,
        primitive: Primitive,
        tracers: Sequence[JaxprTracer],
        params: dict[str, Any],
        depth: int = 2,
    ) -> list[JaxprTracer]:
        """Add an equation, of the user's line from ``depth`` frames up; returns its results."""
        avals, invars = [], []
        for t in tracers:
            avals.append(t.aval)
            invars.append(t.atom)
        outvars: list[Var] = []
        eqn = JaxprEqn(primitive, invars, outvars, params, user_source_info(depth))
        outs = []
        for aval in primitive.out_avals(tuple(avals), params):
            var = Var(aval)
            outvars.append(var)
            outs.append(JaxprTracer(self, aval, var, eqn))
        self.main.global_data.eqns.append(eqn)
        return outs


def trace_to_jaxpr(
    function: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    origin: DebugInfo,
    *,
    dynamic: bool = True,
) -> ClosedJaxpr:
    """The jaxpr of a function of flat values.

    Args:
        function: takes one value for each type, and returns a sequence of values.
        in_avals: the types of the arguments.
        origin: what is traced and for what, for messages.
        dynamic: whether operations on constants alone are staged too.

    Returns:
        The jaxpr, closed over the constants that the function uses.

    >>> import numpy as np
    >>> from bindax_core.extend import ShapedArray
    >>> trace_to_jaxpr(lambda x: [x * 2.0], [ShapedArray((3,), np.float32)], DebugInfo("example"))
    { lambda a:float32[3] .
      let b:float32[3] = mul a 2.0
      in ( b ) }
    """
    return stage(JaxprBuilder(), function, in_avals, origin, dynamic=dynamic)


def stage(
    builder: JaxprBuilder,
    function: Callable[..., Sequence[Any]],
    in_avals: Sequence[Any],
    origin: DebugInfo,
    *,
    dynamic: bool = True,
) -> ClosedJaxpr:
    """The jaxpr of a function of flat values, collected by a builder.

    The values of references from outside come before its arguments, and after its results.
    """
    own_lines = origin.function is not None
    staging = new_main(JaxprTrace, builder, origin=origin, dynamic=dynamic)
    with own_names(own_lines=own_lines), staging as main:
        trace = main.trace
        tracers = [JaxprTracer(trace, aval, builder.new_arg(aval)) for aval in in_avals]
        outs = [full_raise(trace, out) for out in function(*tracers)]
        if builder.references:
            builder.invars[:0] = builder.references.values()
            outs += (builder.values_of or {}).values()
        return builder.build([out.atom for out in outs])


def trace_inside(
    main: MainTrace, function: Callable[..., Sequence[Any]], in_avals: Sequence[Any]
) -> tuple[ClosedJaxpr, list[Any]]:
    """The jaxpr of a function that is called in the middle of the jaxpr that ``main`` builds.

    It is traced at the level of the jaxpr around it, so that traces above that level, whose
    wrappers the function may run in, stay above. It has no constants: the operands for its leading
    arguments, which come with it, are tracers for what the function closes over.
    """
    trace: Any = main.trace
    around, builder = main.global_data, JaxprBuilder()
    main.global_data, builder.around = builder, around
    try:
        with own_names(own_lines=True):
            tracers = [JaxprTracer(trace, aval, builder.new_arg(aval)) for aval in in_avals]
            outs = [full_raise(trace, out).atom for out in function(*tracers)]
    finally:
        main.global_data = around
    free = _free_variables(builder, outs)
    captured = [JaxprTracer(trace, v.aval, v) for v in free]
    captured += [full_raise(trace, value) for value in builder.constvals]
    builder.invars[:0] = [*free, *builder.constvars]
    builder.constvars, builder.constvals = [], []
    return builder.build(outs), captured


def _free_variables(builder: JaxprBuilder, outs: Sequence[Atom]) -> list[Var]:
    bound = {*builder.invars, *builder.constvars}
    bound.update(v for eqn in builder.eqns for v in eqn.outvars)
    used = [x for eqn in builder.eqns for x in eqn.invars] + list(outs)
    return list(dict.fromkeys(x for x in used if type(x) is Var and x not in bound))
