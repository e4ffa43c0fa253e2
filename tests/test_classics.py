"""Programs that everybody knows, written once, run by bindax and by JAX, beside a closed form."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import lax
from bindax import numpy as bnp

scipy: Any = pytest.importorskip("scipy", reason="SciPy is a reference of these tests")
pytest.importorskip("scipy.special", reason="SciPy is a reference of these tests")
pytest.importorskip("scipy.integrate", reason="SciPy is a reference of these tests")

Module = Any
Function = Callable[..., Any]
RANDOM = np.random.default_rng(20261121)


def close(got: Any, expected: Any, rtol: float = 1e-9) -> None:
    np.testing.assert_allclose(got, expected, rtol=rtol, atol=1e-11)


def close_trees(got: Any, expected: Any) -> None:
    ours, theirs = bindax.tree_util.tree_leaves(got), bindax.tree_util.tree_leaves(expected)
    for x, y in zip(ours, theirs, strict=True):
        close(x, y)


@pytest.fixture
def same_as_jax(jax_answers: Any) -> Function:
    """A comparison of the values of a program: now, compiled and by JAX; it returns the value."""
    numbers = itertools.count()

    def compare(make: Function, *args: Any, derive: Function | None = None) -> Any:
        """Compare the values.

        Args:
            make: takes a library, its operations and its NumPy; returns a function.
            args: what the function is applied to.
            derive: takes a library and the function, returns another one.
        """
        derive = derive or (lambda _, function: function)
        ours = derive(bindax, make(bindax, lax, bnp))
        value = ours(*args)
        close_trees(bindax.jit(ours)(*args), value)

        def by_jax(jax: Any) -> Any:
            return jax.tree.leaves(jax.jit(derive(jax, make(jax, jax.lax, jax.numpy)))(*args))

        close_trees(value, jax_answers(f"{make.__name__} {next(numbers)}", by_jax))
        return value

    return compare


def gradient(library: Module, function: Function) -> Function:
    return library.grad(function)  # type: ignore[no-any-return]


def mapped(library: Module, function: Function) -> Function:
    return library.vmap(function)  # type: ignore[no-any-return]


def mapped_gradient(library: Module, function: Function) -> Function:
    return library.vmap(library.grad(function))  # type: ignore[no-any-return]


# ------------------------------------------------------- a root: Kepler's equation by Newton


def kepler(library: Module, ops: Module, xp: Module) -> Function:
    """The eccentric anomaly ``E`` with ``E - e sin E = M`` (J. Kepler, 1609)."""

    def anomaly(mean: Any, eccentricity: Any) -> Any:
        def residual(angle: Any) -> Any:
            return angle - eccentricity * xp.sin(angle) - mean

        def newton(f: Function, guess: Any) -> Any:
            def step(angle: Any) -> Any:
                value, slope = library.jvp(f, (angle,), (xp.ones_like(angle),))
                return angle - value / slope

            return ops.while_loop(lambda angle: abs(f(angle)) > 1e-13, step, guess)

        return ops.custom_root(residual, mean, newton, lambda g, y: y / g(xp.ones_like(y)))

    return anomaly


def test_newton_root_with_an_implicit_derivative(same_as_jax: Function) -> None:
    mean, e = np.float64(0.8), np.float64(0.4)
    angle = float(same_as_jax(kepler, mean, e))
    close(angle - 0.4 * np.sin(angle), 0.8)
    slope = 1.0 / (1.0 - 0.4 * np.cos(angle))
    close(same_as_jax(kepler, mean, e, derive=gradient), slope)
    by_e = same_as_jax(kepler, mean, e, derive=lambda lib, f: lib.grad(f, argnums=1))
    close(by_e, np.sin(angle) * slope)
    second = same_as_jax(kepler, mean, e, derive=lambda lib, f: lib.grad(lib.grad(f)))
    close(second, -0.4 * np.sin(angle) * slope**3)
    means, es = np.linspace(0.2, 2.0, 4), np.linspace(0.0, 0.6, 4)
    angles = same_as_jax(kepler, means, es, derive=mapped)
    close(np.asarray(angles) - es * np.sin(angles), means)
    slopes = same_as_jax(kepler, means, es, derive=mapped_gradient)
    close(slopes, 1.0 / (1.0 - es * np.cos(angles)))


# --------------------------------------------------------------------- differential equations

RATES = np.array([1.1, 0.4, 0.1, 0.4])
POPULATIONS = np.array([10.0, 5.0])


def predators(xp: Module, rates: Any, state: Any) -> Any:
    """A. J. Lotka, 1925, and V. Volterra, 1926."""
    x, y = state[0], state[1]
    return xp.stack([rates[0] * x - rates[1] * x * y, rates[2] * x * y - rates[3] * y])


def runge_kutta(field: Function, state: Any, dt: Any) -> Any:
    """One step of fourth order (W. Kutta, 1901)."""
    k1 = field(state)
    k2 = field(state + dt / 2 * k1)
    k3 = field(state + dt / 2 * k2)
    k4 = field(state + dt * k3)
    return state + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def fixed_steps(library: Module, ops: Module, xp: Module) -> Function:
    def integrate(rates: Any, state: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            return runge_kutta(lambda s: predators(xp, rates, s), state, 0.02), None

        return ops.scan(step, state, None, length=100)[0]

    return integrate


def adaptive_steps(library: Module, ops: Module, xp: Module) -> Function:
    """Steps as long as halving them changes little, the error estimated by extrapolation."""

    def integrate(rates: Any, state: Any) -> Any:
        def field(s: Any) -> Any:
            return predators(xp, rates, s)

        def step(carry: Any) -> Any:
            t, state, dt = carry
            dt = xp.minimum(dt, 2.0 - t)
            once = runge_kutta(field, state, dt)
            twice = runge_kutta(field, runge_kutta(field, state, dt / 2), dt / 2)
            error = xp.max(abs(twice - once)) / 15
            accepted = error < 1e-9
            factor = xp.clip(0.9 * (1e-9 / (error + 1e-30)) ** 0.2, 0.2, 4.0)
            t, state = ops.cond(
                accepted, lambda: (t + dt, twice + (twice - once) / 15), lambda: (t, state)
            )
            return t, state, dt * factor

        return ops.while_loop(lambda carry: carry[0] < 2.0, step, (0.0, state, 0.1))[1]

    return integrate


@functools.cache
def exact_populations(rates: tuple[float, ...], state: tuple[float, ...]) -> Any:
    solution = scipy.integrate.solve_ivp(
        lambda t, s: predators(np, rates, s), (0.0, 2.0), state, "DOP853", rtol=1e-12, atol=1e-12
    )
    return solution.y[:, -1]


def test_differential_equation_with_scan(same_as_jax: Function) -> None:
    expected = exact_populations(tuple(RATES), tuple(POPULATIONS))
    close(same_as_jax(fixed_steps, RATES, POPULATIONS), expected, rtol=1e-5)

    def prey(library: Module, function: Function) -> Function:
        return library.grad(lambda *args: function(*args)[0], argnums=(0, 1))  # type: ignore[no-any-return]

    by_rates, _ = same_as_jax(fixed_steps, RATES, POPULATIONS, derive=prey)
    for i in range(4):
        up, down = (tuple(RATES + h * np.eye(4)[i]) for h in (1e-4, -1e-4))
        ends = [exact_populations(rates, tuple(POPULATIONS))[0] for rates in (up, down)]
        close(by_rates[i], (ends[0] - ends[1]) / 2e-4, rtol=1e-4)
    states = np.stack([POPULATIONS, POPULATIONS[::-1]])
    each = [exact_populations(tuple(RATES), tuple(state)) for state in states]
    batch = same_as_jax(
        fixed_steps, RATES, states, derive=lambda lib, f: lib.vmap(f, in_axes=(None, 0))
    )
    close(batch, each, rtol=1e-5)


def test_differential_equation_with_while_loop(same_as_jax: Function) -> None:
    expected = exact_populations(tuple(RATES), tuple(POPULATIONS))
    close(same_as_jax(adaptive_steps, RATES, POPULATIONS), expected, rtol=1e-8)
    states = np.stack([POPULATIONS, POPULATIONS[::-1]])
    each = [exact_populations(tuple(RATES), tuple(state)) for state in states]
    batch = same_as_jax(
        adaptive_steps, RATES, states, derive=lambda lib, f: lib.vmap(f, in_axes=(None, 0))
    )
    close(batch, each, rtol=1e-8)
    tangent = same_as_jax(
        adaptive_steps,
        RATES,
        POPULATIONS,
        derive=lambda lib, f: lambda r, s: lib.jvp(f, (r, s), (np.eye(4)[0], np.zeros(2)))[1],
    )
    up, down = (
        exact_populations(tuple(RATES + h * np.eye(4)[0]), (10.0, 5.0)) for h in (1e-4, -1e-4)
    )
    close(tangent, (up - down) / 2e-4, rtol=1e-4)


# ----------------------------------------------------------------------------------- an LSTM

UNITS, INPUTS, TIMES = 4, 3, 6
WEIGHTS = {
    "input": RANDOM.standard_normal((INPUTS, 4 * UNITS)) / 2,
    "state": RANDOM.standard_normal((UNITS, 4 * UNITS)) / 2,
    "bias": RANDOM.standard_normal(4 * UNITS) / 2,
}
SEQUENCE = RANDOM.standard_normal((TIMES, INPUTS))


def lstm_step(xp: Module, weights: Any, carry: Any, x: Any) -> tuple[Any, Any]:
    """S. Hochreiter and J. Schmidhuber, 1997, with forget gates (F. Gers et al., 2000)."""
    h, c = carry
    gates = x @ weights["input"] + h @ weights["state"] + weights["bias"]
    i, f, g, o = (gates[k * UNITS : (k + 1) * UNITS] for k in range(4))
    i, f, o = (1.0 / (1.0 + xp.exp(-gate)) for gate in (i, f, o))
    c = f * c + i * xp.tanh(g)
    h = o * xp.tanh(c)
    return (h, c), h


def lstm(library: Module, ops: Module, xp: Module) -> Function:
    def loss(weights: Any, xs: Any) -> Any:
        start = (xp.zeros(UNITS, np.float64), xp.zeros(UNITS, np.float64))
        step = functools.partial(lstm_step, xp, weights)
        (_, c), hs = ops.scan(step, start, xs)
        return (hs * hs).sum() + c.sum()

    return loss


def lstm_by_hand(weights: Any, xs: Any) -> float:
    carry, total = (np.zeros(UNITS), np.zeros(UNITS)), 0.0
    for x in xs:
        carry, h = lstm_step(np, weights, carry, x)
        total += float((h * h).sum())
    return total + float(carry[1].sum())


def test_lstm_over_a_sequence(same_as_jax: Function) -> None:
    close(same_as_jax(lstm, WEIGHTS, SEQUENCE), lstm_by_hand(WEIGHTS, SEQUENCE))
    found = same_as_jax(lstm, WEIGHTS, SEQUENCE, derive=gradient)
    for name in WEIGHTS:
        direction = RANDOM.standard_normal(WEIGHTS[name].shape)
        ends = [
            lstm_by_hand({**WEIGHTS, name: WEIGHTS[name] + h * direction}, SEQUENCE)
            for h in (1e-5, -1e-5)
        ]
        close((np.asarray(found[name]) * direction).sum(), (ends[0] - ends[1]) / 2e-5, rtol=1e-7)
    batch = np.stack([SEQUENCE, -SEQUENCE])
    values = same_as_jax(lstm, WEIGHTS, batch, derive=lambda lib, f: lib.vmap(f, in_axes=(None, 0)))
    close(values, [lstm_by_hand(WEIGHTS, xs) for xs in batch])


# ------------------------------------------------------------------- Viterbi's algorithm

STATES, OBSERVED = 3, 6
TRANSITIONS = np.log(RANDOM.dirichlet(np.ones(STATES), STATES))
EMISSIONS = np.log(RANDOM.dirichlet(np.ones(STATES), OBSERVED))


def viterbi_scan(library: Module, ops: Module, xp: Module) -> Function:
    """The most probable path of hidden states, and its score (A. Viterbi, 1967)."""

    def decode(transitions: Any, emissions: Any) -> Any:
        def forward(scores: Any, emission: Any) -> Any:
            reached = scores[:, None] + transitions
            return xp.max(reached, axis=0) + emission, xp.argmax(reached, axis=0)

        def backward(state: Any, pointers: Any) -> Any:
            return pointers[state], state

        scores, pointers = ops.scan(forward, emissions[0], emissions[1:])
        first, path = ops.scan(backward, xp.argmax(scores), pointers, reverse=True)
        return xp.max(scores), xp.concatenate([first[None], path])

    return decode


def viterbi_parallel(library: Module, ops: Module, xp: Module) -> Function:
    """The score alone, by products of matrices over the maximum and the sum."""

    def score(transitions: Any, emissions: Any) -> Any:
        def product(a: Any, b: Any) -> Any:
            return xp.max(a[:, :, :, None] + b[:, None, :, :], axis=2)

        matrices = transitions[None] + emissions[1:, None, :]
        last = ops.associative_scan(product, matrices)[-1]
        return xp.max(emissions[0][:, None] + last)

    return score


def best_path(transitions: Any, emissions: Any) -> tuple[float, tuple[int, ...]]:
    """By trying all paths."""

    def score(path: tuple[int, ...]) -> float:
        steps = sum(transitions[a, b] for a, b in itertools.pairwise(path))
        return float(steps + sum(emissions[t, s] for t, s in enumerate(path)))

    return max((score(path), path) for path in itertools.product(range(STATES), repeat=OBSERVED))


def test_viterbi(same_as_jax: Function) -> None:
    score, path = same_as_jax(viterbi_scan, TRANSITIONS, EMISSIONS)
    expected, best = best_path(TRANSITIONS, EMISSIONS)
    close(score, expected)
    assert tuple(int(state) for state in path) == best
    close(same_as_jax(viterbi_parallel, TRANSITIONS, EMISSIONS), expected)
    # The derivative of the score says how often the best path takes each transition.
    counts = np.zeros((STATES, STATES))
    for a, b in itertools.pairwise(best):
        counts[a, b] += 1
    close(same_as_jax(viterbi_parallel, TRANSITIONS, EMISSIONS, derive=gradient), counts)
    batch = np.stack([EMISSIONS, EMISSIONS[::-1]])
    each = [best_path(TRANSITIONS, emissions) for emissions in batch]
    for make in (viterbi_scan, viterbi_parallel):
        found = same_as_jax(
            make, TRANSITIONS, batch, derive=lambda lib, f: lib.vmap(f, in_axes=(None, 0))
        )
        close(found[0] if make is viterbi_scan else found, [score for score, _ in each])
        if make is viterbi_scan:
            np.testing.assert_array_equal(found[1], [path for _, path in each])


# --------------------------------------------------------------------- rules of one's own


def log_sum_exp(library: Module, ops: Module, xp: Module) -> Function:
    @library.custom_jvp
    def f(x: Any) -> Any:
        top = xp.max(x)
        return top + xp.log(xp.sum(xp.exp(x - top)))

    @f.defjvp
    def f_jvp(primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        out = f(x)
        return out, xp.sum(xp.exp(x - out) * t)

    return f  # type: ignore[no-any-return]


LARGE = np.array([1000.0, 999.0, -1000.0, 0.0])


def test_log_sum_exp_of_large_numbers(same_as_jax: Function) -> None:
    close(same_as_jax(log_sum_exp, LARGE), scipy.special.logsumexp(LARGE))
    close(same_as_jax(log_sum_exp, LARGE, derive=gradient), scipy.special.softmax(LARGE))
    p = scipy.special.softmax(LARGE)
    second = same_as_jax(log_sum_exp, LARGE, derive=lambda lib, f: lib.hessian(f))
    close(second, np.diag(p) - np.outer(p, p))
    batch = np.stack([LARGE, -LARGE, LARGE / 1000.0])
    close(same_as_jax(log_sum_exp, batch, derive=mapped), scipy.special.logsumexp(batch, axis=1))
    close(
        same_as_jax(log_sum_exp, batch, derive=mapped_gradient),
        scipy.special.softmax(batch, axis=1),
    )


def clipped(library: Module, ops: Module, xp: Module) -> Function:
    """A power iterated; its gradient, which grows at each step, is clipped at each."""

    @library.custom_vjp
    def clip(x: Any) -> Any:
        return x

    clip.defvjp(lambda x: (x, None), lambda _, ct: (xp.clip(ct, -1.0, 1.0),))

    def f(x: Any) -> Any:
        return ops.fori_loop(0, 5, lambda i, x: clip(3.0 * x), x) * 0.1

    return f


def test_clipping_gradients(same_as_jax: Function) -> None:
    x = np.float64(2.0)
    close(same_as_jax(clipped, x), 2.0 * 3.0**5 * 0.1)
    expected = 0.1
    for _ in range(5):
        expected = 3.0 * min(expected, 1.0)
    close(same_as_jax(clipped, x, derive=gradient), expected)
    xs = np.array([1.0, -2.0])
    close(same_as_jax(clipped, xs, derive=mapped), xs * 3.0**5 * 0.1)
    close(same_as_jax(clipped, xs, derive=mapped_gradient), [expected, expected])


# ------------------------------------------------------------------- conjugate gradients

SIZE = 5
FACTOR = RANDOM.standard_normal((SIZE, SIZE))
MATRIX = FACTOR @ FACTOR.T + SIZE * np.eye(SIZE)
RIGHT = RANDOM.standard_normal(SIZE)


def conjugate_gradients(library: Module, ops: Module, xp: Module) -> Function:
    """M. Hestenes and E. Stiefel, 1952."""

    def iterate(matvec: Function, b: Any) -> Any:
        def step(carry: Any) -> Any:
            x, r, p = carry
            ap = matvec(p)
            rr = xp.sum(r * r)
            alpha = rr / xp.sum(p * ap)
            x, r = x + alpha * p, r - alpha * ap
            return x, r, r + xp.sum(r * r) / rr * p

        return ops.while_loop(
            lambda carry: xp.sum(carry[1] * carry[1]) > 1e-26, step, (xp.zeros_like(b), b, b)
        )[0]

    def solve(matrix: Any, b: Any) -> Any:
        return ops.custom_linear_solve(lambda x: matrix @ x, b, iterate, symmetric=True)

    return solve


def test_conjugate_gradients(same_as_jax: Function) -> None:
    x = np.linalg.solve(MATRIX, RIGHT)
    close(same_as_jax(conjugate_gradients, MATRIX, RIGHT), x)

    def total(library: Module, function: Function) -> Function:
        return library.grad(lambda a, b: function(a, b).sum(), argnums=(0, 1))  # type: ignore[no-any-return]

    adjoint = np.linalg.solve(MATRIX, np.ones(SIZE))
    by_matrix, by_right = same_as_jax(conjugate_gradients, MATRIX, RIGHT, derive=total)
    close(by_matrix, -np.outer(adjoint, x))
    close(by_right, adjoint)
    matrices, rights = np.stack([MATRIX, MATRIX + np.eye(SIZE)]), np.stack([RIGHT, -RIGHT])
    each = [np.linalg.solve(a, b) for a, b in zip(matrices, rights, strict=True)]
    close(same_as_jax(conjugate_gradients, matrices, rights, derive=mapped), each)
    batch = same_as_jax(
        conjugate_gradients, matrices, rights, derive=lambda lib, f: lib.vmap(total(lib, f))
    )
    for i in range(2):
        adjoint = np.linalg.solve(matrices[i], np.ones(SIZE))
        close(batch[0][i], -np.outer(adjoint, each[i]))
        close(batch[1][i], adjoint)
