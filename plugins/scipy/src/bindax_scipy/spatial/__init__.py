"""Rotations of space."""

from bindax_scipy.spatial import transform as transform
