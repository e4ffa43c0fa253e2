"""``jax.experimental.sparse``: matrices of coordinates, as far as packages use them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax import numpy as jnp
from bindax import ops, tree_util

__all__ = ["BCOO", "sparsify"]


@tree_util.register_pytree_node_class
class BCOO:
    """An array given by the coordinates of its elements that are not zero.

    Args:
        args: the elements ``[n]`` and their coordinates ``[n, ndim]``.
        shape: the shape of the array.
    """

    def __init__(self, args: tuple[Any, Any], *, shape: tuple[int, ...], **options: Any) -> None:
        self.data, self.indices = args
        self.shape = tuple(shape)

    @classmethod
    def fromdense(cls, mat: Any, *, nse: int | None = None, **options: Any) -> BCOO:
        """The coordinates of a dense array's elements, which must be concrete unless nse is set."""
        places = jnp.nonzero(jnp.asarray(mat), size=nse)
        indices = jnp.stack(places, axis=1)
        return cls((jnp.asarray(mat)[places], indices), shape=jnp.shape(mat))

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def nse(self) -> int:
        """The number of elements that are given."""
        return int(self.indices.shape[0])

    @property
    def T(self) -> BCOO:
        """The transpose of a matrix."""
        return BCOO((self.data, self.indices[:, ::-1]), shape=self.shape[::-1])

    def todense(self) -> Any:
        """The array with its zeros."""
        zeros = jnp.zeros(self.shape, self.data.dtype)
        return zeros.at[tuple(jnp.moveaxis(self.indices, -1, 0))].add(self.data)

    def __matmul__(self, other: Any) -> Any:
        rows, columns = self.indices[:, 0], self.indices[:, 1]
        dense = jnp.asarray(other)
        weights = self.data.reshape((-1,) + (1,) * (dense.ndim - 1))
        return ops.segment_sum(weights * dense[columns], rows, self.shape[0])

    def __rmatmul__(self, other: Any) -> Any:
        dense = jnp.asarray(other)
        if dense.ndim == 1:
            return self.T @ dense
        return jnp.moveaxis(self.T @ jnp.moveaxis(dense, -1, 0), 0, -1)

    def __mul__(self, other: Any) -> BCOO:
        if np.ndim(other):
            other = jnp.broadcast_to(other, self.shape)[tuple(jnp.moveaxis(self.indices, -1, 0))]
        return BCOO((self.data * other, self.indices), shape=self.shape)

    __rmul__ = __mul__

    def tree_flatten(self) -> tuple[tuple[Any, Any], tuple[int, ...]]:
        """The arrays, and the shape."""
        return (self.data, self.indices), self.shape

    @classmethod
    def tree_unflatten(cls, shape: tuple[int, ...], children: tuple[Any, Any]) -> BCOO:
        """A matrix of coordinates again."""
        return cls(children, shape=shape)


def sparsify(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself: it may use the operators of ``BCOO``."""
    return f
