"""``custom_vjp`` functions with mistakes in their rules."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault

X = np.array([0.3, -1.2, 0.8])
Y = np.array([1.5, 0.4, -0.7])
MATRIX = np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4]])


@bindax.custom_vjp
def cube(x: Any) -> Any:
    return x**3


def cube_fwd(x: Any) -> Any:
    return x**3, x


def cube_bwd(x: Any, ct: Any) -> Any:
    return (ct * x**2,)  # wrong: the factor 3 is missing


cube.defvjp(cube_fwd, cube_bwd)


@bindax.custom_vjp
def softplus(x: Any) -> Any:
    return bnp.logaddexp(x, 0.0)


def softplus_fwd(x: Any) -> Any:
    return softplus(x), x


def softplus_bwd(x: Any, ct: Any) -> Any:
    return (ct / (1.0 + bnp.exp(x)),)  # wrong: the sign of the exponent


softplus.defvjp(softplus_fwd, softplus_bwd)


@bindax.custom_vjp
def add_bias(x: Any, b: Any) -> Any:
    return x + b


def add_bias_fwd(x: Any, b: Any) -> Any:
    return x + b, None


def add_bias_bwd(_: Any, ct: Any) -> Any:
    return ct, ct.mean(axis=0)  # wrong: a sum over what was broadcast


add_bias.defvjp(add_bias_fwd, add_bias_bwd)


@bindax.custom_vjp
def rotate(z: Any) -> Any:
    return z * (0.6 + 0.8j)


def rotate_fwd(z: Any) -> Any:
    return rotate(z), None


def rotate_bwd(_: Any, ct: Any) -> Any:
    return (ct * (0.6 - 0.8j),)  # wrong: cotangents are not conjugated here


rotate.defvjp(rotate_fwd, rotate_bwd)


@bindax.custom_vjp
def sine(x: Any) -> Any:
    return bnp.sin(x)


def sine_fwd(x: Any) -> Any:
    y = bnp.sin(x)
    return y, y  # wrong: the argument is needed, not the result


def sine_bwd(x: Any, ct: Any) -> Any:
    return (ct * bnp.cos(x),)


sine.defvjp(sine_fwd, sine_bwd)


def scaled_exp(x: Any, s: Any) -> Any:
    @bindax.custom_vjp
    def inner(x: Any) -> Any:
        return bnp.exp(s * x)  # wrong: closes over s, which is differentiated

    inner.defvjp(lambda x: (inner(x), x), lambda x, ct: (ct * s * bnp.exp(s * x),))
    return inner(x)


@bindax.custom_vjp
def pick(x: Any, i: Any) -> Any:
    return x[i]


def pick_fwd(x: Any, i: Any) -> Any:
    return x[i], (x, i)


def pick_bwd(kept: Any, ct: Any) -> Any:
    x, i = kept
    return bnp.zeros_like(x).at[i].add(ct), ct  # wrong: an integer has no cotangent


pick.defvjp(pick_fwd, pick_bwd)


@partial(bindax.custom_vjp, nondiff_argnums=(1,))
def power(x: Any, n: int) -> Any:
    return x**n


def power_fwd(x: Any, n: int) -> Any:
    return x**n, x


def power_bwd(x: Any, n: Any, ct: Any) -> Any:
    return (ct * n * x ** (n - 1),)  # wrong: n comes first, then the residual


power.defvjp(power_fwd, power_bwd)


def third_power(x: Any) -> Any:
    return bnp.sum(power(x, 3))


@bindax.custom_vjp
def normalize(x: Any) -> Any:
    return x / bnp.sqrt(bnp.sum(x * x))


def normalize_fwd(x: Any) -> Any:
    norm = bnp.sqrt(bnp.sum(x * x))
    return x / (norm + 1e-2), (x / norm, norm)  # wrong: another value than the function


def normalize_bwd(kept: Any, ct: Any) -> Any:
    unit, norm = kept
    return ((ct - unit * bnp.sum(unit * ct)) / norm,)


normalize.defvjp(normalize_fwd, normalize_bwd)


@bindax.custom_vjp
def product(x: Any, y: Any) -> Any:
    return x * y


def product_fwd(x: Any, y: Any) -> Any:
    return x * y, (x, y)


def product_bwd(kept: Any, ct: Any) -> Any:
    x, y = kept
    return ct * x, ct * y  # wrong: swapped


product.defvjp(product_fwd, product_bwd)


def loss_with_product(x: Any, y: Any) -> Any:
    """Bury the mistake under other operations, jit and vmap."""
    inner = bindax.jit(lambda a, b: product(bnp.sin(a), b))
    return bnp.sum(bindax.vmap(inner)(x, y) ** 2)


FAULTS = [
    Fault(cube, (X,), cube_bwd),
    Fault(softplus, (X,), softplus_bwd),
    Fault(add_bias, (MATRIX, X), add_bias_bwd),
    Fault(rotate, (X + 1j * Y,), rotate_bwd),
    Fault(sine, (X,), sine_fwd),
    Fault(scaled_exp, (X, np.float64(0.7)), scaled_exp),
    Fault(pick, (X, np.int32(1)), pick_bwd),
    Fault(third_power, (X,), power_bwd),
    Fault(normalize, (X,), normalize_fwd),
    Fault(loss_with_product, (X, Y), product_bwd),
]
