"""Modules with mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault
from bindax import nnx

X = np.array([[0.3, -1.2, 0.8], [0.5, 0.1, -0.4]], np.float32)


class WithoutBias(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 3, use_bias=False, rngs=rngs)
        self.bias = nnx.Param(bnp.ones(3))

    def __call__(self, x: Any) -> Any:
        return bnp.tanh(self.linear(x))  # wrong: the bias is never added


class Detached(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.encoder = nnx.Linear(3, 4, rngs=rngs)
        self.head = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        hidden = bindax.lax.stop_gradient(bnp.tanh(self.encoder(x)))  # wrong: encoder never learns
        return self.head(hidden)


class Stacked(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([nnx.Linear(3, 3, rngs=rngs)] * 3)  # wrong: one layer three times

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = bnp.tanh(layer(x))
        return x


class SameKey(nnx.Module):
    def __init__(self, seed: int) -> None:
        self.query = nnx.Linear(3, 3, rngs=nnx.Rngs(seed))
        self.key = nnx.Linear(3, 3, rngs=nnx.Rngs(seed))  # wrong: starts equal to query

    def __call__(self, x: Any) -> Any:
        return self.query(x) @ self.key(x).T


class FrozenDropout(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5)

    def __call__(self, x: Any) -> Any:
        rngs = nnx.Rngs(dropout=0)  # wrong: the same mask in each call
        return self.dropout(self.linear(x), rngs=rngs)


class OwnDropout(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 8, rngs=rngs)
        self.key = nnx.RngKey(rngs.dropout(), tag="dropout")

    def __call__(self, x: Any) -> Any:
        y = self.linear(x)
        keep = bindax.random.bernoulli(self.key.value, 0.5, y.shape)  # wrong: the key is not split
        return bnp.where(keep, 2.0 * y, 0.0)


@bindax.custom_vjp
def swish(x: Any) -> Any:
    return x * bindax.nn.sigmoid(x)


def swish_fwd(x: Any) -> Any:
    return swish(x), x


def swish_bwd(x: Any, ct: Any) -> Any:
    s = bindax.nn.sigmoid(x)
    return (ct * (s + x * s),)  # wrong: x * s * (1 - s)


swish.defvjp(swish_fwd, swish_bwd)


class WrongActivation(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 4, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return swish(self.linear(x))


STEPS = {"count": 0}


class Warmup(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        STEPS["count"] += 1  # wrong: state outside of variables
        return self.linear(x) * (1.0 - 0.5 ** STEPS["count"])


SEEN: list[Any] = []


class Recording(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        y = self.linear(x)
        SEEN.append(y)  # wrong: keeps a traced value
        return bnp.tanh(y)


class InPlace(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.linear = nnx.Linear(3, 2, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        if isinstance(x, np.ndarray):
            x -= x.mean(axis=-1, keepdims=True)  # wrong: the operand is the caller's
        else:
            x = x - x.mean(axis=-1, keepdims=True)
        return self.linear(x)


without_bias = WithoutBias(nnx.Rngs(0))
detached = Detached(nnx.Rngs(0))
stacked = Stacked(nnx.Rngs(0))
same_key = SameKey(0)
frozen_dropout = FrozenDropout(nnx.Rngs(0))
own_dropout = OwnDropout(nnx.Rngs(0))
wrong_activation = WrongActivation(nnx.Rngs(0))
warmup = Warmup(nnx.Rngs(0))
recording = Recording(nnx.Rngs(0))
in_place = InPlace(nnx.Rngs(0))

FAULTS = [
    Fault(without_bias, (X,), WithoutBias.__call__),
    Fault(detached, (X,), Detached.__call__),
    Fault(stacked, (X,), Stacked.__init__),
    Fault(same_key, (X,), SameKey.__init__),
    Fault(frozen_dropout, (X,), FrozenDropout.__call__),
    Fault(own_dropout, (X,), OwnDropout.__call__),
    Fault(wrong_activation, (X,), swish_bwd),
    Fault(warmup, (X,), Warmup.__call__),
    Fault(recording, (X,), Recording.__call__),
    Fault(in_place, (X,), InPlace.__call__),
]
