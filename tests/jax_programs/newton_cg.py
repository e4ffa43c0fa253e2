"""Newton's method with conjugate gradients on products with the Hessian: jvp of grad."""

import jax
import jax.numpy as jnp
from jax.scipy.sparse.linalg import cg


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def newton(f, x, steps):
    gradient = jax.grad(f)

    def condition(state):
        i, x = state
        return (i < steps) & (jnp.linalg.norm(gradient(x)) > 1e-3)

    def body(state):
        i, x = state

        def product(v):
            return jax.jvp(gradient, (x,), (v,))[1] + 1e-3 * v

        direction, _ = cg(product, -gradient(x), maxiter=10)
        sizes = 0.5 ** jnp.arange(8.0)
        values = jax.vmap(lambda s: f(x + s * direction))(sizes)
        return i + 1, x + sizes[values.argmin()] * direction

    return jax.lax.while_loop(condition, body, (0, x))


def main():
    start = jnp.array([0.8, 0.9, 0.7])
    _, x = jax.jit(newton, static_argnums=(0, 2))(rosenbrock, start, 30)
    hessian = jax.hessian(rosenbrock)(start)
    return {"x": jnp.round(x, 2), "hessian": hessian}
