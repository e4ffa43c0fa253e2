"""Values in printed programs, which are left out unless they are asked for.

Numbers that are in every program, such as 0 and 1, say nothing of its data, and stay.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

HIDDEN = "…"
_HARMLESS = {-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, float("inf"), float("-inf")}
_DENSE = re.compile(r"dense<(?!\.\.\.)([^<>]*|\"[^\"]*\")>")
_CONSTANT = re.compile(r"(?<= )constant\((\{.*?\}|[^(){}]*)\)")


def is_harmless(value: Any) -> bool:
    """Tell whether a number is one that programs have whatever their data are.

    >>> is_harmless(1.0), is_harmless(3.14), is_harmless("true")
    (True, False, True)
    """
    if isinstance(value, str) and value in ("true", "false"):
        return True
    try:
        number = float(np.asarray(value)) if not isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        return False
    return number in _HARMLESS or number != number


def hidden_dense(line: str) -> str:
    """Return a line of MLIR with other constants left out."""
    return _DENSE.sub(lambda m: m[0] if is_harmless(m[1]) else f"dense<{HIDDEN}>", line)


def hidden_constant(line: str) -> str:
    """Return a line of HLO with other constants left out."""
    return _CONSTANT.sub(lambda m: m[0] if is_harmless(m[1]) else f"constant({HIDDEN})", line)
