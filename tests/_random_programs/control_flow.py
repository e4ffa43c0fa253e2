"""Steps with other steps inside: branches, loops, and calls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .operands import Operands, Step, cast, fit, tame

Body = Callable[[Any], Any]
Steps = dict[str, Step]


def _body(p: Operands, x: Any, steps: Steps, *, constants: bool = True) -> Body:
    """A function of one value, to its shape and type: a step, perhaps with values from outside."""
    name, seed = p.choice(list(steps)), p.number(0, 9999)
    outside = [p.pick()] if constants and p.flag() else []

    def body(y: Any) -> Any:
        inner = p.inside([*outside, y], seed)
        out = inner.results(steps[name](inner))[0]
        return fit(p.ops, p.convert(out, y.dtype), x.shape)

    return body


def _cond(steps: Steps, p: Operands) -> Any:
    x = p.inexact()
    predicate = fit(p.ops, p.boolean(), ())
    first, second = _body(p, x, steps), _body(p, x, steps)
    return p.ops.cond(predicate, first, second, x)


def _switch(steps: Steps, p: Operands) -> Any:
    x = p.pick()
    index = fit(p.ops, cast(p.ops, p.integer(), np.dtype(np.int32)), ())
    branches = [_body(p, x, steps) for _ in range(p.number(1, 3))]
    return p.ops.switch(index, branches, x)


def _scan(steps: Steps, p: Operands) -> Any:
    x = p.inexact(rank=1)
    body, row = _body(p, x, steps), _body(p, x[:1].sum(0), steps, constants=False)
    sequence = fit(p.ops, x, (p.number(0, 3), *x.shape[1:]))

    def advance(carry: Any, element: Any) -> Any:
        carry = tame(p.ops, body(carry) + element)
        return carry, row(element)

    options = {"reverse": p.flag(), "unroll": p.number(1, 2)}
    return p.ops.scan(advance, x, sequence, **options)


def _fori(steps: Steps, p: Operands) -> Any:
    x = p.pick()
    body = _body(p, x, steps)
    return p.ops.fori_loop(0, p.number(0, 3), lambda i, y: body(y), x)


def _while_loop(steps: Steps, p: Operands) -> Any:
    x = p.real()
    if p.reverse:
        x = p.fixed(x)
    body = _body(p, x, steps, constants=not p.reverse)
    count = p.index(3)

    def more(state: Any) -> Any:
        return state[0] < count

    return p.ops.while_loop(more, lambda s: (s[0] + 1, body(s[1])), (np.int32(0), x))[1]


def _mapped(steps: Steps, p: Operands) -> Any:
    x = p.inexact(rank=1)
    row = _body(p, x[:1].sum(0), steps)
    return p.ops.map(row, x)


def _called(steps: Steps, p: Operands) -> Any:
    """Compiled or recomputed on their own."""
    x = p.inexact()
    around = p.choice([p.api.jit, p.api.checkpoint])
    return around(_body(p, x, steps))(x)


def _vectorized(steps: Steps, p: Operands) -> Any:
    """Over an axis of one operand, and another of the results."""
    x = p.inexact(rank=1, empty=False)
    axis = p.axis(x)
    row = _body(p, x.sum(axis), steps)
    return p.api.vmap(row, in_axes=axis, out_axes=p.number(0, x.ndim - 1))(x)


def custom(p: Operands) -> Any:
    """A function with a derivative of its own, which is not the one of its formula."""
    x = p.inexact()
    function = p.api.custom_jvp(lambda y: p.ops.sin(y))
    function.defjvp(lambda xs, ts: (p.ops.sin(xs[0]), ts[0] * xs[0] * 0.3))
    return function(x)


def linear_solve(p: Operands) -> Any:
    """A diagonal system, whose derivative comes from its solution."""
    x = p.real()
    diagonal = p.ops.tanh(p.like(x)) * 0.3 + 2.0
    return p.ops.custom_linear_solve(
        lambda v: diagonal * v, x, lambda product, b: b / diagonal, symmetric=True
    )


STEPS: Steps = {"custom_jvp": custom, "linear_solve": linear_solve}
_AROUND: dict[str, Callable[[Steps, Operands], Any]] = {
    "cond": _cond,
    "switch": _switch,
    "scan": _scan,
    "fori_loop": _fori,
    "while_loop": _while_loop,
    "map": _mapped,
    "called": _called,
    "vmap inside": _vectorized,
}


def steps_around(steps: Steps) -> Steps:
    """The steps of this module, with others in their bodies."""
    return {name: partial(step, steps) for name, step in _AROUND.items()}
