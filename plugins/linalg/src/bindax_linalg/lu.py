"""The LU decomposition with partial pivoting, and linear systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bindax_core.extend import (
    Array,
    LoweringContext,
    Primitive,
    Region,
    ShapedArray,
    Tracer,
    primitive,
    rules,
    typeof,
)
from bindax_lax_basic import (
    broadcast_in_dim_p,
    clamp_p,
    eq_p,
    ge_p,
    iota_p,
    neg_p,
    select_n_p,
    sort_key_val,
    stop_gradient,
)
from bindax_lax_basic.extend import (
    NumPyArray,
    batched,
    compare,
    filled,
    full,
    inlined,
    no_derivative,
    static_int,
    zero_tangent,
)
from bindax_linalg import _lapack
from bindax_linalg import _matrices as m
from bindax_linalg.triangular_solve import solve_array, triangular_solve
from bindax_transforms import SymbolicZero, custom_jvp, linear_call

__all__ = ["lu", "lu_p", "lu_pivots_to_permutation", "lu_pivots_to_permutation_p"]


def lu(x: Any) -> list[Array]:
    """The LU decomposition with partial pivoting: ``P x = L U``.

    Args:
        x: matrices, of shape ``[..., m, n]``.

    Returns:
        ``[lu, pivots, permutation]``: L, whose diagonal is 1, and U in the two triangles of an
        array of the shape of ``x``; for each column the row that was exchanged with the diagonal's,
        as int32; and the rows of ``x`` in the order of ``L U``, as int32. A singular matrix has
        zeros on the diagonal of U.

    The derivative follows F. de Hoog, R. Anderssen and M. Lukas, "Differentiation of matrix
    functionals using triangular factorization", 2011.

    >>> packed, pivots, permutation = lu(np.array([[0.0, 1.0], [2.0, 4.0]]))
    >>> packed, permutation
    (Array([[2., 4.],
           [0., 1.]], dtype=float64), Array([1, 0], dtype=int32))
    """
    return lu_p.bind(x)


def _lu_type(x: ShapedArray) -> list[ShapedArray]:
    m.check_matrix("lu", x)
    *lead, rows, columns = x.shape
    pivots = ShapedArray((*lead, min(rows, columns)), m.INT32)
    return [x.update(weak_type=False), pivots, ShapedArray((*lead, rows), m.INT32)]


_BLOCK = 32


def _lu_impl(x: NumPyArray) -> list[NumPyArray]:
    """Elimination in blocks of columns; a product of matrices updates what is right of them."""
    *lead, rows, columns = x.shape
    a = x.reshape(-1 if x.size else int(np.prod(lead)), rows, columns).copy()
    each, steps = np.arange(len(a)), min(rows, columns)
    pivots = np.zeros((len(a), steps), np.int32)
    for start in range(0, steps, _BLOCK):
        stop = min(steps, start + _BLOCK)
        for j in range(start, stop):
            size = np.abs(a[:, j:, j].real) + np.abs(a[:, j:, j].imag)
            chosen = pivots[:, j] = j + np.argmax(size, axis=1)
            a[each, chosen], a[:, j] = a[:, j].copy(), a[each, chosen]
            pivot = a[:, j, j, None]
            factors = np.where(pivot == 0, a[:, j + 1 :, j], a[:, j + 1 :, j] / pivot)
            a[:, j + 1 :, j] = factors
            a[:, j + 1 :, j + 1 : stop] -= factors[:, :, None] * a[:, j, None, j + 1 : stop]
        right = solve_array(
            a[:, start:stop, start:stop],
            a[:, start:stop, stop:],
            left_side=True,
            lower=True,
            unit_diagonal=True,
        )
        a[:, start:stop, stop:] = right
        a[:, stop:, stop:] -= a[:, stop:, start:stop] @ right
    pivots = pivots.reshape(*lead, steps)
    return [a.reshape(x.shape), pivots, _permutation_impl(pivots, permutation_size=rows)]


def _lu_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    outs = lu_p.bind(x)
    packed, _, permutation = outs
    zeros = [zero_tangent(out) for out in outs[1:]]
    if 0 in typeof(x).shape:
        return outs, [t, *zeros]
    rows, columns = typeof(x).shape[-2:]
    # With square L and U, L^-1 P dA U^-1 is L^-1 dL, strictly lower, plus dU U^-1, upper.
    left = m.resized(m.lower_part(packed, -1), rows, rows)
    right = m.resized(m.upper_part(packed), columns, columns)
    if columns > rows:
        identity = m.identity_like(right)
        leading = m.resized(m.resized(identity, rows, rows), columns, columns)
        right = m.add(right, m.sub(identity, leading))
    dx = triangular_solve(
        left, m.take_rows(t, permutation), left_side=True, lower=True, unit_diagonal=True
    )
    both = triangular_solve(right, dx)
    dl, du = m.lower_part(both, -1), m.upper_part(both)
    tangent = m.add(m.add(dl, m.matmul(left, dl)), m.matmul(du, right))
    return outs, [tangent, *zeros]


def _lu_lowering(ctx: LoweringContext, x: Any) -> list[Any]:
    (aval,) = ctx.avals_in
    *lead, rows, _ = aval.shape
    results = [*ctx.avals_out[:2], ShapedArray(tuple(lead), m.INT32)]
    found = _lapack.call(ctx, "getrf", [x], results, {})

    def finish(packed: Any, pivots: Any, info: Any) -> list[Any]:
        pivots = m.sub(pivots, filled(typeof(pivots), 1))  # LAPACK counts from 1
        legal = ge_p.bind(info, filled(typeof(info), 0))
        packed = m.nan_unless(legal, packed)
        return [packed, pivots, lu_pivots_to_permutation(pivots, rows)]

    return inlined(ctx, finish, found, results)


lu_p: Primitive = primitive(
    "lu",
    rules.abstract_eval(_lu_type),
    rules.jvp(_lu_jvp),
    _lapack.lapack_rules(_lu_impl, _lu_lowering, slow=True),
    batched(2),
    multiple_results=True,
)


def solve(a: Any, b: Any) -> Any:
    """Solve ``a x = b`` for square matrices ``a`` and stacks of columns ``b``.

    The derivative ``a dx = db - da x`` is solved with the factors of ``a``, which need none.
    """
    packed, _, permutation = lu(stop_gradient(a))
    return _solve_linear(False, (a, packed, permutation), b)


def _solve_linear(transposed: bool, system: tuple[Any, Any, Any], b: Any) -> Any:
    """Solve linear systems; the transpose is a solution, too, and has a derivative like it."""
    one, other = (partial(_solve_factored, flag) for flag in (transposed, not transposed))
    if not isinstance(b, Tracer):
        return one(system, b)  # nobody will transpose it
    return linear_call(one, other, system, b)


@partial(custom_jvp, nondiff_argnums=0)
def _solve_factored(transposed: bool, system: tuple[Any, Any, Any], b: Any) -> Any:
    """Solve linear systems, or those of the transposes, whose matrices have been factored."""
    _, packed, permutation = system
    lower = partial(triangular_solve, packed, left_side=True, lower=True, unit_diagonal=True)
    upper = partial(triangular_solve, packed, left_side=True)
    if not transposed:
        return upper(lower(m.take_rows(b, permutation)))
    y = lower(upper(b, transpose_a=True), transpose_a=True)
    aval = typeof(permutation)
    rows = iota_p.bind(dtype=aval.dtype, shape=aval.shape, dimension=aval.ndim - 1)
    return m.take_rows(y, sort_key_val(permutation, rows)[1])


@partial(_solve_factored.defjvp, symbolic_zeros=True)
def _solve_factored_jvp(transposed: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    (system, b), ((da, _, _), right) = primals, tangents
    x = _solve_factored(transposed, system, b)
    if type(da) is not SymbolicZero:
        product = m.matmul(m.transposed(da) if transposed else da, x)
        right = neg_p.bind(product) if type(right) is SymbolicZero else m.sub(right, product)
    return x, _solve_linear(transposed, system, right)


def lu_pivots_to_permutation(pivots: Any, permutation_size: int) -> Array:
    """The permutation that a sequence of exchanges of rows makes.

    Args:
        pivots: int32 of shape ``[..., k]``: row i was exchanged with row ``pivots[..., i]``.
            Negative ones count from the end. A row out of bounds is read at the nearest one, and
            not written.
        permutation_size: the number of rows.

    Returns:
        int32 of shape ``[..., permutation_size]``: the rows in their new order.

    >>> lu_pivots_to_permutation(np.array([2, 2], np.int32), 3)
    Array([2, 0, 1], dtype=int32)
    """
    size = static_int("lu_pivots_to_permutation", "permutation_size", permutation_size)
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=size)


def _permutation_type(pivots: ShapedArray, *, permutation_size: int) -> ShapedArray:
    if pivots.dtype != m.INT32 or pivots.ndim < 1:
        raise TypeError(
            f"lu_pivots_to_permutation takes vectors of int32, but got {pivots.str_short()}."
        )
    if pivots.shape[-1] > permutation_size:
        raise ValueError(
            f"lu_pivots_to_permutation: {pivots.str_short()} has more exchanges than there are "
            f"rows, permutation_size {permutation_size}."
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), m.INT32)


def _permutation_impl(pivots: NumPyArray, *, permutation_size: int) -> NumPyArray:
    *lead, steps = pivots.shape
    flat = pivots.reshape(int(np.prod(lead)), steps)
    rows = np.tile(np.arange(permutation_size, dtype=np.int32), (len(flat), 1))
    each = np.arange(len(flat))
    others = np.where(flat < 0, flat + permutation_size, flat)
    nearest = others.clip(0, permutation_size - 1)
    for i in range(steps):
        this, other = rows[:, i].copy(), rows[each, nearest[:, i]]
        inside = nearest[:, i] == others[:, i]
        rows[each[inside], nearest[inside, i]], rows[:, i] = this[inside], other
    return rows.reshape(*lead, permutation_size)


def _permutation_lowering(ctx: LoweringContext, pivots: Any, *, permutation_size: int) -> Any:
    """A loop over the exchanges, each for all elements of the batch at once."""
    (aval,), (out,) = ctx.avals_in, ctx.avals_out
    count = ShapedArray((), m.INT32)
    state = [count, out, aval]

    def test(inner: LoweringContext, i: Any, rows: Any, pivots: Any) -> list[Any]:
        return [compare(inner, "LT", i, inner.constant(np.int32(aval.shape[-1])), count)]

    def body(inner: LoweringContext, *values: Any) -> list[Any]:
        return inlined(inner, _exchange, values, state)

    attributes = {"iota_dimension": f"{out.ndim - 1} : i64"}
    (rows,) = ctx.op("stablehlo.iota", [], [out], attributes)
    start = [full(ctx, count, 0), rows, pivots]
    return ctx.op(
        "stablehlo.while", start, state, regions=[Region(state, test), Region(state, body)]
    )[1]


def _exchange(i: Any, rows: Any, pivots: Any) -> list[Any]:
    shape = typeof(rows).shape
    given = m.sum_where(_places(pivots, i), pivots, 1)
    zero, last, size = [filled(typeof(given), n) for n in (0, shape[-1] - 1, shape[-1])]
    given = select_n_p.bind(ge_p.bind(given, zero), m.add(given, size), given)
    nearest = clamp_p.bind(zero, given, last)
    this, other = _places(rows, i), _places(rows, given)
    first, second = m.sum_where(this, rows, 1), m.sum_where(_places(rows, nearest), rows, 1)
    moved = select_n_p.bind(other, rows, m.along_rows(first, shape))
    moved = select_n_p.bind(this, moved, m.along_rows(second, shape))
    return [m.add(i, np.int32(1)), moved, pivots]


def _places(x: Any, i: Any) -> Any:
    """Where the index along the last axis is ``i``, a scalar or one for each leading index."""
    shape = typeof(x).shape
    index = iota_p.bind(dtype=m.INT32, shape=shape, dimension=len(shape) - 1)
    dims = tuple(range(typeof(i).ndim))
    return eq_p.bind(index, broadcast_in_dim_p.bind(i, shape=shape, broadcast_dimensions=dims))


lu_pivots_to_permutation_p: Primitive = primitive(
    "lu_pivots_to_permutation",
    rules.impl(_permutation_impl),
    rules.abstract_eval(_permutation_type),
    no_derivative(),
    m.leading_batch(),
    rules.transpose.absent("it takes integers"),
    rules.lowering["stablehlo"](_permutation_lowering),
    batched(1),
)
