"""``BCOO``: arrays of which only some elements are stored, with their positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array, ShapedArray, typeof
from bindax_core.tree_util import GetAttrKey, register_pytree_with_keys
from bindax_experimental.sparse.base import JAXSparse
from bindax_transforms import vmap

Shape = tuple[int, ...]


class BCOO(JAXSparse):
    """A sparse array: stored elements, and for each its position (batched coordinate format).

    The axes of the array are batch axes first, then sparse axes, then dense ones. Batches have
    equally many stored entries; an entry is one number for each place along the dense axes.
    Entries of one position add up. Entries whose position is out of bounds, at best the size of
    the axis, are padding. It is a tree of two arrays, so that all transformations take it.

    Args:
        args: ``(data, indices)``, arrays of the shapes ``(*batch, nse, *dense)`` and
            ``(*batch, nse, number of sparse axes)``; ``nse`` is the number of stored entries.
        shape: the shape of the array.
        indices_sorted: whether positions are known to be in lexicographic order.
        unique_indices: whether positions are known to be distinct.

    Raises:
        ValueError: when the shapes do not fit each other.

    >>> m = BCOO.fromdense(jnp.array([[0.0, 2.0], [3.0, 0.0]]))
    >>> m
    BCOO(float32[2, 2], nse=2)
    >>> (m @ jnp.array([1.0, 10.0])).tolist()
    [20.0, 3.0]
    """

    def __init__(
        self,
        args: tuple[Any, Any],
        *,
        shape: Sequence[int],
        indices_sorted: bool = False,
        unique_indices: bool = False,
    ) -> None:
        self.data: Array
        self.indices: Array
        self.data, self.indices = (jnp.asarray(x) for x in args)
        shape = tuple([int(size) for size in shape])
        n_batch = self.indices.ndim - 2
        n_sparse = self.indices.shape[-1] if self.indices.ndim >= 2 else 0
        self._tail = shape[max(n_batch, 0) :]
        self.indices_sorted: bool = indices_sorted
        self.unique_indices: bool = unique_indices
        fits = (
            n_batch >= 0
            and len(shape) >= n_batch + n_sparse
            and self.data.shape
            == (*shape[:n_batch], self.indices.shape[-2], *shape[n_batch + n_sparse :])
            and self.indices.shape[:n_batch] == shape[:n_batch]
        )
        if not fits:
            raise ValueError(
                f"BCOO of the shape {shape} takes data of the shape (*batch, nse, *dense) and "
                f"indices of the shape (*batch, nse, number of sparse axes), but got "
                f"{self.data.shape} and {self.indices.shape}."
            )

    # ------------------------------------------------------------------------------ attributes

    @property
    def n_sparse(self) -> int:
        """The number of sparse axes."""
        return int(self.indices.shape[-1])

    @property
    def n_dense(self) -> int:
        """The number of dense axes."""
        return len(self._tail) - self.n_sparse

    @property
    def n_batch(self) -> int:
        """The number of batch axes."""
        return int(self.indices.ndim) - 2

    @property
    def shape(self) -> Shape:
        """The shape of the array."""
        return (*self.indices.shape[:-2], *self._tail)

    @property
    def sparse_shape(self) -> Shape:
        """The sizes of the sparse axes."""
        return self._tail[: self.n_sparse]

    @property
    def dense_shape(self) -> Shape:
        """The sizes of the dense axes."""
        return self._tail[self.n_sparse :]

    @property
    def nse(self) -> int:
        """The number of entries that are stored for each batch."""
        return int(self.indices.shape[-2])

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    def aval(self) -> ShapedArray:
        """The type of the array."""
        return ShapedArray(self.shape, typeof(self.data).dtype)

    @property
    def _order(self) -> dict[str, bool]:
        """The knowledge of the order of entries, as keyword arguments."""
        return {"indices_sorted": self.indices_sorted, "unique_indices": self.unique_indices}

    def replaced(self, data: Any, indices: Any = None, **flags: bool) -> BCOO:
        """Other entries of an array of the same shape."""
        if indices is None:
            indices, flags = self.indices, self._order | flags
        return BCOO((data, indices), shape=self.shape, **flags)

    def __repr__(self) -> str:
        try:
            shown = (
                f"{np.dtype(self.dtype).name}[{', '.join(map(str, self.shape))}], nse={self.nse}"
            )
            counts = {"n_batch": self.n_batch, "n_dense": self.n_dense}
        except (AttributeError, TypeError):  # the leaves are no arrays
            return f"BCOO({self.data!r}, {self.indices!r})"
        parts = [f"{name}={count}" for name, count in counts.items() if count]
        return f"BCOO({', '.join([shown, *parts])})"

    # ----------------------------------------------------------------------------- conversion

    @classmethod
    def fromdense(
        cls,
        mat: Any,
        *,
        nse: int | None = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
    ) -> BCOO:
        """Take the elements of an array that are not zero; see ``bcoo_fromdense``."""
        return _operation("conversion", "bcoo_fromdense")(
            mat, nse=nse, index_dtype=index_dtype, n_dense=n_dense, n_batch=n_batch
        )

    @classmethod
    def from_scipy_sparse(
        cls, mat: Any, *, index_dtype: Any = None, n_dense: int = 0, n_batch: int = 0
    ) -> BCOO:
        """A sparse array from a sparse matrix or array of SciPy.

        Raises:
            ValueError: when dense or batch axes are asked for, which SciPy has not.
        """
        if n_dense or n_batch:
            raise ValueError("from_scipy_sparse has sparse axes alone: n_dense and n_batch are 0.")
        entries = mat.tocoo()
        places = getattr(entries, "coords", None) or (entries.row, entries.col)
        indices = np.stack(places, axis=-1).astype(index_dtype or np.int32)
        return cls((entries.data, indices), shape=entries.shape)

    @classmethod
    def _empty(
        cls,
        shape: Sequence[int],
        *,
        dtype: Any = None,
        index_dtype: Any = np.int32,
        n_dense: int = 0,
        n_batch: int = 0,
        nse: int = 0,
    ) -> BCOO:
        """A sparse array of zeros, with room for entries."""
        shape = tuple(shape)
        n_sparse = len(shape) - n_dense - n_batch
        if n_sparse < 0 or n_dense < 0 or n_batch < 0:
            raise ValueError(
                f"an array of the shape {shape} cannot have {n_batch} batch axes and {n_dense} "
                f"dense axes."
            )
        batch, sparse = shape[:n_batch], shape[n_batch : n_batch + n_sparse]
        data = jnp.zeros((*batch, nse, *shape[n_batch + n_sparse :]), dtype)
        indices = jnp.broadcast_to(
            jnp.array(sparse, index_dtype).reshape(n_sparse), (*batch, nse, n_sparse)
        )
        return cls((data, indices), shape=shape, indices_sorted=True, unique_indices=True)

    def todense(self) -> Any:
        """The array with all of its elements."""
        return _operation("conversion", "bcoo_todense")(self)

    def astype(self, dtype: Any) -> BCOO:
        """The array with elements of another dtype."""
        return self.replaced(self.data.astype(dtype))

    def __iter__(self) -> Iterator[BCOO]:
        return iter([self[i] for i in range(len(self))])

    # ------------------------------------------------------------------------------ operations

    def transpose(self, axes: Sequence[int] | None = None) -> BCOO:
        """The array with its axes in another order; see ``bcoo_transpose``."""
        permutation = range(self.ndim)[::-1] if axes is None else axes
        return _operation("structure", "bcoo_transpose")(self, permutation=permutation)

    def reshape(self, *args: Any, **kwargs: Any) -> BCOO:
        """The array with other axes; see ``bcoo_reshape``."""
        one = len(args) == 1 and not isinstance(args[0], int)
        sizes = kwargs.pop("new_sizes", args[0] if one else args)
        return _operation("structure", "bcoo_reshape")(self, new_sizes=sizes, **kwargs)

    def sum(self, axis: int | Sequence[int] | None = None) -> Any:
        """Sums over axes; over all of them, an array that is not sparse."""
        axes = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        out = _operation("structure", "bcoo_reduce_sum")(self, axes=axes)
        return out.todense() if axis is None else out

    def sort_indices(self) -> BCOO:
        """The array with its entries in lexicographic order of positions."""
        return _operation("layout", "bcoo_sort_indices")(self)

    def sum_duplicates(self, nse: int | None = None, remove_zeros: bool = True) -> BCOO:
        """The array with one entry for each position; see ``bcoo_sum_duplicates``."""
        if remove_zeros:
            return _operation("layout", "bcoo_eliminate_zeros")(self, nse=nse)
        return _operation("layout", "bcoo_sum_duplicates")(self, nse=nse)

    def update_layout(
        self,
        *,
        n_batch: int | None = None,
        n_dense: int | None = None,
        on_inefficient: str = "error",
    ) -> BCOO:
        """The array with other numbers of batch and dense axes; see ``bcoo_update_layout``."""
        return _operation("layout", "bcoo_update_layout")(
            self, n_batch=n_batch, n_dense=n_dense, on_inefficient=on_inefficient
        )

    def __getitem__(self, index: Any) -> BCOO:
        return _operation("structure", "bcoo_getitem")(self, index)

    def __neg__(self) -> BCOO:
        return self.replaced(-self.data)

    def __pos__(self) -> BCOO:
        return self

    def __abs__(self) -> BCOO:
        distinct = _operation("layout", "distinct")(self)
        return distinct.replaced(abs(distinct.data))

    def __add__(self, other: Any) -> Any:
        return _operation("arithmetic", "add")(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return _operation("arithmetic", "add")(self, -other)

    def __rsub__(self, other: Any) -> Any:
        return _operation("arithmetic", "add")(-self, other)

    def __mul__(self, other: Any) -> Any:
        return _operation("arithmetic", "multiply")(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, BCOO):
            return NotImplemented
        return _operation("arithmetic", "divide")(self, other)

    def __pow__(self, exponent: Any) -> Any:
        return _operation("arithmetic", "power")(self, exponent)

    def __matmul__(self, other: Any) -> Any:
        return _operation("arithmetic", "matmul")(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _operation("arithmetic", "matmul")(other, self)


def _operation(module: str, name: str) -> Callable[..., BCOO]:
    """An operation of this package, whose modules are made of this class."""
    found: Callable[..., BCOO] = getattr(
        import_module(f"bindax_experimental.sparse.{module}"), name
    )
    return found


def _flatten(x: BCOO) -> Any:
    children = ((GetAttrKey("data"), x.data), (GetAttrKey("indices"), x.indices))
    return children, (x._tail, x.indices_sorted, x.unique_indices)


def _unflatten(aux: Any, children: Any) -> BCOO:
    made = object.__new__(BCOO)
    made.data, made.indices = children
    made._tail, made.indices_sorted, made.unique_indices = aux
    return made


register_pytree_with_keys(
    BCOO, _flatten, _unflatten, lambda x: ((x.data, x.indices), _flatten(x)[1])
)


def per_batch(function: Callable[..., Any], n_batch: int) -> Callable[..., Any]:
    """A function of the entries of one batch, for all of them."""
    for _ in range(n_batch):
        function = vmap(function)
    return function


def columns(indices: Any) -> tuple[Any, ...]:
    """The positions of entries along each axis, to index with."""
    return tuple([indices[:, i] for i in range(indices.shape[-1])])


def require_bcoo(caller: str, x: Any) -> BCOO:
    """Raise unless an argument is sparse."""
    if not isinstance(x, BCOO):
        raise TypeError(f"{caller} takes a BCOO array, but got {type(x).__name__}.")
    return x
