"""Small texts of a program, and its constants."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any


def int_array(values: Sequence[int]) -> str:
    """Integers as the text of an MLIR attribute.

    >>> int_array([0, 2]), int_array([])
    ('array<i64: 0, 2>', 'array<i64>')
    """
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


def symbol_name(name: str) -> str:
    """A name as a symbol of a module.

    >>> symbol_name("<lambda>")
    '_lambda_'
    """
    return re.sub(r"[^\w.\-]", "_", name, flags=re.ASCII) or "_"


def host_constant(value: Any) -> Any:
    """A constant of a jaxpr as something that NumPy understands."""
    numpy = getattr(value, "numpy", None)
    return value if numpy is None else numpy()
