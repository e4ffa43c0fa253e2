"""Symbolic zeros, and the operands that a transpose rule is linear in."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import operations_for, typeof, zeros_like_aval
from bindax_transforms.manual_axes import summed_as


class Zero:
    """A tangent or cotangent that is known to be zero, so that nothing is computed with it.

    >>> from bindax_core.extend import ShapedArray
    >>> Zero(ShapedArray((2,), "float32")), Zero.like(3)
    (Zero(float32[2]), Zero(float0[]))
    """

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    @classmethod
    def like(cls, x: Any) -> Zero:
        """The zero tangent at a value."""
        return cls(typeof(x).tangent_aval())

    def __repr__(self) -> str:
        return f"Zero({self.aval.str_short()})"


def instantiate_zeros(x: Any) -> Any:
    """A value for a ``Zero``; anything else as it is.

    >>> import numpy as np
    >>> instantiate_zeros(Zero.like(np.ones(2, np.float32)))
    Array([0., 0.], dtype=float32)
    """
    return summed_as(zeros_like_aval(x.aval), x.aval) if type(x) is Zero else x


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents, either of which may be ``Zero``.

    >>> import numpy as np
    >>> ones = np.ones(2, np.float32)
    >>> add_tangents(ones, ones), add_tangents(Zero.like(ones), ones)
    (Array([2., 2.], dtype=float32), array([1., 1.], dtype=float32))
    """
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return operations_for(typeof(x)).add(x, y)


class UndefPrimal:
    """Stands for an operand that a transpose rule is linear in.

    >>> import numpy as np
    >>> from bindax_core.extend import rules
    >>> from bindax_lax_basic import mul_p
    >>> two, three = np.float32(2), np.float32(3)
    >>> rules.transpose.get(mul_p)([two], UndefPrimal(typeof(two)), three)  # of x * three
    [Array(6., dtype=float32), None]
    """

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"UndefPrimal({self.aval.str_short()})"


def is_undef_primal(x: Any) -> bool:
    """Tell whether an operand of a transpose rule is one to transpose with respect to."""
    return type(x) is UndefPrimal
