"""Taylor mode: the derivatives of a function along a curve, of all orders at once."""

from bindax_experimental.jet import Taylor as Taylor
from bindax_experimental.jet import jet as jet
from bindax_experimental.jet import taylor as taylor

__all__ = ["Taylor", "jet", "taylor"]
