"""The optimizers by name that have moments as Adam has."""

from __future__ import annotations

from typing import Any

from bindax_optimizers.adaptive_momenta import (
    scale_by_adan,
    scale_by_lion,
    scale_by_novograd,
)
from bindax_optimizers.adaptive_moments import (
    scale_by_adam,
    scale_by_belief,
    scale_by_radam,
    scale_by_yogi,
)
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale_by_learning_rate,
    scale_by_trust_ratio,
)
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
)

__all__ = [
    "adabelief",
    "adan",
    "lamb",
    "lion",
    "novograd",
    "radam",
    "yogi",
]


def adabelief(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-16,
    eps_root: Any = 1e-16,
    *,
    nesterov: bool = False,
) -> GradientTransformationExtraArgs:
    """AdaBelief (Zhuang et al., 2020).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_belief``.
        b2: as for ``scale_by_belief``.
        eps: as for ``scale_by_belief``.
        eps_root: as for ``scale_by_belief``.
        nesterov: as for ``scale_by_belief``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adabelief(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    belief = scale_by_belief(b1, b2, eps, eps_root, nesterov=nesterov)
    return chain(belief, scale_by_learning_rate(learning_rate))


def radam(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    threshold: Any = 5.0,
    *,
    nesterov: bool = False,
) -> GradientTransformationExtraArgs:
    """Rectified Adam (Liu et al., 2020).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_radam``.
        b2: as for ``scale_by_radam``.
        eps: as for ``scale_by_radam``.
        eps_root: as for ``scale_by_radam``.
        threshold: as for ``scale_by_radam``.
        nesterov: as for ``scale_by_radam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = radam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    rectified = scale_by_radam(b1, b2, eps, eps_root, threshold, nesterov=nesterov)
    return chain(rectified, scale_by_learning_rate(learning_rate))


def yogi(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 0.001,
) -> GradientTransformationExtraArgs:
    """Yogi (Zaheer et al., 2018).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_yogi``.
        b2: as for ``scale_by_yogi``.
        eps: as for ``scale_by_yogi``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = yogi(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(scale_by_yogi(b1, b2, eps), scale_by_learning_rate(learning_rate))


def adan(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.98,
    b2: Any = 0.92,
    b3: Any = 0.99,
    eps: Any = 1e-8,
    eps_root: Any = 1e-8,
    weight_decay: ScalarOrSchedule = 0.0,
    mask: Any = None,
) -> GradientTransformationExtraArgs:
    """Adan (Xie et al., 2022).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adan``.
        b2: as for ``scale_by_adan``.
        b3: as for ``scale_by_adan``.
        eps: as for ``scale_by_adan``.
        eps_root: as for ``scale_by_adan``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adan(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adan(b1, b2, b3, eps, eps_root),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def novograd(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.25,
    eps: Any = 1e-6,
    eps_root: Any = 0.0,
    weight_decay: Any = 0.0,
) -> GradientTransformationExtraArgs:
    """NovoGrad (Ginsburg et al., 2019).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_novograd``.
        b2: as for ``scale_by_novograd``.
        eps: as for ``scale_by_novograd``.
        eps_root: as for ``scale_by_novograd``.
        weight_decay: as for ``scale_by_novograd``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = novograd(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    moments = scale_by_novograd(b1, b2, eps, eps_root, weight_decay)
    return chain(moments, scale_by_learning_rate(learning_rate))


def lamb(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-6,
    eps_root: Any = 0.0,
    weight_decay: ScalarOrSchedule = 0.0,
    mask: Any = None,
) -> GradientTransformationExtraArgs:
    """Adam for large batches (You et al., 2020).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = lamb(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root),
        add_decayed_weights(weight_decay, mask),
        scale_by_trust_ratio(),
        scale_by_learning_rate(learning_rate),
    )


def lion(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.99,
    mu_dtype: Any = None,
    weight_decay: ScalarOrSchedule = 1e-3,
    mask: Any = None,
) -> GradientTransformationExtraArgs:
    """Lion (Chen et al., 2023).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_lion``.
        b2: as for ``scale_by_lion``.
        mu_dtype: as for ``scale_by_lion``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = lion(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_lion(b1, b2, mu_dtype),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )
