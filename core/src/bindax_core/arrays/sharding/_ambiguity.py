"""The errors of sharding rules, which say what is ambiguous and what decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bindax_core._extension_points import runtime
from bindax_core.errors import ShardingTypeError

if TYPE_CHECKING:
    from bindax_core.kernel._primitive import Primitive

OUT_SHARDING = (
    "Say how the result lies, by out_sharding=... or auto_axes, or lay an operand out in another "
    "way, by reshard."
)


def ambiguous(primitive: Primitive, problem: str, avals: Sequence[Any]) -> ShardingTypeError:
    """The error of a sharding rule that cannot say how a result lies.

    >>> from bindax_core.extend import ShapedArray
    >>> from bindax_lax_basic import sort_p
    >>> print(ambiguous(sort_p, "sorts along a divided axis", [ShapedArray((2,), "float32")]))
    sort sorts along a divided axis: float32[2]. Say how the result lies, by ...
    """
    return ShardingTypeError(f"{primitive.name} {problem}: {listed(avals)}. {OUT_SHARDING}")


def listed(avals: Sequence[Any]) -> str:
    """The types of operands, for messages."""
    return ", ".join([aval.str_short() for aval in avals])


def missing(primitive: Primitive, avals: Sequence[Any]) -> ShardingTypeError:
    """The error of a primitive without a rule, of operands that are divided."""
    origin = runtime.plugins.describe_site(primitive.site)
    return ShardingTypeError(
        f"{primitive.name} of {origin} has no sharding rule, so nothing says how its results lie "
        f"for {listed(avals)}. Have the compiler decide, by auto_axes(f, out_sharding=...); give "
        f"it operands that are whole, by reshard(x, P()); or add a rule to its definition, or by "
        f"extend to that of another package: rules.sharding(...)."
    )
