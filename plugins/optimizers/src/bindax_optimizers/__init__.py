"""Optimizers: pairs of functions that turn gradients into updates of parameters.

>>> import numpy as np
>>> import bindax_optimizers as optimizers
>>> optimizer = optimizers.adam(0.1)
>>> params = {"w": np.ones(2, np.float32)}
>>> state = optimizer.init(params)
>>> updates, state = optimizer.update({"w": np.full(2, 3, np.float32)}, state, params)
>>> optimizers.apply_updates(params, updates)["w"].round(3)
Array([0.9, 0.9], dtype=float32)
"""

from bindax_core.extend import former_modules, register_internal
from bindax_optimizers.adaptive_moments import (
    scale_by_adamax,
    scale_by_amsgrad,
    scale_by_belief,
    scale_by_radam,
    scale_by_trust_ratio,
)
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    clip,
    clip_by_global_norm,
    multi_steps,
    scale,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_lion,
    scale_by_rms,
    scale_by_rss,
    trace,
)
from bindax_optimizers.losses import (
    huber_loss,
    l2_loss,
    sigmoid_binary_cross_entropy,
    softmax_cross_entropy,
    softmax_cross_entropy_with_integer_labels,
    squared_error,
)
from bindax_optimizers.optimizers import (
    adabelief,
    adagrad,
    adam,
    adamax,
    adamaxw,
    adamw,
    amsgrad,
    lamb,
    lars,
    lion,
    nadam,
    nadamw,
    radam,
    rmsprop,
    sgd,
)
from bindax_optimizers.partial_optimizers import (
    ema,
    incremental_update,
    masked,
    multi_transform,
    partition,
    scale_by_schedule,
    set_to_zero,
)
from bindax_optimizers.schedules import (
    constant_schedule,
    cosine_decay_schedule,
    exponential_decay,
    join_schedules,
    linear_schedule,
    piecewise_constant_schedule,
    polynomial_schedule,
    warmup_cosine_decay_schedule,
)
from bindax_optimizers.transformation import (
    GradientTransformation,
    apply_updates,
    chain,
    global_norm,
    identity,
    stateless,
)

__all__ = [
    "GradientTransformation",
    "adabelief",
    "adagrad",
    "adam",
    "adamax",
    "adamaxw",
    "adamw",
    "add_decayed_weights",
    "amsgrad",
    "apply_updates",
    "chain",
    "clip",
    "clip_by_global_norm",
    "constant_schedule",
    "cosine_decay_schedule",
    "ema",
    "exponential_decay",
    "global_norm",
    "huber_loss",
    "identity",
    "incremental_update",
    "join_schedules",
    "l2_loss",
    "lamb",
    "lars",
    "linear_schedule",
    "lion",
    "masked",
    "multi_steps",
    "multi_transform",
    "nadam",
    "nadamw",
    "partition",
    "piecewise_constant_schedule",
    "polynomial_schedule",
    "radam",
    "rmsprop",
    "scale",
    "scale_by_adam",
    "scale_by_adamax",
    "scale_by_amsgrad",
    "scale_by_belief",
    "scale_by_learning_rate",
    "scale_by_lion",
    "scale_by_radam",
    "scale_by_rms",
    "scale_by_rss",
    "scale_by_schedule",
    "scale_by_trust_ratio",
    "set_to_zero",
    "sgd",
    "sigmoid_binary_cross_entropy",
    "softmax_cross_entropy",
    "softmax_cross_entropy_with_integer_labels",
    "squared_error",
    "stateless",
    "trace",
    "warmup_cosine_decay_schedule",
]

register_internal(__file__)
former_modules(__name__, {"parts": "gradient_transformations"})
