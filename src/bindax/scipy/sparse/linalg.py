"""Iterative solvers of linear systems."""

from bindax_scipy.sparse.linalg import bicgstab as bicgstab
from bindax_scipy.sparse.linalg import cg as cg
from bindax_scipy.sparse.linalg import gmres as gmres

__all__ = ["bicgstab", "cg", "gmres"]
