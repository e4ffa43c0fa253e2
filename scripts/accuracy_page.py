"""The table of errors in units in the last place, from the record of ``scripts/accuracy.py``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORD = Path(__file__).resolve().parent / "accuracy.json"
COLUMNS = ("function", "dtype", "NumPy", "XLA", "median", "worst input", "of 1", "JAX", "SciPy")


def accuracy() -> str:
    """Return the table of all functions."""
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    rows = [cells(name, dtype, found) for name in record for dtype, found in record[name].items()]
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cells(name: str, dtype: str, found: dict[str, Any]) -> list[str]:
    """Return the row of one function and dtype."""
    compiled = found["xla"]
    others = [number(found[way]["worst"]) if way in found else "" for way in ("jax", "scipy")]
    return [
        f"`{name}`",
        dtype,
        number(found["numpy"]["worst"]),
        number(compiled["worst"]),
        number(compiled["median"]),
        f"`{', '.join(f'{x:.9g}' for x in compiled['at'])}`",
        number(max(found["numpy"]["absolute"], compiled["absolute"])),
        *others,
    ]


def number(x: float) -> str:
    """Return a number of units; infinite ones are those of a wrong nan or of an overflow."""
    return "∞" if x >= 1e300 else f"{x:.2g}" if x < 100 else f"{x:.0f}" if x < 1e5 else f"{x:.1e}"
