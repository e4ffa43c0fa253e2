"""Shapes and axes: transposing, broadcasting, reshaping, slicing, joining, and making arrays."""
