"""The samples of a row, as ratios of two libraries."""

from __future__ import annotations

from statistics import quantiles
from typing import NamedTuple


class Ratios(NamedTuple):
    """The samples of one row in both processes: smallest ones, and ratios of neighbours."""

    name: str
    own: float
    other: float
    ratios: list[float]
    most: float | None = None
    unit: str = "s"

    @property
    def of_minima(self) -> float:
        """The ratio of the smallest samples: what else runs only adds."""
        return self.own / self.other

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The quartiles of the ratios of neighbouring bursts, the median in the middle."""
        low, middle, high = quantiles(self.ratios, n=4, method="inclusive")
        return low, middle, high

    def line(self) -> str:
        """The line of the table that is printed."""
        low, middle, high = self.quartiles
        scale = 1e6 if self.unit == "s" else 1e-6
        most = "" if self.most is None else f"{self.most:.2f}"
        return (
            f"{self.name:45} {scale * self.own:11.2f} {scale * self.other:11.2f} "
            f"{self.of_minima:7.2f} {middle:7.2f} ({low:.2f} to {high:.2f})  {most}"
        ).rstrip()
