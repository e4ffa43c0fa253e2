"""Activations with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_nnx.layers._common import promoted
from bindax_nnx.module import Module
from bindax_nnx.variables import Param


class PReLU(Module):
    """The identity for positive numbers, a learned multiple of negative ones.

    Args:
        negative_slope_init: the multiple at first.
        param_dtype: the dtype of the parameter.

    >>> import numpy as np
    >>> PReLU()(np.array([-1.0, 1.0], np.float32))
    Array([-0.01,  1.  ], dtype=float32)
    """

    def __init__(self, negative_slope_init: float = 0.01, param_dtype: Any = np.float32) -> None:
        self.negative_slope: Param[Any] = Param(jnp.asarray(negative_slope_init, dtype=param_dtype))
        self.param_dtype = param_dtype

    def __call__(self, inputs: Any) -> Any:
        """Apply the activation elementwise."""
        x, slope = promoted(inputs, self.negative_slope)
        return jnp.where(x >= 0, x, slope * x)
