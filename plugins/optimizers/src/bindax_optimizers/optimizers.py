"""The optimizers by name."""

from __future__ import annotations

from typing import Any

from bindax_optimizers.adaptive_moments import (
    scale_by_adamax,
    scale_by_amsgrad,
    scale_by_belief,
    scale_by_radam,
    scale_by_trust_ratio,
)
from bindax_optimizers.gradient_transformations import (
    add_decayed_weights,
    scale_by_adam,
    scale_by_learning_rate,
    scale_by_lion,
    scale_by_rms,
    scale_by_rss,
    trace,
)
from bindax_optimizers.partial_optimizers import masked
from bindax_optimizers.transformation import GradientTransformation, ScalarOrSchedule, chain


def sgd(
    learning_rate: ScalarOrSchedule, momentum: float | None = None, nesterov: bool = False
) -> GradientTransformation:
    """Gradient descent, with momentum if it is given.

    >>> import numpy as np
    >>> step = sgd(0.1)
    >>> step.update(np.float32(2), step.init(np.float32(1)))[0]
    np.float32(-0.2)
    """
    rate = scale_by_learning_rate(learning_rate)
    return chain(rate) if momentum is None else chain(trace(momentum, nesterov), rate)


def adam(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam (Kingma and Ba, 2015).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    moments = scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov)
    return chain(moments, scale_by_learning_rate(learning_rate))


def nadam(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    *,
    nesterov: bool = True,
) -> GradientTransformation:
    """Adam with Nesterov's momentum (Dozat, 2016).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = nadam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return adam(learning_rate, b1, b2, eps, eps_root, nesterov=nesterov)


def adamw(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    weight_decay: float = 1e-4,
    mask: Any = None,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adamw(0.1, weight_decay=0.01)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_adam(b1, b2, eps, eps_root, nesterov=nesterov),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def nadamw(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    weight_decay: float = 1e-4,
    mask: Any = None,
    *,
    nesterov: bool = True,
) -> GradientTransformation:
    """Adam with Nesterov's momentum and decoupled weight decay.

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = nadamw(0.1, weight_decay=0.01)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return adamw(learning_rate, b1, b2, eps, eps_root, weight_decay, mask, nesterov=nesterov)


def amsgrad(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
) -> GradientTransformation:
    """AMSGrad (Reddi et al., 2018).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = amsgrad(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(scale_by_amsgrad(b1, b2, eps, eps_root), scale_by_learning_rate(learning_rate))


def adamax(
    learning_rate: ScalarOrSchedule, b1: float = 0.9, b2: float = 0.999, eps: float = 1e-8
) -> GradientTransformation:
    """Adam with the largest gradient in the place of the second moment (Kingma and Ba, 2015).

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
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    weight_decay: float = 1e-4,
    mask: Any = None,
) -> GradientTransformation:
    """``adamax`` with decoupled weight decay.

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


def adabelief(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-16,
    eps_root: float = 1e-16,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """AdaBelief (Zhuang et al., 2020).

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
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-8,
    eps_root: float = 0.0,
    threshold: float = 5.0,
    *,
    nesterov: bool = False,
) -> GradientTransformation:
    """Rectified Adam (Liu et al., 2020).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = radam(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    rectified = scale_by_radam(b1, b2, eps, eps_root, threshold, nesterov=nesterov)
    return chain(rectified, scale_by_learning_rate(learning_rate))


def lamb(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.999,
    eps: float = 1e-6,
    eps_root: float = 0.0,
    weight_decay: float = 0.0,
    mask: Any = None,
) -> GradientTransformation:
    """Adam for large batches (You et al., 2020).

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


def lars(
    learning_rate: ScalarOrSchedule,
    weight_decay: float = 0.0,
    weight_decay_mask: Any = True,
    trust_coefficient: float = 0.001,
    eps: float = 0.0,
    trust_ratio_mask: Any = True,
    momentum: float = 0.9,
    nesterov: bool = False,
) -> GradientTransformation:
    """Gradient descent for large batches (You et al., 2017).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = lars(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    ratio = scale_by_trust_ratio(trust_coefficient=trust_coefficient, eps=eps)
    return chain(
        masked(add_decayed_weights(weight_decay), weight_decay_mask),
        masked(ratio, trust_ratio_mask),
        scale_by_learning_rate(learning_rate),
        trace(momentum, nesterov),
    )


def lion(
    learning_rate: ScalarOrSchedule,
    b1: float = 0.9,
    b2: float = 0.99,
    weight_decay: float = 1e-3,
    mask: Any = None,
) -> GradientTransformation:
    """Lion (Chen et al., 2023).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = lion(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_lion(b1, b2),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(learning_rate),
    )


def rmsprop(
    learning_rate: ScalarOrSchedule,
    decay: float = 0.9,
    eps: float = 1e-8,
    initial_scale: float = 0.0,
    centered: bool = False,
    momentum: float | None = None,
    nesterov: bool = False,
) -> GradientTransformation:
    """RMSProp (Tieleman and Hinton, 2012).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = rmsprop(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    parts = [scale_by_rms(decay, eps, initial_scale, centered)]
    parts.append(scale_by_learning_rate(learning_rate))
    if momentum is not None:
        parts.append(trace(momentum, nesterov))
    return chain(*parts)


def adagrad(
    learning_rate: ScalarOrSchedule, initial_accumulator_value: float = 0.1, eps: float = 1e-7
) -> GradientTransformation:
    """AdaGrad (Duchi et al., 2011).

    >>> import numpy as np
    >>> params = {"w": np.ones(2, np.float32)}
    >>> optimizer = adagrad(0.1)
    >>> updates, state = optimizer.update(params, optimizer.init(params), params)
    >>> bool((updates["w"] < 0).all())
    True
    """
    return chain(
        scale_by_rss(initial_accumulator_value, eps), scale_by_learning_rate(learning_rate)
    )
