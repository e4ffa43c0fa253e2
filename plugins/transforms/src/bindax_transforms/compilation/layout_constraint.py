"""Layouts of arguments and results of programs: a primitive that orders the axes of a value."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

from bindax_core.extend import (
    ClosedJaxpr,
    DebugInfo,
    Primitive,
    as_array,
    executable_of,
    find_backend,
    flatten_prefix,
    primitive,
    rules,
    tree_flatten,
    tree_unflatten,
    typeof,
)
from bindax_core.sharding import AutoLayout, Layout, check_layout
from bindax_transforms.staging.jaxpr_trace import trace_to_jaxpr
from bindax_transforms.zeros import Zero


def with_layout_constraint(x: Any, layouts: Any) -> Any:
    """Order the axes of the arrays of a tree in memory; their values stay the same.

    Outside of ``jit`` it moves the arrays. Inside it is about results of the program: of what lies
    between, CPUs decide themselves.

    Args:
        x: an array, or a tree of arrays.
        layouts: the order, a ``Layout``, or a tree of those that begins as ``x`` does.

    Raises:
        TypeError: when one is no ``Layout``.
        ValueError: when one orders another number of axes than an array has, or there is no
            compiler, which alone knows of other orders than the default.

    >>> import numpy as np
    >>> from bindax_core.sharding import Layout
    >>> y = with_layout_constraint(np.ones((2, 3), np.float32), Layout((0, 1)))
    >>> y.format.layout
    Layout(major_to_minor=(0, 1))
    """
    leaves, tree = tree_flatten(x)
    given = flatten_prefix(layouts, tree, "with_layout_constraint: layouts", full_name="x")
    for layout in given:
        if not isinstance(layout, Layout):
            raise TypeError(
                f"with_layout_constraint: layouts must be a Layout, such as Layout((1, 0)), or a "
                f"tree of them, but it has {layout!r:.80}."
            )
    bind = partial(layout_constraint_p.bind, of_operand=False)
    outs = [bind(x, layout=layout) for x, layout in zip(leaves, given, strict=True)]
    for made, layout in zip(outs, given, strict=True):
        check_layout(made, layout, "with_layout_constraint")
    return tree_unflatten(tree, outs)


def check_shardings(given: Sequence[Any], what: str) -> None:
    """Raise where a layout stands for a sharding, which says on which devices arrays lie."""
    for one in given:
        if isinstance(one, (Layout, AutoLayout)):
            raise ValueError(
                f"{what} take shardings, but got the layout {one!r}; put it into Format(layout, "
                f"sharding)."
            )


def _impl(x: Any, *, layout: Layout | AutoLayout, of_operand: bool) -> list[Any]:
    x = as_array(x)
    if isinstance(layout, AutoLayout) or x.format.layout == layout:
        return [x]
    backend = x.placement.backend if x.committed else find_backend()
    if not hasattr(backend, "place"):
        return [x]  # an interpreter, which has one order
    run = executable_of(_program(layout, x.aval), backend, name="layout", operands=[x])
    return list(run(x))


@lru_cache(maxsize=1024)
def _program(layout: Layout, aval: Any) -> ClosedJaxpr:
    """The identity that leaves its result in a layout; the executable is kept with it."""
    moved = partial(layout_constraint_p.bind, layout=layout, of_operand=False)
    return trace_to_jaxpr(lambda x: [moved(x)], [aval], DebugInfo("with_layout_constraint"))


def _abstract_eval(x: Any, *, layout: Layout | AutoLayout, of_operand: bool) -> Any:
    if isinstance(layout, Layout):
        layout.check(x, "with_layout_constraint: the array")
    return x


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = layout_constraint_p.bind(x, **params)
    return out, Zero.like(out) if type(t) is Zero else layout_constraint_p.bind(t, **params)


def _vmap(
    axis_size: int, operands: Sequence[Any], dims: Sequence[Any], *, layout: Any, of_operand: bool
) -> tuple[Any, Any]:
    (x,), (dim,) = operands, dims
    if isinstance(layout, Layout):
        # Each element of the batch lies as it was asked for, one after the other.
        others = [axis + (axis >= dim) for axis in layout.major_to_minor]
        layout = Layout((dim, *others))
    return layout_constraint_p.bind(x, layout=layout, of_operand=of_operand), dim


layout_constraint_p: Primitive = primitive(
    "layout_constraint",
    rules.impl(_impl, on_values=True),
    rules.abstract_eval(_abstract_eval),
    rules.jvp(_jvp, symbolic_zeros=True),
    rules.vmap(_vmap),
    rules.transpose(lambda ct, x, **params: [layout_constraint_p.bind(ct, **params)]),
    # The layouts concern the ends of programs alone: the backend reads them there.
    rules.lowering["stablehlo"](lambda ctx, x, **params: x),
)
"""A value with the order of its axes in memory. Parameters: ``layout``; ``of_operand``, True where
it is about an argument of the program, not about the value."""


def laid_out(x: Any, layout: Any, *, of_operand: bool, what: str) -> Any:
    """A value with a layout, or without one if that is None; ``what`` names it in messages."""
    if layout is None:
        return x
    if isinstance(layout, Layout):
        layout.check(typeof(x), what)
    return layout_constraint_p.bind(x, layout=layout, of_operand=of_operand)
