"""Reductions of the rows of an array that share a number."""

from bindax_numpy.segments import segment_max as segment_max
from bindax_numpy.segments import segment_min as segment_min
from bindax_numpy.segments import segment_prod as segment_prod
from bindax_numpy.segments import segment_sum as segment_sum

__all__ = ["segment_max", "segment_min", "segment_prod", "segment_sum"]
