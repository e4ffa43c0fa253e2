"""Sums, norms and extrema of all arrays of a tree together."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_leaves, tree_map
from bindax_numpy.extend import root
from bindax_optimizers.numerics import abs_square


def tree_sum(tree: Any, associative_reduction: bool = False) -> Any:
    """The sum of all elements.

    Args:
        tree: a tree of arrays.
        associative_reduction: whether the sums of the arrays are added in pairs, which is more
            exact for many arrays, and not one after the other.

    >>> import numpy as np
    >>> float(tree_sum({"w": np.ones(2), "b": np.ones(3)}))
    5.0
    """
    sums = [jnp.sum(x) for x in tree_leaves(tree)]
    while associative_reduction and len(sums) > 1:
        pairs = zip(sums[::2], sums[1::2], strict=False)
        sums = [a + b for a, b in pairs] + sums[len(sums) // 2 * 2 :]
    return functools.reduce(operator.add, sums, 0)


def tree_vdot(tree_x: Any, tree_y: Any) -> Any:
    """The inner product of two trees; the first one is conjugated.

    >>> import numpy as np
    >>> float(tree_vdot({"w": np.array([1.0, 2.0])}, {"w": np.array([3.0, 4.0])}))
    11.0
    """
    products = tree_map(lambda x, y: jnp.vdot(x, y, precision="highest"), tree_x, tree_y)
    return functools.reduce(operator.add, tree_leaves(products), 0)


def tree_norm(tree: Any, ord: int | str | float | None = None, squared: bool = False) -> Array:
    """The norm of all arrays of a tree as one vector.

    Args:
        tree: a tree of arrays.
        ord: the order of the norm: 2, the default, 1, or ``inf``.
        squared: whether to return its square.

    Raises:
        ValueError: the order is another one.

    >>> import numpy as np
    >>> float(tree_norm({"w": np.array([3.0]), "b": np.array([4.0])}))
    5.0
    """
    if ord is None or ord == 2:
        square = tree_sum(tree_map(abs_square, tree))
        return jnp.asarray(square) if squared else root(jnp.asarray(square, dtype=_inexact(square)))
    if ord == 1:
        norm = tree_sum(tree_map(jnp.abs, tree))
    elif ord in (jnp.inf, "inf", "infinity"):
        norm = tree_max(tree_map(jnp.abs, tree))
    else:
        raise ValueError(f"tree_norm knows the orders 1, 2 and inf, but ord is {ord!r}.")
    return jnp.asarray(norm * norm if squared else norm)


def _inexact(x: Any) -> Any:
    return jnp.promote_types(jnp.asarray(x).dtype, "float16") if _is_exact(x) else None


def _is_exact(x: Any) -> bool:
    return not jnp.issubdtype(jnp.asarray(x).dtype, jnp.inexact)


def tree_max(tree: Any) -> Any:
    """The largest element, minus infinity if there is none.

    >>> import numpy as np
    >>> float(tree_max({"w": np.array([1.0, 5.0]), "b": np.array([2.0])}))
    5.0
    """
    return _extremum(jnp.max, jnp.maximum, -jnp.inf, tree)


def tree_min(tree: Any) -> Any:
    """The smallest element, infinity if there is none.

    >>> import numpy as np
    >>> float(tree_min({"w": np.array([1.0, 5.0]), "b": np.array([2.0])}))
    1.0
    """
    return _extremum(jnp.min, jnp.minimum, jnp.inf, tree)


def _extremum(
    of_array: Callable[[Any], Any], of_two: Callable[..., Any], start: float, tree: Any
) -> Any:
    found = [of_array(x) for x in tree_leaves(tree) if jnp.size(x)]
    return functools.reduce(of_two, found, start)


def tree_size(tree: Any) -> int:
    """The number of elements.

    >>> import numpy as np
    >>> tree_size({"w": np.ones((2, 3)), "b": np.ones(3)})
    9
    """
    return sum(int(jnp.size(x)) for x in tree_leaves(tree))


def tree_allclose(
    a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False
) -> Any:
    """Tell whether all elements of two trees are equal within a tolerance.

    >>> import numpy as np
    >>> bool(tree_allclose({"w": np.ones(2)}, {"w": np.ones(2) + 1e-9}))
    True
    """
    close = tree_map(lambda x, y: jnp.allclose(x, y, rtol, atol, equal_nan), a, b)
    return functools.reduce(operator.and_, tree_leaves(close), True)
