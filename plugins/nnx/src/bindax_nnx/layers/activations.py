"""Activations with parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax_numpy as jnp
from bindax_core.extend import Array
from bindax_nnx.layers._common import (
    Layer,
    Metadata,
    PromoteDtype,
    array_of,
    promoted,
)
from bindax_nnx.variables import Param


class PReLU(Layer):
    """The identity for positive numbers, a learned multiple of negative ones.

    Args:
        negative_slope_init: the multiple at first.
        dtype: the dtype of the computation; by default that of inputs.
        param_dtype: the dtype of the parameter.
        negative_slope_metadata: metadata of the variable.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.

    >>> import numpy as np
    >>> PReLU()(np.array([-1.0, 1.0], np.float32))
    Array([-0.01,  1.  ], dtype=float32)
    """

    dtype: Any
    param_dtype: Any
    promote_dtype: PromoteDtype

    def __init__(
        self,
        negative_slope_init: float = 0.01,
        *,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        negative_slope_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
    ) -> None:
        slope = jnp.asarray(negative_slope_init, dtype=param_dtype)
        self.negative_slope: Param[Any] = Param(slope, **(negative_slope_metadata or {}))
        self.dtype, self.param_dtype, self.promote_dtype = dtype, param_dtype, promote_dtype

    def __call__(self, inputs: Any) -> Array:
        """Apply the activation elementwise."""
        x = jnp.asarray(array_of(inputs))
        x, slope = promoted(
            x, self.negative_slope, dtype=self.dtype or x.dtype, by=self.promote_dtype
        )
        return jnp.where(x >= 0, x, slope * x)
