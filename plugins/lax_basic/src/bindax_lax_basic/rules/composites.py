"""Rules of primitives that are also a function of other primitives.

A primitive that XLA computes in one operation can be computed by several others; what this costs in
speed it gains in rules: derivatives and batches of that function are those of the primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import bindax_transforms
from bindax_core.extend import Array, Primitive, Rule, rules
from bindax_lax_basic.rules.linear import Dual, Values, zero_tangents
from bindax_transforms.zeros import Zero

Function = Callable[..., list[Any]]


def composite_impl(function: Callable[..., Any]) -> Rule:
    """The ``impl`` rule that evaluates a traceable function.

    Args:
        function: from operands to one result, or a list of results.
    """

    def run(*arrays: Any, **params: Any) -> Any:
        outs = function(*[Array.from_numpy(x.view()) for x in arrays], **params)
        return [np.asarray(out) for out in outs] if type(outs) is list else np.asarray(outs)

    return rules.impl(run, slow=True)


def composite_jvp(function: Callable[..., Any]) -> Rule:
    """The ``jvp`` rule that differentiates a traceable function of one result, or of a list."""

    def rule(primitive: Primitive, primals: Values, tangents: Values, **params: Any) -> Dual:
        out = primitive.bind(*primals, **params)
        if all(type(t) is Zero for t in tangents):
            return out, zero_tangents(primitive, out)
        return out, composite_tangents(partial(function, **params), primals, tangents)

    return rules.jvp(rule, symbolic_zeros=True, takes_primitive=True)


def composite_tangents(function: Callable[..., Any], primals: Values, tangents: Values) -> Any:
    """The tangents of the results of a traceable function; no tangent is symbolic.

    Args:
        function: from operands to one result, or a list of results.
        primals: where it is differentiated.
        tangents: in which direction; at least one is not ``Zero``.

    >>> from bindax_lax_basic.extend import zero_tangent
    >>> x, y = np.array([2.0, 3.0]), np.array([4.0, 5.0])
    >>> composite_tangents(lambda x, y: x * y, [x, y], [np.ones(2), zero_tangent(y)])
    Array([4., 5.], dtype=float64)
    """
    active = [i for i, t in enumerate(tangents) if type(t) is not Zero]

    def of_active(*xs: Any) -> Any:
        operands = list(primals)
        for i, x in zip(active, xs, strict=True):
            operands[i] = x
        return function(*operands)

    return bindax_transforms.jvp(
        of_active, [primals[i] for i in active], [tangents[i] for i in active]
    )[1]


def composite_batch(
    function: Function, size: int, operands: Values, dims: Sequence[int | None]
) -> tuple[list[Any], list[int]]:
    """The results of a traceable function on batches, with their batch axes in front."""
    outs = bindax_transforms.vmap(function, in_axes=tuple(dims), axis_size=size)(*operands)
    return list(outs), [0] * len(outs)
