"""Rotations of space."""

from bindax.scipy.spatial import transform as transform

__all__ = ["transform"]
