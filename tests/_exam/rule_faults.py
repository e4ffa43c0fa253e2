"""Plain functions, made of primitives whose rules have mistakes."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault
from bindax.extend import is_undef_primal, primitive, rules

X = np.array([0.3, -1.2, 0.8])
Y = np.array([1.5, 0.4, -0.7])
MATRIX = np.array([[0.2, -0.5, 1.1], [0.9, 0.3, -0.4]])


def same_type(x: Any, **params: Any) -> Any:
    return x


ON_HOST = rules.lowering["stablehlo"].absent("the host computes it")


def elementwise_vmap(bind: Any) -> Any:
    return rules.vmap(lambda size, xs, dims: (bind(*xs), dims[0]))


# ------------------------------------------------------------------------------------- jvp, factor


def square_rule(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return square_p.bind(x), x * t  # wrong: the factor 2


square_p = primitive(
    "exam.square",
    rules.impl(lambda x: x * x),
    rules.abstract_eval(same_type),
    rules.jvp(square_rule),
    elementwise_vmap(lambda x: square_p.bind(x)),
    rules.transpose.absent("not linear"),
    ON_HOST,
)


def energy(x: Any) -> Any:
    return 0.5 * bnp.sum(square_p.bind(bnp.sin(x)))


# ------------------------------------------------------------------------------- transpose, sign


def flip_transpose(ct: Any, x: Any) -> Any:
    return [-ct[::-1]]  # wrong: the sign


flip_p = primitive(
    "exam.flip",
    rules.impl(lambda x: x[::-1].copy()),
    rules.abstract_eval(same_type),
    rules.jvp(lambda p, t: (flip_p.bind(*p), flip_p.bind(*t))),
    rules.vmap.absent("applied to each element"),
    rules.transpose(flip_transpose),
    ON_HOST,
)


def correlation(x: Any, y: Any) -> Any:
    return bnp.sum(flip_p.bind(x) * y)


# ------------------------------------------------------------------------------------ vmap, axis


def cumulate_vmap(size: Any, xs: Any, dims: Any) -> Any:
    return cumulate_p.bind(xs[0]), dims[0]  # wrong: sums along the last axis, also of the batch


cumulate_p = primitive(
    "exam.cumulate",
    rules.impl(lambda x: np.cumsum(x, axis=-1)),
    rules.abstract_eval(same_type),
    rules.jvp(lambda p, t: (cumulate_p.bind(*p), cumulate_p.bind(*t))),
    rules.vmap(cumulate_vmap),
    rules.transpose(lambda ct, x: [bnp.flip(cumulate_p.bind(bnp.flip(ct, -1)), -1)]),
    ON_HOST,
)


def profile(x: Any) -> Any:
    return bnp.exp(-cumulate_p.bind(x))


# --------------------------------------------------------------------------- abstract_eval, dtype


def mean_type(x: Any) -> Any:
    return x.update(shape=(1, *x.shape[1:]))  # wrong: the axis is gone


mean_p = primitive(
    "exam.mean",
    rules.impl(lambda x: np.mean(x, axis=0)),
    rules.abstract_eval(mean_type),
    rules.jvp(lambda p, t: (mean_p.bind(*p), mean_p.bind(*t))),
    rules.vmap.absent("applied to each element"),
    rules.transpose(lambda ct, x: [bnp.broadcast_to(ct / x.aval.shape[0], x.aval.shape)]),
    ON_HOST,
)


def centred(x: Any) -> Any:
    return x - mean_p.bind(x)


# -------------------------------------------------------------------------------- impl, in place


def positive_part_impl(x: Any) -> Any:
    np.maximum(x, 0.0, out=x)  # wrong: changes the operand
    return x.copy()


positive_part_p = primitive(
    "exam.positive_part",
    rules.impl(positive_part_impl),
    rules.abstract_eval(same_type),
    rules.jvp(lambda p, t: (positive_part_p.bind(*p), bnp.where(p[0] > 0, t[0], 0.0))),
    elementwise_vmap(lambda x: positive_part_p.bind(x)),
    rules.transpose.absent("not linear"),
    ON_HOST,
)


def hinge(x: Any) -> Any:
    y = positive_part_p.bind(x)
    return y + 0.1 * x


# --------------------------------------------------------------------------- impl, not the same


DRAWS = count()


def jitter_impl(x: Any) -> Any:
    return x * (1.0 + 1e-3 * next(DRAWS))  # wrong: depends on the number of calls


jitter_p = primitive(
    "exam.jitter",
    rules.impl(jitter_impl),
    rules.abstract_eval(same_type),
    rules.jvp(lambda p, t: (jitter_p.bind(*p), t[0])),
    elementwise_vmap(lambda x: jitter_p.bind(x)),
    rules.transpose.absent("a test"),
    ON_HOST,
)


def augmented(x: Any) -> Any:
    return bnp.cos(jitter_p.bind(x))


# ------------------------------------------------------------------------- jvp, forgotten operand


def scale_rule(primals: Any, tangents: Any) -> Any:
    (x, w), (t, _) = primals, tangents
    return scale_p.bind(x, w), scale_p.bind(t, w)  # wrong: the tangent of w


scale_p = primitive(
    "exam.scale",
    rules.impl(lambda x, w: x * w),
    rules.abstract_eval(lambda x, w: x),
    rules.jvp(scale_rule),
    rules.vmap.absent("applied to each element"),
    rules.transpose(
        lambda ct, x, w: [ct * w, None] if is_undef_primal(x) else [None, bnp.sum(ct * x)]
    ),
    ON_HOST,
)


def weighted(x: Any, w: Any) -> Any:
    return bnp.sum(bnp.tanh(scale_p.bind(x, w)))


# ------------------------------------------------------------------------------ vmap, unmapped


def axpy_vmap(size: Any, xs: Any, dims: Any) -> Any:
    x, y = xs
    return axpy_p.bind(x, bnp.broadcast_to(y, x.shape)), 0  # wrong: if x is not the mapped one


axpy_p = primitive(
    "exam.axpy",
    rules.impl(lambda x, y: 2.0 * x + y),
    rules.abstract_eval(lambda x, y: x),
    rules.jvp(lambda p, t: (axpy_p.bind(*p), axpy_p.bind(*t))),
    rules.vmap(axpy_vmap),
    rules.transpose(
        lambda ct, x, y: [
            2.0 * ct if is_undef_primal(x) else None,
            ct if is_undef_primal(y) else None,
        ]
    ),
    ON_HOST,
)


def update(x: Any, y: Any) -> Any:
    return bnp.sin(axpy_p.bind(x, y))


# ---------------------------------------------------------------------------------- lowering


def triple_lowering(ctx: Any, x: Any) -> Any:
    return ctx.op("stablehlo.add", [x, x])[0]  # wrong: twice, not three times


triple_p = primitive(
    "exam.triple",
    rules.impl(lambda x: 3.0 * x),
    rules.abstract_eval(same_type),
    rules.jvp(lambda p, t: (triple_p.bind(*p), triple_p.bind(*t))),
    elementwise_vmap(lambda x: triple_p.bind(x)),
    rules.transpose(lambda ct, x: [triple_p.bind(ct)]),
    rules.lowering["stablehlo"](triple_lowering),
)


def amplified(x: Any) -> Any:
    return bnp.log1p(triple_p.bind(x) ** 2)


# ------------------------------------------------------------------------------ jvp, only inside


def ramp_rule(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return ramp_p.bind(x), t  # wrong: zero below zero


ramp_p = primitive(
    "exam.ramp",
    rules.impl(lambda x: np.maximum(x, 0.0)),
    rules.abstract_eval(same_type),
    rules.jvp(ramp_rule),
    elementwise_vmap(lambda x: ramp_p.bind(x)),
    rules.transpose.absent("not linear"),
    ON_HOST,
)


def gated(x: Any) -> Any:
    def body(i: Any, y: Any) -> Any:
        return 0.5 * y + ramp_p.bind(x) * i

    return bindax.lax.fori_loop(0, 3, body, x)


FAULTS = [
    Fault(energy, (X,), square_rule),
    Fault(correlation, (X, Y), flip_transpose),
    Fault(profile, (X,), cumulate_vmap),
    Fault(centred, (MATRIX,), mean_type),
    Fault(hinge, (X,), positive_part_impl),
    Fault(augmented, (X,), jitter_impl),
    Fault(weighted, (X, np.float64(0.7)), scale_rule),
    Fault(update, (X, Y), axpy_vmap),
    Fault(amplified, (X,), triple_lowering),
    Fault(gated, (X,), ramp_rule),
]
