"""Limits on the size of gradients."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_core.extend import Array, tree_leaves, tree_map, tree_structure, tree_unflatten, typeof
from bindax_optimizers.numerics import abs_square
from bindax_optimizers.transformation import (
    GradientTransformation,
    map_present,
    require_params,
    stateless,
)
from bindax_optimizers.tree_utils import tree_clip, tree_norm
from bindax_transforms import vmap

__all__ = [
    "adaptive_grad_clip",
    "clip",
    "clip_by_block_rms",
    "clip_by_global_norm",
    "global_norm",
    "per_example_global_norm_clip",
    "per_example_layer_norm_clip",
    "unitwise_clip",
    "unitwise_norm",
]


def global_norm(updates: Any) -> Array:
    """The Euclidean norm of all arrays of a tree together.

    >>> import numpy as np
    >>> float(global_norm([np.array([3.0]), np.array([4.0])]))
    5.0
    """
    return tree_norm(updates)


def clip(max_delta: Any) -> GradientTransformation:
    """Limits each element to an interval around zero.

    >>> import numpy as np
    >>> transformation = clip(1.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([0.5, -2.0]), state)
    >>> updates.round(2)
    Array([ 0.5, -1. ], dtype=float64)
    """
    return stateless(lambda updates, params: tree_clip(updates, -max_delta, max_delta))


def clip_by_block_rms(threshold: Any) -> GradientTransformation:
    """Scales each array down whose root mean square is too large (Shazeer and Stern, 2018).

    >>> import numpy as np
    >>> transformation = clip_by_block_rms(1.0)
    >>> updates, _ = transformation.update(np.array([4.0, -4.0]), transformation.init(None))
    >>> updates.tolist()
    [1.0, -1.0]
    """

    def limit(u: Any) -> Any:
        return u / jnp.maximum(1.0, jnp.sqrt(jnp.mean(abs_square(u))) / threshold)

    return stateless(lambda updates, params: tree_map(limit, updates))


def clip_by_global_norm(max_norm: Any) -> GradientTransformation:
    """Scales gradients down whose norm, over all of them, is too large (Pascanu et al., 2013).

    >>> import numpy as np
    >>> transformation = clip_by_global_norm(1.0)
    >>> state = transformation.init(np.zeros(2))
    >>> updates, state = transformation.update(np.array([3.0, 4.0]), state)
    >>> updates.round(2)
    Array([0.6, 0.8], dtype=float64)
    """

    def limit(updates: Any, params: Any) -> Any:
        norm = tree_norm(updates)
        return tree_map(
            lambda g: jnp.where(norm < max_norm, g, (g / norm.astype(g.dtype)) * max_norm), updates
        )

    return stateless(limit)


def unitwise_norm(x: Any, axis: Any = None) -> Array:
    """The norm of the weights of each output unit, repeated along the others' axes.

    Args:
        x: the weights, of up to five dimensions, with the outputs along the last axis.
        axis: the axes of the inputs, where the weights are laid out in another way.

    Raises:
        ValueError: the weights have more dimensions, and no axis is given.

    >>> import numpy as np
    >>> unitwise_norm(np.array([[3.0, 1.0], [4.0, 0.0]])).tolist()
    [[5.0, 1.0], [5.0, 1.0]]
    """
    x = jnp.asarray(x)
    inputs = {2: 0, 3: 0, 4: (0, 1, 2), 5: (0, 1, 2, 3)}
    if axis is None and jnp.squeeze(x).ndim > 1:
        if x.ndim not in inputs:
            raise ValueError(
                f"unitwise_norm knows weights of up to 5 dimensions, but the shape is {x.shape}; "
                f"pass the axes of the inputs as axis."
            )
        axis = inputs[x.ndim]
    square = jnp.sum(abs_square(x), axis=axis, keepdims=True)
    some = square != 0  # where all are zero, the derivative is zero, as of other norms
    norm = jnp.where(some, jnp.sqrt(jnp.where(some, square, 1)), 0)
    return jnp.broadcast_to(norm, x.shape)


def unitwise_clip(g_norm: Any, max_norm: Any, grad: Any, div_eps: Any = 1e-6) -> Array:
    """Gradients, scaled down where their norm is too large.

    Args:
        g_norm: the norms, of the shape of the gradients.
        max_norm: the largest norms, of the same shape.
        grad: the gradients.
        div_eps: the least norm that is divided by.

    Raises:
        ValueError: the shapes differ.

    >>> import numpy as np
    >>> unitwise_clip(np.full(2, 5.0), np.ones(2), np.array([3.0, 4.0])).round(1).tolist()
    [0.6, 0.8]
    """
    shapes = [typeof(x).shape for x in (g_norm, max_norm, grad)]
    if len({*shapes}) > 1:
        raise ValueError(
            f"unitwise_clip: norms, largest norms and gradients must have one shape, but have "
            f"{', '.join(map(str, shapes))}."
        )
    limited = grad * (max_norm / jnp.maximum(g_norm, div_eps))
    return jnp.where(g_norm < max_norm, grad, limited)


def adaptive_grad_clip(clipping: Any, eps: Any = 0.001, axis: Any = None) -> GradientTransformation:
    """Scales gradients down that are large beside the weights of their unit (Brock et al., 2021).

    Args:
        clipping: the largest ratio of both norms.
        eps: the least norm of weights that counts.
        axis: as for ``unitwise_norm``.

    Raises:
        ValueError: at the update, without parameters.

    >>> import numpy as np
    >>> transformation = adaptive_grad_clip(0.1)
    >>> params = np.array([3.0, 4.0])
    >>> state = transformation.init(params)
    >>> updates, _ = transformation.update(np.array([6.0, 8.0]), state, params)
    >>> updates.round(2).tolist()
    [0.3, 0.4]
    """

    def limit(updates: Any, params: Any) -> Any:
        require_params("adaptive_grad_clip", params)

        def one(g: Any, p: Any) -> Any:
            largest = clipping * jnp.maximum(unitwise_norm(p, axis), eps)
            return unitwise_clip(unitwise_norm(g, axis), largest, g)

        return map_present(one, updates, params)

    return stateless(limit)


def per_example_global_norm_clip(grads: Any, l2_norm_clip: Any) -> tuple[Any, Array]:
    """The sum of the gradients of examples, each scaled down where its norm is too large.

    Args:
        grads: a tree of gradients with the examples along their first axis.
        l2_norm_clip: the largest norm.

    Returns:
        The sum over the examples, and the number of those that were scaled down.

    Raises:
        ValueError: the arrays have no common first axis.

    >>> import numpy as np
    >>> total, count = per_example_global_norm_clip({"w": np.array([[3.0, 4.0], [0.0, 1.0]])}, 1.0)
    >>> total["w"].round(1).tolist(), int(count)
    ([0.6, 1.8], 1)
    """
    shapes = [typeof(x).shape for x in tree_leaves(grads)]
    if len({shape[:1] for shape in shapes}) > 1 or () in shapes:
        raise ValueError(
            f"per-example clipping needs gradients with the examples along their first axis, but "
            f"the shapes are {', '.join(map(str, shapes))}; vmap the gradient over the examples."
        )
    ratio = jnp.minimum(l2_norm_clip / vmap(tree_norm)(grads), 1.0)
    factors = jnp.where(jnp.isnan(ratio), 1.0, ratio)
    total = tree_map(lambda g: jnp.tensordot(factors, g, axes=1), grads)
    return total, jnp.sum(factors < 1.0)


def per_example_layer_norm_clip(
    grads: Any, global_l2_norm_clip: Any, uniform: bool = True
) -> tuple[Any, Any]:
    """The sum of the gradients of examples, each array scaled down where its norm is too large.

    Args:
        grads: a tree of gradients with the examples along their first axis.
        global_l2_norm_clip: the largest norm of all arrays together.
        uniform: whether all arrays have the same share of it, or one by their number of elements.

    Returns:
        The sum over the examples, and for each array the number of those that were scaled down.

    Raises:
        ValueError: the arrays have no common first axis.

    >>> import numpy as np
    >>> total, count = per_example_layer_norm_clip({"w": np.array([[3.0, 4.0], [0.0, 1.0]])}, 1.0)
    >>> total["w"].round(1).tolist(), int(count["w"])
    ([0.6, 1.8], 1)
    """
    leaves, structure = tree_leaves(grads), tree_structure(grads)
    sizes = [1 if uniform else typeof(g).size // max(1, typeof(g).shape[0]) for g in leaves]
    clipped = [
        per_example_global_norm_clip(g, global_l2_norm_clip * (size / sum(sizes)) ** 0.5)
        for g, size in zip(leaves, sizes, strict=True)
    ]
    totals, counts = [total for total, _ in clipped], [count for _, count in clipped]
    return tree_unflatten(structure, totals), tree_unflatten(structure, counts)
