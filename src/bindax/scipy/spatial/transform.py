"""Rotations of space."""

from bindax_scipy.spatial.transform import Rotation as Rotation
from bindax_scipy.spatial.transform import Slerp as Slerp

__all__ = ["Rotation", "Slerp"]
