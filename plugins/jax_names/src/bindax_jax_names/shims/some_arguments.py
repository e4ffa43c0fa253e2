"""``jax.vjp`` and ``jax.linearize``, of functions some of whose arguments have no tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bindax
from bindax import lax, tree

__all__ = ["linearize", "vjp"]

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
