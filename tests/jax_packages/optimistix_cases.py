"""Cases of optimistix: roots, fixed points, least squares and minima, one case for each part."""

import jax
import jax.numpy as jnp
import lineax as lx
import optimistix as optx

X = jnp.linspace(0, 1, 8)
DATA = 2 * jnp.exp(-1.5 * X)


def residuals(p, data):
    return p["scale"] * jnp.exp(p["rate"] * X) - data


START = {"scale": jnp.array(1.0), "rate": jnp.array(0.0)}


def rosenbrock(y, args):
    return (1 - y[0]) ** 2 + 10 * (y[1] - y[0] ** 2) ** 2


def case_roots():
    def fn(y, c):
        return jnp.array([y[0] ** 2 + y[1] - c, y[1] ** 3 - y[0]])

    solvers = [
        optx.Newton(1e-6, 1e-6),
        optx.Chord(1e-6, 1e-6),
        optx.Newton(1e-6, 1e-6, linear_solver=lx.QR()),
        optx.Dogleg(1e-6, 1e-6),
    ]
    return [optx.root_find(fn, s, jnp.array([1.0, 1.0]), args=2.5).value for s in solvers]


def case_bisection():
    solver = optx.Bisection(1e-5, 1e-5)
    options = {"lower": 0.0, "upper": 2.0}
    found = optx.root_find(lambda y, _: jnp.cos(y) - y, solver, jnp.array(1.0), options=options)
    return found.value


def case_derivatives_of_a_root():
    def root(c):
        solver = optx.Newton(1e-6, 1e-6)
        return optx.root_find(lambda y, c: y**3 - c * y - 1, solver, jnp.array(1.5), args=c).value

    c = jnp.array(1.2)
    return (
        root(c),
        jax.grad(root)(c),
        jax.jvp(root, (c,), (jnp.array(2.0),)),
        jax.jacrev(jax.vmap(root))(jnp.array([1.0, 1.5])),
    )


def case_fixed_points():
    def fixed(a):
        solver = optx.FixedPointIteration(1e-6, 1e-6)
        return optx.fixed_point(lambda y, a: jnp.cos(a * y), solver, jnp.array(0.5), args=a).value

    a = jnp.array(0.8)
    newton = optx.fixed_point(
        lambda y, a: jnp.cos(a * y), optx.Newton(1e-6, 1e-6), jnp.array(0.5), args=a
    )
    return fixed(a), jax.jit(jax.grad(fixed))(a), newton.value


def case_least_squares():
    solvers = [
        optx.LevenbergMarquardt(1e-5, 1e-5),
        optx.GaussNewton(1e-5, 1e-5),
        optx.Dogleg(1e-5, 1e-5),
        optx.IndirectLevenbergMarquardt(1e-5, 1e-5),
    ]
    return [
        jax.tree.map(lambda v: jnp.round(v, 3), optx.least_squares(residuals, s, START, DATA).value)
        for s in solvers
    ]


def case_derivatives_of_a_fit():
    def scale(factor):
        solver = optx.LevenbergMarquardt(1e-6, 1e-6)
        fit = optx.least_squares(residuals, solver, START, DATA * factor)
        return fit.value["scale"]

    return jax.grad(scale)(jnp.array(1.5))


def case_minima():
    solvers = [optx.BFGS(1e-6, 1e-6), optx.DFP(1e-6, 1e-6)]
    y0 = jnp.array([-0.5, 0.5])
    found = [optx.minimise(rosenbrock, s, y0, max_steps=500).value for s in solvers]
    return [jnp.round(value, 2) for value in found]


def case_minima_with_limited_memory():
    solver = optx.LBFGS(1e-6, 1e-6)
    return jnp.round(optx.minimise(rosenbrock, solver, jnp.zeros(2), max_steps=500).value, 2)


def case_minima_without_derivatives():
    simplex = optx.minimise(
        rosenbrock, optx.NelderMead(1e-5, 1e-5), jnp.array([0.5, 0.5]), max_steps=500
    )
    golden = optx.minimise(
        lambda y, _: (y - 0.3) ** 2,
        optx.GoldenSearch(1e-3, 1e-3),
        jnp.array(0.5),
        options={"lower": 0.0, "upper": 1.0},
    )
    return jnp.round(simplex.value, 2), jnp.round(golden.value, 2)


def case_gradient_descent():
    conjugate = optx.NonlinearCG(1e-5, 1e-5)
    plain = optx.GradientDescent(0.05, 1e-5, 1e-5)

    def bowl(y, weights):
        return jnp.sum(weights * (y - 1) ** 2), y.sum()

    weights = jnp.array([1.0, 3.0])
    found = [
        optx.minimise(bowl, s, jnp.zeros(2), weights, has_aux=True, max_steps=500)
        for s in (conjugate, plain)
    ]
    return [jnp.round(s.value, 3) for s in found], jnp.round(found[0].aux, 3)


def case_batches_and_adjoints():
    def minimum(target):
        solver = optx.BFGS(1e-6, 1e-6)
        return optx.minimise(
            lambda y, t: jnp.sum((y - t) ** 2),
            solver,
            jnp.zeros(2),
            target,
            adjoint=optx.RecursiveCheckpointAdjoint(),
        ).value

    targets = jnp.array([[1.0, 2.0], [3.0, -1.0]])
    return jax.jit(jax.vmap(minimum))(targets), jax.jacrev(minimum)(targets[0])


def case_failures():
    none = optx.root_find(
        lambda y, _: y**2 + 1, optx.Newton(1e-6, 1e-6), jnp.array(1.0), max_steps=10, throw=False
    )
    try:
        optx.root_find(lambda y, _: y**2 + 1, optx.Newton(1e-6, 1e-6), jnp.array(1.0), max_steps=10)
        said = "solved"
    except Exception:
        said = "raised"
    return "refused" if none.result != optx.RESULTS.successful else "solved", said
