"""The rules for operations that are linear, or that apply programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from bindax_core import find_primitive
from bindax_core.extend import Extension, bind_flat, extend, is_differentiable
from bindax_example_sparsity.pattern import Context, Dependence, Matrix, Unknown, sparsity
from bindax_example_sparsity.windows import convolved, reduced
from bindax_transforms import vjp

ELEMENTWISE = (
    "add",
    "complex",
    "conj",
    "convert_element_type",
    "copy",
    "div",
    "imag",
    "mul",
    "neg",
    "real",
    "reduce_precision",
    "sub",
)
"""Each element of the result is made of the elements at its place, or of scalars."""

MOVED = (
    "broadcast_in_dim",
    "concatenate",
    "dynamic_slice",
    "dynamic_update_slice",
    "gather",
    "pad",
    "reshape",
    "rev",
    "scatter",
    "slice",
    "split",
    "squeeze",
    "tile",
    "transpose",
)
"""Each element of the result is one element of an operand, whatever the values are."""

SUMMED = ("reduce_sum", "scatter_add")
"""Each element of an operand goes into one element of the result."""


def rules() -> Iterator[Extension]:
    """The rules of this package, each for a primitive of another."""
    tables: dict[Callable[..., Any], tuple[str, ...]] = {
        elementwise: ELEMENTWISE,
        moved: MOVED,
        summed: SUMMED,
    }
    for rule, names in tables.items():
        for name in names:
            yield extend(find_primitive(name), sparsity(rule))
    for name, own in {
        "select_n": selected,
        "cumsum": accumulated,
        "dot_general": contracted,
        "conv_general_dilated": convolved,
        "reduce_window_sum": reduced,
        "select_and_gather_add": reduced,
        "jit": _program,
        "checkpoint": _program,
        "cond": _cond,
        "scan": _scan,
        "while": _while,
    }.items():
        yield extend(find_primitive(name), sparsity(own))


def united(matrices: Sequence[Matrix]) -> Matrix:
    """The pattern with the places of some."""
    found = None
    for one in matrices:
        if one is not None:
            found = one if found is None else found + one
    return found


def _rows(matrix: Matrix, numbers: Any) -> Matrix:
    """Rows by their numbers; those of negative numbers are empty."""
    if matrix is None:
        return None
    empty = sp.csr_array((1, matrix.shape[1]), dtype=bool)
    numbers = np.where(numbers < 0, matrix.shape[0], numbers)
    return sp.vstack([matrix, empty], format="csr")[np.ravel(numbers)]


def _spread(one: Dependence, size: int) -> Matrix:
    """The pattern of an operand for each element of a result; of a scalar, for all of them."""
    if one.matrix is None or one.aval.size == size:
        return one.matrix
    return one.matrix[np.zeros(size, int)]


def elementwise(context: Context, *operands: Dependence, **params: Any) -> Matrix:
    """The pattern of the operands together, without places that are multiplied by zero."""
    size = context.out_avals[0].size
    found = united([_spread(one, size) for one in operands])
    if context.primitive.name == "mul":
        for one in operands:
            if one.value is not None and not np.all(one.value):
                kept = np.broadcast_to(one.value != 0, context.out_avals[0].shape)
                found = _rows(found, np.where(np.ravel(kept), np.arange(size), -1))
    return found


def selected(context: Context, which: Dependence, *cases: Dependence) -> Matrix:
    """The pattern of the case that is known to be chosen, or of all cases."""
    if which.value is not None:
        return moved(context, which, *cases)
    return united([_spread(one, context.out_avals[0].size) for one in cases])


def moved(context: Context, *operands: Dependence, **params: Any) -> list[Matrix]:
    """Rows of the operands, found by moving their numbers instead of values."""
    numbered, blocks, count = [], [], 0
    for one in operands:
        if not is_differentiable(one.aval.dtype):
            if one.value is None:
                raise Unknown
            numbered.append(one.value)
            continue
        numbered.append(np.arange(count, count + one.aval.size).reshape(one.aval.shape))
        blocks.append(one.matrix)
        if one.matrix is None:
            blocks[-1] = sp.csr_array((one.aval.size, context.inputs), dtype=bool)
        count += one.aval.size
    whole = sp.vstack(blocks, format="csr")
    outs = bind_flat(context.primitive, numbered, params)
    numbers = [np.asarray(x) for x in outs]
    # Out of bounds there are other numbers than those of elements.
    return [_rows(whole, np.where((x >= 0) & (x < count), x, -1)) for x in numbers]


def summed(context: Context, *operands: Dependence, **params: Any) -> Matrix:
    """The sum of rows, found by pulling the numbers of the results back to the operands."""
    fixed = [one.value for one in operands]
    floats = [i for i, one in enumerate(operands) if is_differentiable(one.aval.dtype)]
    if any(x is None for i, x in enumerate(fixed) if i not in floats):
        raise Unknown
    (out,) = context.out_avals
    primitive = context.primitive

    def function(*given: Any) -> Any:
        full = list(fixed)
        for i, x in zip(floats, given, strict=True):
            full[i] = x
        return bind_flat(primitive, full, params)[0]

    _, pullback = vjp(function, *[np.zeros(operands[i].aval.shape) for i in floats])
    numbers = pullback(np.arange(1.0, out.size + 1).reshape(out.shape))
    found = []
    for i, targets in zip(floats, numbers, strict=True):
        matrix = operands[i].matrix
        if matrix is not None:
            target = np.ravel(np.asarray(targets)).astype(int) - 1
            found.append(_incidence(target, np.arange(target.size), out.size) @ matrix)
    return united(found)


def _incidence(rows: Any, cols: Any, size: int) -> Matrix:
    """The matrix that adds rows by their numbers; those with negative numbers are left out."""
    kept = rows >= 0
    shape = (size, len(rows) if len(cols) == len(rows) else int(cols.max(initial=-1)) + 1)
    return sp.csr_array((np.ones(kept.sum(), bool), (rows[kept], cols[kept])), shape)


def accumulated(
    context: Context, x: Dependence, *, axis: int, reverse: bool, **params: Any
) -> Matrix:
    """All rows up to each one along an axis."""
    numbers = np.moveaxis(np.arange(x.aval.size).reshape(x.aval.shape), axis, -1)
    lines = numbers.reshape(-1, x.aval.shape[axis])
    first, second = np.tril_indices(lines.shape[1])
    later, earlier = (second, first) if reverse else (first, second)
    rows, cols = np.ravel(lines[:, later]), np.ravel(lines[:, earlier])
    size = x.aval.size
    return sp.csr_array((np.ones(len(rows), bool), (rows, cols)), (size, size)) @ x.matrix


def contracted(
    context: Context, x: Dependence, y: Dependence, *, dimension_numbers: Any, **params: Any
) -> Matrix:
    """Rows of each operand where the other one is not known to be zero."""
    (x_sum, y_sum), (x_batch, y_batch) = dimension_numbers
    places = [
        _placed(one.aval.shape, batch, contracted_dims)
        for one, batch, contracted_dims in ((x, x_batch, x_sum), (y, y_batch, y_sum))
    ]
    a, b = places[0][:, :, None, :], places[1][:, None, :, :]
    a, b = np.broadcast_arrays(a, b)
    kept = np.ones(a.shape, bool)
    for one, numbers in ((x, a), (y, b)):
        if one.value is not None:
            kept &= np.ravel(one.value != 0)[numbers]
    out = np.broadcast_to(np.arange(a[..., 0].size).reshape(a.shape[:3])[..., None], a.shape)
    size, found = context.out_avals[0].size, []
    for one, numbers in ((x, a), (y, b)):
        if one.matrix is not None:
            ones = np.ones(int(kept.sum()), bool)
            shape = (size, one.aval.size)
            found.append(sp.csr_array((ones, (out[kept], numbers[kept])), shape) @ one.matrix)
    return united(found)


def _placed(shape: Sequence[int], batch: Sequence[int], summed_dims: Sequence[int]) -> Any:
    """The numbers of elements, by batch, other and contracted positions."""
    others = [i for i in range(len(shape)) if i not in (*batch, *summed_dims)]
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    moved_axes = numbers.transpose(*batch, *others, *summed_dims)
    sizes = [int(np.prod([shape[i] for i in dims])) for dims in (batch, others, summed_dims)]
    return moved_axes.reshape(sizes)


# --------------------------------------------------------------------------------- programs


def _program(context: Context, *operands: Dependence, jaxpr: Any, **params: Any) -> Any:
    return context.evaluate(jaxpr, operands)


def _cond(
    context: Context, index: Dependence, *operands: Dependence, branches: Any, **params: Any
) -> Any:
    """The branch that is taken, or all that may be."""
    if index.value is not None:
        number = int(np.clip(index.value, 0, len(branches) - 1))
        return context.evaluate(branches[number], operands)
    rows = [context.evaluate(branch, operands) for branch in branches]
    return [_either(row) for row in zip(*rows, strict=True)]


def _either(some: Sequence[Dependence]) -> Dependence:
    return Dependence(some[0].aval, united([one.matrix for one in some]))


def _scan(
    context: Context,
    *operands: Dependence,
    jaxpr: Any,
    length: int,
    reverse: bool,
    num_consts: int,
    num_carry: int,
    **params: Any,
) -> Any:
    """One step after the other, each on its own rows."""
    consts, carry = list(operands[:num_consts]), list(operands[num_consts:][:num_carry])
    stacked = operands[num_consts + num_carry :]
    out_avals = list(context.out_avals)
    rows: list[list[Dependence]] = [[] for _ in out_avals[num_carry:]]
    for i in reversed(range(length)) if reverse else range(length):
        outs = context.evaluate(jaxpr, [*consts, *carry, *(_row(one, i) for one in stacked)])
        carry = outs[:num_carry]
        for kept, one in zip(rows, outs[num_carry:], strict=True):
            kept.append(one)
    ordered = [kept[::-1] if reverse else kept for kept in rows]
    collected = zip(out_avals[num_carry:], ordered, strict=True)
    return [*carry, *(_collected(context, aval, kept) for aval, kept in collected)]


def _row(one: Dependence, i: int) -> Dependence:
    aval = one.aval.update(shape=one.aval.shape[1:])
    value = None if one.value is None else one.value[i]
    matrix = None if one.matrix is None else one.matrix[i * aval.size : (i + 1) * aval.size]
    return Dependence(aval, matrix, value)


def _collected(context: Context, aval: Any, rows: Sequence[Dependence]) -> Dependence:
    if all(one.matrix is None for one in rows):
        return Dependence(aval)
    blocks = [
        sp.csr_array((one.aval.size, context.inputs), dtype=bool)
        if one.matrix is None
        else one.matrix
        for one in rows
    ]
    return Dependence(aval, sp.vstack(blocks, format="csr"))


def _while(
    context: Context,
    *operands: Dependence,
    body_jaxpr: Any,
    cond_nconsts: int,
    body_nconsts: int,
    **params: Any,
) -> Any:
    """All that any number of steps may bring; values of the carry are not known inside."""
    consts = operands[cond_nconsts:][:body_nconsts]
    carry = [Dependence(x.aval, x.matrix) for x in operands[cond_nconsts + body_nconsts :]]
    while True:
        outs = context.evaluate(body_jaxpr, [*consts, *carry])
        grown = [_either(pair) for pair in zip(carry, outs, strict=True)]
        if all(_places(a) == _places(b) for a, b in zip(grown, carry, strict=True)):
            return carry
        carry = grown


def _places(one: Dependence) -> int:
    return 0 if one.matrix is None else int(one.matrix.nnz)
