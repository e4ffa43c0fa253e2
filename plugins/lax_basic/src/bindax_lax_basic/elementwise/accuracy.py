"""The accuracy that programs ask of elementwise functions, of which there is one here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["AccuracyMode", "Tolerance"]


class AccuracyMode(Enum):
    """The accuracy of an elementwise function, where a device has several.

    The functions here have one: a few units in the last place.

    >>> from bindax_lax_basic import exp
    >>> exp(0.0, accuracy=AccuracyMode.HIGHEST)
    Array(1., dtype=float64, weak_type=True)
    """

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """The error that an elementwise function may have.

    Args:
        atol: the absolute error.
        rtol: the error as a part of the result.
        ulps: the error in units in the last place.

    Raises:
        ValueError: when a bound is negative, or all are zero.

    >>> Tolerance(ulps=4)
    Tolerance(atol=0.0, rtol=0.0, ulps=4)
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        if not all(bound >= 0 for bound in (self.atol, self.rtol, self.ulps)):
            raise ValueError(f"Tolerance: {self!r} has a bound that is negative or no number.")
        if not (self.atol or self.rtol or self.ulps):
            raise ValueError("Tolerance: one of atol, rtol and ulps must be given, above zero.")


Accuracy = AccuracyMode | Tolerance | None


def check_accuracy(name: str, accuracy: Accuracy) -> None:
    """Raise unless an argument ``accuracy`` of a function is one, or None."""
    if not (accuracy is None or isinstance(accuracy, (AccuracyMode, Tolerance))):
        raise TypeError(
            f"{name}: accuracy must be an AccuracyMode, a Tolerance or None, but it is "
            f"{accuracy!r:.80}."
        )
