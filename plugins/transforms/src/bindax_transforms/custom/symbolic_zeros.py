"""Zero tangents and cotangents as objects, for rules that ask for them."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import tree_map, typeof, zeros_like_aval
from bindax_transforms._typed import Typed


class SymbolicZero(Typed):
    """A tangent or cotangent that is known to be zero, as rules with ``symbolic_zeros`` get it.

    It has the type of the value it stands for and no value; a rule may also return it.

    >>> from bindax_transforms import custom_jvp, grad
    >>> @custom_jvp
    ... def product(x, y):
    ...     return x * y
    >>> def rule(primals, tangents):
    ...     print(isinstance(tangents[1], SymbolicZero))
    ...     return product(*primals), tangents[0] * primals[1]
    >>> _ = product.defjvp(rule, symbolic_zeros=True)
    >>> float(grad(product)(2.0, 3.0))
    True
    3.0
    """

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"SymbolicZero({self.aval.str_short()})"


def zero_from_primal(val: Any, symbolic_zeros: bool = False) -> Any:
    """The zero tangent, or cotangent, at a value, or at each leaf of a tree.

    Args:
        val: the value, or a tree of values.
        symbolic_zeros: whether to give a ``SymbolicZero`` object.

    >>> from bindax_transforms import zero_from_primal
    >>> zero_from_primal(2.0, symbolic_zeros=True)
    SymbolicZero(float64[])
    """

    def zero(x: Any) -> Any:
        aval = typeof(x).tangent_aval()
        return SymbolicZero(aval) if symbolic_zeros else zeros_like_aval(aval)

    return tree_map(zero, val)
