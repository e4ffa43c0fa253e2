"""Initial values of parameters: those of ``bindax.nn``, and two more names that Flax has."""

from collections.abc import Callable as _Callable

from bindax_core.extend import public_names as _public_names
from bindax_nn import initializers as _source

Initializer = _source.Initializer
constant: _Callable[..., Initializer] = _source.constant
delta_orthogonal: _Callable[..., Initializer] = _source.delta_orthogonal
glorot_normal: _Callable[..., Initializer] = _source.glorot_normal
glorot_uniform: _Callable[..., Initializer] = _source.glorot_uniform
he_normal: _Callable[..., Initializer] = _source.he_normal
he_uniform: _Callable[..., Initializer] = _source.he_uniform
kaiming_normal: _Callable[..., Initializer] = _source.kaiming_normal
kaiming_uniform: _Callable[..., Initializer] = _source.kaiming_uniform
lecun_normal: _Callable[..., Initializer] = _source.lecun_normal
lecun_uniform: _Callable[..., Initializer] = _source.lecun_uniform
normal: _Callable[..., Initializer] = _source.normal
ones: Initializer = _source.ones
orthogonal: _Callable[..., Initializer] = _source.orthogonal
truncated_normal: _Callable[..., Initializer] = _source.truncated_normal
uniform: _Callable[..., Initializer] = _source.uniform
variance_scaling: _Callable[..., Initializer] = _source.variance_scaling
xavier_normal: _Callable[..., Initializer] = _source.xavier_normal
xavier_uniform: _Callable[..., Initializer] = _source.xavier_uniform
zeros: Initializer = _source.zeros


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
