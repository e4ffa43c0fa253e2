"""The check of sparsity rules: what differs from zero is a place of the pattern."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bindax_core.extend import is_differentiable, typeof
from bindax_example_sparsity.pattern import Context, Dependence
from bindax_testing import Case, NotApplicable
from bindax_transforms import jvp, make_jaxpr


def check_pattern(case: Case) -> None:
    """Compare the pattern of a primitive with its derivatives along each element by itself."""
    avals = [typeof(x) for x in case.operands]
    varied = next((i for i in case.positions if avals[i].dtype.kind == "f"), None)
    if varied is None or not avals[varied].size:
        raise NotApplicable("no operand has a tangent")
    size, shape = avals[varied].size, avals[varied].shape

    def along(x: Any, tangent: Any) -> list[Any]:
        def part(x: Any) -> list[Any]:
            return case.call(*case.operands[:varied], x, *case.operands[varied + 1 :])

        return list(jvp(part, (x,), (tangent,))[1])

    operand = case.operands[varied]
    context = Context(size)
    seeds = Dependence(avals[varied], sp.eye_array(size, dtype=bool, format="csr"))
    closed = make_jaxpr(along)(avals[varied], avals[varied])
    found = context.evaluate(closed, [Dependence(avals[varied]), seeds])
    for number in range(size):
        unit = np.zeros(size, avals[varied].dtype)
        unit[number] = 1
        for i, tangent in enumerate(along(operand, unit.reshape(shape))):
            if not is_differentiable(typeof(tangent).dtype):
                continue
            matrix = found[i].matrix
            places = np.zeros(tangent.size, bool)
            if matrix is not None:
                places = np.asarray(matrix[:, [number]].todense()).ravel()
            outside = np.ravel(np.asarray(tangent) != 0) & ~places
            if outside.any():
                raise AssertionError(
                    f"element {np.flatnonzero(outside)[0]} of result {i} depends on element "
                    f"{number} of operand {varied}, which its pattern leaves out."
                )
