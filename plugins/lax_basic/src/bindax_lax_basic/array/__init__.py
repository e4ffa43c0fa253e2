"""Operators, methods, indexing and updates of arrays and tracers."""
