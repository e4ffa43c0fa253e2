"""Elementwise arithmetic on trees of arrays."""

from __future__ import annotations

import functools
import operator
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.transformation import map_present


def tree_add(tree_x: Any, tree_y: Any, *other_trees: Any) -> Any:
    """The sum of two or more trees.

    >>> tree_add({"w": 1.0}, {"w": 2.0}, {"w": 3.0})
    {'w': 6.0}
    """
    return tree_map(
        lambda *leaves: functools.reduce(operator.add, leaves), tree_x, tree_y, *other_trees
    )


def tree_sub(tree_x: Any, tree_y: Any) -> Any:
    """The difference of two trees.

    >>> tree_sub({"w": 1.0}, {"w": 3.0})
    {'w': -2.0}
    """
    return tree_map(operator.sub, tree_x, tree_y)


def tree_mul(tree_x: Any, tree_y: Any) -> Any:
    """The elementwise product of two trees.

    >>> tree_mul({"w": 2.0}, {"w": 3.0})
    {'w': 6.0}
    """
    return tree_map(operator.mul, tree_x, tree_y)


def tree_div(tree_x: Any, tree_y: Any) -> Any:
    """The elementwise quotient of two trees.

    >>> tree_div({"w": 3.0}, {"w": 2.0})
    {'w': 1.5}
    """
    return tree_map(operator.truediv, tree_x, tree_y)


def tree_scale(scalar: Any, tree: Any) -> Any:
    """The product of a number and a tree.

    >>> tree_scale(2.0, {"w": 3.0})
    {'w': 6.0}
    """
    return tree_map(lambda x: scalar * x, tree)


def tree_add_scale(tree_x: Any, scalar: Any, tree_y: Any) -> Any:
    """The sum of a tree and a multiple of another one: ``tree_x + scalar * tree_y``.

    >>> tree_add_scale({"w": 1.0}, 2.0, {"w": 3.0})
    {'w': 7.0}
    """
    return map_present(lambda x, y: x + scalar * y, tree_x, tree_y)


def tree_conj(tree: Any) -> Any:
    """The complex conjugate.

    >>> import numpy as np
    >>> tree_conj({"w": np.complex64(1 + 2j)})["w"].item()
    (1-2j)
    """
    return tree_map(jnp.conj, tree)


def tree_real(tree: Any) -> Any:
    """The real part.

    >>> import numpy as np
    >>> tree_real({"w": np.complex64(1 + 2j)})["w"].item()
    1.0
    """
    return tree_map(jnp.real, tree)


def tree_clip(tree: Any, min_value: Any = None, max_value: Any = None) -> Any:
    """Each element, limited to an interval.

    >>> import numpy as np
    >>> tree_clip({"w": np.array([-2.0, 0.5])}, -1.0, 1.0)["w"].tolist()
    [-1.0, 0.5]
    """
    return tree_map(lambda x: jnp.clip(x, min_value, max_value), tree)


def tree_where(condition: Any, tree_x: Any, tree_y: Any) -> Any:
    """One tree where a condition holds, another one where not.

    >>> float(tree_where(True, {"w": 1.0}, {"w": 2.0})["w"])
    1.0
    """
    return tree_map(lambda x, y: jnp.where(condition, x, y), tree_x, tree_y)


def tree_full_like(tree: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Arrays of a number, with the shapes of a tree, and by default with its dtypes.

    >>> import numpy as np
    >>> tree_full_like({"w": np.ones(2)}, 3.0)["w"].tolist()
    [3.0, 3.0]
    """
    return tree_map(lambda x: jnp.full_like(x, fill_value, dtype=dtype), tree)


def tree_zeros_like(tree: Any, dtype: Any = None) -> Any:
    """Zeros, with the shapes of a tree, and by default with its dtypes.

    >>> import numpy as np
    >>> tree_zeros_like({"w": np.ones(2)})["w"].tolist()
    [0.0, 0.0]
    """
    return tree_map(lambda x: jnp.zeros_like(x, dtype=dtype), tree)


def tree_ones_like(tree: Any, dtype: Any = None) -> Any:
    """Ones, with the shapes of a tree, and by default with its dtypes.

    >>> import numpy as np
    >>> tree_ones_like({"w": np.zeros(2)})["w"].tolist()
    [1.0, 1.0]
    """
    return tree_map(lambda x: jnp.ones_like(x, dtype=dtype), tree)


def tree_batch_shape(tree: Any, shape: tuple[int, ...] = ()) -> Any:
    """The arrays of a tree, repeated along new leading axes.

    >>> import numpy as np
    >>> tree_batch_shape({"w": np.ones(2)}, (3,))["w"].shape
    (3, 2)
    """
    return tree_map(lambda x: jnp.broadcast_to(x, (*shape, *jnp.shape(x))), tree)
