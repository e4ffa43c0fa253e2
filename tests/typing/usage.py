"""Types of the public names, as users see them; checked by mypy and by pyright.

Each transformation keeps the parameters of the function that it is given. Results have the types
that follow from the function's.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, assert_type

import numpy as np

import bindax as bx
from bindax import lax, nn, optimizers, random, tree
from bindax import numpy as jnp
from bindax.scipy import linalg, special, stats
from bindax.typing import ArrayLike

Parameters = dict[str, bx.Array]
x = jnp.zeros((2, 3))


def scaled(x: bx.Array, factor: float = 1.0) -> bx.Array:
    return x * factor


def loss(parameters: Parameters, x: ArrayLike, *, scale: float = 1.0) -> bx.Array:
    return lax.reduce_sum(lax.mul(parameters["w"], x)) * scale


def loss_and_count(parameters: Parameters, x: bx.Array) -> tuple[bx.Array, int]:
    return lax.reduce_sum(parameters["w"] * x), 3


parameters: Parameters = {"w": x}

# Arrays have operators, methods and properties.
assert_type(x, bx.Array)
assert_type(x + 1, bx.Array)
assert_type(2.0 - x, bx.Array)
assert_type(x @ x.T, bx.Array)
assert_type(-x, bx.Array)
assert_type(x == x, bx.Array)
assert_type(x < 1, bx.Array)
assert_type(divmod(x, 2), tuple[bx.Array, bx.Array])
assert_type(x[0, 1:], bx.Array)
assert_type(x.sum(axis=0, keepdims=True), bx.Array)
assert_type(x.mean(), bx.Array)
assert_type(x.argmax(axis=1), bx.Array)
assert_type(x.reshape(3, 2), bx.Array)
assert_type(x.reshape((-1,)), bx.Array)
assert_type(x.astype(jnp.float32), bx.Array)
assert_type(x.clip(0.0, 1.0), bx.Array)
assert_type(x.at[0].set(1.0), bx.Array)
assert_type(x.at[..., 0].add(x[0, 0]), bx.Array)
assert_type(x.real, bx.Array)
assert_type(x.nonzero(), tuple[bx.Array, ...])
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(x.size, int)
assert_type(x.nbytes, int)
assert_type(x.weak_type, bool)
assert_type([row for row in x], list[bx.Array])  # noqa: C416
assert_type(float(x), float)
assert_type(x.numpy(), np.ndarray[Any, Any])
assert_type(x.block_until_ready(), bx.Array)

# Compiled functions are called as the function is.
compiled = bx.jit(scaled)
assert_type(compiled(x, 2.0), bx.Array)
assert_type(compiled(x, factor=2.0), bx.Array)
assert_type(bx.jit(loss)(parameters, 1.0, scale=2.0), bx.Array)
assert_type(bx.jit(loss_and_count)(parameters, x), tuple[bx.Array, int])
assert_type(bx.jit(scaled, static_argnums=1)(x, 2.0), bx.Array)
lowered = compiled.lower(bx.ShapeDtypeStruct((2,), jnp.float32))
assert_type(lowered.as_text(), str)


@bx.jit
def decorated(x: bx.Array) -> bx.Array:
    return x


@bx.jit(static_argnames="n")
def with_options(x: bx.Array, n: int) -> bx.Array:
    return x


class Model:
    @bx.jit
    def apply(self, x: bx.Array, n: int = 1) -> bx.Array:
        return x

    @partial(bx.jit, static_argnums=0)
    def with_static(self, x: bx.Array, n: int = 1) -> bx.Array:
        return x

    @staticmethod
    @bx.jit
    def of_arrays(x: bx.Array, n: int = 1) -> bx.Array:
        return x

    @bx.vmap
    def each(self, x: bx.Array, n: int = 1) -> bx.Array:
        return x

    @bx.checkpoint
    def repeated(self, x: bx.Array, n: int = 1) -> bx.Array:
        return x


class Deeper(Model):
    pass


@partial(bx.jit, static_argnames="n")
def with_partial(x: bx.Array, n: int) -> bx.Array:
    return x


assert_type(decorated(x), bx.Array)
assert_type(with_options(x, 3), bx.Array)
assert_type(Model().apply(x, n=2), bx.Array)
assert_type(Deeper().apply(x, n=2), bx.Array)
assert_type(Model.apply(Model(), x, n=2), bx.Array)
assert_type(bx.jit(Model().apply)(x, n=2), bx.Array)
assert_type(Model().of_arrays(x, n=2), bx.Array)
assert_type(Model.of_arrays(x, n=2), bx.Array)
assert_type(Model().each(x, n=2), bx.Array)
assert_type(Model().repeated(x, n=2), bx.Array)
# mypy does not see through ``partial`` of a function with overloads: it knows no types, and reports
# nothing.
as_array: bx.Array = with_partial(x, n=3)
as_array = Model().with_static(x, n=2)

# Derivatives.
assert_type(bx.grad(loss)(parameters, 1.0, scale=2.0), Any)
assert_type(bx.grad(loss, argnums=(0, 1))(parameters, 1.0), tuple[Any, ...])
assert_type(bx.grad(loss_and_count, has_aux=True)(parameters, x), tuple[Any, int])
assert_type(bx.value_and_grad(loss)(parameters, 1.0), tuple[bx.Array, Any])
assert_type(
    bx.value_and_grad(loss, argnums=(0, 1))(parameters, 1.0), tuple[bx.Array, tuple[Any, ...]]
)
assert_type(
    bx.value_and_grad(loss_and_count, has_aux=True)(parameters, x),
    tuple[tuple[bx.Array, int], Any],
)
assert_type(bx.value_and_grad(lambda x: jnp.sum(x))(x), tuple[bx.Array, Any])
assert_type(
    bx.value_and_grad(lambda x: (jnp.sum(x), jnp.sin(x)), has_aux=True)(x),
    tuple[tuple[bx.Array, bx.Array], Any],
)
bx.grad(lambda x: (jnp.sum(x), x), has_aux=True)(x)
bx.jacrev(lambda x: (x, x), has_aux=True)(x)


@partial(bx.value_and_grad, has_aux=True)
def loss_and_gradient(x: bx.Array) -> tuple[bx.Array, int]:
    return jnp.sum(x), 3


(as_array, _), _ = loss_and_gradient(x)
assert_type(bx.grad(bx.grad(scaled))(x, 2.0), Any)
assert_type(bx.jit(bx.value_and_grad(loss))(parameters, 1.0, scale=2.0), tuple[bx.Array, Any])
assert_type(bx.jacfwd(scaled)(x, factor=2.0), Any)
assert_type(bx.jacrev(loss_and_count, has_aux=True)(parameters, x), tuple[Any, int])
assert_type(bx.hessian(scaled)(x, 2.0), Any)
assert_type(bx.jvp(scaled, (x,), (x,)), tuple[bx.Array, bx.Array])
assert_type(
    bx.jvp(loss_and_count, (parameters, x), (parameters, x), has_aux=True)[1:],
    tuple[bx.Array, int],
)
value, pullback = bx.vjp(scaled, x)
assert_type(value, bx.Array)
assert_type(pullback(x), tuple[Any, ...])
value, pushforward = bx.linearize(scaled, x)
assert_type(pushforward(x), bx.Array)
assert_type(bx.linear_transpose(scaled, x)(x), tuple[Any, ...])

# Functions that stay what they are.
assert_type(bx.vmap(scaled)(x, 2.0), bx.Array)
assert_type(bx.vmap(scaled, in_axes=(0, None), out_axes=1)(x, factor=2.0), bx.Array)
assert_type(bx.vmap(loss_and_count)(parameters, x), tuple[bx.Array, int])
assert_type(bx.checkpoint(scaled)(x, factor=2.0), bx.Array)
assert_type(bx.remat(scaled)(x, factor=2.0), bx.Array)
assert_type(bx.named_call(scaled)(x, factor=2.0), bx.Array)
assert_type(bx.jit(bx.vmap(bx.checkpoint(scaled)))(x, factor=2.0), bx.Array)


@bx.checkpoint(policy=bx.checkpoint_policies.dots_saveable)
def saving(x: bx.Array, n: int) -> bx.Array:
    return x


@bx.custom_jvp
def own_jvp(x: bx.Array, n: int = 2) -> bx.Array:
    return x


@bx.custom_vjp
def own_vjp(x: bx.Array, n: int = 2) -> bx.Array:
    return x


@bx.custom_gradient
def own_gradient(x: bx.Array, n: int = 2) -> tuple[bx.Array, Callable[[Any], Any]]:
    return x, lambda cotangent: cotangent


assert_type(saving(x, 3), bx.Array)
assert_type(own_jvp(x, n=3), bx.Array)
assert_type(own_vjp(x, n=3), bx.Array)
assert_type(own_gradient(x, n=3), bx.Array)
assert_type(bx.make_jaxpr(scaled)(x), bx.ClosedJaxpr)
assert_type(bx.make_jaxpr(scaled, return_shape=True)(x), tuple[bx.ClosedJaxpr, Any])

# The front ends.
assert_type(lax.sin(1.0), bx.Array)
assert_type(jnp.sin(x), bx.Array)
assert_type(jnp.arange(3), bx.Array)
assert_type(jnp.einsum("ij->i", x), bx.Array)
assert_type(jnp.split(x, 2), list[bx.Array])
assert_type(jnp.float32(1.5), bx.Array)
assert_type(jnp.linalg.inv(x), bx.Array)
assert_type(jnp.linalg.eigh(x).eigenvalues, bx.Array)
assert_type(jnp.fft.fft(x), bx.Array)
assert_type(random.normal(random.key(0), (2,)), bx.Array)
assert_type(random.split(random.key(0)), bx.Array)
assert_type(nn.softmax(x), bx.Array)
assert_type(special.gammaln(x), bx.Array)
assert_type(stats.norm.logpdf(x), bx.Array)
assert_type(linalg.cholesky(x), bx.Array)
assert_type(tree.leaves(parameters), list[Any])
assert_type(optimizers.adam(1e-3), optimizers.GradientTransformationExtraArgs)


def of_numpy_name(x: jnp.ndarray) -> jnp.ndarray:
    return x


assert_type(of_numpy_name(x), bx.Array)

assert_type(jnp.add(x, 1), bx.Array)
assert_type(jnp.maximum.reduce(x), bx.Array)
assert_type(jnp.where(x > 0, x, 0.0), bx.Array)
assert_type(jnp.where(x), tuple[bx.Array, ...])
assert_type(jnp.linspace(0, 1, num=5), bx.Array)
assert_type(jnp.linspace(0, 1, retstep=True), tuple[bx.Array, bx.Array])
assert_type(jnp.average(x, weights=x), bx.Array)
assert_type(jnp.average(x, returned=True), tuple[bx.Array, bx.Array])
assert_type(jnp.unique(x), bx.Array)
assert_type(jnp.intersect1d(x, x, return_indices=True), tuple[bx.Array, bx.Array, bx.Array])
assert_type(jnp.atleast_2d(x), bx.Array)
assert_type(jnp.atleast_2d(x, x), list[bx.Array])
assert_type(jnp.polyfit(x, x, 2), bx.Array)
assert_type(jnp.linalg.qr(x).Q, bx.Array)
assert_type(jnp.linalg.qr(x, mode="r"), bx.Array)
assert_type(jnp.linalg.svd(x, full_matrices=False).S, bx.Array)
assert_type(jnp.linalg.svd(x, compute_uv=False), bx.Array)
assert_type(nn.logsumexp(x), bx.Array)
assert_type(nn.logsumexp(x, return_sign=True), tuple[bx.Array, bx.Array])
assert_type(nn.dot_product_attention(x, x, x), bx.Array)
assert_type(lax.stop_gradient(parameters), Parameters)
assert_type(bx.block_until_ready(parameters), Parameters)
assert_type(bx.device_get(x), np.ndarray[Any, Any])


# The result of a loop or a choice has the type that its function returns.
class State(NamedTuple):
    position: bx.Array
    steps: bx.Array


def moved(state: State, force: bx.Array) -> tuple[State, bx.Array]:
    return State(state.position + force, state.steps + 1), state.position


def turned(state: State) -> State:
    return state


class Pendulum:
    def step(self, state: State, force: bx.Array) -> tuple[State, None]:
        return state, None


start = State(x[0], jnp.zeros(()))
assert_type(lax.scan(moved, start, x), tuple[State, bx.Array])
assert_type(lax.scan(bx.jit(moved), start, x), tuple[State, bx.Array])
assert_type(lax.scan(Pendulum().step, start, x), tuple[State, None])
assert_type(lax.scan(partial(moved), start, x), tuple[State, bx.Array])
assert_type(lax.scan(lambda carry, y: (carry, y), x, x), tuple[Any, Any])
assert_type(lax.scan(lambda carry, _: (2 * carry, None), x, None, length=3), tuple[Any, None])
assert_type(lax.while_loop(lambda state: state.steps < 3, turned, start), State)
assert_type(lax.while_loop(lambda n: n < 3, lambda n: n + 1, 0), Any)
assert_type(lax.fori_loop(0, 3, lambda i, state: turned(state), start), State)
assert_type(lax.fori_loop(0, 3, lambda i, total: total + i, 0.0), Any)
assert_type(lax.cond(x[0, 0] > 0, turned, turned, start), State)
assert_type(lax.cond(x[0, 0] > 0, lambda: x.sum(), lambda: 0.0), bx.Array)
assert_type(lax.cond(x[0, 0] > 0, lambda: 0.0, lambda: x.sum()), bx.Array)
assert_type(lax.cond(x[0, 0] > 0, lambda: 0.0, lambda: 1.0), bx.Array)
assert_type(lax.switch(0, [scaled, decorated], x), bx.Array)
assert_type(lax.switch(0, [lambda: x.sum(), lambda: 0.0]), Any)
assert_type(lax.map(jnp.sin, x), bx.Array)
assert_type(lax.associative_scan(jnp.add, x), bx.Array)

# A step of an optimizer keeps the type of the parameters.
adam = optimizers.adam(1e-3)
state = adam.init(parameters)
loss_now, gradients = bx.value_and_grad(loss)(parameters, 1.0)
updates, state = adam.update(gradients, state, parameters)
assert_type(optimizers.apply_updates(parameters, updates), Parameters)
assert_type(optimizers.global_norm(gradients), bx.Array)
assert_type(optimizers.l2_loss(x, x), bx.Array)
half: Parameters = tree.map(lambda p: p / 2, parameters)

# Settings.
assert_type(bx.config.debug_nans, bool)
assert_type(bx.config.default_dtype_bits, Literal[32, 64])
assert_type(bx.config.eager, Literal["numpy", "compile"])
assert_type(bx.config.backend, str | None)
assert_type(bx.config.dtype_bits, Literal[32, 64])
assert_type(bx.config.of_another_package, Any)
assert_type(bx.debug_nans(True), AbstractContextManager[None])

if TYPE_CHECKING:
    decorated(1, 2)  # type: ignore[call-arg, arg-type]  # too many arguments
    with_options(x, m=3)  # type: ignore[call-arg]  # no such parameter
    bx.jit(3)  # type: ignore[call-overload]  # not a function
    bx.grad(loss)(parameters, 1.0, size=2.0)  # type: ignore[call-arg]  # no such parameter
    bx.grad(loss)("w", 1.0)  # type: ignore[arg-type]  # not parameters
    bx.vmap(scaled)()  # type: ignore[call-arg]  # too few arguments
    bx.value_and_grad(loss)(parameters)  # type: ignore[call-arg]  # too few arguments
    own_vjp(x, m=3)  # type: ignore[call-arg]  # no such parameter
    Model().apply(x, m=3)  # type: ignore[call-arg]  # no such parameter
    bx.config.eager = "nunpy"  # type: ignore[assignment]  # not a choice
