"""Moving averages of the powers of gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import tree_map
from bindax_optimizers.numerics import abs_square
from bindax_optimizers.transformation import map_present

WIDE = {np.dtype("float64"), np.dtype("complex128")}


def tree_update_moment(updates: Any, moments: Any, decay: Any, order: Any) -> Any:
    """The next moving average of a power of gradients.

    Args:
        updates: the gradients.
        moments: the average so far.
        decay: how much of it is kept.
        order: the power.

    >>> float(tree_update_moment({"w": 2.0}, {"w": 0.0}, 0.5, 2)["w"])
    2.0
    """
    return map_present(lambda g, m: (1 - decay) * g**order + decay * m, updates, moments)


def tree_update_moment_per_elem_norm(updates: Any, moments: Any, decay: Any, order: Any) -> Any:
    """The next moving average of a power of the absolute values of gradients.

    >>> import numpy as np
    >>> moments = tree_update_moment_per_elem_norm({"w": np.array([2.0j])}, {"w": 0.0}, 0.5, 2)
    >>> moments["w"].tolist()
    [2.0]
    """

    def power(g: Any) -> Any:
        return abs_square(g) ** (order / 2) if jnp.iscomplexobj(g) else g**order

    return map_present(lambda g, m: (1 - decay) * power(g) + decay * m, updates, moments)


def tree_update_infinity_moment(updates: Any, moments: Any, decay: Any, eps: Any) -> Any:
    """The next largest absolute value of gradients, of which earlier ones count less.

    >>> float(tree_update_infinity_moment({"w": -2.0}, {"w": 8.0}, 0.5, 0.0)["w"])
    4.0
    """
    return map_present(lambda g, m: jnp.maximum(jnp.abs(g) + eps, decay * m), updates, moments)


def tree_bias_correction(moment: Any, decay: Any, count: Any) -> Any:
    """A moving average that began at zero, corrected for that.

    Args:
        moment: the average.
        decay: how much of it is kept at each step.
        count: the number of steps.

    >>> import numpy as np
    >>> tree_bias_correction({"w": np.array([1.0])}, 0.5, np.int32(1))["w"].tolist()
    [2.0]
    """
    weights: dict[str, Any] = {}

    def correct(m: Any) -> Any:
        m = jnp.asarray(m)
        dtype = "float64" if m.dtype in WIDE else "float32"
        if dtype not in weights:
            weights[dtype] = 1 - jnp.asarray(decay, dtype) ** count
        return m / weights[dtype].astype(m.dtype)

    return tree_map(correct, moment)
