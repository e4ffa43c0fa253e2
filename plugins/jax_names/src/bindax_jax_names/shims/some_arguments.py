"""``jax.vjp``, ``fwd_and_bwd`` and ``linearize``, of functions that have fixed arguments, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bindax
from bindax import lax, tree

__all__ = ["fwd_and_bwd", "linearize", "vjp"]

Function = Callable[..., Any]


def vjp(
    fun: Function,
    *primals: Any,
    has_aux: bool = False,
    reduce_axes: Any = (),
    saveable_args: Any = True,
    in_nzs: Any = None,
) -> tuple[Any, ...]:
    """``bindax.vjp``, with arguments of which nothing else depends by a derivative.

    Args:
        fun: the function.
        primals: its arguments.
        has_aux: whether it returns auxiliary data too.
        reduce_axes: accepted for compatibility.
        saveable_args: True: values of arguments are kept for the derivative.
        in_nzs: booleans for arguments or parts of them, False for those without a tangent, whose
            cotangents are zero.

    Raises:
        ValueError: when ``saveable_args`` says that an argument may not be kept.
    """
    if not all(tree.leaves(saveable_args)):
        raise ValueError(
            "jax.vjp: saveable_args must be True: derivatives of bindax keep what they need of the "
            "arguments. Under jax.checkpoint they keep the arguments alone."
        )
    return bindax.vjp(_without_tangents(fun, in_nzs), *primals, has_aux=has_aux)


def fwd_and_bwd(
    fun: Function, argnums: int | Sequence[int], has_aux: bool = False, jitted: bool = True
) -> tuple[Function, Function]:
    """``vjp`` in two functions, which are traced once each.

    Args:
        fun: the function.
        argnums: positions of the arguments that have cotangents, one or several.
        has_aux: whether ``fun`` returns auxiliary data too.
        jitted: whether the two are compiled.

    Returns:
        One from the arguments to ``vjp``'s results, the last of which are residuals, or auxiliary
        data; and one from these residuals and a cotangent to the cotangents of the arguments.

    >>> forward, backward = fwd_and_bwd(lambda x, y: x * y, argnums=0)
    >>> out, residuals = forward(2.0, 3.0)
    >>> float(out), float(backward(residuals, 1.0))
    (6.0, 3.0)
    """
    several = not isinstance(argnums, int)
    positions: Any = argnums if several else (argnums,)

    def forward(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
        chosen = [i % len(args) for i in positions]

        def of_chosen(*values: Any) -> Any:
            full = list(args)
            for i, value in zip(chosen, values, strict=True):
                full[i] = value
            return fun(*full, **kwargs)

        return bindax.vjp(of_chosen, *(args[i] for i in chosen), has_aux=has_aux)

    def backward(residuals: Any, cotangent: Any) -> Any:
        found = residuals(cotangent)
        return found if several else found[0]

    return (bindax.jit(forward), bindax.jit(backward)) if jitted else (forward, backward)


def linearize(
    fun: Function, *primals: Any, has_aux: bool = False, in_nzs: Any = None
) -> tuple[Any, ...]:
    """``bindax.linearize``; ``in_nzs`` as for ``vjp``."""
    return bindax.linearize(_without_tangents(fun, in_nzs), *primals, has_aux=has_aux)


def _without_tangents(fun: Function, in_nzs: Any) -> Function:
    """The function, which takes arguments that are marked with False as constants."""
    if in_nzs is None or all(tree.leaves(in_nzs)):
        return fun

    def marked(*args: Any) -> Any:
        return fun(*_stopped(in_nzs, args))

    return marked


def _stopped(marks: Any, args: Any) -> Any:
    """Arguments with those stopped that are marked, by a prefix of their structure."""
    if isinstance(marks, bool):
        return args if marks else tree.map(lax.stop_gradient, args)
    children, structure = tree.flatten(args, is_leaf=lambda node: node is not args)
    parts = tree.leaves(marks, is_leaf=lambda node: node is not marks)
    if len(parts) != len(children):
        raise ValueError(f"in_nzs has {len(parts)} parts where the arguments have {len(children)}.")
    return structure.unflatten(
        [_stopped(mark, child) for mark, child in zip(parts, children, strict=True)]
    )
