"""Contraction of two arrays where the groups of one axis have sizes that are an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bindax_core.extend import Array, ShapedArray, typeof
from bindax_lax_basic.contract.dot_general import dot_general, free
from bindax_lax_basic.contract.precision import PrecisionLike
from bindax_lax_basic.dtypes import is_integer
from bindax_lax_basic.elementwise.arithmetic import sub_p
from bindax_lax_basic.elementwise.comparison import and_p, ge_p, lt_p
from bindax_lax_basic.elementwise.selection import select_n_p
from bindax_lax_basic.reductions.cumulative import cumsum
from bindax_lax_basic.rules.types import describe, static_ints
from bindax_lax_basic.shape.broadcast_and_reduce_sum import Dims, broadcast_in_dim_p
from bindax_lax_basic.shape.creation import filled, iota_p
from bindax_lax_basic.shape.transpose import transpose_p
from bindax_transforms.extend import decided

__all__ = ["RaggedDotDimensionNumbers", "ragged_dot", "ragged_dot_general"]


@dataclass(frozen=True)
class RaggedDotDimensionNumbers:
    """Roles of the axes: contracted, batch, and the one that is made of groups.

    Args:
        dot_dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``.
        lhs_ragged_dimensions: the axis of the left operand that is made of groups.
        rhs_group_dimensions: the axis of the right operand that has one entry for each group, or
            nothing.

    >>> RaggedDotDimensionNumbers((([1], [1]), ([], [])), [0], [0]).lhs_ragged_dimensions
    (0,)
    """

    dot_dimension_numbers: Any
    lhs_ragged_dimensions: Any
    rhs_group_dimensions: Any

    def __post_init__(self) -> None:
        """Make the fields hashable."""

        def ints(values: Any) -> Dims:
            return static_ints("RaggedDotDimensionNumbers", "axes", values)

        numbers = tuple([tuple(map(ints, pair)) for pair in self.dot_dimension_numbers])
        object.__setattr__(self, "dot_dimension_numbers", numbers)
        object.__setattr__(self, "lhs_ragged_dimensions", ints(self.lhs_ragged_dimensions))
        object.__setattr__(self, "rhs_group_dimensions", ints(self.rhs_group_dimensions))


_ROWS = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))


def ragged_dot(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Products of groups of rows with one matrix for each group.

    Args:
        lhs: an array of shape ``[m, k]``: the rows of group 0, then those of group 1, and so on.
        rhs: the matrices, of shape ``[groups, k, n]``.
        group_sizes: integers of shape ``[groups]``: how many rows each group has. Rows beyond the
            last group give zeros.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``dot_general``.
        group_offset: must be None.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Returns:
        An array of shape ``[m, n]``.

    >>> lhs, rhs = np.ones((3, 1)), np.array([[[2.0]], [[5.0]]])
    >>> ragged_dot(lhs, rhs, np.array([1, 2])).ravel()
    Array([2., 5., 5.], dtype=float64)
    """
    if out_sharding is not None:
        return decided(
            ragged_dot,
            out_sharding,
            (lhs, rhs, group_sizes, precision, preferred_element_type, group_offset),
        )
    return ragged_dot_general(
        lhs, rhs, group_sizes, _ROWS, precision, preferred_element_type, group_offset
    )


def ragged_dot_general(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: Any = None,
    *,
    out_sharding: Any = None,
) -> Array:
    """Contract two arrays, one axis of which is made of groups.

    It is ``dot_general`` of operands with one more axis, that of the groups, which are zero
    outside of their group: its cost is that of as many products as there are groups.

    Args:
        lhs: an array, one axis of which is ragged: made of groups, one after the other.
        rhs: an array of the same dtype.
        group_sizes: integers, the sizes of the groups: of shape ``[groups]``, or with the batch
            axes in front, and the axes of the kind of the ragged one that are before it.
        ragged_dot_dimension_numbers: which axis is which, a ``RaggedDotDimensionNumbers``. Where
            the ragged axis remains, ``rhs`` has an axis of groups, and each group is contracted
            with its entry; where it is contracted, the result has a leading axis of groups; where
            it is a batch axis, it is that of ``dot_general``.
        precision: as for ``dot_general``.
        preferred_element_type: as for ``dot_general``.
        group_offset: must be None.
        out_sharding: how the result lies on a mesh, as for ``reshard``; inside, the compiler
            decides.

    Raises:
        TypeError: when dtypes, sizes or dimension numbers do not agree.
        ValueError: when ``group_offset`` is not None.

    >>> from bindax_lax_basic import RaggedDotDimensionNumbers
    >>> numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), [0], [0])
    >>> rows, matrices = np.ones((3, 2)), np.ones((2, 2, 1))
    >>> ragged_dot_general(rows, matrices, np.array([1, 2]), numbers).shape
    (3, 1)
    """
    numbers, arguments = ragged_dot_dimension_numbers, (precision, preferred_element_type)
    if out_sharding is not None:
        given = (lhs, rhs, group_sizes, numbers, *arguments, group_offset)
        return decided(ragged_dot_general, out_sharding, given)
    _check_arguments(numbers, group_offset)
    return _contracted(lhs, rhs, group_sizes, numbers, arguments)


def _contracted(
    lhs: Any,
    rhs: Any,
    group_sizes: Any,
    numbers: RaggedDotDimensionNumbers,
    arguments: tuple[Any, Any],
) -> Array:
    x, y, sizes = typeof(lhs), typeof(rhs), typeof(group_sizes)
    _check_axes(x, y, numbers)
    axis, kind = _ragged_axis(x, numbers)
    (contract, batch) = numbers.dot_dimension_numbers
    _check_groups(y, sizes, numbers, kind)
    if kind == "batch":
        _check_sizes(x, sizes, _outer(axis, batch[0]))
        return dot_general(lhs, rhs, (contract, batch), *arguments)
    own = contract[0] if kind == "contracting" else free(x.ndim, contract[0], batch[0])
    prefix = (*batch[0], *_outer(axis, own))
    _check_sizes(x, sizes, prefix)
    left = _by_group(lhs, axis, group_sizes, prefix)
    up = tuple([tuple([i + 1 for i in axes]) for axes in (*contract, *batch)])
    if kind == "free":
        (group,) = numbers.rhs_group_dimensions
        widened: Any = ((*up[0], 0), (*contract[1], group)), (up[2], batch[1])
        return dot_general(left, rhs, widened, *arguments)
    partner = contract[1][contract[0].index(axis)]
    right = _by_group(rhs, partner, group_sizes, (*batch[1], *_outer(partner, contract[1])))
    return dot_general(left, right, (up[:2], ((0, *up[2]), (0, *up[3]))), *arguments)


def _check_arguments(numbers: Any, group_offset: Any) -> None:
    if group_offset is not None:
        raise ValueError(
            f"ragged_dot_general: group_offset must be None, but it is {group_offset!r}; slice "
            f"the operands to start from another group."
        )
    if not isinstance(numbers, RaggedDotDimensionNumbers):
        raise TypeError(
            f"ragged_dot_general: ragged_dot_dimension_numbers must be a "
            f"RaggedDotDimensionNumbers, but it is {numbers!r:.80}."
        )


def _check_axes(x: ShapedArray, y: ShapedArray, numbers: RaggedDotDimensionNumbers) -> None:
    """Raise unless there are two pairs of axes, none of them counted from the end."""
    pairs = numbers.dot_dimension_numbers
    legal = [len(pair) for pair in pairs] == [2, 2] and all(
        0 <= axis < aval.ndim
        for pair in pairs
        for axes, aval in zip(pair, (x, y), strict=True)
        for axis in axes
    )
    if not legal:
        raise TypeError(
            f"ragged_dot_general: dot_dimension_numbers must be ((lhs_contracting, "
            f"rhs_contracting), (lhs_batch, rhs_batch)), axes of {describe((x, y))}, but they are "
            f"{pairs}."
        )


def _outer(axis: int, axes: Dims) -> Dims:
    return axes[: axes.index(axis)]


def _ragged_axis(x: ShapedArray, numbers: RaggedDotDimensionNumbers) -> tuple[int, str]:
    """The ragged axis, and whether it is contracting, batch or free."""
    ragged = numbers.lhs_ragged_dimensions
    if len(ragged) != 1 or not 0 <= ragged[0] < x.ndim:
        raise TypeError(
            f"ragged_dot_general: lhs_ragged_dimensions must be one of the {x.ndim} axes of "
            f"{x.str_short()}, but it is {ragged}."
        )
    (axis,) = ragged
    contract, batch = numbers.dot_dimension_numbers
    if axis in contract[0]:
        return axis, "contracting"
    return axis, "batch" if axis in batch[0] else "free"


def _check_groups(
    rhs: ShapedArray, sizes: ShapedArray, numbers: RaggedDotDimensionNumbers, kind: str
) -> None:
    groups = numbers.rhs_group_dimensions
    if not is_integer(sizes.dtype) or not sizes.ndim:
        raise TypeError(
            f"ragged_dot_general: group_sizes must be an array of integers with an axis of groups, "
            f"but it is {sizes.str_short()}."
        )
    if kind != "free":
        if groups:
            raise TypeError(
                f"ragged_dot_general: rhs_group_dimensions must be empty where the ragged axis is "
                f"contracted or a batch axis, but it is {groups}."
            )
        return
    contract, batch = numbers.dot_dimension_numbers
    legal = len(groups) == 1 and groups[0] in free(rhs.ndim, contract[1], batch[1])
    if not legal or rhs.shape[groups[0]] != sizes.shape[-1]:
        raise TypeError(
            f"ragged_dot_general: rhs_group_dimensions must be one axis of the right operand "
            f"{rhs.str_short()} that is neither contracted nor a batch axis and has an entry for "
            f"each of the {sizes.shape[-1]} groups of {sizes.str_short()}, but it is {groups}."
        )


def _check_sizes(x: ShapedArray, sizes: ShapedArray, prefix: Dims) -> None:
    wanted = tuple([x.shape[i] for i in prefix])
    if sizes.ndim > 1 and sizes.shape[:-1] != wanted:
        raise TypeError(
            f"ragged_dot_general: group_sizes must have the shape [groups], or {list(wanted)} and "
            f"then the groups, for the left operand, but they are {describe((sizes, x))}."
        )


def _by_group(x: Any, axis: int, group_sizes: Any, prefix: Sequence[int]) -> Any:
    """An array for each group, in front, that is zero outside of the group."""
    aval, sizes = typeof(x), typeof(group_sizes)
    shape = (sizes.shape[-1], *aval.shape)
    ends = cumsum(group_sizes, axis=sizes.ndim - 1)
    starts = sub_p.bind(ends, group_sizes)
    places = iota_p.bind(dtype=sizes.dtype, shape=shape, dimension=axis + 1)
    after, before = (_spread(v, shape, prefix) for v in (starts, ends))
    inside = and_p.bind(ge_p.bind(places, after), lt_p.bind(places, before))
    dims = tuple(range(1, len(shape)))
    every = broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=dims)
    return select_n_p.bind(inside, filled(typeof(every), 0), every)


def _spread(x: Any, shape: Dims, prefix: Sequence[int]) -> Any:
    """Numbers for each group, of some or all places along ``prefix``, for all places."""
    rank = typeof(x).ndim
    if rank == 1:
        return broadcast_in_dim_p.bind(x, shape=shape, broadcast_dimensions=(0,))
    order = sorted(range(len(prefix)), key=prefix.__getitem__)
    moved = transpose_p.bind(x, permutation=(rank - 1, *order))
    dims = (0, *[prefix[i] + 1 for i in order])
    return broadcast_in_dim_p.bind(moved, shape=shape, broadcast_dimensions=dims)
