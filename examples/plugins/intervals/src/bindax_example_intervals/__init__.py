"""Bounds of functions by interval arithmetic: a transformation of bindax, brought from outside."""

from bindax_example_intervals.interval import Interval as Interval
from bindax_example_intervals.transformation import bounds as bounds
from bindax_example_intervals.transformation import interval as interval
