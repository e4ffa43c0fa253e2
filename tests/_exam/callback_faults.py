"""Functions that call the host, with mistakes in what they call or say about it."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

import bindax
import bindax.numpy as bnp
from _exam.faults import Fault

X = np.array([0.3, -1.2, 0.8], np.float32)
Y = np.array([1.5, 0.4, -0.7], np.float32)


def like(x: Any) -> Any:
    return bindax.ShapeDtypeStruct(x.shape, x.dtype)


def host_mean(x: Any) -> Any:
    return np.mean(np.asarray(x), dtype=np.float64)


def mean(x: Any) -> Any:
    return bindax.pure_callback(host_mean, bindax.ShapeDtypeStruct((), np.float32), x)  # wrong


def host_unique(x: Any) -> Any:
    return np.unique(np.asarray(x))


def unique(x: Any) -> Any:
    kind = bindax.ShapeDtypeStruct((2,), x.dtype)  # wrong: there are three
    return bindax.pure_callback(host_unique, kind, x)


def host_sort(x: Any) -> Any:
    return np.sort(np.asarray(x), axis=0)


def sort(x: Any) -> Any:
    how = "expand_dims"  # wrong: axis 0 is the batch then
    return bindax.pure_callback(host_sort, like(x), x, vmap_method=how)


CALLS = count()


def host_numbered(x: Any) -> Any:
    return np.asarray(x) + np.float32(next(CALLS))  # wrong: counts its calls


def numbered(x: Any) -> Any:
    return bindax.pure_callback(host_numbered, like(x), x, vmap_method="sequential")


KNOWN: dict[Any, Any] = {}


def host_remembered(x: Any) -> Any:
    x = np.asarray(x)
    return KNOWN.setdefault((x.shape, x.dtype), np.sqrt(np.abs(x)))  # wrong: the key lacks values


def remembered(x: Any) -> Any:
    return bindax.pure_callback(host_remembered, like(x), x, vmap_method="sequential")


def host_noisy(x: Any) -> Any:
    x = np.asarray(x)
    noise = np.random.default_rng().normal(size=x.shape)  # wrong: random
    return (x + noise).astype(x.dtype)


def noisy(x: Any) -> Any:
    return bindax.pure_callback(host_noisy, like(x), x, vmap_method="expand_dims")


@bindax.custom_vjp
def host_exp(x: Any) -> Any:
    return bindax.pure_callback(lambda x: np.exp(x), like(x), x, vmap_method="expand_dims")


def host_exp_fwd(x: Any) -> Any:
    y = host_exp(x)
    return y, (x, y)


def host_exp_bwd(kept: Any, ct: Any) -> Any:
    x, y = kept
    return (ct * x * y,)  # wrong: the power rule


host_exp.defvjp(host_exp_fwd, host_exp_bwd)


@bindax.custom_jvp
def host_sin(x: Any) -> Any:
    return bindax.pure_callback(lambda x: np.sin(x), like(x), x, vmap_method="expand_dims")


@host_sin.defjvp
def host_sin_jvp(primals: Any, tangents: Any) -> Any:
    (x,), (t,) = primals, tangents
    return host_sin(x), t * host_sin(x + 1.0)  # wrong: a quarter turn is pi / 2


def shifted_on_host(x: Any, y: Any) -> Any:
    def host(x: Any) -> Any:
        return np.asarray(x) + np.asarray(y)  # wrong: closes over a traced value

    return bindax.pure_callback(host, like(x), x, vmap_method="expand_dims")


TOTAL: list[float] = []


def host_running_mean(x: Any) -> Any:
    TOTAL.append(float(np.sum(np.asarray(x))))  # wrong: keeps what it saw
    return np.float32(np.mean(TOTAL))


def centred(x: Any) -> Any:
    scalar = bindax.ShapeDtypeStruct((), np.float32)
    mean = bindax.pure_callback(host_running_mean, scalar, x, vmap_method="sequential")
    return bnp.tanh(x) - mean


FAULTS = [
    Fault(mean, (X,), mean),
    Fault(unique, (X,), unique),
    Fault(sort, (X,), sort),
    Fault(numbered, (X,), host_numbered),
    Fault(remembered, (X,), host_remembered),
    Fault(noisy, (X,), host_noisy),
    Fault(host_exp, (X,), host_exp_bwd),
    Fault(host_sin, (X,), host_sin_jvp),
    Fault(shifted_on_host, (X, Y), shifted_on_host),
    Fault(centred, (X,), host_running_mean),
]
