"""Accumulators, to which backward rules add cotangents."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import is_differentiable, operations_for, typeof
from bindax_transforms.zeros import Zero, add_tangents


class GradAccum:
    """The cotangent of one leaf of an argument, as backward rules get it that add to it.

    Attributes:
        aval: the type of the cotangent.
    """

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    def accum(self, x: Any) -> None:
        """Add a cotangent; None and symbolic zeros add nothing."""
        raise TypeError(f"{type(self).__name__} must define accum")


class ValAccum(GradAccum):
    """An accumulator that holds the sum of what was added.

    >>> import numpy as np
    >>> from bindax_core.extend import typeof
    >>> total = ValAccum(typeof(np.float32(0)))
    >>> total.accum(np.float32(1.5))
    >>> total.accum(np.float32(2.0))
    >>> float(total.freeze())
    3.5
    """

    def __init__(self, aval: Any) -> None:
        super().__init__(aval)
        self.val: Any = Zero(aval)

    def accum(self, x: Any) -> None:
        """Add a cotangent, in the dtype of the sum; None and symbolic zeros add nothing."""
        if x is None or type(x) is Zero:
            return
        if is_differentiable(self.aval.dtype) and typeof(x).dtype != self.aval.dtype:
            operations = operations_for(self.aval)
            x = operations.convert(x, self.aval.dtype, self.aval.weak_type)
        self.val = add_tangents(self.val, x)

    def freeze(self) -> Any:
        """The sum, or a symbolic zero where nothing was added."""
        return self.val


class NullAccum(GradAccum):
    """An accumulator of an argument that is not differentiated: it drops what is added.

    >>> from bindax_core.extend import typeof
    >>> NullAccum(typeof(1.0)).accum(2.0)
    """

    def accum(self, x: Any) -> None:
        """Do nothing."""


def sum_in(accumulator: Any) -> Any:
    """The sum in an accumulator; None where nothing was added, and for another value.

    A symbolic zero would not do: packages may make it a node of trees.

    >>> from bindax_core.extend import typeof
    >>> print(sum_in(ValAccum(typeof(1.0))))
    None
    """
    held = accumulator.freeze() if isinstance(accumulator, ValAccum) else None
    return None if type(held) is Zero else held
