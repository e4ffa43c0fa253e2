"""Elementwise primitives: arithmetic, comparison, elementary functions, bits, conversion."""
