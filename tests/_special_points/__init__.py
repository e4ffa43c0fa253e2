"""Derivatives at special points, beside one-sided differences of values."""
