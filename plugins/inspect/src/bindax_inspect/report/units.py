"""Numbers with units for readers."""

from __future__ import annotations


def _scaled(number: float, base: float, units: tuple[str, ...]) -> str:
    value, power = float(number), 0
    while abs(value) >= base and power < len(units) - 1:
        value, power = value / base, power + 1
    digits = 0 if not power and value == int(value) else 1
    return f"{value:.{digits}f} {units[power]}".rstrip()


def size(number: float) -> str:
    """Return a number of bytes with a unit.

    >>> size(3), size(2048), size(3.5 * 2**30)
    ('3 B', '2.0 KiB', '3.5 GiB')
    """
    return _scaled(number, 1024.0, ("B", "KiB", "MiB", "GiB", "TiB"))


def count(number: float) -> str:
    """Return a number of operations with a prefix.

    >>> count(12), count(1_500_000)
    ('12', '1.5 M')
    """
    return _scaled(number, 1000.0, ("", "k", "M", "G", "T", "P"))


def duration(seconds: float) -> str:
    """Return a time with a unit.

    >>> duration(0.0), duration(2.5e-5), duration(1.5)
    ('0', '25.0 µs', '1.50 s')
    """
    if seconds <= 0.0:
        return "0"
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1.0 else f"{seconds:.2f} s"
