"""Cases of lineax: operators and solvers, one small case for each part."""

import jax
import jax.numpy as jnp
import lineax as lx

A = jnp.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.5], [0.5, -0.5, 2.0]])
B = jnp.array([1.0, -2.0, 0.5])
TALL = jnp.array([[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]])


def case_direct_solvers():
    positive = lx.MatrixLinearOperator(A, lx.positive_semidefinite_tag)
    solvers = [lx.LU(), lx.QR(), lx.SVD(), lx.Cholesky(), lx.AutoLinearSolver(well_posed=True)]
    return [lx.linear_solve(positive, B, solver).value for solver in solvers]


def case_structured_operators():
    diagonal = lx.DiagonalLinearOperator(jnp.array([1.0, 2.0, 4.0]))
    tridiagonal = lx.TridiagonalLinearOperator(
        jnp.array([4.0, 3.0, 5.0]), jnp.array([1.0, 0.5]), jnp.array([-1.0, 1.0])
    )
    lower = lx.MatrixLinearOperator(jnp.tril(A), lx.lower_triangular_tag)
    upper = lx.MatrixLinearOperator(jnp.triu(A), lx.upper_triangular_tag)
    identity = lx.IdentityLinearOperator(jax.ShapeDtypeStruct((3,), jnp.float32))
    operators = (diagonal, tridiagonal, lower, upper, identity)
    return [lx.linear_solve(op, B).value for op in operators], tridiagonal.as_matrix()


def case_iterative_solvers():
    positive = lx.MatrixLinearOperator(A, lx.positive_semidefinite_tag)
    solvers = [lx.CG(1e-6, 1e-6), lx.BiCGStab(1e-6, 1e-6), lx.GMRES(1e-6, 1e-6, restart=3)]
    found = [lx.linear_solve(positive, B, solver) for solver in solvers]
    return [solution.value for solution in found], [
        s.result == lx.RESULTS.successful for s in found
    ]


def case_least_squares():
    operator = lx.MatrixLinearOperator(TALL)
    solvers = [lx.QR(), lx.SVD(), lx.AutoLinearSolver(well_posed=None), lx.LSMR(1e-6, 1e-6)]
    wide = lx.linear_solve(lx.MatrixLinearOperator(TALL.T), B[:2], lx.SVD()).value
    return [lx.linear_solve(operator, B, solver).value for solver in solvers], wide


def case_trees_as_vectors():
    def fn(x):
        return {"u": 2 * x["u"] + x["v"].sum(), "v": x["v"] * 3 - x["u"]}

    vector = {"u": jnp.float32(1.0), "v": jnp.array([2.0, -1.0])}
    structure = jax.eval_shape(lambda: vector)
    operator = lx.FunctionLinearOperator(fn, structure)
    solution = lx.linear_solve(operator, vector, lx.GMRES(1e-6, 1e-6)).value
    direct = lx.linear_solve(operator, vector, lx.LU()).value
    nested = lx.PyTreeLinearOperator(
        {
            "u": {"u": jnp.array(2.0), "v": jnp.ones(2)},
            "v": {"u": jnp.ones(2), "v": 3 * jnp.eye(2)},
        },
        structure,
    )
    return solution, direct, nested.mv(vector), lx.linear_solve(nested, vector).value


def case_jacobians_and_transposes():
    operator = lx.JacobianLinearOperator(lambda x, c: jnp.sin(x) * c + x[::-1] ** 2, B, args=2.0)
    product = operator.T @ lx.MatrixLinearOperator(A) + 2 * lx.MatrixLinearOperator(A.T)
    return (
        operator.mv(jnp.ones(3)),
        operator.T.mv(jnp.ones(3)),
        lx.materialise(product).as_matrix(),
        lx.diagonal(product),
        lx.linear_solve(product, B).value,
        lx.conj(lx.linearise(operator)).as_matrix(),
    )


def case_derivatives_in_both_modes():
    def solve(a, b):
        return lx.linear_solve(lx.MatrixLinearOperator(a), b, lx.LU()).value

    def least(a, b):
        return lx.linear_solve(lx.MatrixLinearOperator(a), b, lx.QR()).value

    tangents = jax.jvp(solve, (A, B), (jnp.eye(3), jnp.ones(3)))
    return (
        tangents,
        jax.grad(lambda a: solve(a, B).sum())(A),
        jax.grad(lambda a: least(a, B).prod())(TALL),
        jax.hessian(lambda b: (solve(A, b) ** 2).sum())(B),
    )


def case_derivatives_of_iterations():
    def solve(a, b):
        operator = lx.MatrixLinearOperator(a, lx.positive_semidefinite_tag)
        return lx.linear_solve(operator, b, lx.CG(1e-6, 1e-6)).value

    return jax.jit(jax.grad(lambda b: (solve(A, b) ** 2).sum()))(B), jax.jacfwd(solve, 1)(A, B)


def case_batches():
    def solve(a, b):
        return lx.linear_solve(lx.MatrixLinearOperator(a), b).value

    many = jnp.stack([A, A @ A])
    several = jnp.stack([B, 2 * B])
    return (
        jax.vmap(solve)(many, several),
        jax.jit(jax.vmap(solve, (None, 0)))(A, several),
        jax.vmap(jax.grad(lambda a: solve(a, B).sum()))(many),
    )


def case_states_and_failures():
    operator = lx.MatrixLinearOperator(A)
    solver = lx.LU()
    state = solver.init(operator, options={})
    again = lx.linear_solve(operator, 2 * B, solver, state=state).value
    singular = lx.MatrixLinearOperator(jnp.ones((2, 2)))
    failed = lx.linear_solve(singular, B[:2], lx.LU(), throw=False)
    return again, "refused" if failed.result != lx.RESULTS.successful else "solved"
