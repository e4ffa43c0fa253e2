"""``scan``: a function applied step after step, its state carried from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex, TypeVar

from bindax_control_flow.scan.arguments import checked_length, checked_unroll, trace_step
from bindax_control_flow.scan.loop import Loop
from bindax_control_flow.scan.primitive import scan_p
from bindax_control_flow.scan.references import by_element
from bindax_core.extend import api_boundary, config, tree_flatten, tree_unflatten
from bindax_lax_basic import index_in_dim, stack
from bindax_transforms import check_function

__all__ = ["scan"]

Carry = TypeVar("Carry")
Y = TypeVar("Y")


@api_boundary
def scan(
    f: Callable[[Any, Any], tuple[Carry, Y]],
    init: Any,
    xs: Any = None,
    length: SupportsIndex | None = None,
    reverse: bool = False,
    unroll: int | bool = 1,
) -> tuple[Carry, Y]:
    """Apply a function to each slice of sequences, one after the other, and carry a state along.

    It computes what this does, but traces ``f`` once in a call and compiles to one loop::

        def scan(f, init, xs):
            carry, ys = init, []
            for x in xs:
                carry, y = f(carry, x)
                ys.append(y)
            return carry, stack(ys)

    It can be differentiated in both modes. What a step computes from values that are the same in
    all steps is computed once, and reverse mode keeps what differs from step to step.

    Args:
        f: takes the carry and a slice of ``xs``; returns the next carry, of the same structure,
            shapes and dtypes, and a slice of the stacked result. A tree of arrays each.
        init: the first carry. Python scalars take the types that ``f`` promotes them to.
        xs: a tree of arrays that are sliced along their first axes, or None.
        length: how many steps there are; needed when ``xs`` holds no arrays.
        reverse: whether to begin with the last slice; the results are stacked in the order of
            ``xs`` all the same.
        unroll: how many steps one round of the compiled loop makes; True for all of them.

    Returns:
        The last carry, and the slices that ``f`` returned, stacked along new first axes.

    Raises:
        TypeError: when ``f`` returns no pair, or a carry of another structure or type; the message
            names the component.
        ValueError: when an array of ``xs`` has no first axis, lengths disagree, or ``unroll`` < 1.
        ConcretizationTypeError: when ``length`` is traced.

    >>> import numpy as np
    >>> from bindax_control_flow import scan
    >>> total, partial_sums = scan(lambda c, x: (c + x, c + x), 0.0, np.arange(4.0))
    >>> float(total), partial_sums
    (6.0, Array([0., 1., 3., 6.], dtype=float64))
    """
    check_function("scan", "f", f)
    f, xs, sequences = by_element(f, xs)
    steps = checked_length(xs, length)
    rounds = checked_unroll(unroll, steps)
    if config.disable_jit and steps:
        return _untraced(f, init, xs, steps, bool(reverse))
    jaxpr, consts, staged, carry, y_tree = trace_step(f, init, xs)
    consts += [reference.load() for reference in staged.reads]
    first = [*[reference.load() for reference in staged.targets], *carry.operands()]
    loop = Loop(jaxpr, len(consts), len(first), steps, bool(reverse), rounds)
    outs: Any = scan_p.bind(*consts, *first, *sequences, **loop.params)
    carry_out, ys = loop.results(outs)
    return tree_unflatten(carry.tree, staged.store_first(carry_out)), tree_unflatten(y_tree, ys)


def _untraced(
    f: Callable[[Any, Any], tuple[Any, Any]], carry: Any, xs: Any, steps: int, reverse: bool
) -> tuple[Any, Any]:
    """The results of at least one step in Python, as ``config.disable_jit`` wants them."""
    leaves, tree = tree_flatten(xs)
    slices: list[Any] = [None] * steps
    y_tree: Any = None
    for i in range(steps)[::-1] if reverse else range(steps):
        x = tree_unflatten(tree, [index_in_dim(leaf, i, keepdims=False) for leaf in leaves])
        carry, y = f(carry, x)
        slices[i], y_tree = tree_flatten(y)
    return carry, tree_unflatten(y_tree, [stack(parts) for parts in zip(*slices, strict=True)])
