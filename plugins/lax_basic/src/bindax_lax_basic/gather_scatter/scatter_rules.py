"""The rules that all scatters share: type, evaluation, batching, and how they are bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bindax_core.extend import Primitive, Rule, ShapedArray, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic.gather_scatter import dimension_numbers as _numbers
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from bindax_lax_basic.gather_scatter.lowering import scatter_lowering
from bindax_lax_basic.gather_scatter.sharding import scatter_sharding
from bindax_lax_basic.rules.batching import batch_first
from bindax_lax_basic.rules.evaluation import NumPyArray
from bindax_lax_basic.rules.operands import adopt_dtype
from bindax_lax_basic.rules.types import Kinds, require_kind, require_same_dtype
from bindax_lax_basic.rules.wider_types import in_wider


def bind_scatter(
    which: Primitive,
    operand: Any,
    scatter_indices: Any,
    updates: Any,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: Any,
) -> Any:
    """Bind a scatter to the arguments of its public function."""
    return which.bind(
        operand,
        scatter_indices,
        *adopt_dtype(updates, operand)[:1],
        dimension_numbers=_numbers.numbers_argument(
            which.name, ScatterDimensionNumbers, dimension_numbers
        ),
        indices_are_sorted=bool(indices_are_sorted),
        unique_indices=bool(unique_indices),
        mode=GatherScatterMode.from_any(mode),
    )


def _type(name: str, accepts: Kinds) -> Callable[..., ShapedArray]:
    """The ``abstract_eval`` rule of the scatter of a name, for operands of some kinds."""

    def rule(
        x: ShapedArray,
        indices: ShapedArray,
        updates: ShapedArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        **params: Any,
    ) -> ShapedArray:
        require_kind(name, x, accepts, 0)
        require_same_dtype(name, (x, updates))
        window = dimension_numbers.update_window_dims
        if any(not 0 <= axis < updates.ndim for axis in window):
            raise TypeError(
                f"{name}: the window axes {window} must be axes of the updates "
                f"{updates.str_short()}."
            )
        sizes = _numbers.update_sizes(x.ndim, updates.shape, dimension_numbers)
        _numbers.check_windows(name, x, indices, dimension_numbers, sizes, into_nothing=True)
        batch = tuple([size for axis, size in enumerate(updates.shape) if axis not in window])
        if batch != indices.shape[:-1]:
            raise TypeError(
                f"{name}: the updates {updates.str_short()} have the sizes {batch} beside their "
                f"window axes {window}, but the indices {indices.str_short()} ask for "
                f"{indices.shape[:-1]}."
            )
        return x.update(weak_type=x.weak_type and updates.weak_type)

    return rule


def _impl(combine: np.ufunc | None, widen: bool) -> Callable[..., NumPyArray]:
    """The ``impl`` rule of a scatter by a ufunc, which may widen floats, or one that replaces."""

    def rule(
        x: NumPyArray,
        indices: NumPyArray,
        updates: NumPyArray,
        *,
        dimension_numbers: ScatterDimensionNumbers,
        mode: GatherScatterMode,
        **params: Any,
    ) -> NumPyArray:
        sizes = _numbers.update_sizes(x.ndim, updates.shape, dimension_numbers)
        found = _numbers.windows(x.shape, indices, dimension_numbers.as_gather(), sizes)
        if mode is GatherScatterMode.CLIP:
            found = found._replace(valid=np.ones_like(found.valid))
        wide = dtypes.accumulator_dtype(x.dtype) if widen else x.dtype
        if wide == x.dtype:
            return _numbers.scatter(x, found, updates, combine)
        out = _numbers.scatter(x.astype(wide), found, updates.astype(wide), combine)
        return out.astype(x.dtype)

    return rule


def _batch(
    primitive: Primitive,
    size: int,
    operands: Sequence[Any],
    dims: Sequence[int | None],
    *,
    dimension_numbers: ScatterDimensionNumbers,
    **params: Any,
) -> tuple[Any, int]:
    x, indices, updates = operands
    x, updates = batch_first(x, dims[0], size), batch_first(updates, dims[2], size)
    if size == 0:
        return x, 0
    if dims[1] is not None:
        indices = batch_first(indices, dims[1], size)
    numbers = _numbers.batched_numbers(dimension_numbers, True, dims[1] is not None)
    return primitive.bind(x, indices, updates, dimension_numbers=numbers, **params), 0


def scatter_family(
    name: str,
    accepts: Kinds,
    ufunc: np.ufunc | None,
    combine: str | Callable[..., Any],
    *,
    widen: bool = False,
    linear: tuple[int, ...] = (),
) -> tuple[Rule, ...]:
    """The rules of a scatter but for derivatives; without a ufunc, it replaces elements."""
    lower = scatter_lowering(combine)
    plain = rules.lowering["stablehlo"](lower)
    return (
        rules.impl(_impl(ufunc, widen)),
        rules.abstract_eval(_type(name, accepts)),
        rules.vmap(_batch, takes_primitive=True),
        in_wider(lower, dtypes.summing_dtype) if widen else plain,
        rules.sharding(scatter_sharding, takes_primitive=True, linear=linear),
    )
