"""Types of ``bindax.nnx``, as users see them; checked by mypy and by pyright."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, assert_type

import bindax as bx
from bindax import nnx, optimizers
from bindax import numpy as jnp

x = jnp.zeros((2, 3))


class Classifier(nnx.Module):
    def __init__(self, features: int, *, rngs: nnx.Rngs) -> None:
        self.hidden = nnx.Linear(features, 8, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(8))
        self.statistics: nnx.BatchStat[bx.Array] = nnx.BatchStat(jnp.zeros(8))

    def __call__(self, x: bx.Array) -> bx.Array:
        return self.dropout(self.hidden(x)) * self.scale

    @nnx.jit
    def predict(self, x: bx.Array, top: int = 1) -> bx.Array:
        return self(x)

    @nnx.jit(static_argnames="top")
    def predict_top(self, x: bx.Array, top: int = 1) -> bx.Array:
        return self(x)

    @partial(nnx.jit, static_argnums=2)
    def predict_static(self, x: bx.Array, top: int = 1) -> bx.Array:
        return self(x)

    @staticmethod
    @nnx.jit
    def scaled(x: bx.Array, factor: float = 2.0) -> bx.Array:
        return x * factor

    @nnx.remat
    def block(self, x: bx.Array, top: int = 1) -> bx.Array:
        return self(x)


def loss(model: Classifier, x: bx.Array, *, scale: float = 1.0) -> bx.Array:
    return model(x).sum() * scale


def loss_and_logits(model: Classifier, x: bx.Array) -> tuple[bx.Array, bx.Array]:
    logits = model(x)
    return logits.sum(), logits


model = Classifier(3, rngs=nnx.Rngs(0))
assert_type(model, Classifier)
assert_type(model(x), bx.Array)
assert_type(model.hidden, nnx.Linear)
assert_type(model.hidden(x), bx.Array)
assert_type(model.scale, nnx.Param[bx.Array])
assert_type(model.scale + 1, Any)
assert_type(nnx.Rngs(0).normal((2,)), bx.Array)
assert_type(model.predict(x, top=2), bx.Array)
assert_type(model.predict_top(x, top=2), bx.Array)
predicted: bx.Array = model.predict_static(x, 2)
assert_type(model.scaled(x, factor=3.0), bx.Array)
assert_type(Classifier.scaled(x, factor=3.0), bx.Array)
assert_type(model.block(x, top=2), bx.Array)

# Each is a function, a decorator, and a decorator with options.
assert_type(nnx.jit(loss)(model, x, scale=2.0), bx.Array)
assert_type(nnx.jit(static_argnames="scale")(loss)(model, x, scale=2.0), bx.Array)
assert_type(nnx.grad(loss)(model, x, scale=2.0), Any)
assert_type(nnx.grad(loss_and_logits, has_aux=True)(model, x), tuple[Any, bx.Array])
assert_type(nnx.grad(has_aux=True)(loss_and_logits)(model, x), tuple[Any, bx.Array])
assert_type(nnx.value_and_grad(loss)(model, x, scale=2.0), tuple[bx.Array, Any])
assert_type(
    nnx.value_and_grad(loss_and_logits, has_aux=True)(model, x),
    tuple[tuple[bx.Array, bx.Array], Any],
)
assert_type(nnx.value_and_grad(lambda model: model.sum())(model)[1], Any)
assert_type(
    nnx.value_and_grad(has_aux=True)(loss_and_logits)(model, x),
    tuple[tuple[bx.Array, bx.Array], Any],
)
assert_type(nnx.value_and_grad()(loss)(model, x, scale=2.0), tuple[bx.Array, Any])
assert_type(nnx.vmap(loss, in_axes=(None, 0))(model, x, scale=2.0), bx.Array)
assert_type(nnx.vmap(in_axes=(None, 0))(loss)(model, x, scale=2.0), bx.Array)
assert_type(nnx.remat(loss)(model, x, scale=2.0), bx.Array)
assert_type(nnx.jvp(loss, (model, x), (model, x)), tuple[bx.Array, bx.Array])


@nnx.scan(in_axes=(nnx.Carry, 0), out_axes=(nnx.Carry, 0))
def accumulated(carry: bx.Array, x: bx.Array) -> tuple[bx.Array, bx.Array]:
    return carry + x, carry


@nnx.jit
def train_step(model: Classifier, optimizer: nnx.Optimizer, x: bx.Array) -> bx.Array:
    value, gradient = nnx.value_and_grad(loss)(model, x)
    optimizer.update(model, gradient)
    return value


@partial(nnx.vmap, in_axes=(None, 0))
def each_row(model: Classifier, x: bx.Array) -> bx.Array:
    return model(x)


@partial(nnx.remat, static_argnums=2)
def repeated(model: Classifier, x: bx.Array, n: int) -> bx.Array:
    return model(x)


@nnx.split_rngs(splits=3)
@nnx.vmap
def ensemble(rngs: nnx.Rngs) -> Classifier:
    return Classifier(3, rngs=rngs)


@nnx.custom_vjp
def own_derivative(model: Classifier, x: bx.Array) -> bx.Array:
    return model(x)


optimizer = nnx.Optimizer(model, optimizers.adam(1e-3), wrt=nnx.Param)
assert_type(train_step(model, optimizer, x), bx.Array)
assert_type(accumulated(x[0], x), tuple[bx.Array, bx.Array])
assert_type(own_derivative(model, x), bx.Array)
assert_type(ensemble(nnx.Rngs(0)), Classifier)
rows: bx.Array = each_row(model, x)
rows = repeated(model, x, 3)

# Parts of models, and models of parts.
graphdef, state = nnx.split(model)
assert_type(graphdef, nnx.GraphDef)
assert_type(state, nnx.State)
graphdef, parameters, rest = nnx.split(model, nnx.Param, ...)
assert_type(parameters, nnx.State)
assert_type(nnx.state(model, nnx.Param), nnx.State)
assert_type(nnx.clone(model), Classifier)
assert_type(nnx.view(model, deterministic=True), Classifier)
assert_type(nnx.eval_mode(model), Classifier)
assert_type(nnx.eval_shape(lambda: Classifier(3, rngs=nnx.Rngs(0))), Classifier)
merged: Classifier = nnx.merge(graphdef, parameters, rest)

# Loops and choices.
assert_type(nnx.cond(True, loss, lambda model, x: 0.0, model, x), bx.Array)
assert_type(nnx.switch(0, [loss, loss], model, x), bx.Array)
assert_type(nnx.fori_loop(0, 3, lambda i, x: jnp.sin(x), x), bx.Array)
assert_type(nnx.while_loop(lambda x: x.sum() < 3, lambda x: jnp.add(x, 1), x), bx.Array)
assert_type(nnx.max_pool(x, (2,)), bx.Array)
assert_type(nnx.make_causal_mask(x), bx.Array)

if TYPE_CHECKING:
    train_step(model, x)  # type: ignore[call-arg]  # no optimizer
    nnx.grad(loss)(model, x, size=2.0)  # type: ignore[call-arg]  # no such parameter
    nnx.vmap(loss, axes=0)  # type: ignore[call-overload]  # no such option
    Classifier(3)  # type: ignore[call-arg]  # no random streams
