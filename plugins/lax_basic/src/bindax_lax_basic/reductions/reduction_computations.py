"""Computations: the functions of scalars that reductions apply, as programs.

A computation combines what has been accumulated with one more element. It is traced once on
scalars; on arrays it is the same program, vectorised.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Primitive,
    Region,
    ShapedArray,
    Tracer,
    convert_constvars,
    describe_function,
    eval_jaxpr,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p
from bindax_lax_basic.elementwise.comparison import and_p, or_p, xor_p
from bindax_lax_basic.elementwise.selection import max_p, min_p
from bindax_lax_basic.reductions.reductions import all_ones, greatest, least, zero
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import describe
from bindax_lax_basic.shape.reshape import reshape_p
from bindax_transforms import trace_to_jaxpr, traced_once, vmap_jaxpr

Combine = Callable[[Sequence[Any], Sequence[Any]], list[Any]]


def reduction_operands(
    name: str,
    operands: Any,
    init_values: Any,
    computation: Callable[..., Any],
    known: Collection[Primitive],
) -> tuple[list[Any], Any, ClosedJaxpr]:
    """The leaves of the operands and of their initial values, the tree of each, and the program."""
    xs, tree = tree_flatten(operands)
    inits, init_tree = tree_flatten(init_values)
    if tree != init_tree:
        raise ValueError(
            f"{name}: the operands and their initial values must have the same structure, but "
            f"they are {tree} and {init_tree}."
        )
    if not xs:
        raise ValueError(f"{name} needs at least one operand, but operands is empty.")
    scalars = [ShapedArray((), typeof(x).dtype) for x in xs]
    program = trace_computation(name, computation, scalars, tree)
    inits = [adopt_dtype(init, x)[0] for x, init in zip(xs, inits, strict=True)]
    which = sole_primitive(program)
    own = typeof(inits[0])  # of known computations it may have any dtype, where it is neutral
    if which is not None and which in known and not own.shape and own.dtype != scalars[0].dtype:
        inits = [_neutral(which, inits[0], scalars[0])]
    check_operands(name, [typeof(x) for x in (*xs, *inits)])
    return [*xs, *inits], tree, program


def _neutral(which: Primitive, init: Any, scalar: ShapedArray) -> Any:
    """The neutral element for an operand from that of another dtype; else what it is."""
    dtype = typeof(init).dtype
    of_bits = which in (and_p, or_p, xor_p)
    if (of_bits and dtypes.is_inexact(dtype)) or not is_identity(which, init):
        return init
    return np.asarray(identity_of(which, scalar.dtype), scalar.dtype)


def check_operands(name: str, avals: Sequence[ShapedArray]) -> None:
    """Raise unless operands have one shape, and as many scalars of their dtypes follow."""
    count = len(avals) // 2
    operands, inits = avals[:count], avals[count:]
    if any(aval.shape != operands[0].shape for aval in operands):
        raise TypeError(f"{name} requires operands of equal shapes, but got {describe(operands)}.")
    for aval, init in zip(operands, inits, strict=True):
        if init.shape:
            raise ValueError(
                f"{name}: an initial value must be a scalar, but it is {init.str_short()}."
            )
        if init.dtype != aval.dtype:
            raise TypeError(
                f"{name}: the initial value of {aval.str_short()} must have its dtype, but it is "
                f"{init.str_short()}."
            )


def trace_computation(
    name: str, computation: Callable[..., Any], scalars: Sequence[ShapedArray], tree: Any
) -> ClosedJaxpr:
    """The program of a function of two trees of scalars: the accumulated, and an element."""
    count = len(scalars)

    def flat(*values: Any) -> list[Any]:
        halves = [tree_unflatten(tree, list(part)) for part in (values[:count], values[count:])]
        outs, out_tree = tree_flatten(computation(*halves))
        if out_tree != tree:
            raise TypeError(
                f"{name}: the computation must return the structure of the operands, {tree}, but "
                f"{describe_function(computation)} returns {out_tree}."
            )
        return outs

    def trace() -> tuple[ClosedJaxpr, Sequence[Any]]:
        made = trace_to_jaxpr(flat, [*scalars, *scalars], DebugInfo(name, computation))
        return made, made.consts

    program = traced_once([computation], ("reduction", name, tree, tuple(scalars)), trace)
    returned = [aval.strip_weak_type() for aval in program.out_avals]
    if returned != list(scalars):
        raise TypeError(
            f"{name}: the computation must return the types that it combines, "
            f"{describe(scalars)}, but {describe_function(computation)} returns "
            f"{describe(returned)}."
        )
    refuse_traced_consts(name, computation, program)
    return program


def refuse_traced_consts(name: str, computation: Any, program: ClosedJaxpr) -> None:
    """Raise when a computation uses what is traced outside of it."""
    if any(isinstance(const, Tracer) for const in program.consts):
        raise TypeError(
            f"{name}: the computation must not use traced arrays from outside, but "
            f"{describe_function(computation)} does; make them operands."
        )


def sole_primitive(program: ClosedJaxpr) -> Primitive | None:
    """The commutative primitive that a computation consists of, if it consists of one."""
    jaxpr = program.jaxpr
    if len(jaxpr.eqns) != 1 or len(jaxpr.invars) != 2:
        return None
    (eqn,) = jaxpr.eqns
    whole = set(eqn.invars) == set(jaxpr.invars) and eqn.outvars == jaxpr.outvars
    return eqn.primitive if whole and eqn.primitive in _IDENTITIES else None


def vectorized(program: ClosedJaxpr) -> Combine:
    """A computation on arrays of one shape, element by element."""
    hoisted, consts = convert_constvars(program)

    def combine(accumulated: Sequence[Any], elements: Sequence[Any]) -> list[Any]:
        values = [*accumulated, *elements]
        aval = typeof(values[0])
        if aval.size == 0:
            return list(elements)
        rows = [reshape_p.bind(v, new_sizes=(aval.size,), dimensions=None) for v in values]
        dims = [*[None] * len(consts), *[0] * len(rows)]
        many, _ = vmap_jaxpr(hoisted, aval.size, dims, True)
        outs = eval_jaxpr(many.jaxpr, many.consts, *consts, *rows)
        return [reshape_p.bind(out, new_sizes=aval.shape, dimensions=None) for out in outs]

    return combine


def computation_region(computation: ClosedJaxpr) -> Region:
    """The body of a reduction that applies a computation."""
    scalars = tuple(computation.in_avals)
    return Region(scalars, lambda inner, *values: inner.inline(computation, list(values)))


def is_identity(which: Primitive, value: Any) -> bool:
    """Test whether a known scalar is the identity of a monoid's operation."""
    if isinstance(value, Tracer):
        return False
    # By NumPy: under jit, a comparison of arrays is traced.
    return bool(np.asarray(value) == identity_of(which, typeof(value).dtype))


def identity_of(which: Primitive, dtype: Any) -> Any:
    """The neutral element of a commutative primitive, for elements of a dtype."""
    return _IDENTITIES[which](dtype)


_IDENTITIES: Mapping[Primitive, Callable[[Any], Any]] = {
    add_p: zero,
    mul_p: lambda dtype: 1,
    max_p: least,
    min_p: greatest,
    and_p: all_ones,
    or_p: zero,
    xor_p: zero,
}
