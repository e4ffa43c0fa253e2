"""``custom_jvp`` functions with mistakes in their rules."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault

X = np.array([0.3, -1.2, 0.8])
Y = np.array([1.5, 0.4, -0.7])
SQUARE = np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4], [-0.6, 0.7, 0.1]])


@bindax.custom_jvp
def square(x: Any) -> Any:
    return x * x


@square.defjvp
def square_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return square(x), x * t  # wrong: the factor 2 is missing


@bindax.custom_jvp
def cosine(x: Any) -> Any:
    return bnp.cos(x)


@cosine.defjvp
def cosine_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return cosine(x), bnp.sin(x) * t  # wrong: the sign


@bindax.custom_jvp
def tanh(x: Any) -> Any:
    return bnp.tanh(x)


@tanh.defjvp
def tanh_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    y = tanh(x)
    return y, (1.0 - y * y) * bnp.abs(t)  # wrong: not linear in the tangent


@bindax.custom_jvp
def shifted(x: Any) -> Any:
    return 2.0 * x + 1.0


@shifted.defjvp
def shifted_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return shifted(x), 2.0 * t + 1.0  # wrong: the constant belongs to the value alone


@bindax.custom_jvp
def log1pexp(x: Any) -> Any:
    return bnp.log1p(bnp.exp(x))


@log1pexp.defjvp
def log1pexp_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return bnp.maximum(x, 0.0), t / (1.0 + bnp.exp(-x))  # wrong: an approximation as the value


@bindax.custom_jvp
def weighted(x: Any, w: Any) -> Any:
    return bnp.sum(x * w)


@weighted.defjvp
def weighted_jvp(primals: Any, tangents: Any) -> Any:
    (x, w), (tx, _) = primals, tangents
    return weighted(x, w), bnp.sum(tx * w)  # wrong: the tangent of w is forgotten


def _ratio(x: Any, y: Any) -> Any:
    return x / y


def ratio_in_y(t: Any, out: Any, x: Any, y: Any) -> Any:
    return t * out / y  # wrong: the sign


ratio = bindax.custom_jvp(_ratio)
ratio.defjvps(lambda t, out, x, y: t / y, ratio_in_y)


@bindax.custom_jvp
def relu6(x: Any) -> Any:
    return bnp.minimum(bnp.maximum(x, 0.0), 6.0)


@relu6.defjvp
def relu6_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    inside = np.asarray(x) > 0.0  # wrong: NumPy cannot read a traced value
    return relu6(x), bnp.where(inside, t, 0.0)


@bindax.custom_jvp
def phase(z: Any) -> Any:
    return z * z


@phase.defjvp
def phase_jvp(primals: Any, tangents: Any) -> Any:
    (z,), (t,) = primals, tangents
    return phase(z), 2.0 * bnp.conj(z) * t  # wrong: z, not its conjugate


@bindax.custom_jvp
def column_sums(x: Any) -> Any:
    return bnp.sum(x * x, axis=0)


@column_sums.defjvp
def column_sums_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return column_sums(x), bnp.sum(2.0 * x * t, axis=1)  # wrong: the axis


def two_layers(x: Any) -> Any:
    """Bury the mistake in a loop."""

    def body(carry: Any, _: Any) -> Any:
        return column_sums(carry)[None, :] + 0.1 * carry, None

    return bindax.lax.scan(body, x, None, length=2)[0]


FAULTS = [
    Fault(square, (X,), square_jvp),
    Fault(cosine, (X,), cosine_jvp),
    Fault(tanh, (X,), tanh_jvp),
    Fault(shifted, (X,), shifted_jvp),
    Fault(log1pexp, (X,), log1pexp_jvp),
    Fault(weighted, (X, Y), weighted_jvp),
    Fault(ratio, (X, Y), ratio_in_y),
    Fault(relu6, (X,), relu6_jvp),
    Fault(phase, (X + 1j * Y,), phase_jvp),
    Fault(two_layers, (SQUARE,), column_sums_jvp),
]
