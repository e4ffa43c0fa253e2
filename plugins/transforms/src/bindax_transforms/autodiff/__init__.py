"""Differentiation: forward, partial evaluation, transposition, reverse."""
