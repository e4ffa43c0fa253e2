"""``custom_linear_solve``: a linear solver that is differentiated through its equation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bindax_control_flow.shared.flags import either, fixpoint, kept
from bindax_control_flow.shared.loop_step import batch_dims
from bindax_control_flow.shared.programs import batches_in_front, converted, join_consts
from bindax_control_flow.solve.functions import Function, Unknowns, check_functions, tangents_of
from bindax_core.extend import (
    ClosedJaxpr,
    JaxprEqn,
    Primitive,
    api_boundary,
    as_array,
    eval_jaxpr,
    primitive,
    rules,
    tree_unflatten,
)
from bindax_lax_basic import neg
from bindax_transforms import dce_jaxpr, linear_transpose, split, vmap_jaxpr
from bindax_transforms.zeros import Zero, add_tangents, instantiate_zeros, is_undef_primal

__all__ = ["custom_linear_solve", "linear_solve_p"]

NAME = "custom_linear_solve"


@api_boundary
def custom_linear_solve(
    matvec: Callable[[Any], Any],
    b: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    transpose_solve: Callable[[Callable[[Any], Any], Any], Any] | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """Solve ``matvec(x) = b`` by any means, with derivatives that come from the equation.

    The steps of the solver are not differentiated. From ``A x = b`` follows ``A x' = b' - A' x``:
    the derivative is the solution of one more system with the same matrix, and reverse mode solves
    one with the transposed matrix (the implicit function theorem; M. Blondel et al., Efficient and
    modular implicit differentiation, 2022). Both are differentiated in the same way again.

    Args:
        matvec: a linear function from a tree like ``b`` to one like ``b``. It may close over
            values, with respect to which the solution is differentiated too.
        b: the right hand side, a tree of arrays of float or complex dtypes.
        solve: ``solve(matvec, b) -> x``.
        transpose_solve: ``transpose_solve(vecmat, y) -> x`` solves ``vecmat(x) = y`` for the
            transposed function; needed for reverse mode if the function is not symmetric.
        symmetric: whether ``matvec`` is its own transpose, not conjugated; then ``solve`` is both.
        has_aux: whether ``solve`` and ``transpose_solve`` return a pair ``(x, aux)``. What is in
            ``aux`` has zero derivatives.

    Returns:
        The solution, a tree like ``b``; with ``has_aux`` a pair ``(x, aux)``.

    Raises:
        TypeError: when one of the functions returns another structure or other types than ``b``
            has; the message names the path. In reverse mode, when there is no transposed solver.

    >>> import numpy as np
    >>> from bindax_control_flow import custom_linear_solve
    >>> from bindax_transforms import grad
    >>> def solve(a, b):
    ...     diagonal = lambda matvec, b: b / matvec(np.ones(2))
    ...     return custom_linear_solve(lambda x: a * x, b, diagonal, symmetric=True)
    >>> solve(np.array([2.0, 4.0]), np.array([1.0, 1.0]))
    Array([0.5 , 0.25], dtype=float64)
    >>> grad(lambda a: solve(a, np.array([1.0, 1.0])).sum())(np.array([2.0, 4.0]))
    Array([-0.25  , -0.0625], dtype=float64)
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    check_functions(NAME, matvec=matvec, solve=solve, transpose_solve=transpose_solve or solve)
    unknowns, leaves = Unknowns.of(NAME, "b", b)
    unknowns = unknowns.promoted(matvec, "matvec")
    leaves = converted(leaves, unknowns.avals)
    solver = Function(unknowns, "solve", lambda b: solve(matvec, b), has_aux)
    traced = [Function(unknowns, "matvec", matvec).trace(), solver.trace()]
    if transpose_solve is not None:
        traced += _transposed(unknowns, matvec, transpose_solve, symmetric, has_aux)
    programs, consts = join_consts(traced)
    system = System(*programs)
    outs = linear_solve_p.bind(*consts, *leaves, **system.params)
    x, aux = split(outs, system.size)
    solution = tree_unflatten(unknowns.tree, x)
    return (solution, tree_unflatten(solver.aux_tree, aux)) if solver.aux_tree else solution


def _transposed(
    unknowns: Unknowns,
    matvec: Callable[[Any], Any],
    transpose_solve: Callable[..., Any],
    symmetric: bool,
    has_aux: bool,
) -> list[ClosedJaxpr]:
    """The transposed function and its solver."""
    vecmat = matvec
    if not symmetric:
        transposed = linear_transpose(matvec, tree_unflatten(unknowns.tree, unknowns.avals))

        def vecmat(y: Any) -> Any:
            return transposed(y)[0]

    def solve(y: Any) -> Any:
        return transpose_solve(vecmat, y)

    return [
        Function(unknowns, "matvec", vecmat).trace(),
        Function(unknowns, "transpose_solve", solve, has_aux).trace(),
    ]


@dataclass(frozen=True, eq=False)
class System:
    """A linear system; the fields are the parameters of ``linear_solve_p``.

    Each program has no constants; it takes what any of them closes over, and then the leaves of a
    vector. The solvers return the leaves of a vector, and may return more.

    Attributes:
        matvec: applies the matrix.
        solve: applies its inverse.
        vecmat: applies the transposed matrix; None if nobody gave a solver for it.
        transpose_solve: applies the inverse of that.
    """

    matvec: ClosedJaxpr
    solve: ClosedJaxpr
    vecmat: ClosedJaxpr | None = None
    transpose_solve: ClosedJaxpr | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of ``linear_solve_p``."""
        return dict(vars(self))

    @property
    def programs(self) -> dict[str, ClosedJaxpr]:
        """Those that there are, by name."""
        return {name: program for name, program in self.params.items() if program is not None}

    @property
    def size(self) -> int:
        """The number of leaves of a vector."""
        return len(self.matvec.jaxpr.outvars)

    def operands(self, values: Sequence[Any]) -> list[list[Any]]:
        """A list with one entry for each operand cut into constants and the right hand side."""
        return split(values, len(values) - self.size)


def _impl(*operands: Any, **params: Any) -> list[Any]:
    jaxpr = System(**params).solve.jaxpr
    return [as_array(x) for x in eval_jaxpr(jaxpr, (), *operands)]


def _abstract_eval(*avals: Any, **params: Any) -> list[Any]:
    system = System(**params)
    given = [aval.strip_weak_type() for aval in avals]
    for program in system.programs.values():
        expected = [aval.strip_weak_type() for aval in program.in_avals]
        if given != expected:
            raise TypeError(
                f"linear_solve of programs that take "
                f"({', '.join(a.str_short() for a in expected)}) was applied to "
                f"({', '.join(a.str_short() for a in given)})."
            )
    return system.solve.out_avals


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    system = System(**params)
    consts, _ = system.operands(primals)
    const_dots, b_dot = system.operands(tangents)
    outs = linear_solve_p.bind(*primals, **params)
    x = outs[: system.size]
    still = [Zero.like(leaf) for leaf in x]
    changes = tangents_of(system.matvec, [*consts, *x], [*const_dots, *still])
    right = [
        t if type(change) is Zero else add_tangents(t, neg(change))
        for t, change in zip(b_dot, changes, strict=True)
    ]
    tangents_out: list[Any] = [Zero.like(out) for out in outs]
    if any(type(t) is not Zero for t in right):
        full = [instantiate_zeros(t) for t in right]
        tangents_out[: system.size] = linear_solve_p.bind(*consts, *full, **params)[: system.size]
    return outs, tangents_out


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[list[Any], list[int | None]]:
    system = System(**params)
    consts, b = system.operands(operands)
    const_dims, b_dims = system.operands(dims)

    def mapped(batched: list[bool]) -> dict[str, tuple[ClosedJaxpr, list[Any]]]:
        """The programs on batches of some components, and the batch axes of their results."""
        given = [*const_dims, *batch_dims(batched)]
        found = {}
        for name, program in system.programs.items():
            wanted = [*batched, *[False] * (len(program.jaxpr.outvars) - system.size)]
            found[name] = vmap_jaxpr(program, axis_size, given, wanted)
        return found

    def grow(batched: list[bool]) -> list[bool]:
        rows = [found[: system.size] for _, found in mapped(batched).values()]
        return [any(d is not None for d in row) for row in zip(*rows, strict=True)]

    batched = fixpoint(grow, [d is not None for d in b_dims])
    b = batches_in_front(axis_size, b, b_dims, batched)
    made = mapped(batched)
    programs, values = join_consts([program for program, _ in made.values()])
    new = System(**dict(zip(made, programs, strict=True)))
    return linear_solve_p.bind(*values, *consts, *b, **new.params), made["solve"][1]


def _transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    system = System(**params)
    consts, b = system.operands(operands)
    if any(is_undef_primal(x) for x in consts):
        raise TypeError(
            f"{NAME} is linear in b, but not in what its functions close over: it has no transpose "
            f"with respect to that. Differentiate it instead of transposing it."
        )
    if system.vecmat is None or system.transpose_solve is None:
        raise TypeError(
            f"reverse mode through {NAME} solves a system with the transposed function, but it was "
            f"given no solver for that: pass transpose_solve=..., or symmetric=True if matvec is "
            f"its own transpose."
        )
    cts = [instantiate_zeros(ct) for ct in cotangents[: system.size]]
    turned = System(system.vecmat, system.transpose_solve, system.matvec, system.solve)
    outs = linear_solve_p.bind(*consts, *cts, **turned.params)[: system.size]
    found = [ct if is_undef_primal(x) else None for x, ct in zip(b, outs, strict=True)]
    return [*[None] * len(consts), *found]


def _dce(used_outputs: Sequence[bool], eqn: JaxprEqn) -> JaxprEqn:
    """Leave out what nobody uses of aux; the components of a solution belong together."""
    system = System(**eqn.params)
    keep = [True] * system.size + list(used_outputs[system.size :])
    pruned, used = {}, [False] * len(eqn.invars)
    for name, program in system.programs.items():
        wanted = keep if name == "solve" else [True] * len(program.jaxpr.outvars)
        pruned[name], flags = dce_jaxpr(program.jaxpr, wanted)
        used = either(used, flags)
    used[len(used) - system.size :] = [True] * system.size
    params = {
        name: ClosedJaxpr(jaxpr.replace(invars=kept(jaxpr.invars, used)))
        for name, jaxpr in pruned.items()
    }
    return eqn.replace(
        invars=kept(eqn.invars, used),
        outvars=kept(eqn.outvars, keep),
        params={**eqn.params, **params},
    )


def _lowering(ctx: Any, *values: Any, **params: Any) -> Any:
    return ctx.inline(System(**params).solve, values)


linear_solve_p: Primitive = primitive(
    "linear_solve",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(_transpose, symbolic_zeros=True),
    rules.dce(_dce),
    rules.lowering["stablehlo"](_lowering),
    multiple_results=True,
)
"""Solves a linear system. Operands: the constants, the right hand side. Parameters: ``matvec``,
``solve``, ``vecmat`` and ``transpose_solve``, programs without constants; the last two may be None.
Partial evaluation takes it as a whole: to know a part of a right hand side solves nothing."""
