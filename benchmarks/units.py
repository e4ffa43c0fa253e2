"""Quantities as text, in a unit that suits them."""

from __future__ import annotations

UNITS = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "B": ((1e6, "MB"), (1e3, "kB"), (1.0, "B")),
}


def quantity(value: float, unit: str = "s") -> str:
    """Print a time or a number of bytes in a unit that suits it.

    >>> quantity(0.0000123), quantity(640_516, "B")
    ('12.3 µs', '641 kB')
    """
    units = UNITS[unit]
    scale, name = next((u for u in units if value >= u[0]), units[-1])
    return f"{value / scale:.3g} {name}"


def difference(seconds: float) -> str:
    """Print a difference of times, with its sign.

    >>> difference(-0.0021)
    '-2.1 ms'
    """
    return f"{'-' if seconds < 0 else '+'}{quantity(abs(seconds))}"
