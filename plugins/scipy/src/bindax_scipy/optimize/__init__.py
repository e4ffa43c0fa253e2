"""Minima of functions, with JAX's names; public as ``bindax.scipy.optimize``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

import bindax_lax_basic as lax
import bindax_numpy as jnp
from bindax_control_flow import fori_loop, while_loop
from bindax_core.extend import Array
from bindax_scipy.optimize._line_search import line_search
from bindax_transforms import value_and_grad

__all__ = ["OptimizeResults", "minimize"]

_LIMITED = "l-bfgs-experimental-do-not-rely-on-this"
_METHODS = ("bfgs", _LIMITED)


class OptimizeResults(NamedTuple):
    """The result of ``minimize``.

    Args:
        x: the place of the minimum.
        success: True if the gradient, or the change of the function, is small enough there.
        status: 0 for success, 1 if ``maxiter`` was reached, 3 if no step lowers the function.
        fun: the function there.
        jac: its gradient there.
        hess_inv: an estimate of the inverse of its second derivative, or None.
        nfev: how often the function was evaluated.
        njev: how often its gradient was.
        nit: the number of steps.

    >>> found = optimize.minimize(lambda x: ((x - 1.0) ** 2).sum(), jnp.zeros(2), method="BFGS")
    >>> bool(found.success), found.x.round(2)
    (True, Array([1., 1.], dtype=float32))
    """

    x: Array
    success: Any
    status: Any
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: Any
    njev: Any
    nit: Any


def minimize(
    fun: Callable[..., Any],
    x0: Any,
    args: tuple[Any, ...] = (),
    *,
    method: str,
    tol: float | None = None,
    options: Mapping[str, Any] | None = None,
) -> OptimizeResults:
    """A local minimum of a function that can be differentiated.

    Args:
        fun: a function of a vector and ``args`` that returns a number.
        x0: where to begin, a vector of floats.
        args: further arguments, a tuple.
        method: ``"BFGS"``, or ``"l-bfgs-experimental-do-not-rely-on-this"``, whose memory does not
            grow with the square of the size.
        tol: the largest gradient at which to end, which ``options["gtol"]`` means, too.
        options: ``gtol``, ``maxiter``, ``maxls`` (how many lengths of a step are tried); ``norm``
            for BFGS, the order of the norm of the gradient; ``maxcor`` for the other method, how
            many steps are remembered, and ``ftol``, the relative change of the function at which
            to end.

    Raises:
        TypeError: when ``args`` is not a tuple.
        ValueError: for another method or option, or when ``x0`` is not a vector.

    >>> found = optimize.minimize(lambda x: jnp.sum((x - 1) ** 2), jnp.zeros(2), method="BFGS")
    >>> jnp.round(found.x, 3)
    Array([1., 1.], dtype=float32)
    """
    if not isinstance(args, tuple):
        raise TypeError(f"minimize: args must be a tuple, but it is {args!r:.60}.")
    given: Any = method
    name = given.lower() if isinstance(given, str) else given
    if name not in _METHODS:
        raise ValueError(
            f"minimize: method must be 'BFGS' or {_LIMITED!r}, but it is {method!r:.60}."
        )
    x = jnp.asarray(x0)
    if x.ndim != 1 or not jnp.issubdtype(x.dtype, np.floating):
        raise ValueError(
            f"minimize: x0 must be a vector of floats, but it has shape {x.shape} and dtype "
            f"{x.dtype}; ravel_pytree makes one of other arguments."
        )
    allowed = {"gtol": 1e-5, "maxiter": None, "norm": np.inf, "maxls": 10}
    if name == _LIMITED:
        allowed = {"gtol": 1e-5, "maxiter": None, "maxcor": 10, "ftol": 2.220446049250313e-09}
        allowed |= {"maxls": 20, "maxfun": np.inf, "maxgrad": np.inf}
    chosen = dict(options or {})
    unknown = [k for k in chosen if k not in allowed]
    if unknown:
        raise ValueError(
            f"minimize: options of {method} are {', '.join(allowed)}, but there is {unknown[0]!r}."
        )
    settings = allowed | ({} if tol is None else {"gtol": tol}) | chosen
    function = value_and_grad(lambda x: fun(x, *args))
    return (_bfgs if name == "bfgs" else _limited_bfgs)(function, x, settings)


class _State(NamedTuple):
    """Where a minimization is; the memory is what a method knows about the second derivative."""

    x: Any
    value: Any
    gradient: Any
    memory: Any
    count: Any
    evaluations: Any
    done: Any
    failed: Any


def _run(
    function: Any, x: Any, settings: Any, memory: Any, small: Any, direction: Any, update: Any
) -> tuple[_State, Any]:
    """Steps of a quasi-Newton method until the gradient is small."""
    most = x.size * 200 if settings["maxiter"] is None else operator.index(settings["maxiter"])
    tries = operator.index(settings["maxls"])

    def unfinished(state: _State) -> Any:
        return ~state.done & ~state.failed & (state.count < most)

    def step(state: _State) -> _State:
        d = direction(state)
        # The first direction is as long as the gradient, which tells nothing about a good length.
        size = jnp.sum(jnp.abs(state.gradient))
        first = jnp.where(state.count == 0, jnp.minimum(1.0, 1 / jnp.where(size > 0, size, 1)), 1.0)
        found = line_search(function, state.x, d, state.value, state.gradient, first, tries)
        change, bend = found.x - state.x, found.gradient - state.gradient
        memory = update(state, change, bend)
        kept = [
            jnp.where(found.failed, a, b)
            for a, b in (
                (state.x, found.x),
                (state.value, found.value),
                (state.gradient, found.gradient),
            )
        ]
        done = small(kept[2], state.value, kept[1]) & ~found.failed
        evaluations = state.evaluations + found.count
        x, value, gradient = kept
        count = state.count + 1
        return _State(x, value, gradient, memory, count, evaluations, done, found.failed)

    value, gradient = function(x)
    no = jnp.zeros((), bool)
    zero = jnp.zeros((), np.int32)
    start = _State(x, value, gradient, memory, zero, zero + 1, no, no)
    start = start._replace(done=small(gradient, jnp.full_like(value, np.inf), value))
    state = while_loop(unfinished, step, start)
    return state, jnp.where(state.done, 0, jnp.where(state.failed, 3, 1))


def _results(state: _State, status: Any, inverse: Any) -> OptimizeResults:
    n = state.evaluations
    return OptimizeResults(
        state.x, state.done, status, state.value, state.gradient, inverse, n, n, state.count
    )


def _bfgs(function: Any, x: Any, settings: Any) -> OptimizeResults:
    """The method of Broyden, Fletcher, Goldfarb and Shanno."""
    identity = jnp.eye(x.size, dtype=x.dtype)
    highest = lax.Precision.HIGHEST

    def small(gradient: Any, before: Any, after: Any) -> Any:
        return jnp.linalg.norm(gradient, settings["norm"]) < settings["gtol"]

    def direction(state: _State) -> Any:
        return -jnp.matmul(state.memory, state.gradient, precision=highest)

    def update(state: _State, s: Any, y: Any) -> Any:
        curvature = jnp.vdot(y, s)
        good = curvature > 0
        rho = 1 / jnp.where(good, curvature, 1)
        left = identity - rho * jnp.outer(s, y)
        fresh = jnp.matmul(jnp.matmul(left, state.memory, precision=highest), left.T)
        return jnp.where(good, fresh + rho * jnp.outer(s, s), state.memory)

    state, status = _run(function, x, settings, identity, small, direction, update)
    return _results(state, status, state.memory)


def _limited_bfgs(function: Any, x: Any, settings: Any) -> OptimizeResults:
    """The same with the last steps in place of a matrix (Nocedal 1980)."""
    most = operator.index(settings["maxcor"])
    empty = jnp.zeros((most, x.size), x.dtype)
    memory = empty, empty, jnp.zeros(most, x.dtype), jnp.ones((), x.dtype)

    def small(gradient: Any, before: Any, after: Any) -> Any:
        scale = jnp.maximum(jnp.maximum(jnp.abs(before), jnp.abs(after)), 1)
        change = jnp.where(jnp.isfinite(before), (before - after) / scale, np.inf)
        flat = jnp.max(jnp.abs(gradient), initial=0) < settings["gtol"]
        return flat | (change < settings["ftol"]) & (change > -settings["ftol"])

    def direction(state: _State) -> Any:
        steps, bends, rhos, scale = state.memory

        def back(i: Any, carry: Any) -> Any:
            q, alphas = carry
            j = most - 1 - i
            alpha = rhos[j] * jnp.vdot(steps[j], q)
            return q - alpha * bends[j], alphas.at[j].set(alpha)

        def forth(j: Any, carry: Any) -> Any:
            q, alphas = carry
            return q + steps[j] * (alphas[j] - rhos[j] * jnp.vdot(bends[j], q)), alphas

        q, alphas = fori_loop(0, most, back, (state.gradient, jnp.zeros(most, x.dtype)))
        return -fori_loop(0, most, forth, (scale * q, alphas))[0]

    def update(state: _State, s: Any, y: Any) -> Any:
        curvature = jnp.vdot(y, s)
        good = curvature > 0
        rho = 1 / jnp.where(good, curvature, 1)
        scale = curvature / jnp.where(good, jnp.vdot(y, y), 1)
        fresh = (s, y, rho, scale)
        moved = [
            jnp.roll(v, -1, axis=0).at[-1].set(f)
            for v, f in zip(state.memory, fresh[:3], strict=False)
        ]
        return tuple(
            jnp.where(good, a, b) for a, b in zip((*moved, scale), state.memory, strict=True)
        )

    state, status = _run(function, x, settings, memory, small, direction, update)
    return _results(state, status, None)
