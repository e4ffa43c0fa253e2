"""``JAXSparse``: the base of sparse arrays, by which programs tell them from others."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from bindax_core import block_until_ready
from bindax_core.tree_util import tree_leaves


class JAXSparse:
    """Base of sparse arrays.

    A class of one has the attributes ``shape``, ``dtype`` and ``nse``, the number of stored
    entries, and the methods ``todense`` and ``transpose``; what follows from them is here.

    >>> import bindax_numpy as jnp
    >>> from bindax_experimental.sparse import BCOO, JAXSparse
    >>> isinstance(BCOO.fromdense(jnp.eye(2)), JAXSparse)
    True
    """

    __array_priority__ = 100
    __array_ufunc__ = None
    __hash__: ClassVar[None] = None  # type: ignore[assignment]

    @property
    def ndim(self: Any) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self: Any) -> int:
        """The number of elements, those that are not stored counted."""
        return math.prod(self.shape)

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        return self.transpose()

    def transpose(self, axes: Any = None) -> Any:
        """The array with its axes in another order."""
        raise TypeError(f"{type(self).__name__} must define transpose")

    def todense(self) -> Any:
        """The array with all of its elements."""
        raise TypeError(f"{type(self).__name__} must define todense")

    def block_until_ready(self) -> Any:
        """Wait until the entries are computed."""
        block_until_ready(tree_leaves(self))
        return self

    def __len__(self: Any) -> int:
        if not self.ndim:
            raise TypeError("len() of a sparse array without axes.")
        return int(self.shape[0])
