"""Powers and chains of products, and what else has a meaning of its own for stacks of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bindax_core.extend import Array, typeof
from bindax_lax_basic.extend import by_squaring, promote_dtypes, static_int
from bindax_numpy import dot_matmul, indexing, kron_convolve
from bindax_numpy._operands import strong_operand
from bindax_numpy.linalg._matrices import require_matrix
from bindax_numpy.linalg.solve import inv
from bindax_numpy.ranges import eye
from bindax_numpy.reshaping import broadcast_to
from bindax_transforms.extend import decided


def matrix_power(a: Any, n: int) -> Array:
    """Square matrices multiplied with themselves.

    Args:
        a: matrices, of shape ``[..., m, m]``.
        n: how often, known while tracing; negative powers are those of the inverse.

    >>> jnp.linalg.matrix_power(jnp.array([[1, 1], [0, 1]]), 5)
    Array([[1, 5],
           [0, 1]], dtype=int32)
    """
    x = strong_operand("matrix_power", a)
    aval = typeof(x)
    require_matrix("matrix_power", aval, square=True)
    exponent = static_int("matrix_power", "n", n)
    if exponent < 0:
        x, exponent = inv(x), -exponent
    if not exponent:
        return broadcast_to(eye(aval.shape[-1], dtype=aval.dtype), aval.shape)
    return by_squaring(x, exponent, dot_matmul.matmul)


def multi_dot(arrays: Sequence[Any], *, precision: Any = None) -> Array:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Args:
        arrays: two matrices or more; the first and the last may be vectors.
        precision: as for ``dot``.

    Raises:
        ValueError: when they are too few, or not matrices.

    >>> jnp.linalg.multi_dot([jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.ones(4)])
    Array([12., 12.], dtype=float32)
    """
    factors = list(promote_dtypes(*(strong_operand("multi_dot", x) for x in arrays)))
    avals = [typeof(x) for x in factors]
    if len(factors) < 2:
        raise ValueError(f"multi_dot takes two arrays or more, but got {len(factors)}.")
    for i, aval in enumerate(avals):
        if aval.ndim != 2 and not (aval.ndim == 1 and i in (0, len(avals) - 1)):
            raise ValueError(
                f"multi_dot takes matrices, and vectors in the first and last place, but array "
                f"{i} is {aval.str_short()}."
            )
    rows = 1 if avals[0].ndim == 1 else avals[0].shape[0]
    columns = 1 if avals[-1].ndim == 1 else avals[-1].shape[-1]
    sizes = [rows, *[aval.shape[-1] for aval in avals[:-1]], columns]
    split = _cheapest_splits(sizes)

    def multiplied(i: int, j: int) -> Any:
        if i == j:
            return factors[i]
        k = split[i, j]
        return matmul(multiplied(i, k), multiplied(k + 1, j), precision=precision)

    return multiplied(0, len(factors) - 1)


def _cheapest_splits(sizes: Sequence[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of a chain of matrices; the next size is each one's columns."""
    # T. Cormen et al., "Introduction to algorithms", chapter on dynamic programming.
    count = len(sizes) - 1
    cost = {(i, i): 0 for i in range(count)}
    split = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            options = [
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i, j], split[i, j] = sorted(options)[0]
    return split


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """The cross products of vectors of three elements.

    Raises:
        ValueError: when the axis has another size.

    >>> jnp.linalg.cross(jnp.array([1, 0, 0]), jnp.array([0, 1, 0]))
    Array([0, 0, 1], dtype=int32)
    """
    x, y = (strong_operand("cross", v) for v in (x1, x2))
    for v in (typeof(x), typeof(y)):
        if not v.shape or v.shape[axis] != 3:
            raise ValueError(f"cross: axis {axis} must have 3 elements, but got {v.str_short()}.")
    return kron_convolve.cross(x, y, axis=axis)


def outer(x1: Any, x2: Any, /) -> Array:
    """The products of all elements of one vector with all of another, as a matrix.

    Raises:
        ValueError: for what is no vector.

    >>> jnp.linalg.outer(jnp.array([1, 2]), jnp.array([3, 4]))
    Array([[3, 4],
           [6, 8]], dtype=int32)
    """
    for v in (typeof(strong_operand("outer", x)) for x in (x1, x2)):
        if v.ndim != 1:
            raise ValueError(f"linalg.outer takes vectors, but got {v.str_short()}; see outer.")
    return dot_matmul.outer(x1, x2)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """The diagonals of matrices, the last two axes of an array.

    >>> jnp.linalg.diagonal(jnp.array([[1, 2], [3, 4]]))
    Array([1, 4], dtype=int32)
    """
    return indexing.diagonal(x, offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """The sums of the diagonals of matrices, the last two axes of an array.

    >>> jnp.linalg.trace(jnp.array([[1, 2], [3, 4]]))
    Array(5, dtype=int32)
    """
    return indexing.trace(x, offset, -2, -1, dtype)


def matmul(
    x1: Any, x2: Any, /, *, precision: Any = None, preferred_element_type: Any = None
) -> Array:
    """The matrix product, over stacks of matrices where there are more axes.

    >>> jnp.linalg.matmul(jnp.array([[1, 2], [3, 4]]), jnp.array([1, 1]))
    Array([3, 7], dtype=int32)
    """
    return dot_matmul.matmul(
        x1, x2, precision=precision, preferred_element_type=preferred_element_type
    )


def tensordot(
    x1: Any,
    x2: Any,
    /,
    *,
    axes: Any = 2,
    precision: Any = None,
    preferred_element_type: Any = None,
    out_sharding: Any = None,
) -> Array:
    """The sum of products over several axes of two arrays; arguments as for ``tensordot``.

    >>> jnp.linalg.tensordot(jnp.ones((2, 3)), jnp.ones((3, 2)), axes=1)
    Array([[3., 3.],
           [3., 3.]], dtype=float32)
    """
    if out_sharding is not None:
        return decided(
            tensordot,
            out_sharding,
            (x1, x2),
            {
                "axes": axes,
                "precision": precision,
                "preferred_element_type": preferred_element_type,
            },
        )
    return dot_matmul.tensordot(
        x1, x2, axes, precision=precision, preferred_element_type=preferred_element_type
    )
