"""Equations know the module that they are of, by its path from the outermost one."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import bindax
import bindax_nnx as nnx
from bindax_core.extend import subjaxprs

X = np.ones((2, 3), np.float32)


class Attention(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.query = nnx.Linear(3, 3, rngs=rngs)

    def __call__(self, x: Any) -> Any:
        return bindax.numpy.tanh(self.query(x))


class Layer(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.attention = Attention(rngs)

    def __call__(self, x: Any) -> Any:
        return self.attention(x) * 2


class Special(Layer):
    def __call__(self, x: Any) -> Any:
        return super().__call__(x) + 1


class Encoder(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.layers = nnx.List([Layer(rngs), Special(rngs)])

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x.sum()


class Model(nnx.Module):
    def __init__(self) -> None:
        self.encoder = Encoder(nnx.Rngs(0))

    def __call__(self, x: Any) -> Any:
        return self.encoder(x)


def names(closed: Any, primitive: str) -> list[str]:
    """The names of a primitive's applications in a program, in order, without repetitions."""
    found = []
    for eqn in closed.jaxpr.eqns:
        if eqn.primitive.name == primitive:
            found.append(eqn.source_info.names)
        for _, program in subjaxprs(eqn.params):
            found += names(program, primitive)
    return list(dict.fromkeys(found))


def trace(f: Any, *args: Any) -> Any:
    """The program of a function of a model's state."""
    graphdef, state = nnx.split(Model())
    return bindax.make_jaxpr(lambda state, *args: f(nnx.merge(graphdef, state), *args))(
        state, *args
    )


LAYERS = [f"encoder/layers/{i}" for i in range(2)]


def test_a_module_has_its_path() -> None:
    closed = trace(lambda model, x: model(x), X)
    assert names(closed, "dot_general") == [f"{layer}/attention/query" for layer in LAYERS]
    assert names(closed, "tanh") == [f"{layer}/attention" for layer in LAYERS]
    assert names(closed, "mul") == LAYERS
    assert names(closed, "reduce_sum") == ["encoder"]


def test_a_part_that_is_called_alone_has_its_path() -> None:
    closed = trace(lambda model, x: model.encoder.layers[1].attention(x), X)
    assert names(closed, "tanh") == ["encoder/layers/1/attention"]


def test_the_backward_pass_has_the_names_of_the_forward_pass() -> None:
    def gradient(model: Any, x: Any) -> Any:
        return nnx.split(nnx.grad(lambda model: model(x))(model))[1]

    found = names(trace(gradient, X), "dot_general")
    assert f"jvp(encoder)/{LAYERS[0][8:]}/attention/query" in found
    assert f"transpose(jvp(encoder))/{LAYERS[0][8:]}/attention/query" in found


def test_compiled_programs_have_the_names() -> None:
    pytest.importorskip("jaxlib")
    text = nnx.jit(lambda model, x: model(x)).lower(Model(), X).compile().as_text()
    assert "/encoder/layers/1/attention/query/" in text


def test_what_else_is_in_scope() -> None:
    class Scoped(nnx.Module):
        def __init__(self) -> None:
            self.model = Model()
            self.shared = self.model.encoder.layers[0]

        def __call__(self, x: Any) -> Any:
            with bindax.named_scope("inner"):
                return self.shared(x)

    scoped = Scoped()
    closed = bindax.make_jaxpr(lambda x: scoped(x))(X)
    assert names(closed, "tanh") == ["inner/model/encoder/layers/0/attention"]


def test_a_call_that_fails_leaves_no_name() -> None:
    class Fails(nnx.Module):
        def __init__(self) -> None:
            self.inner = Layer(nnx.Rngs(0))

        def __call__(self, x: Any) -> Any:
            self.inner(x)
            raise KeyError("x")

    fails = Fails()
    with pytest.raises(KeyError):
        bindax.make_jaxpr(lambda x: fails(x))(X)
    closed = bindax.make_jaxpr(lambda x: fails.inner(x))(X)
    assert names(closed, "tanh") == ["inner/attention"]


def test_calls_stay_what_they_were() -> None:
    layer = Layer(nnx.Rngs(0))
    assert pickle.loads(pickle.dumps(Layer.__call__)) is Layer.__call__
    assert Layer.__call__.__name__ == "__call__"
    with pytest.raises(TypeError, match=r"Layer.__call__\(\) got an unexpected keyword argument"):
        layer(X, y=1)
