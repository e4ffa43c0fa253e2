"""Low-rank adaptation: learned corrections of small rank (Hu et al., 2021)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bindax_core.extend import Array
from bindax_nn import initializers
from bindax_nnx.layers._common import (
    Initializer,
    Layer,
    Metadata,
    PromoteDtype,
    check_features,
    params_key,
    promoted,
    zeros,
)
from bindax_nnx.layers.linear import Linear
from bindax_nnx.rngs import Rngs
from bindax_nnx.variables import Param, Variable


class LoRAParam(Param[Any]):
    """A parameter of a low-rank correction.

    >>> from bindax_nnx.rngs import Rngs
    >>> from bindax_nnx import LoRA, state
    >>> sorted(state(LoRA(4, 2, 3, rngs=Rngs(0)), LoRAParam))
    ['lora_a', 'lora_b']
    """

    __slots__ = ()


class LoRA(Layer):
    """A product of two thin matrices, added to what another module gives.

    Args:
        in_features: the number of features of inputs.
        lora_rank: the rank of the correction.
        out_features: the number of features of results.
        base_module: the module whose result is corrected; None for the correction alone.
        dtype: the dtype of the computation; by default that of inputs and parameters together.
        param_dtype: the dtype of the parameters.
        a_initializer: initial values of the first matrix.
        b_initializer: initial values of the second; zeros, so that nothing is corrected at first.
        lora_param_type: the kind of the variables.
        a_metadata: metadata of the first variable.
        b_metadata: metadata of the second.
        promote_dtype: converts a tuple of arrays to one dtype, ``(arrays, dtype=dtype)``.
        rngs: random streams.

    >>> import numpy as np
    >>> layer = LoRA(3, 2, 4, rngs=Rngs(0))
    >>> layer(np.ones((1, 3), np.float32))
    Array([[0., 0., 0., 0.]], dtype=float32)
    """

    in_features: int
    out_features: int
    base_module: Callable[..., Any] | None
    dtype: Any
    param_dtype: Any
    promote_dtype: PromoteDtype

    def __init__(
        self,
        in_features: int,
        lora_rank: int,
        out_features: int,
        *,
        base_module: Callable[..., Any] | None = None,
        dtype: Any = None,
        param_dtype: Any = np.float32,
        a_initializer: Initializer = initializers.he_uniform(),  # noqa: B008 -- immutable
        b_initializer: Initializer = zeros,
        lora_param_type: type[Variable[Any]] = LoRAParam,
        a_metadata: Metadata = None,
        b_metadata: Metadata = None,
        promote_dtype: PromoteDtype = None,
        rngs: Rngs,
    ) -> None:
        first, second = (in_features, lora_rank), (lora_rank, out_features)
        a = a_initializer(params_key(rngs, self, "lora_a"), first, param_dtype)
        b = b_initializer(params_key(rngs, self, "lora_b"), second, param_dtype)
        self.lora_a: Variable[Any] = lora_param_type(a, **(a_metadata or {}))
        self.lora_b: Variable[Any] = lora_param_type(b, **(b_metadata or {}))
        self.in_features, self.out_features = in_features, out_features
        self.dtype, self.param_dtype = dtype, param_dtype
        self.base_module, self.promote_dtype = base_module, promote_dtype

    def __call__(self, x: Any, **kwargs: Any) -> Any:
        """Apply the correction, and the base module if there is one."""
        check_features(self, x, self.in_features)
        inputs, a, b = promoted(
            x, self.lora_a, self.lora_b, dtype=self.dtype, by=self.promote_dtype
        )
        out = inputs @ a @ b
        return out if self.base_module is None else out + self.base_module(x, **kwargs)


class LoRALinear(Linear):
    """A linear layer with a low-rank correction; its own variables are those of ``Linear``.

    Args:
        in_features: the number of features of inputs.
        out_features: the number of features of results.
        lora_rank: the rank of the correction.
        lora_dtype: the dtype of the computation of the correction.
        lora_param_dtype: the dtype of its parameters.
        a_initializer: initial values of its first matrix.
        b_initializer: initial values of its second.
        lora_param_type: the kind of its variables.
        a_metadata: metadata of the first of them.
        b_metadata: metadata of the second.
        lora_promote_dtype: converts a tuple of arrays of the correction to one dtype.
        rngs: random streams.
        options: the other arguments of ``Linear``.

    >>> import numpy as np
    >>> from bindax_nnx.rngs import Rngs
    >>> layer = LoRALinear(4, 3, lora_rank=2, rngs=Rngs(0))
    >>> layer(np.ones((1, 4), np.float32)).shape
    (1, 3)
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        *,
        lora_rank: int,
        lora_dtype: Any = None,
        lora_param_dtype: Any = np.float32,
        a_initializer: Initializer = initializers.he_uniform(),  # noqa: B008 -- immutable
        b_initializer: Initializer = zeros,
        lora_param_type: type[Variable[Any]] = LoRAParam,
        a_metadata: Metadata = None,
        b_metadata: Metadata = None,
        lora_promote_dtype: PromoteDtype = None,
        rngs: Rngs,
        **options: Any,
    ) -> None:
        super().__init__(in_features, out_features, rngs=rngs, **options)
        self.lora: Any = LoRA(
            in_features,
            lora_rank,
            out_features,
            dtype=lora_dtype,
            param_dtype=lora_param_dtype,
            a_initializer=a_initializer,
            b_initializer=b_initializer,
            lora_param_type=lora_param_type,
            a_metadata=a_metadata,
            b_metadata=b_metadata,
            promote_dtype=lora_promote_dtype,
            rngs=rngs,
        )

    def __call__(self, x: Any, out_sharding: Any = None) -> Array:
        """Apply the layer and the correction."""
        y = super().__call__(x, out_sharding=out_sharding)
        return y + self.lora(x)
