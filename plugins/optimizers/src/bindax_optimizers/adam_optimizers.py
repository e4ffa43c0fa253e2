"""The optimizers by name of the family of Adam."""

from __future__ import annotations

from typing import Any

from bindax_optimizers.adaptive_moments import (
    scale_by_adam,
    scale_by_adamax,
    scale_by_amsgrad,
)
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale_by_learning_rate,
    scale_by_optimistic_gradient,
)
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
)

__all__ = [
    "adam",
    "adamax",
    "adamaxw",
    "adamw",
    "amsgrad",
    "nadam",
    "nadamw",
    "optimistic_adam_v2",
]


def adam(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformationExtraArgs:
    """Adam (Kingma and Ba, 2015).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        mu_dtype: as for ``scale_by_adam``.
        nesterov: as for ``scale_by_adam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    moments = scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov)
    return chain(moments, scale_by_learning_rate(learning_rate))


def nadam(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    *,
    nesterov: bool = True,
) -> GradientTransformationExtraArgs:
    """Adam with Nesterov's momentum (Dozat, 2016).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        mu_dtype: as for ``scale_by_adam``.
        nesterov: as for ``scale_by_adam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = nadam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return adam(learning_rate, b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov)


def adamw(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    weight_decay: ScalarOrSchedule = 1e-4,
    mask: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformationExtraArgs:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        mu_dtype: as for ``scale_by_adam``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.
        nesterov: as for ``scale_by_adam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adamw(0.1, weight_decay=0.01)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def nadamw(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    weight_decay: ScalarOrSchedule = 1e-4,
    mask: Any = None,
    *,
    nesterov: bool = True,
) -> GradientTransformationExtraArgs:
    """Adam with Nesterov's momentum and decoupled weight decay.

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        mu_dtype: as for ``scale_by_adam``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.
        nesterov: as for ``scale_by_adam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = nadamw(0.1, weight_decay=0.01)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return adamw(
        learning_rate, b1, b2, eps, eps_root, mu_dtype, weight_decay, mask, nesterov=nesterov
    )


def amsgrad(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    bias_correction_mu: bool = True,
    bias_correction_nu: bool = True,
) -> GradientTransformationExtraArgs:
    """AMSGrad (Reddi et al., 2018).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_amsgrad``.
        b2: as for ``scale_by_amsgrad``.
        eps: as for ``scale_by_amsgrad``.
        eps_root: as for ``scale_by_amsgrad``.
        mu_dtype: as for ``scale_by_amsgrad``.
        bias_correction_mu: as for ``scale_by_amsgrad``.
        bias_correction_nu: as for ``scale_by_amsgrad``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = amsgrad(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    moments = scale_by_amsgrad(
        b1, b2, eps, eps_root, mu_dtype, bias_correction_mu, bias_correction_nu
    )
    return chain(moments, scale_by_learning_rate(learning_rate))


def adamax(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
) -> GradientTransformationExtraArgs:
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba, 2015).

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adamax``.
        b2: as for ``scale_by_adamax``.
        eps: as for ``scale_by_adamax``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adamax(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(scale_by_adamax(b1, b2, eps), scale_by_learning_rate(learning_rate))


def adamaxw(
    learning_rate: ScalarOrSchedule,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    weight_decay: ScalarOrSchedule = 1e-4,
    mask: Any = None,
) -> GradientTransformationExtraArgs:
    """``adamax`` with decoupled weight decay.

    Args:
        learning_rate: the rate, or a schedule of it.
        b1: as for ``scale_by_adamax``.
        b2: as for ``scale_by_adamax``.
        eps: as for ``scale_by_adamax``.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        mask: where it is added, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adamaxw(0.1, weight_decay=0.01)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adamax(b1, b2, eps),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def optimistic_adam_v2(
    learning_rate: ScalarOrSchedule,
    *,
    alpha: Any = 1.0,
    beta: Any = 1.0,
    b1: Any = 0.9,
    b2: Any = 0.999,
    eps: Any = 1e-8,
    eps_root: Any = 0.0,
    mu_dtype: Any = None,
    nesterov: bool = True,
) -> GradientTransformationExtraArgs:
    """Adam with the change of its steps added (Daskalakis et al., 2018).

    Args:
        learning_rate: the rate, or a schedule of it.
        alpha: as for ``scale_by_optimistic_gradient``.
        beta: as there.
        b1: as for ``scale_by_adam``.
        b2: as for ``scale_by_adam``.
        eps: as for ``scale_by_adam``.
        eps_root: as for ``scale_by_adam``.
        mu_dtype: as for ``scale_by_adam``.
        nesterov: as for ``scale_by_adam``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = optimistic_adam_v2(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, mu_dtype, nesterov=nesterov),
        scale_by_optimistic_gradient(alpha, beta),
        scale_by_learning_rate(learning_rate),
    )
