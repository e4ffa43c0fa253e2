"""Products in place of sums over devices that all have the same value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ClosedJaxpr, JaxprEqn, Literal, ShapedArray
from bindax_lax_basic import mul_p
from bindax_parallel.reductions import psum_p
from bindax_parallel.varying import varying_variables

Axes = frozenset[Any]


def without_needless_sums(closed: ClosedJaxpr, inputs: Sequence[Axes]) -> ClosedJaxpr:
    """The program with a product for each sum over devices that all have the same value.

    Transposition adds such sums: the cotangent of a value that is the same on several devices is.
    """
    key = ("without_needless_sums", tuple(inputs))
    if key not in closed.cache:
        found = varying_variables(closed.jaxpr, inputs)
        eqns = [_product(eqn) if _is_needless(eqn, found) else eqn for eqn in closed.jaxpr.eqns]
        closed.cache[key] = ClosedJaxpr(closed.jaxpr.replace(eqns=eqns), closed.consts)
    return closed.cache[key]  # type: ignore[no-any-return]


def _is_needless(eqn: JaxprEqn, found: dict[Any, Axes]) -> bool:
    if eqn.primitive is not psum_p or eqn.params["axis_index_groups"] is not None:
        return False
    x = eqn.invars[0]
    return type(x) is Literal or eqn.params["axis_name"] not in found[x]


def _product(eqn: JaxprEqn) -> JaxprEqn:
    dtype = eqn.outvars[0].aval.dtype
    count = Literal(np.asarray(eqn.params["size"], dtype), ShapedArray((), dtype))
    return eqn.replace(primitive=mul_p, invars=[eqn.invars[0], count], params={})
