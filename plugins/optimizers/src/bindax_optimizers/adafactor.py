"""Adafactor, which keeps less than the second moments of all elements."""

from __future__ import annotations

from typing import Any

import bindax_numpy as jnp
from bindax_optimizers.accumulation import ema
from bindax_optimizers.clipping import clip_by_block_rms
from bindax_optimizers.factored import scale_by_factored_rms
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale,
    scale_by_learning_rate,
    scale_by_param_block_rms,
)
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
)

__all__ = ["adafactor"]


def adafactor(
    learning_rate: ScalarOrSchedule | None = None,
    min_dim_size_to_factor: int = 128,
    decay_rate: Any = 0.8,
    decay_offset: Any = 0,
    multiply_by_parameter_scale: bool = True,
    clipping_threshold: Any = 1.0,
    momentum: Any = None,
    dtype_momentum: Any = jnp.float32,
    weight_decay_rate: ScalarOrSchedule | None = None,
    eps: Any = 1e-30,
    factored: bool = True,
    weight_decay_mask: Any = None,
) -> GradientTransformationExtraArgs:
    """Adafactor: second moments of matrices by rows and columns (Shazeer and Stern, 2018).

    Args:
        learning_rate: the rate, or a schedule of it; without one it is 1.
        min_dim_size_to_factor: as for ``scale_by_factored_rms``.
        decay_rate: as there.
        decay_offset: as ``step_offset`` there.
        multiply_by_parameter_scale: whether steps are relative to the parameters.
        clipping_threshold: the largest root mean square of a step; None for none.
        momentum: how much of a momentum is kept at each step.
        dtype_momentum: its dtype.
        weight_decay_rate: the multiple of the parameters that is subtracted, or a schedule of it.
        eps: as ``epsilon`` there.
        factored: as there.
        weight_decay_mask: where it is subtracted, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adafactor(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    parts = [scale_by_factored_rms(factored, decay_rate, decay_offset, min_dim_size_to_factor, eps)]
    if clipping_threshold is not None:
        parts.append(clip_by_block_rms(clipping_threshold))
    if learning_rate is not None:
        parts.append(scale_by_learning_rate(learning_rate, flip_sign=False))
    if multiply_by_parameter_scale:
        parts.append(scale_by_param_block_rms())
    if momentum is not None:
        parts.append(ema(momentum, debias=False, accumulator_dtype=dtype_momentum))
    if weight_decay_rate is not None:
        parts.append(add_decayed_weights(weight_decay_rate, weight_decay_mask))
    return chain(*parts, scale(-1))
