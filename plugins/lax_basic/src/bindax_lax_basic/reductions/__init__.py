"""Reductions over axes, positions of extrema, and cumulative operations."""
