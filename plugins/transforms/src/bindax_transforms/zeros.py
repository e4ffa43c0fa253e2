"""Symbolic zeros, and the operands that a transpose rule is linear in."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import operations_for, typeof, zeros_like_aval


class Zero:
    """A tangent or cotangent that is known to be zero, so that nothing is computed with it."""

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
    """A value for a ``Zero``; anything else as it is."""
    return zeros_like_aval(x.aval) if type(x) is Zero else x


def add_tangents(x: Any, y: Any) -> Any:
    """The sum of two tangents or cotangents, either of which may be ``Zero``."""
    if type(x) is Zero:
        return y
    if type(y) is Zero:
        return x
    return operations_for(typeof(x)).add(x, y)


class UndefPrimal:
    """Stands for an operand that a transpose rule is linear in."""

    __slots__ = ("aval",)

    def __init__(self, aval: Any) -> None:
        self.aval: Any = aval

    def __repr__(self) -> str:
        return f"UndefPrimal({self.aval.str_short()})"


def is_undef_primal(x: Any) -> bool:
    """Tell whether an operand of a transpose rule is one to transpose with respect to."""
    return type(x) is UndefPrimal
