"""Projections of trees to convex sets: the nearest tree in the set."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_numpy.extend import ravel_pytree
from bindax_optimizers.tree_utils import (
    tree_add_scale,
    tree_norm,
    tree_scale,
    tree_vdot,
    tree_where,
)
from bindax_transforms import custom_jvp

__all__ = [
    "projection_box",
    "projection_halfspace",
    "projection_hypercube",
    "projection_hyperplane",
    "projection_l1_ball",
    "projection_l1_sphere",
    "projection_l2_ball",
    "projection_l2_sphere",
    "projection_linf_ball",
    "projection_non_negative",
    "projection_simplex",
    "projection_vector",
]


def projection_non_negative(tree: Any) -> Any:
    """The nearest tree without negative numbers.

    >>> import numpy as np
    >>> projection_non_negative({"w": np.array([-1.0, 2.0])})["w"].tolist()
    [0.0, 2.0]
    """
    return tree_map(lambda x: jnp.maximum(x, 0), tree)


def projection_box(tree: Any, lower: Any, upper: Any) -> Any:
    """The nearest tree between limits.

    Args:
        tree: a tree of arrays.
        lower: the lower limits: a number, or a tree of numbers or arrays.
        upper: the upper limits, alike.

    >>> import numpy as np
    >>> projection_box({"w": np.array([-1.0, 2.0])}, 0.0, 1.0)["w"].tolist()
    [0.0, 1.0]
    """

    def each(limit: Any) -> Any:
        return tree_map(lambda _: limit, tree) if jnp.ndim(limit) == 0 else limit

    limits = [
        limit if isinstance(limit, dict | list | tuple) else each(limit) for limit in (lower, upper)
    ]
    return tree_map(jnp.clip, tree, *limits)


def projection_hypercube(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree of numbers from 0 to ``scale``.

    >>> import numpy as np
    >>> projection_hypercube({"w": np.array([-1.0, 2.0])})["w"].tolist()
    [0.0, 1.0]
    """
    return projection_box(tree, 0, scale)


@custom_jvp
def _unit_simplex(values: Any) -> Any:
    """The nearest vector of numbers that are not negative and sum to 1 (Duchi et al., 2008)."""
    falling = jnp.sort(values)[::-1]
    counts = jnp.arange(1, len(values) + 1)
    means = (jnp.cumsum(falling) - 1) / counts
    used = jnp.sum(falling > means)
    return jnp.maximum(values - means[used - 1], 0).astype(values.dtype)


@_unit_simplex.defjvp
def _unit_simplex_jvp(primals: Any, tangents: Any) -> tuple[Any, Any]:
    result = _unit_simplex(*primals)
    used = (result > 0).astype(result.dtype)
    (tangent,) = tangents
    return result, used * (tangent - jnp.sum(used * tangent) / jnp.sum(used))


def projection_simplex(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree of numbers that are not negative and sum to ``scale``.

    >>> import numpy as np
    >>> projection_simplex({"w": np.array([2.0, 1.5, -3.0])})["w"].tolist()
    [0.75, 0.25, 0.0]
    """
    values, unravel = ravel_pytree(tree)
    return unravel((scale * _unit_simplex(values / scale)).astype(values.dtype))


def projection_l1_sphere(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree whose absolute values sum to ``scale``.

    >>> import numpy as np
    >>> projection_l1_sphere({"w": np.array([2.0, -1.5])})["w"].tolist()
    [0.75, -0.25]
    """
    sizes = projection_simplex(tree_map(jnp.abs, tree), scale)
    return tree_map(lambda x, size: jnp.sign(x) * size, tree, sizes)


def projection_l1_ball(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree whose absolute values sum to at most ``scale``.

    >>> import numpy as np
    >>> projection_l1_ball({"w": np.array([0.5, -0.25])})["w"].tolist()
    [0.5, -0.25]
    """
    return tree_where(tree_norm(tree, ord=1) <= scale, tree, projection_l1_sphere(tree, scale))


def projection_l2_sphere(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree of norm ``scale``.

    >>> import numpy as np
    >>> projection_l2_sphere({"w": np.array([3.0, 4.0])}, 10.0)["w"].tolist()
    [6.0, 8.0]
    """
    return tree_scale(scale / tree_norm(tree), tree)


def projection_l2_ball(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree of a norm of at most ``scale``.

    >>> import numpy as np
    >>> projection_l2_ball({"w": np.array([3.0, 4.0])}, 2.5)["w"].tolist()
    [1.5, 2.0]
    """
    square = tree_norm(tree, squared=True)
    return tree_scale(scale / jnp.sqrt(jnp.maximum(square, scale**2)), tree)


def projection_linf_ball(tree: Any, scale: Any = 1) -> Any:
    """The nearest tree of numbers from minus ``scale`` to ``scale``.

    >>> import numpy as np
    >>> projection_linf_ball({"w": np.array([3.0, -4.0])})["w"].tolist()
    [1.0, -1.0]
    """
    return projection_box(tree, -scale, scale)


def projection_vector(x: Any, a: Any) -> Any:
    """The nearest multiple of a tree.

    >>> import numpy as np
    >>> projection_vector(np.array([3.0, 4.0]), np.array([2.0, 0.0])).tolist()
    [3.0, 0.0]
    """
    return tree_scale(tree_vdot(x, a) / tree_vdot(a, a), a)


def projection_hyperplane(x: Any, a: Any, b: Any) -> Any:
    """The nearest tree whose inner product with ``a`` is ``b``.

    >>> import numpy as np
    >>> projection_hyperplane(np.array([3.0, 4.0]), np.array([2.0, 0.0]), 2.0).tolist()
    [1.0, 4.0]
    """
    return tree_add_scale(x, (b - tree_vdot(x, a)) / tree_vdot(a, a), a)


def projection_halfspace(x: Any, a: Any, b: Any) -> Any:
    """The nearest tree whose inner product with ``a`` is at most ``b``.

    >>> import numpy as np
    >>> projection_halfspace(np.array([3.0, 4.0]), np.array([2.0, 0.0]), 8.0).tolist()
    [3.0, 4.0]
    """
    excess = jnp.minimum((b - tree_vdot(x, a)) / tree_vdot(a, a), 0)
    return tree_add_scale(x, excess, a)
