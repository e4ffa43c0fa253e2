"""Costs of decompositions and solutions of linear systems: the leading terms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def _matrices(aval: Any) -> tuple[int, int, int]:
    """The number of matrices in a stack, and their rows and columns."""
    *batch, rows, columns = aval.shape
    return math.prod(batch), rows, columns


def _cubic(factor: float) -> Callable[..., float]:
    """Operations in proportion to rows, columns and the smaller of the two."""

    def rule(operands: Any, results: Any, **params: Any) -> float:
        number, rows, columns = _matrices(operands[0])
        return factor * number * rows * columns * min(rows, columns)

    return rule


def _triangular_solve(operands: Any, results: Any, **params: Any) -> float:
    number, rows, _ = _matrices(operands[0])
    return float(number * rows * (operands[1].size // max(number, 1)))


def _linear(factor: float) -> Callable[..., float]:
    def rule(operands: Any, results: Any, **params: Any) -> float:
        return factor * float(results[0].size)

    return rule


RULES: dict[str, Callable[..., Any]] = {
    "cholesky": _cubic(1 / 3),
    "eig": _cubic(25.0),
    "eigh": _cubic(9.0),
    "hessenberg": _cubic(10 / 3),
    "householder_product": _cubic(2.0),
    "lu": _cubic(2 / 3),
    "qr": _cubic(2.0),
    "schur": _cubic(25.0),
    "svd": _cubic(21.0),
    "triangular_solve": _triangular_solve,
    "tridiagonal": _cubic(4 / 3),
    "tridiagonal_solve": _linear(8.0),
}
