"""``jax.example_libraries.stax``: layers as pairs of an initialization and a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bindax import nn, random
from bindax import numpy as jnp

__all__ = [
    "Dense",
    "Dropout",
    "Elu",
    "Exp",
    "FanInConcat",
    "FanInSum",
    "FanOut",
    "Flatten",
    "Gelu",
    "Identity",
    "LeakyRelu",
    "LogSoftmax",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Tanh",
    "elementwise",
    "parallel",
    "serial",
    "shape_dependent",
]

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def Dense(
    out_dim: int,
    W_init: Callable[..., Any] | None = None,
    b_init: Callable[..., Any] | None = None,
) -> Layer:
    """A linear layer with a bias."""
    weights = W_init or nn.initializers.glorot_normal()
    bias = b_init or nn.initializers.normal()

    def init(rng: Any, input_shape: Sequence[int]) -> Any:
        first, second = random.split(rng)
        shape = (*input_shape[:-1], out_dim)
        return shape, (weights(first, (input_shape[-1], out_dim)), bias(second, (out_dim,)))

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        matrix, offset = params
        return jnp.dot(inputs, matrix) + offset

    return init, apply


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer that applies a function to each element."""
    return (
        lambda rng, input_shape: (input_shape, ()),
        lambda params, inputs, **kwargs: fun(inputs, **fun_kwargs),
    )


Tanh: Layer = elementwise(jnp.tanh)
Relu: Layer = elementwise(nn.relu)
Exp: Layer = elementwise(jnp.exp)
LogSoftmax: Layer = elementwise(nn.log_softmax, axis=-1)
Softmax: Layer = elementwise(nn.softmax, axis=-1)
Softplus: Layer = elementwise(nn.softplus)
Sigmoid: Layer = elementwise(nn.sigmoid)
Elu: Layer = elementwise(nn.elu)
LeakyRelu: Layer = elementwise(nn.leaky_relu)
Selu: Layer = elementwise(nn.selu)
Gelu: Layer = elementwise(nn.gelu)
Identity: Layer = elementwise(lambda x: x)


def _flat_shape(shape: Sequence[int]) -> tuple[int, int]:
    size = 1
    for length in shape[1:]:
        size *= length
    return shape[0], size


Flatten: Layer = (
    lambda rng, input_shape: (_flat_shape(input_shape), ()),
    lambda params, inputs, **kwargs: jnp.reshape(inputs, (inputs.shape[0], -1)),
)

FanInSum: Layer = (
    lambda rng, input_shape: (input_shape[0], ()),
    lambda params, inputs, **kwargs: sum(inputs),
)


def FanOut(num: int) -> Layer:
    """A layer that gives its input several times."""
    return (
        lambda rng, input_shape: ([input_shape] * num, ()),
        lambda params, inputs, **kwargs: [inputs] * num,
    )


def FanInConcat(axis: int = -1) -> Layer:
    """A layer that joins its inputs along an axis."""

    def init(rng: Any, input_shape: Sequence[Any]) -> Any:
        shape = list(input_shape[0])
        shape[axis] = sum(one[axis] for one in input_shape)
        return tuple(shape), ()

    return init, lambda params, inputs, **kwargs: jnp.concatenate(inputs, axis)


def Dropout(rate: float, mode: str = "train") -> Layer:
    """A layer that keeps elements with probability ``rate``; needs ``rng`` when it trains."""

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError("Dropout is applied with the argument rng, a random key.")
        if mode != "train":
            return inputs
        keep = random.bernoulli(rng, rate, inputs.shape)
        return jnp.where(keep, inputs / rate, 0)

    return lambda rng, input_shape: (input_shape, ()), apply


def serial(*layers: Layer) -> Layer:
    """Layers one after the other."""
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        params = []
        for each in inits:
            rng, own = random.split(rng)
            input_shape, param = each(own, input_shape)
            params.append(param)
        return input_shape, params

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        keys = (None,) * len(layers) if rng is None else random.split(rng, len(layers))
        for each, param, key in zip(applies, params, keys, strict=True):
            inputs = each(param, inputs, rng=key, **kwargs)
        return inputs

    return init, apply


def parallel(*layers: Layer) -> Layer:
    """Layers side by side, each with an input of its own."""
    inits, applies = zip(*layers, strict=True)

    def init(rng: Any, input_shape: Any) -> Any:
        keys = random.split(rng, len(layers))
        made = [each(k, s) for each, k, s in zip(inits, keys, input_shape, strict=True)]
        return [shape for shape, _ in made], [params for _, params in made]

    def apply(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.pop("rng", None)
        keys = (None,) * len(layers) if rng is None else random.split(rng, len(layers))
        calls = zip(applies, params, inputs, keys, strict=True)
        return [each(p, x, rng=k, **kwargs) for each, p, x, k in calls]

    return init, apply


def shape_dependent(make_layer: Callable[..., Layer]) -> Layer:
    """A layer that is made when the shape of its input is known."""
    return (
        lambda rng, input_shape: make_layer(input_shape)[0](rng, input_shape),
        lambda params, inputs, **kwargs: make_layer(inputs.shape)[1](params, inputs, **kwargs),
    )
