"""Solutions of ordinary differential equations, which can be differentiated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_control_flow import scan, while_loop
from bindax_core.extend import tree_map
from bindax_numpy.extend import ravel_pytree
from bindax_transforms import closure_convert, custom_vjp, vjp, vmap

__all__ = ["odeint"]

# Dormand and Prince, "A family of embedded Runge-Kutta formulae", 1980.
_TIMES = np.array([1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
_STAGES = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
_SOLUTION = np.array([*_STAGES[-1], 0.0])
_FOURTH = np.array([5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])
_ERROR = _SOLUTION - _FOURTH
# The solution in the middle of a step (Shampine, "Some practical Runge-Kutta formulas", 1986).
_MIDDLE = np.array(
    [
        6025192743 / 30085553152 / 2,
        0,
        51252292925 / 65400821598 / 2,
        -2691868925 / 45128329728 / 2,
        187940372067 / 1594534317056 / 2,
        -1776094331 / 19743644256 / 2,
        11237099 / 235043384 / 2,
    ]
)
_SAFETY, _SHRINK, _GROW, _ORDER = 0.9, 0.2, 10.0, 5.0


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    *args: Any,
    rtol: float = 1.4e-8,
    atol: float = 1.4e-8,
    mxstep: float = np.inf,
    hmax: float = np.inf,
) -> Any:
    """The solution of ``dy/dt = func(y, t, *args)`` at given times.

    Steps of order 5 by Dormand and Prince, as long as the tolerances allow. The derivative with
    respect to ``y0``, ``t`` and ``args`` comes from the adjoint equation, solved backwards with the
    same tolerances (Chen et al., "Neural ordinary differential equations", 2018).

    Args:
        func: the derivative: a function of the state, the time and ``args``.
        y0: the state at the first time, an array or nested containers of arrays.
        t: times, a vector that grows.
        args: further arguments of ``func``, nested containers of arrays.
        rtol: the tolerance relative to the state.
        atol: the absolute tolerance.
        mxstep: how many steps are allowed between two times.
        hmax: the longest step.

    Returns:
        States at all times, an axis before those of ``y0``.

    Raises:
        TypeError: when ``t`` is not a vector of floats, or something is not made of arrays.

    >>> from bindax_scipy.ode import odeint
    >>> jnp.round(odeint(lambda y, t: -y, jnp.array(1.0), jnp.array([0.0, 1.0])), 4)
    Array([1.    , 0.3679], dtype=float32)
    """
    times = jnp.asarray(t)
    if times.ndim != 1 or not jnp.issubdtype(times.dtype, np.floating):
        raise TypeError(
            f"odeint: t must be a vector of floats, but it has shape {times.shape} and dtype "
            f"{times.dtype}."
        )
    flat, unravel = ravel_pytree(y0)
    converted, consts = closure_convert(func, y0, times[0], *args)

    def on_vectors(y: Any, time: Any, *rest: Any) -> Any:
        return ravel_pytree(converted(unravel(y), time, *rest))[0].astype(y.dtype)

    options = (float(rtol), float(atol), float(mxstep), float(hmax))
    states = _solve(on_vectors, options, flat, times, (*args, *consts))
    return vmap(unravel)(states)


# ------------------------------------------------------------------------------ one step


def _scaled_size(x: Any, y0: Any, y1: Any, rtol: float, atol: float) -> Any:
    """The root mean square of errors relative to what is tolerated."""
    tolerance = atol + rtol * jnp.maximum(jnp.abs(y0), jnp.abs(y1))
    return jnp.sqrt(jnp.mean(jnp.square(jnp.abs(x) / tolerance)))


def _first_step(f: Any, t: Any, y: Any, slope: Any, rtol: float, atol: float) -> Any:
    """A guess of a good step: Hairer, Nørsett and Wanner, "Solving ODEs I", II.4."""
    scale = atol + jnp.abs(y) * rtol
    d0, d1 = (jnp.linalg.norm(v / scale) for v in (y, slope))
    h0 = jnp.where((d0 < 1e-5) | (d1 < 1e-5), 1e-6, 0.01 * d0 / d1)
    after = f(y + h0.astype(y.dtype) * slope, t + h0)
    d2 = jnp.linalg.norm((after - slope) / scale) / h0
    most = jnp.maximum(d1, d2)
    h1 = jnp.where(most <= 1e-15, jnp.maximum(1e-6, h0 * 1e-3), (0.01 / most) ** (1 / _ORDER))
    return jnp.minimum(100.0 * h0, h1)


def _step(f: Any, y: Any, slope: Any, t: Any, dt: Any) -> tuple[Any, Any, Any, Any]:
    """The state after a step, the slope there, an estimate of the error, and all slopes."""
    slopes = [slope]
    for fraction, weights in zip(_TIMES, _STAGES, strict=True):
        change = sum(w * k for w, k in zip(weights, slopes, strict=True))
        slopes.append(f(y + dt.astype(y.dtype) * change, t + dt * fraction))
    k = jnp.stack(slopes)
    h = dt.astype(y.dtype)
    combined = [
        h * jnp.tensordot(jnp.array(w, y.dtype), k, 1, precision=lax.Precision.HIGHEST)
        for w in (_SOLUTION, _ERROR)
    ]
    return y + combined[0], slopes[-1], combined[1], k


def _interpolant(y0: Any, y1: Any, k: Any, dt: Any) -> Any:
    """Coefficients of the polynomial of degree 4 through ends, middle and slopes of a step."""
    h = dt.astype(y0.dtype)
    middle = y0 + h * jnp.tensordot(
        jnp.array(_MIDDLE, y0.dtype), k, 1, precision=lax.Precision.HIGHEST
    )
    s0, s1 = h * k[0], h * k[-1]
    a = -2 * s0 + 2 * s1 - 8 * y0 - 8 * y1 + 16 * middle
    b = 5 * s0 - 3 * s1 + 18 * y0 + 14 * y1 - 32 * middle
    c = -4 * s0 + s1 - 11 * y0 - 5 * y1 + 16 * middle
    return jnp.stack([a, b, c, s0, y0])


def _next_length(dt: Any, ratio: Any) -> Any:
    smallest = jnp.where(ratio < 1, 1.0, _SHRINK)
    factor = jnp.clip(_SAFETY * jnp.clip(ratio, 1e-10) ** (-1 / _ORDER), smallest, _GROW)
    return dt * jnp.where(ratio == 0, _GROW, factor)


def _integrate(func: Any, options: Any, y0: Any, t: Any, args: Any) -> Any:
    rtol, atol, mxstep, hmax = options

    def f(y: Any, time: Any) -> Any:
        return func(y, time, *args)

    def advance(carry: Any, target: Any) -> Any:
        def unfinished(state: Any) -> Any:
            i, (_, _, time, dt, _, _) = state
            return (time < target) & (i < mxstep) & (dt > 0)

        def one(state: Any) -> Any:
            i, (y, slope, time, dt, last, coefficients) = state
            y1, slope1, error, k = _step(f, y, slope, time, dt)
            ratio = _scaled_size(error, y, y1, rtol, atol)
            accepted = ratio <= 1
            new = y1, slope1, time + dt, time, _interpolant(y, y1, k, dt)
            old = y, slope, time, last, coefficients
            y, slope, time, last, coefficients = (
                jnp.where(accepted, a, b) for a, b in zip(new, old, strict=True)
            )
            dt = jnp.clip(_next_length(dt, ratio), 0, hmax)
            return i + 1, (y, slope, time, dt, last, coefficients)

        _, carry = while_loop(unfinished, one, (jnp.zeros((), t.dtype), carry))
        _, _, time, _, last, coefficients = carry
        place = (target - last) / jnp.where(time == last, 1, time - last)
        return carry, jnp.polyval(coefficients, place.astype(y0.dtype))

    slope = f(y0, t[0])
    dt = jnp.clip(_first_step(f, t[0], y0, slope, rtol, atol), 0, hmax).astype(t.dtype)
    coefficients = jnp.stack([y0 * 0] * 4 + [y0])
    start = y0, slope, t[0], dt, t[0], coefficients
    _, states = scan(advance, start, t[1:])
    return jnp.concatenate([y0[None], states])


# ---------------------------------------------------------------------------- adjoint


@functools.partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(func: Any, options: Any, y0: Any, t: Any, args: Any) -> Any:
    return _integrate(func, options, y0, t, args)


def _forward(func: Any, options: Any, y0: Any, t: Any, args: Any) -> Any:
    states = _solve(func, options, y0, t, args)
    return states, (states, t, args)


def _backward(func: Any, options: Any, saved: Any, g: Any) -> Any:
    states, t, args = saved

    def augmented(state: Any, negative: Any, args: Any) -> Any:
        """The adjoint equation, in time that runs backwards."""
        y, y_bar, _, _ = state
        slope, pull = vjp(func, y, -negative, *args)
        y_change, t_change, *args_change = pull(y_bar)
        return -slope, y_change, t_change, tuple(args_change)

    start = states[-1], g[-1], jnp.zeros((), t.dtype), tree_map(jnp.zeros_like, args)
    n = t.shape[0]
    if n == 1:
        return g[0], jnp.zeros_like(t), start[3]

    def step(carry: Any, i: Any) -> Any:
        y_bar, t0_bar, args_bar = carry
        slope = func(states[i], t[i], *args)
        t_bar = jnp.real(jnp.sum(slope * g[i]))
        flat, unravel = ravel_pytree((states[i], y_bar, t0_bar - t_bar, args_bar))

        def on_vectors(v: Any, negative: Any, args: Any) -> Any:
            return ravel_pytree(augmented(unravel(v), negative, args))[0].astype(v.dtype)

        span = jnp.stack([-t[i], -t[i - 1]])
        solved = _solve(on_vectors, options, flat, span, (args,))
        _, y_bar, t0_bar, args_bar = unravel(solved[1])
        return (y_bar + g[i - 1], t0_bar, args_bar), t_bar

    (y_bar, t0_bar, args_bar), t_bars = scan(step, start[1:], jnp.arange(n - 1, 0, -1))
    return y_bar, jnp.concatenate([t0_bar[None], t_bars[::-1]]), args_bar


_solve.defvjp(_forward, _backward)
