"""The optimizers by name that have no moments as Adam has."""

from __future__ import annotations

from typing import Any

from bindax_optimizers.accumulation import ema, trace
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale,
    scale_by_learning_rate,
    scale_by_optimistic_gradient,
    scale_by_polyak,
    scale_by_sign,
    scale_by_trust_ratio,
)
from bindax_optimizers.monitoring import add_noise
from bindax_optimizers.partial_optimizers import masked
from bindax_optimizers.squared_gradients import (
    scale_by_adadelta,
    scale_by_rms,
    scale_by_rprop,
    scale_by_rss,
    scale_by_sm3,
    scale_by_stddev,
)
from bindax_optimizers.transformation import (
    GradientTransformationExtraArgs,
    ScalarOrSchedule,
    chain,
    identity,
)

__all__ = [
    "adadelta",
    "adagrad",
    "fromage",
    "lars",
    "noisy_sgd",
    "optimistic_gradient_descent",
    "polyak_sgd",
    "rmsprop",
    "rprop",
    "sgd",
    "sign_sgd",
    "signum",
    "sm3",
]


def sgd(
    learning_rate: ScalarOrSchedule,
    momentum: Any = None,
    nesterov: bool = False,
    accumulator_dtype: Any = None,
) -> GradientTransformationExtraArgs:
    """Gradient descent, with momentum if it is given.

    Args:
        learning_rate: the rate, or a schedule of it.
        momentum: how much of the momentum is kept at each step.
        nesterov: whether the step looks ahead.
        accumulator_dtype: the dtype of the momentum; by default that of the parameters.

    >>> import numpy as np
    >>> step = sgd(0.1)
    >>> step.update(np.float32(2), step.init(np.float32(1)))[0]
    np.float32(-0.2)
    """
    first = identity() if momentum is None else trace(momentum, nesterov, accumulator_dtype)
    return chain(first, scale_by_learning_rate(learning_rate))


def noisy_sgd(
    learning_rate: ScalarOrSchedule,
    eta: Any = 0.01,
    gamma: Any = 0.55,
    key: Any = None,
    *,
    seed: int | None = None,
) -> GradientTransformationExtraArgs:
    """Gradient descent with normal noise that fades (Neelakantan et al., 2015).

    Args:
        learning_rate: the rate, or a schedule of it.
        eta: as for ``add_noise``.
        gamma: as for ``add_noise``.
        key: as for ``add_noise``.
        seed: as for ``add_noise``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = noisy_sgd(0.1, eta=1e-6, key=0)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    noise = add_noise(eta, gamma, key, seed=seed)
    return chain(noise, scale_by_learning_rate(learning_rate))


def sign_sgd(
    learning_rate: ScalarOrSchedule,
) -> GradientTransformationExtraArgs:
    """Descent along the signs of gradients (Bernstein et al., 2018).

    Args:
        learning_rate: the rate, or a schedule of it.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = sign_sgd(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(scale_by_sign(), scale_by_learning_rate(learning_rate))


def signum(
    learning_rate: ScalarOrSchedule,
    beta: Any = 0.9,
    accumulator_dtype: Any = None,
) -> GradientTransformationExtraArgs:
    """Descent along the signs of the momentum (Bernstein et al., 2018).

    Args:
        learning_rate: the rate, or a schedule of it.
        beta: how much of the momentum is kept at each step.
        accumulator_dtype: its dtype; by default that of the parameters.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = signum(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    average = ema(beta, debias=False, accumulator_dtype=accumulator_dtype)
    return chain(average, scale_by_sign(), scale_by_learning_rate(learning_rate))


def rmsprop(
    learning_rate: ScalarOrSchedule,
    decay: Any = 0.9,
    eps: Any = 1e-8,
    initial_scale: Any = 0.0,
    eps_in_sqrt: bool = True,
    centered: bool = False,
    momentum: Any = None,
    nesterov: bool = False,
    bias_correction: bool = False,
) -> GradientTransformationExtraArgs:
    """RMSProp (Tieleman and Hinton, 2012), and its centered form (Graves, 2013).

    Args:
        learning_rate: the rate, or a schedule of it.
        decay: as for ``scale_by_rms``.
        eps: as for ``scale_by_rms``.
        initial_scale: as for ``scale_by_rms``.
        eps_in_sqrt: as for ``scale_by_rms``.
        centered: whether the variance is averaged in the place of the squares.
        momentum: how much of a momentum is kept at each step.
        nesterov: whether the step looks ahead.
        bias_correction: as for ``scale_by_rms``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = rmsprop(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    divide = scale_by_stddev if centered else scale_by_rms
    return chain(
        divide(decay, eps, initial_scale, eps_in_sqrt, bias_correction),
        scale_by_learning_rate(learning_rate),
        identity() if momentum is None else trace(momentum, nesterov),
    )


def adagrad(
    learning_rate: ScalarOrSchedule,
    initial_accumulator_value: Any = 0.1,
    eps: Any = 1e-7,
) -> GradientTransformationExtraArgs:
    """AdaGrad (Duchi et al., 2011).

    Args:
        learning_rate: the rate, or a schedule of it.
        initial_accumulator_value: as for ``scale_by_rss``.
        eps: as for ``scale_by_rss``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adagrad(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    sums = scale_by_rss(initial_accumulator_value, eps)
    return chain(sums, scale_by_learning_rate(learning_rate))


def adadelta(
    learning_rate: ScalarOrSchedule | None = None,
    rho: Any = 0.9,
    eps: Any = 1e-6,
    weight_decay: ScalarOrSchedule = 0.0,
    weight_decay_mask: Any = None,
) -> GradientTransformationExtraArgs:
    """Adadelta (Zeiler, 2012).

    Args:
        learning_rate: the rate, or a schedule of it; without one, updates keep their sign.
        rho: as for ``scale_by_adadelta``.
        eps: as there.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        weight_decay_mask: where it is added, as for ``add_decayed_weights``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adadelta(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        add_decayed_weights(weight_decay, weight_decay_mask),
        scale_by_adadelta(rho, eps),
        scale_by_learning_rate(learning_rate),
    )


def sm3(
    learning_rate: Any,
    momentum: Any = 0.9,
) -> GradientTransformationExtraArgs:
    """SM3 (Anil et al., 2019).

    Args:
        learning_rate: the rate.
        momentum: how much of the momentum is kept at each step.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = sm3(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(scale_by_sm3(momentum), scale(-learning_rate))


def rprop(
    learning_rate: Any,
    eta_minus: Any = 0.5,
    eta_plus: Any = 1.2,
    min_step_size: Any = 1e-6,
    max_step_size: Any = 50.0,
) -> GradientTransformationExtraArgs:
    """Rprop (Riedmiller and Braun, 1993).

    Args:
        learning_rate: the size of the first step.
        eta_minus: as for ``scale_by_rprop``.
        eta_plus: as for ``scale_by_rprop``.
        min_step_size: as for ``scale_by_rprop``.
        max_step_size: as for ``scale_by_rprop``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = rprop(0.1)
    >>> _, state = optimizer.update(params, optimizer.init(params), params)
    >>> updates, state = optimizer.update(params, state, params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    steps = scale_by_rprop(learning_rate, eta_minus, eta_plus, min_step_size, max_step_size)
    return chain(steps, scale(-1.0))


def lars(
    learning_rate: ScalarOrSchedule,
    weight_decay: ScalarOrSchedule = 0.0,
    weight_decay_mask: Any = True,
    trust_coefficient: Any = 0.001,
    eps: Any = 0.0,
    trust_ratio_mask: Any = True,
    momentum: Any = 0.9,
    nesterov: bool = False,
) -> GradientTransformationExtraArgs:
    """Gradient descent for large batches (You et al., 2017).

    Args:
        learning_rate: the rate, or a schedule of it.
        weight_decay: the multiple of the parameters that is added, or a schedule of it.
        weight_decay_mask: where it is added, as for ``masked``.
        trust_coefficient: as for ``scale_by_trust_ratio``.
        eps: as there.
        trust_ratio_mask: where steps are scaled by it, as for ``masked``.
        momentum: how much of the momentum is kept at each step.
        nesterov: whether the step looks ahead.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = lars(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    ratio = scale_by_trust_ratio(trust_coefficient=trust_coefficient, eps=eps)
    return chain(
        add_decayed_weights(weight_decay, weight_decay_mask),
        masked(ratio, trust_ratio_mask),
        scale_by_learning_rate(learning_rate),
        trace(momentum, nesterov),
    )


def fromage(
    learning_rate: ScalarOrSchedule,
    min_norm: Any = 1e-6,
) -> GradientTransformationExtraArgs:
    """Fromage: steps by relative distance (Bernstein et al., 2020).

    Args:
        learning_rate: the rate, or a schedule of it.
        min_norm: as for ``scale_by_trust_ratio``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = fromage(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """

    def shrink(rate: Any) -> Any:
        return 1 / (1 + rate**2) ** 0.5

    rate: Any = learning_rate
    if callable(rate):
        return chain(
            scale_by_trust_ratio(min_norm),
            scale_by_learning_rate(lambda count: shrink(rate(count)) * rate(count)),
            add_decayed_weights(lambda count: shrink(rate(count)) - 1),
        )
    return chain(
        scale_by_trust_ratio(min_norm),
        scale_by_learning_rate(rate * shrink(rate)),
        add_decayed_weights(shrink(rate) - 1),
    )


def optimistic_gradient_descent(
    learning_rate: ScalarOrSchedule,
    alpha: Any = 1.0,
    beta: Any = 1.0,
) -> GradientTransformationExtraArgs:
    """Gradient descent with the change of gradients added (Mokhtari et al., 2019).

    Args:
        learning_rate: the rate, or a schedule of it.
        alpha: as for ``scale_by_optimistic_gradient``.
        beta: as for ``scale_by_optimistic_gradient``.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = optimistic_gradient_descent(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    steps = scale_by_optimistic_gradient(alpha, beta)
    return chain(steps, scale_by_learning_rate(learning_rate))


def polyak_sgd(
    max_learning_rate: Any = 1.0,
    scaling: ScalarOrSchedule = 1.0,
    f_min: Any = 0.0,
    eps: Any = 0.0,
    variant: str = "sps",
) -> GradientTransformationExtraArgs:
    """Gradient descent with the step of Polyak (Loizou et al., 2021).

    The update takes the loss as ``value``.

    Args:
        max_learning_rate: as for ``scale_by_polyak``, as the last three.
        scaling: multiplies steps; or a schedule of that.
        f_min: as there.
        eps: as there.
        variant: as there.

    >>> import numpy as np
    >>> optimizer, params = polyak_sgd(), np.float32(1)
    >>> optimizer.update(2 * params, optimizer.init(params), params, value=params**2)[0].item()
    -0.5
    """
    return chain(sgd(scaling), scale_by_polyak(f_min, max_learning_rate, eps, variant))
