"""``custom_root``: a root of a function, differentiated through the equation that it solves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_control_flow.shared.programs import converted, join_consts
from bindax_control_flow.solve.functions import Function, Unknowns, check_functions, tangents_of
from bindax_core.extend import ClosedJaxpr, api_boundary, eval_jaxpr, tree_unflatten
from bindax_lax_basic import neg
from bindax_transforms import SymbolicZero, custom_jvp, linearize, split
from bindax_transforms.zeros import Zero, instantiate_zeros

__all__ = ["custom_root"]

NAME = "custom_root"


@api_boundary
def custom_root(
    f: Callable[[Any], Any],
    initial_guess: Any,
    solve: Callable[[Callable[[Any], Any], Any], Any],
    tangent_solve: Callable[[Callable[[Any], Any], Any], Any],
    has_aux: bool = False,
) -> Any:
    """Find ``x`` with ``f(x) = 0`` by any means, with derivatives that come from the equation.

    The steps of the solver are not differentiated. Where ``f`` depends on parameters ``p``, its
    root does so by ``f_x x' = -f_p p'`` (the implicit function theorem; M. Blondel et al.,
    Efficient and modular implicit differentiation, 2022): one linear system in forward mode, and in
    reverse mode its transpose. The initial guess has no derivative.

    Args:
        f: takes a tree like ``initial_guess`` and returns one. It may close over values, with
            respect to which the root is differentiated.
        initial_guess: where the search begins, a tree of arrays.
        solve: ``solve(f, initial_guess) -> x``.
        tangent_solve: ``tangent_solve(g, y) -> x`` solves ``g(x) = y`` for a linear function ``g``,
            the derivative of ``f`` at the root. For reverse mode it must be possible to transpose
            it: ``y / g(1.0)`` for scalars, or ``custom_linear_solve``.
        has_aux: whether ``solve`` returns a pair ``(x, aux)``. What is in ``aux`` has zero
            derivatives.

    Returns:
        The root, a tree like ``initial_guess``; with ``has_aux`` a pair ``(x, aux)``.

    Raises:
        TypeError: when one of the functions returns another structure or other types than
            ``initial_guess`` has; the message names the path.

    >>> from bindax_control_flow import custom_root, fori_loop
    >>> from bindax_transforms import grad
    >>> def square_root(a):
    ...     def newton(f, x):
    ...         return fori_loop(0, 20, lambda i, x: x - f(x) / (2.0 * x), x)
    ...     return custom_root(lambda x: x * x - a, 1.0, newton, lambda g, y: y / g(1.0))
    >>> round(float(square_root(4.0)), 6), round(float(grad(square_root)(4.0)), 6)
    (2.0, 0.25)
    """
    check_functions(NAME, f=f, solve=solve, tangent_solve=tangent_solve)
    unknowns, leaves = Unknowns.of(NAME, "initial_guess", initial_guess)
    unknowns = unknowns.promoted(f, "f")
    solver = Function(unknowns, "solve", lambda guess: solve(f, guess), has_aux)

    def tangent_solver(x: Any, y: Any) -> Any:
        return tangent_solve(linearize(f, x)[1], y)

    traced = [
        Function(unknowns, "f", f).trace(),
        solver.trace(),
        Function(unknowns, "tangent_solve", tangent_solver, arguments=2).trace(),
    ]
    programs, consts = join_consts(traced)
    outs = _root(programs, len(leaves))(consts, converted(leaves, unknowns.avals))
    x, aux = split(outs, len(leaves))
    solution = tree_unflatten(unknowns.tree, x)
    return (solution, tree_unflatten(solver.aux_tree, aux)) if solver.aux_tree else solution


def _root(programs: Sequence[ClosedJaxpr], size: int) -> Callable[[Any, Any], list[Any]]:
    """The root as a function of what the programs close over, with its derivative."""
    f, solve, tangent_solve = programs

    def function(consts: list[Any], guess: list[Any]) -> list[Any]:
        return eval_jaxpr(solve.jaxpr, (), *consts, *guess)

    root = custom_jvp(function)

    def rule(primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        consts, guess = primals
        outs = root(consts, guess)
        x = outs[:size]
        changes = [Zero(t.aval) if type(t) is SymbolicZero else t for t in tangents[0]]
        residual = tangents_of(f, [*consts, *x], [*changes, *[Zero.like(leaf) for leaf in x]])
        if all(type(t) is Zero for t in residual):
            return outs, None
        right = [neg(instantiate_zeros(t)) for t in residual]
        x_dot = eval_jaxpr(tangent_solve.jaxpr, (), *consts, *x, *right)
        return outs, [*x_dot, *[None] * (len(outs) - size)]

    root.defjvp(rule, symbolic_zeros=True)
    return root
