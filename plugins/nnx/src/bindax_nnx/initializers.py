"""Initial values of parameters: those of ``bindax.nn``, and two more names that Flax has."""

from bindax_core.extend import public_names as _public_names
from bindax_nn import initializers as _source

Initializer = _source.Initializer
constant = _source.constant
delta_orthogonal = _source.delta_orthogonal
glorot_normal = _source.glorot_normal
glorot_uniform = _source.glorot_uniform
he_normal = _source.he_normal
he_uniform = _source.he_uniform
kaiming_normal = _source.kaiming_normal
kaiming_uniform = _source.kaiming_uniform
lecun_normal = _source.lecun_normal
lecun_uniform = _source.lecun_uniform
normal = _source.normal
ones = _source.ones
orthogonal = _source.orthogonal
truncated_normal = _source.truncated_normal
uniform = _source.uniform
variance_scaling = _source.variance_scaling
xavier_normal = _source.xavier_normal
xavier_uniform = _source.xavier_uniform
zeros = _source.zeros


def zeros_init() -> _source.Initializer:
    """The initializer ``zeros``.

    >>> zeros_init()(None, (2,))
    Array([0., 0.], dtype=float32)
    """
    return zeros


def ones_init() -> _source.Initializer:
    """The initializer ``ones``.

    >>> ones_init()(None, (2,))
    Array([1., 1.], dtype=float32)
    """
    return ones


vars()["__all__"] = _public_names(vars())
