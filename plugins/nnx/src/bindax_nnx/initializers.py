"""Initial values of parameters: those of ``bindax.nn``, and two more names that Flax has."""

from bindax_core.extend import public_names as _public_names
from bindax_nn.initializers import Initializer as Initializer
from bindax_nn.initializers import constant as constant
from bindax_nn.initializers import delta_orthogonal as delta_orthogonal
from bindax_nn.initializers import glorot_normal as glorot_normal
from bindax_nn.initializers import glorot_uniform as glorot_uniform
from bindax_nn.initializers import he_normal as he_normal
from bindax_nn.initializers import he_uniform as he_uniform
from bindax_nn.initializers import kaiming_normal as kaiming_normal
from bindax_nn.initializers import kaiming_uniform as kaiming_uniform
from bindax_nn.initializers import lecun_normal as lecun_normal
from bindax_nn.initializers import lecun_uniform as lecun_uniform
from bindax_nn.initializers import normal as normal
from bindax_nn.initializers import ones as ones
from bindax_nn.initializers import orthogonal as orthogonal
from bindax_nn.initializers import truncated_normal as truncated_normal
from bindax_nn.initializers import uniform as uniform
from bindax_nn.initializers import variance_scaling as variance_scaling
from bindax_nn.initializers import xavier_normal as xavier_normal
from bindax_nn.initializers import xavier_uniform as xavier_uniform
from bindax_nn.initializers import zeros as zeros


def zeros_init() -> Initializer:
    """The initializer ``zeros``.

    >>> zeros_init()(None, (2,))
    Array([0., 0.], dtype=float32)
    """
    return zeros


def ones_init() -> Initializer:
    """The initializer ``ones``.

    >>> ones_init()(None, (2,))
    Array([1., 1.], dtype=float32)
    """
    return ones


vars()["__all__"] = _public_names(vars())
