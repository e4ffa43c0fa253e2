"""Evaluation of primitives on keys that are divided along explicit axes of a mesh."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from bindax_core.extend import Primitive, Rule, rules, typeof
from bindax_transforms import jit


def on_keys(function: Callable[..., Any]) -> Rule:
    """The ``impl`` rule of a function of values, which may be keys.

    Divided operands are taken by a program, inside of which the compiler decides how values lie.
    """

    def evaluate(primitive: Primitive, *operands: Any, **params: Any) -> Any:
        if any(getattr(typeof(x), "is_divided", False) for x in operands):
            return [_program(primitive, tuple(params.items()))(*operands)]
        return function(*operands, **params)

    return rules.impl(evaluate, on_values=True, takes_primitive=True)


@lru_cache(maxsize=64)
def _program(primitive: Primitive, params: tuple[tuple[str, Any], ...]) -> Callable[..., Any]:
    return jit(partial(primitive.bind, **dict(params)))
