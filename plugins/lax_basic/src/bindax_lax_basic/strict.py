"""Strict promotion: what ``config.numpy_dtype_promotion = "strict"`` refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax_core.errors import TypePromotionError
from bindax_core.extend import config, dtype_name

_BREADTH = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "float": 2, "complex": 3}


def require_one_dtype(operands: Sequence[tuple[Any, bool]], kind_of: Callable[[Any], str]) -> None:
    """Raise, where the setting says so, unless arrays have one dtype to which all scalars go.

    Scalars go to dtypes of their own kind and of wider ones.

    Args:
        operands: the dtype and weak type of each.
        kind_of: gives the kind of a dtype by name.

    Raises:
        TypePromotionError: naming the dtypes.
    """
    if config.numpy_dtype_promotion == "standard":
        return
    strong = {dtype for dtype, weak in operands if not weak}
    if not strong:
        return
    breadth = _BREADTH.get(kind_of(next(iter(strong))), 0)
    scalars = [_BREADTH.get(kind_of(dtype), 0) for dtype, weak in operands if weak]
    if len(strong) == 1 and all(0 < one <= breadth for one in scalars):
        return
    names = ", ".join(dtype_name(d) + (" (a scalar)" if weak else "") for d, weak in operands)
    raise TypePromotionError(
        f"the dtypes {names} are different, and config.numpy_dtype_promotion is 'strict'; "
        f"convert the operands explicitly with .astype(dtype)."
    )
