"""``jax.lax`` as the samples call it: what has other names there, or takes other arguments."""

from typing import Any

import jax
import numpy as np
from jax._src.lax import windowed_reductions

from bindax_lax_basic.window.geometry import geometry


def clamp(low: Any, x: Any, high: Any) -> Any:
    # JAX's own derivative of clamp fails for scalar bounds.
    wide = jax.numpy.broadcast_to
    return jax.lax.clamp(wide(low, x.shape), x, wide(high, x.shape))


def random_gamma_grad(a: Any, x: Any) -> Any:
    # JAX's own takes arrays of one shape.
    return jax.lax.random_gamma_grad(*jax.numpy.broadcast_arrays(a, x))


def copy(x: Any) -> Any:
    return jax.lax.copy_p.bind(x)


# JAX has these two since 0.11. What stands for them has one rounding more.
def log2(x: Any) -> Any:
    if hasattr(jax.lax, "log2"):
        return jax.lax.log2(x)
    wide = jax.lax.log(x).astype(jax.numpy.promote_types(x.dtype, "float32"))
    return jax.lax.div(wide, jax.lax.full_like(wide, np.log(2))).astype(x.dtype)


def one_minus_square(x: Any) -> Any:
    if hasattr(jax.lax, "one_minus_square"):
        return jax.lax.one_minus_square(x)
    one = jax.lax.full_like(x, 1)
    return jax.lax.mul(jax.lax.sub(one, x), jax.lax.add(one, x))


def _pads(x: Any, *arguments: Any) -> Any:
    return geometry("test", x.shape, *arguments).padding


def select_and_gather_add(
    t: Any, x: Any, which: Any, window: Any, strides: Any, padding: Any, base: Any = None,
    dilation: Any = None,
) -> Any:  # fmt: skip
    pads = _pads(x, window, strides, padding, base, dilation)
    ones = (1,) * x.ndim
    return windowed_reductions._select_and_gather_add(
        t, x, which, window, strides, pads, base or ones, dilation or ones
    )


def select_and_scatter_add(
    source: Any, x: Any, which: Any, window: Any, strides: Any, padding: Any
) -> Any:
    pads = _pads(x, window, strides, padding)
    return windowed_reductions._select_and_scatter_add(source, x, which, window, strides, pads)


def select_and_scatter(
    x: Any, select: Any, window: Any, strides: Any, padding: Any, source: Any, init: Any,
    combine: Any,
) -> Any:  # fmt: skip
    pads = _pads(x, window, strides, padding)
    return windowed_reductions._select_and_scatter(
        x, select, window, strides, pads, source, init, combine
    )


_OWN = {
    function.__name__: function
    for function in (
        clamp,
        copy,
        log2,
        one_minus_square,
        random_gamma_grad,
        select_and_gather_add,
        select_and_scatter_add,
        select_and_scatter,
    )
}


class Reference:
    """``jax.lax``, with the functions of this module in place of its own."""

    def __getattr__(self, name: str) -> Any:
        return _OWN.get(name) or getattr(jax.lax, name)


reference = Reference()
