"""Cases of diffrax: solvers, controllers, saving, adjoints, noise, one case for each part."""

import diffrax as dfx
import jax
import jax.numpy as jnp
import jax.random as jr
import optimistix as optx

Y0 = jnp.array([1.0, 0.0])


def oscillator(t, y, args):
    return jnp.stack([y[1], -args * y[0]])


TERM = dfx.ODETerm(oscillator)


def case_fixed_steps():
    solvers = [dfx.Euler(), dfx.Heun(), dfx.Midpoint(), dfx.Ralston(), dfx.Bosh3()]
    return [dfx.diffeqsolve(TERM, s, 0.0, 1.0, 0.05, Y0, args=2.0).ys for s in solvers]


def case_adaptive_steps():
    controller = dfx.PIDController(rtol=1e-4, atol=1e-6, pcoeff=0.3, icoeff=0.4)
    solvers = [dfx.Tsit5(), dfx.Dopri5(), dfx.Dopri8()]
    found = [
        dfx.diffeqsolve(TERM, s, 0.0, 3.0, None, Y0, args=2.0, stepsize_controller=controller)
        for s in solvers
    ]
    return [solution.ys for solution in found], found[0].stats["num_steps"]


def case_implicit_solvers():
    def stiff(t, y, args):
        return -50.0 * (y - jnp.cos(t))

    controller = dfx.PIDController(rtol=1e-3, atol=1e-5)
    kvaerno = dfx.diffeqsolve(
        dfx.ODETerm(stiff),
        dfx.Kvaerno3(),
        0.0,
        1.0,
        0.01,
        jnp.array([0.0]),
        stepsize_controller=controller,
    )
    implicit = dfx.ImplicitEuler(root_finder=dfx.VeryChord(rtol=1e-3, atol=1e-6))
    euler = dfx.diffeqsolve(dfx.ODETerm(stiff), implicit, 0.0, 1.0, 0.1, jnp.zeros(1))
    return jnp.round(kvaerno.ys, 3), euler.ys


def case_saving():
    at = dfx.SaveAt(
        ts=jnp.linspace(0, 1, 4), t0=True, t1=True, fn=lambda t, y, args: {"sum": y.sum(), "t": t}
    )
    saved = dfx.diffeqsolve(TERM, dfx.Tsit5(), 0.0, 1.0, 0.1, Y0, args=1.0, saveat=at)
    every = dfx.diffeqsolve(
        TERM, dfx.Heun(), 0.0, 1.0, 0.25, Y0, args=1.0, saveat=dfx.SaveAt(steps=True), max_steps=6
    )
    return saved.ts, saved.ys, jnp.nan_to_num(every.ys, posinf=-1.0)


def case_dense_output():
    solution = dfx.diffeqsolve(
        TERM, dfx.Tsit5(), 0.0, 1.0, 0.1, Y0, args=1.0, saveat=dfx.SaveAt(dense=True)
    )
    return solution.evaluate(0.33), solution.derivative(0.5), solution.evaluate(0.2, 0.7)


def case_adjoints():
    def last(rate, adjoint):
        return dfx.diffeqsolve(
            TERM, dfx.Tsit5(), 0.0, 1.0, 0.1, Y0, args=rate, adjoint=adjoint
        ).ys.sum()

    adjoints = [dfx.RecursiveCheckpointAdjoint(), dfx.BacksolveAdjoint(), dfx.DirectAdjoint()]
    return [jax.grad(last)(jnp.array(2.0), adjoint) for adjoint in adjoints]


def case_forward_mode():
    def last(rate):
        return dfx.diffeqsolve(
            TERM, dfx.Tsit5(), 0.0, 1.0, 0.1, Y0, args=rate, adjoint=dfx.ForwardMode()
        ).ys

    return jax.jvp(last, (jnp.array(2.0),), (jnp.array(1.0),))


def case_noise():
    brownian = dfx.VirtualBrownianTree(0.0, 1.0, tol=1e-2, shape=(2,), key=jr.PRNGKey(1))
    noise = dfx.ControlTerm(lambda t, y, args: jnp.diag(0.3 * y), brownian)
    terms = dfx.MultiTerm(dfx.ODETerm(lambda t, y, args: -y), noise)
    paths = [
        dfx.diffeqsolve(terms, solver, 0.0, 1.0, 0.1, jnp.ones(2)).ys
        for solver in (dfx.Euler(), dfx.EulerHeun())
    ]
    return brownian.evaluate(0.25, 0.75), paths


def case_direct_noise():
    path = dfx.UnsafeBrownianPath(shape=(), key=jr.PRNGKey(2))
    terms = dfx.MultiTerm(
        dfx.ODETerm(lambda t, y, args: -y), dfx.ControlTerm(lambda t, y, args: 0.1, path)
    )
    return dfx.diffeqsolve(
        terms, dfx.Euler(), 0.0, 1.0, 0.1, jnp.array(1.0), adjoint=dfx.ForwardMode()
    ).ys


def case_events():
    def height(t, y, args, **kwargs):
        return y[0]

    falling = dfx.ODETerm(lambda t, y, args: jnp.array([y[1], -9.8]))
    event = dfx.Event(height, root_finder=optx.Newton(1e-5, 1e-5))
    solution = dfx.diffeqsolve(
        falling, dfx.Tsit5(), 0.0, jnp.inf, 0.1, jnp.array([10.0, 0.0]), event=event
    )
    return solution.ts, jnp.round(solution.ys, 3)


def case_batches_and_trees():
    def decay(t, y, args):
        return jax.tree.map(lambda v: -args * v, y)

    def last(rate):
        y0 = {"a": jnp.array(1.0), "b": (jnp.ones(2), jnp.array([2.0]))}
        return dfx.diffeqsolve(dfx.ODETerm(decay), dfx.Tsit5(), 0.0, 1.0, 0.2, y0, args=rate).ys

    return jax.jit(jax.vmap(last))(jnp.array([0.5, 1.0]))


def case_interpolation():
    ts, ys = jnp.array([0.0, 0.5, 1.0]), jnp.array([[0.0], [1.0], [0.5]])
    control = dfx.CubicInterpolation(ts, dfx.backward_hermite_coefficients(ts, ys))
    line = dfx.LinearInterpolation(ts, ys)
    driven = dfx.ControlTerm(lambda t, y, args: jnp.ones((1, 1)) * y, control)
    solution = dfx.diffeqsolve(driven, dfx.Tsit5(), 0.0, 1.0, 0.1, jnp.ones(1))
    return control.evaluate(0.3), control.derivative(0.3), line.evaluate(0.2, 0.6), solution.ys


def case_symplectic():
    terms = (dfx.ODETerm(lambda t, v, args: v), dfx.ODETerm(lambda t, x, args: -x))
    start = (jnp.array(1.0), jnp.array(0.0))
    return dfx.diffeqsolve(terms, dfx.SemiImplicitEuler(), 0.0, 3.0, 0.1, start).ys
