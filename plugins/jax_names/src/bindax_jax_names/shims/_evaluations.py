"""Evaluation rules as JAX has them: functions of a primitive's operands that give its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Primitive, as_array, rules
from bindax_jax_names.shims._sites import of_package

Function = Callable[..., Any]


def evaluation_of(primitive: Primitive) -> Function:
    """The evaluation that a primitive has now, also after it is given another one."""
    function, takes_arrays = rules.impl.get(primitive), primitive.takes_values

    def evaluate(*operands: Any, **params: Any) -> Any:
        given = operands if takes_arrays else [np.asarray(x) for x in operands]
        found = function(*given, **params)
        outs = [as_array(x) for x in (found if isinstance(found, list | tuple) else [found])]
        return outs if primitive.multiple_results else outs[0]

    return evaluate


def replace_evaluation(primitive: Primitive, impl: Function) -> Function:
    """Give a primitive another evaluation; its operands are arrays."""

    def evaluate(*operands: Any, **params: Any) -> list[Any]:
        found = impl(*operands, **params)
        return [as_array(x) for x in (found if primitive.multiple_results else [found])]

    old = rules.impl.rule_of(primitive)
    if old is not None:
        rules.impl.remove(primitive, old)
    rules.impl.install(primitive, of_package(rules.impl(evaluate, on_values=True)))
    return impl
