"""Slices of a fixed size whose start may be traced, as entries of an index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bindax_core.errors import ShapeError
from bindax_core.extend import Tracer, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.rules.errors import IndexTypeError
from bindax_lax_basic.rules.types import static_int


@dataclass(frozen=True)
class Slice:
    """A number of elements from a start on, a stride apart; ``ds`` makes it."""

    start: Any
    size: int
    stride: int = 1

    def within(self, axis: int, size: Any) -> tuple[Any, int, int]:
        """The start, the length and the stride on an axis of a size.

        A start from which not all elements are within bounds is an array, as a traced one is.
        """
        span = (self.size - 1) * self.stride + 1 if self.size else 0
        if isinstance(size, int) and size < span:
            raise ShapeError(
                f"ds: {self.size} elements that are {self.stride} apart do not fit on axis {axis}, "
                f"which has {size}."
            )
        if not isinstance(self.start, Tracer):
            start = static_int("ds", "start", self.start)
            fits = isinstance(size, int) and 0 <= start <= size - span
            return start if fits else np.asarray(start), self.size, self.stride
        aval = typeof(self.start)
        if aval.shape or not dtypes.is_integer(aval.dtype):
            raise IndexTypeError(f"ds takes an integer as start, but got {aval.str_short()}.")
        return self.start, self.size, self.stride


def ds(start: Any, size: int | None = None, stride: int | None = None) -> slice | Slice:
    """A slice whose start may be traced, for an index: ``x[ds(i, n)]`` is ``x[i:i + n]``.

    Args:
        start: the first element; a negative one counts from the end. Where the elements do not
            fit from there on, those are read that begin as late as they do, and updates change
            nothing. None is the first one of all. As the only argument it is ``size``, and the
            start 0; None alone is all elements.
        size: how many elements, known while tracing.
        stride: how far they are apart, known while tracing; by default 1.

    Raises:
        ShapeError: where an array is indexed, when it has fewer elements.

    >>> import numpy as np
    >>> from bindax_core import Array
    >>> from bindax_transforms import jit
    >>> x = Array.from_numpy(np.arange(10))
    >>> jit(lambda x, i: x[ds(i, 3)])(x, 4), x[ds(1, 3, 2)], x.at[ds(-2, 2)].set(0)[7:]
    (Array([4, 5, 6], dtype=int64), Array([1, 3, 5], dtype=int64), Array([7, 0, 0], dtype=int64))
    """
    step = 1 if stride is None else static_int("ds", "stride", stride)
    if step < 1:
        raise ValueError(f"ds: stride must be positive, but it is {step}.")
    if size is None:
        if start is None:
            return slice(None, None, stride)
        start, size = 0, start
    count = static_int("ds", "size", size)
    if count < 0:
        raise ValueError(f"ds: size must not be negative, but it is {count}.")
    return Slice(0 if start is None else start, count, step)
