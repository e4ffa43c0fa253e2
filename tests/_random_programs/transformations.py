"""Transformations of functions from a matrix, a vector and integers to a scalar, nested."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .operands import COMPLEX, cast, constant

Function = Callable[..., Any]
FLOAT0 = np.dtype([("float0", np.void, 0)])  # of the derivatives of integers
SCALES = (0.5, 1.25)


class Transformation(NamedTuple):
    """A function of the same type from another one.

    Attributes:
        apply: Maps ``bindax`` or ``jax`` and the function to the new one.
        cost: How many times as long the program gets, roughly.
        reverse: Whether it runs the function backwards.
    """

    apply: Callable[[Any, Function], Function]
    cost: float = 1.0
    reverse: bool = False


def _weighted(ops: Any, x: Any, dtype: Any) -> Any:
    """A sum of derivatives, each element and part by another amount; large ones do not dominate."""
    parts = (ops.real(x), ops.imag(x)) if str(x.dtype) in COMPLEX else (x,)
    total = np.zeros((), dtype)
    for part in parts:
        part = ops.asinh(cast(ops, part, dtype))
        total = total * 0.8 + (part * constant(part.shape, part.dtype, 0.5, 1.0)).sum()
    return total


def _scaled(x: Any, factor: float) -> Any:
    return x * np.asarray(factor, x.dtype)


def _stack(x: Any, api: Any, axis: int = 0) -> Any:
    return api.lax.stack([_scaled(x, scale) for scale in SCALES], axis)


def _grad(api: Any, fun: Function) -> Function:
    def gradient(x: Any, y: Any, k: Any) -> Any:
        value, gradients = api.value_and_grad(fun, argnums=(0, 1))(x, y, k)
        return value * 0.1 + sum(_weighted(api.lax, g, value.dtype) for g in gradients)

    return gradient


def _vjp(api: Any, fun: Function) -> Function:
    def pulled(x: Any, y: Any, k: Any) -> Any:
        value, pull = api.vjp(fun, x, y, k)
        gx, gy, _ = pull(_scaled(api.lax.full_like(value, 1), 0.7))
        return _weighted(api.lax, gx, value.dtype) + _weighted(api.lax, gy, value.dtype)

    return pulled


def _jvp(api: Any, fun: Function) -> Function:
    def pushed(x: Any, y: Any, k: Any) -> Any:
        tangents = (_scaled(x, 0.5), _scaled(y, -0.3), np.zeros(k.shape, FLOAT0))
        value, tangent = api.jvp(fun, (x, y, k), tangents)
        return value * 0.1 + tangent

    return pushed


def _linearize(api: Any, fun: Function) -> Function:
    def linear(x: Any, y: Any, k: Any) -> Any:
        _, tangent = api.linearize(lambda x: fun(x, y, k), x)
        return tangent(_scaled(x, 0.25)) - tangent(api.lax.sin(x))

    return linear


def _jacobian(name: str) -> Callable[[Any, Function], Function]:
    def around(api: Any, fun: Function) -> Function:
        def squared(x: Any, y: Any, k: Any) -> Any:
            jacobian = getattr(api, name)(fun, argnums=1)(x, y, k)
            return _weighted(api.lax, jacobian, fun(x, y, k).dtype)

        return squared

    return around


def _vmap(api: Any, fun: Function) -> Function:
    """Over the matrix, whose batch is the last axis; the rest has none."""

    def batched(x: Any, y: Any, k: Any) -> Any:
        mapped = api.vmap(fun, in_axes=(2, None, None))
        return mapped(_stack(x, api, 2), y, k).sum()

    return batched


def _vmap_integers(api: Any, fun: Function) -> Function:
    """Over the integers, on which branches, loops and indices depend, and over the vector."""

    def batched(x: Any, y: Any, k: Any) -> Any:
        numbers = api.lax.stack([k, 5 - k, k * 2])
        vectors = api.lax.stack([y, y[::-1], _scaled(y, 0.3)], 1)
        return api.vmap(fun, in_axes=(None, 1, 0))(x, vectors, numbers).sum()

    return batched


def _scan(api: Any, fun: Function) -> Function:
    def looped(x: Any, y: Any, k: Any) -> Any:
        def step(carry: Any, z: Any) -> Any:
            value = fun(z, _scaled(y, 0.9), k)
            return carry + value, value

        total, values = api.lax.scan(step, fun(x, y, k) * 0, _stack(x, api))
        return total * 0.5 + values[0]

    return looped


def _branch(api: Any, fun: Function) -> Function:
    def chosen(x: Any, y: Any, k: Any) -> Any:
        return api.lax.cond(k[0] > 2, fun, lambda x, y, k: fun(_scaled(x, 0.5), y, k + 1), x, y, k)

    return chosen


TRANSFORMATIONS: dict[str, Transformation] = {
    "jit": Transformation(lambda api, fun: api.jit(fun)),
    "grad": Transformation(_grad, 3.0, reverse=True),
    "vjp": Transformation(_vjp, 3.0, reverse=True),
    "jvp": Transformation(_jvp, 2.0),
    "linearize": Transformation(_linearize, 2.5, reverse=True),
    "jacfwd": Transformation(_jacobian("jacfwd"), 3.0),
    "jacrev": Transformation(_jacobian("jacrev"), 4.0, reverse=True),
    "vmap": Transformation(_vmap, 1.5),
    "vmap of integers": Transformation(_vmap_integers, 1.5),
    "scan": Transformation(_scan, 2.0),
    "cond": Transformation(_branch, 2.0),
    "checkpoint": Transformation(lambda api, fun: api.checkpoint(fun), 1.2),
}
BUDGET = 60.0  # steps that a transformed program amounts to


def transformed(api: Any, fun: Function, chain: Sequence[str]) -> Function:
    """Apply transformations, the first one innermost."""
    for name in chain:
        fun = TRANSFORMATIONS[name].apply(api, fun)
    return fun


def reverses(chain: Sequence[str]) -> bool:
    return any(TRANSFORMATIONS[name].reverse for name in chain)


def affordable(chain: Sequence[str]) -> int:
    """How many steps, five or more, a program may have to be compiled within seconds."""
    cost = 1.0
    for name in chain:
        cost *= TRANSFORMATIONS[name].cost
    return min(50, max(5, round(BUDGET / cost)))
