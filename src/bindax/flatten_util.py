"""Nested containers of arrays as one vector."""

from bindax_numpy.ravel_pytree import ravel_pytree as ravel_pytree

__all__ = ["ravel_pytree"]
