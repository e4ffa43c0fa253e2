"""Linear systems by lineax: a dense and a matrix-free operator, with derivatives."""

import jax
import jax.numpy as jnp
import lineax as lx


def main():
    a = jnp.array([[3.0, 1.0], [1.0, 2.0]])
    b = jnp.array([1.0, -1.0])

    @jax.jit
    def solve(a, b):
        return lx.linear_solve(lx.MatrixLinearOperator(a), b).value

    operator = lx.FunctionLinearOperator(
        lambda x: a @ x, jax.ShapeDtypeStruct((2,), jnp.float32), lx.positive_semidefinite_tag
    )
    by_cg = lx.linear_solve(operator, b, solver=lx.CG(1e-5, 1e-5)).value
    gradient = jax.grad(lambda a: solve(a, b).sum())(a)
    many = jax.vmap(solve, in_axes=(None, 0))(a, jnp.eye(2))
    return solve(a, b), by_cg, gradient, many
