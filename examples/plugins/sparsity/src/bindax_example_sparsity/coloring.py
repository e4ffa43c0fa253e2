"""Colourings of the columns of a pattern."""

from __future__ import annotations

from typing import Any

import numpy as np

from bindax_example_sparsity.pattern import Pattern


def color_columns(pattern: Pattern) -> np.ndarray[Any, Any]:
    """Colour columns so that those of one colour have no row in common.

    The method is the greedy one of A. R. Curtis, M. J. D. Powell and J. K. Reid, *On the estimation
    of sparse Jacobian matrices*, IMA Journal of Applied Mathematics 13 (1974), the columns with
    most places first; its bound is the square of the number of places in a row.

    Args:
        pattern: the pattern.

    Returns:
        The colour of each column, counted from 0; columns without places have the colour 0.

    >>> import numpy as np
    >>> color_columns(Pattern(np.eye(4) + np.eye(4, k=1))).tolist()
    [1, 0, 1, 0]
    """
    by_rows = pattern.scipy()
    by_columns = by_rows.tocsc()
    columns, column_starts = by_columns.indices, by_columns.indptr
    rows, row_starts = by_rows.indices, by_rows.indptr
    colors = np.full(pattern.shape[1], -1)
    for column in np.argsort(-np.diff(column_starts), kind="stable"):
        used = set()
        for row in columns[column_starts[column] : column_starts[column + 1]]:
            used.update(colors[rows[row_starts[row] : row_starts[row + 1]]].tolist())
        color = 0
        while color in used:
            color += 1
        colors[column] = color
    return colors
