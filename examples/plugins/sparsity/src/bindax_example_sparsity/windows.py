"""The rules for convolutions, and for reductions of windows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from bindax_core.extend import bind_flat
from bindax_example_sparsity.pattern import Context, Dependence, Matrix


def convolved(context: Context, x: Dependence, kernel: Dependence, **params: Any) -> Matrix:
    """The elements of the windows, and those of the kernel, found by convolving their numbers.

    With a kernel of one element for each feature, each element of the result is one product.
    """
    params["preferred_element_type"] = None
    _, *others = params["dimension_numbers"].rhs_spec
    sizes = kernel.aval.shape
    factors = [_is_nonzero(x), _is_nonzero(kernel)]
    found: list[Matrix] = []
    for which, one in enumerate((x, kernel)):
        if one.matrix is None:
            continue
        pair = list(factors)
        pair[which] = factors[which] * np.arange(1.0, one.aval.size + 1).reshape(one.aval.shape)
        for place in itertools.product(*(range(sizes[axis]) for axis in others)):
            index = [slice(None)] * len(sizes)
            for axis, position in zip(others, place, strict=True):
                index[axis] = slice(position, position + 1)
            alone = np.zeros(sizes)
            alone[tuple(index)] = pair[1][tuple(index)]
            numbers = bind_flat(context.primitive, [pair[0], alone], params)[0]
            found.append(_chosen(one.matrix, np.asarray(numbers).astype(int) - 1))
    return sum(found[1:], start=found[0])


def _is_nonzero(one: Dependence) -> Any:
    """Ones where a factor is not known to be zero."""
    return np.ones(one.aval.shape) if one.value is None else (one.value != 0).astype(float)


def reduced(
    context: Context,
    *operands: Dependence,
    window_dimensions: Sequence[int],
    window_strides: Sequence[int],
    padding: Sequence[tuple[int, int]],
    base_dilation: Sequence[int],
    window_dilation: Sequence[int],
    **params: Any,
) -> Matrix:
    """All elements of the windows: of a sum, or of what a maximum elsewhere chooses."""
    one = next(x for x in operands if x.matrix is not None)
    (out,) = context.out_avals
    found: list[Matrix] = []
    for offset in itertools.product(*map(range, window_dimensions)):
        number = np.zeros((), int)
        inside = np.ones((), bool)
        rows = zip(
            *(offset, window_strides, (low for low, _ in padding), base_dilation),
            *(window_dilation, one.aval.shape, out.shape),
            strict=True,
        )
        for position, stride, low, base, dilation, size, count in rows:
            at = np.arange(count) * stride + position * dilation - low
            inside = inside[..., None] & (at % base == 0) & (0 <= at) & (at < size * base)
            number = number[..., None] * size + at // base
        found.append(_chosen(one.matrix, np.where(inside, number, -1)))
    return sum(found[1:], start=found[0])


def _chosen(matrix: Matrix, numbers: Any) -> Matrix:
    """Rows by their numbers; those of negative numbers are empty."""
    flat = np.ravel(numbers)
    kept = flat >= 0
    shape = (flat.size, matrix.shape[0])
    places = (np.flatnonzero(kept), flat[kept])
    return sp.csr_array((np.ones(int(kept.sum()), bool), places), shape) @ matrix
