"""Reductions of windows: by any computation, and by sum, maximum and minimum."""
