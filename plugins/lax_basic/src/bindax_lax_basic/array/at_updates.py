"""Changed copies of arrays: ``x.at[index].set(y)`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bindax_core.extend import Primitive, Tracer, api_boundary, config, is_value, typeof, warn_user
from bindax_lax_basic import dtypes
from bindax_lax_basic.array.indexer import Indexer, build_indexer
from bindax_lax_basic.array.indexing import parse, take_indexed
from bindax_lax_basic.array.operators import power, true_divide
from bindax_lax_basic.array.values import from_value
from bindax_lax_basic.elementwise.arithmetic import neg_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.gather_scatter.dimension_numbers import (
    CLIP,
    GatherScatterMode,
    ScatterDimensionNumbers,
)
from bindax_lax_basic.gather_scatter.gather_and_scatter_add import scatter_add_p
from bindax_lax_basic.gather_scatter.scatter import (
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
)
from bindax_lax_basic.rules.operands import promote_dtypes, promoted_type
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to
from bindax_lax_basic.shape.creation import ones_like
from bindax_lax_basic.shape.reshape import squeeze_p
from bindax_lax_basic.shape.rev import rev_p
from bindax_transforms.extend import decided


class IndexedUpdates:
    """The value of ``x.at``, which an index turns into an update of some elements.

    >>> import numpy as np
    >>> from bindax_core import Array
    >>> Array.from_numpy(np.zeros(3)).at[1].set(5.0)
    Array([0., 5., 0.], dtype=float64)
    """

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    def __getitem__(self, index: Any) -> IndexedUpdate:
        return IndexedUpdate(self._array, index)

    def __repr__(self) -> str:
        return f"IndexedUpdates({self._array!r})"


class IndexedUpdate:
    """Some elements of an array: read them, or make a copy of the array in which they are changed.

    Every method takes these arguments, beside its own:

    * ``mode``: what happens to positions out of bounds, a ``GatherScatterMode`` or its name. By
      default ``get`` reads the nearest element, and updates there are dropped.
    * ``indices_are_sorted``, ``unique_indices``: promises that may help a compiler.
    * ``wrap_negative_indices``: whether negative positions count from the end.
    * ``out_sharding``: how the result lies on a mesh, as for ``reshard``.

    Where a position occurs several times, ``add``, ``multiply``, ``min``, ``max`` and the like
    apply each of its updates; of several ``set`` one stays, and ``apply`` computes it once. Values
    are broadcast to the shape of ``x[index]``, and the result has the dtype of ``x``.
    """

    __slots__ = ("_array", "_index")

    def __init__(self, array: Any, index: Any) -> None:
        self._array = array
        self._index = index

    def __repr__(self) -> str:
        return f"IndexedUpdate({self._array!r}, {self._index!r})"

    @api_boundary
    def get(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        fill_value: Any = None,
        wrap_negative_indices: bool = True,
        out_sharding: Any = None,
    ) -> Any:
        """The elements; ``x[index]`` with a say in what is read out of bounds.

        Args:
            indices_are_sorted: a promise that may help a compiler.
            unique_indices: likewise.
            mode: ``"clip"``, the default, or ``"fill"``.
            fill_value: a scalar that is read out of bounds with ``mode="fill"``; by default nan
                for floats, the least value of signed and the greatest of unsigned integers.
            wrap_negative_indices: whether negative positions count from the end.
            out_sharding: how the result lies on a mesh, as for ``reshard``.

        >>> import numpy as np
        >>> from bindax_core import Array
        >>> x = Array.from_numpy(np.arange(3.0))
        >>> x.at[np.array([2, 7])].get(mode="fill", fill_value=-1.0)
        Array([ 2., -1.], dtype=float64)
        """
        if isinstance(fill_value, Tracer):
            fill_value = fill_value.item()

        def taken(array: Any, index: Any) -> Any:
            shape = typeof(array).shape
            indexer = build_indexer(parse(index, shape), shape, wrap=wrap_negative_indices)
            chosen = CLIP if mode is None else GatherScatterMode.from_any(mode)
            promises = indices_are_sorted, unique_indices
            return take_indexed(array, indexer, chosen, fill_value, *promises)

        if out_sharding is None:
            return taken(self._array, self._index)
        return decided(taken, out_sharding, (self._array, self._index), what="x.at[...].get")

    @api_boundary
    def set(self, values: Any, **options: Any) -> Any:
        """A copy in which the elements are ``values``.

        >>> import numpy as np
        >>> from bindax_core import Array
        >>> Array.from_numpy(np.zeros(4)).at[1:3].set(np.array([5.0, 6.0]))
        Array([0., 5., 6., 0.], dtype=float64)
        """
        return self._update(scatter_p, values, **options)

    @api_boundary
    def add(self, values: Any, **options: Any) -> Any:
        """A copy with ``values`` added to the elements.

        >>> import numpy as np
        >>> from bindax_core import Array
        >>> Array.from_numpy(np.zeros(3)).at[np.array([1, 1])].add(2.0)
        Array([0., 4., 0.], dtype=float64)
        """
        return self._update(scatter_add_p, values, **options)

    @api_boundary
    def subtract(self, values: Any, **options: Any) -> Any:
        """A copy with ``values`` subtracted from the elements."""
        if typeof(self._array).dtype != dtypes.bool_:  # which scatter_add refuses
            values = values if is_value(values) else from_value("x.at[...]", values)
            values = neg_p.bind(promote_dtypes(self._array, values)[1])
        return self._update(scatter_add_p, values, **options)

    @api_boundary
    def multiply(self, values: Any, **options: Any) -> Any:
        """A copy with the elements multiplied by ``values``."""
        return self._update(scatter_mul_p, values, **options)

    mul = multiply

    @api_boundary
    def divide(self, values: Any, **options: Any) -> Any:
        """A copy with the elements divided by ``values``; integers become floats."""
        return true_divide(self._array, self._of_ones(values, options))

    @api_boundary
    def power(self, values: Any, **options: Any) -> Any:
        """A copy with the elements raised to the power of ``values``."""
        return power(self._array, self._of_ones(values, options))

    @api_boundary
    def min(self, values: Any, **options: Any) -> Any:
        """A copy in which the elements are at most ``values``."""
        return self._update(scatter_min_p, values, **options)

    @api_boundary
    def max(self, values: Any, **options: Any) -> Any:
        """A copy in which the elements are at least ``values``."""
        return self._update(scatter_max_p, values, **options)

    @api_boundary
    def apply(self, func: Callable[[Any], Any], **options: Any) -> Any:
        """A copy with a function applied to the elements.

        Args:
            func: takes an array of elements and returns one of the same shape, elementwise.
            **options: as for the other methods.

        Raises:
            TypeError: when the result of ``func`` has another shape.

        An element that is named several times is computed once.

        >>> import numpy as np
        >>> from bindax_core import Array
        >>> Array.from_numpy(np.arange(3.0)).at[1:].apply(lambda v: v * v)
        Array([0., 1., 4.], dtype=float64)
        """
        if options.get("out_sharding") is not None:
            return self._decided(IndexedUpdate.apply, (func,), options)
        options.pop("out_sharding", None)
        indexer, params = self._plan(**options)
        taken = take_indexed(self._array, indexer, CLIP, None)
        values = func(taken)
        if typeof(values).shape != indexer.shape:
            raise TypeError(
                f"x.at[...].apply takes an elementwise function, but for "
                f"{typeof(taken).str_short()} it gave {typeof(values).str_short()}."
            )
        return _scattered(scatter_p, self._array, values, indexer, params)

    def _plan(
        self,
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        mode: Any = None,
        wrap_negative_indices: bool = True,
    ) -> tuple[Indexer, dict[str, Any]]:
        shape = typeof(self._array).shape
        indexer = build_indexer(parse(self._index, shape), shape, wrap=wrap_negative_indices)
        return indexer, {
            "dimension_numbers": ScatterDimensionNumbers(*indexer.numbers),
            "indices_are_sorted": indices_are_sorted or indexer.is_sorted,
            "unique_indices": unique_indices or indexer.unique,
            "mode": GatherScatterMode.from_any(mode),
        }

    def _update(self, which: Primitive, values: Any, **options: Any) -> Any:
        if options.get("out_sharding") is not None:
            given = (which, values)
            return self._decided(IndexedUpdate._update, given, options)
        options.pop("out_sharding", None)
        indexer, params = self._plan(**options)
        return _scattered(which, self._array, values, indexer, params)

    def _decided(
        self, method: Callable[..., Any], args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        """Call a method whose result lies as its options say, and that is left to the compiler."""
        others = {name: value for name, value in options.items() if name != "out_sharding"}

        def changed(array: Any, index: Any, *args: Any) -> Any:
            return method(IndexedUpdate(array, index), *args, **others)

        given = (self._array, self._index, *args)
        return decided(changed, options["out_sharding"], given, what="x.at[...]")

    def _of_ones(self, values: Any, options: dict[str, Any]) -> Any:
        """Divisors or exponents of the whole array: ones, but for the elements."""
        ones = IndexedUpdate(ones_like(self._array), self._index)
        return ones._update(scatter_mul_p, values, **options)


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    trailing = to[len(to) - len(shape) :]
    return len(shape) <= len(to) and all(
        own in (1, size) for own, size in zip(shape, trailing, strict=True)
    )


def _scattered(
    which: Primitive, x: Any, values: Any, indexer: Indexer, params: dict[str, Any]
) -> Any:
    """An array with values scattered to where an indexer says."""
    values = values if is_value(values) else from_value("x.at[...]", values)
    aval, update, shape = typeof(x), typeof(values), indexer.shape
    if not _broadcasts(update.shape, shape):
        raise ValueError(
            f"x.at[...]: values {update.str_short()} do not broadcast to the shape {shape} of the "
            f"indexed elements of {aval.str_short()}."
        )
    if promoted_type(config.promotion, aval, update)[0] != aval.dtype:
        warn_user(
            f"x.at[...]: values of dtype {update.dtype.name} are converted to {aval.dtype.name}, "
            f"the dtype of the array, which cannot hold all of them; convert them with .astype.",
            FutureWarning,
        )
    x, values = promote_dtypes(x, values)
    if 0 not in shape and 0 not in aval.shape:
        values = broadcast_to(values, shape)
        if indexer.new_axes:
            values = squeeze_p.bind(values, dimensions=indexer.new_axes)
        if indexer.reverse:
            values = rev_p.bind(values, dimensions=indexer.reverse)
        x = which.bind(x, indexer.indices, values, **params)
    return convert(x, aval.dtype, aval.weak_type)
