"""The regularized incomplete beta function."""

from __future__ import annotations

import math
from typing import Any

from bindax_special.evaluation import gamma
from bindax_special.evaluation.functions import Functions, State

_MOST_STEPS = 20000.0


def _front(f: Functions, a: Any, b: Any, x: Any, y: Any) -> Any:
    """``x^a y^b / B(a, b)`` with ``y = 1 - x``.

    The powers are taken relative to their maximum, at ``x = a / (a + b)``, and the beta function
    from scaled gamma functions, so that neither is large where the quotient is not.
    """
    total = a + b
    off = x * b - y * a
    u, v = off / a, -off / b
    near = (f.abs(u) <= 0.5) & (f.abs(v) <= 0.5)
    u, v = f.where(near, u, 0.0), f.where(near, v, 0.0)
    close = a * gamma.log1p_minus(f, u, 1.0 + u) + b * gamma.log1p_minus(f, v, 1.0 + v)
    # log(1 - x) is more precise from x than from y where x is small, and the other way round.
    log_y = f.where(x < 0.5, f.log1p(-x), f.log(y))
    log_x = f.where(y < 0.5, f.log1p(-y), f.log(x))
    far = a * (log_x + f.log1p(b / a)) + b * (log_y + f.log1p(a / b))
    scale = gamma.scaled_gamma(f, total)
    scale = scale / (gamma.scaled_gamma(f, a) * gamma.scaled_gamma(f, b))
    root = f.sqrt(a / total) * f.sqrt(b) / gamma.SQRT_TWO_PI
    return f.exp(f.where(near, close, far)) * scale * root


def _fraction(f: Functions, a: Any, b: Any, x: Any) -> Any:
    """The continued fraction DLMF 8.17.22 by the modified algorithm of Lentz."""

    def body(m: Any, c: Any, d: Any, h: Any, moves: Any, a: Any, b: Any, x: Any) -> State:
        m = m + 1.0
        place = a + 2.0 * m
        even = (m / (place - 1.0)) * ((b - m) / place) * x
        c, d = 1.0 + even / c, 1.0 / (1.0 + even * d)
        ratio = c * d
        odd = -((a + m) / place) * ((a + b + m) / (place + 1.0)) * x
        c, d = 1.0 + odd / c, 1.0 / (1.0 + odd * d)
        # What has settled stays: further factors are one but for rounding, which would add up.
        ratio = f.where(moves, ratio * (c * d), 1.0)
        return m, c, d, h * ratio, f.abs(ratio - 1.0) > f.settled, a, b, x

    zero, one = a * 0.0, a * 0.0 + 1.0
    d = 1.0 / (1.0 - (a + b) / (a + 1.0) * x)
    state = f.loop(
        lambda m, c, d, h, moves, a, b, x: moves & (m < _MOST_STEPS),
        body,
        (zero, one, d, d, zero == 0.0, a, b, x),
    )
    return state[3]


def incomplete_beta(f: Functions, a: Any, b: Any, x: Any) -> Any:
    """The function; nan outside of ``a, b >= 0``, not both zero, and ``0 <= x <= 1``."""
    inside = (a > 0.0) & (b > 0.0) & (x > 0.0) & (x < 1.0) & (a < math.inf) & (b < math.inf)
    p, q, t = f.where(inside, a, 1.0), f.where(inside, b, 1.0), f.where(inside, x, 0.5)
    # From the side where the result is not near one; close to 1 the fraction is slow.
    middle = p / (p + q)
    middle = f.where(middle < 0.999, middle, 0.999)
    bound = (p + 1.0) / (p + q + 2.0)
    swap = t > f.where(middle > bound, middle, bound)
    rest = 1.0 - t
    front = _front(f, p, q, t, rest)
    first, second = f.where(swap, q, p), f.where(swap, p, q)
    part = front * _fraction(f, first, second, f.where(swap, rest, t)) / first
    out = f.where(swap, 1.0 - part, part)
    # As a parameter goes to zero, all of the distribution gathers at its end.
    out = f.where(a == 0.0, 1.0, f.where(b == 0.0, 0.0, out))
    out = f.where(x == 0.0, 0.0, f.where(x == 1.0, 1.0, out))
    bad = (a < 0.0) | (b < 0.0) | (x < 0.0) | (x > 1.0) | ((a == 0.0) & (b == 0.0))
    bad = bad | (a != a) | (b != b) | (x != x) | (a == math.inf) | (b == math.inf)
    return f.where(bad, math.nan, out)
