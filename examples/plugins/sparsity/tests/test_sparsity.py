"""Patterns are the true ones, and sparse derivatives are the dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bindax_example_sparsity import (
    Pattern,
    color_columns,
    sparse_hessian,
    sparse_jacobian,
    sparsity,
    sparsity_pattern,
)
from problems import (
    brusselator,
    brusselator_pattern,
    grid_pattern,
    membrane_energy,
    network,
    network_pattern,
    obstacle,
)

import bindax_lax_basic as lax
from bindax_control_flow import cond, fori_loop, scan, while_loop
from bindax_core import ShapeDtypeStruct
from bindax_core.extend import primitive, rules
from bindax_experimental import sparse
from bindax_transforms import (
    checkpoint,
    custom_jvp,
    custom_vjp,
    hessian,
    jacfwd,
    jit,
    vmap,
)

X = np.random.default_rng(0).uniform(0.5, 1.5, 6)
TABLE = np.arange(36.0).reshape(6, 6) % 3  # a third of it is zero


def in_one_of_two(x: Any) -> Any:
    return cond(x[0] > 1.0, lambda y: lax.rev(y, (0,)), lambda y: y * y, x)


def running(x: Any) -> Any:
    return scan(lambda held, row: (held * row, held + row), x[0], x)[1]


def backwards(x: Any) -> Any:
    return scan(lambda held, row: (held + row, held), x[0] * 0.0, x, reverse=True)[1]


def repeated(x: Any) -> Any:
    def step(i: Any, y: Any) -> Any:
        return lax.concatenate([y[1:] * y[:-1], y[:1]], 0)

    return fori_loop(0, 2, step, x)


def until_large(x: Any) -> Any:
    return while_loop(lambda y: y[0] < 4.0, lambda y: y * x + 1.0, x)


def filtered(x: Any, kernel: Any) -> Any:
    signal, weights = (lax.reshape(one, (1, 1, one.size)) for one in (x, kernel))
    return lax.conv_general_dilated(signal, weights, (1,), "VALID")


FUNCTIONS = {
    "sines": lambda x: lax.sin(x) * lax.exp(x),
    "shifted": lambda x: x[1:] * x[:-1] + x[2:].sum(),
    "masked": lambda x: x * np.array([1.0, 0.0, 2.0, 0.0, 0.0, 3.0]),
    "literal": lambda x: x * 0.0 + 1.0,
    "floors": lambda x: lax.floor(x) + x[::-1],
    "chosen": lambda x: lax.select(np.arange(6) < 3, x, lax.rev(x, (0,))),
    "unknown choice": lambda x: lax.select(x > 1.0, x, lax.rev(x, (0,))),
    "matrix": lambda x: lax.dot(TABLE, x),
    "outer": lambda x: x[:3, None] * x[None, 3:],
    "batches": lambda x: vmap(lax.dot)(lax.reshape(x, (2, 1, 3)), TABLE.reshape(2, 3, 6)),
    "sums": lambda x: lax.reduce_sum(lax.reshape(x, (2, 3)) ** 2, (0,)),
    "running sum": lambda x: lax.cumsum(x, 0),
    "running sum of rows": lambda x: lax.cumsum(lax.reshape(x, (2, 3)), 1, reverse=True),
    "indices": lambda x: x[np.array([[0, 5], [2, 2]])],
    "updates": lambda x: x.at[np.array([1, 1, 4])].add(x[:3] ** 2),
    "replaced": lambda x: x.at[2:4].set(x[:2] * 2.0),
    "padded": lambda x: lax.pad(x, x[0], ((1, 0, 1),)),
    "transposed": lambda x: lax.transpose(lax.reshape(x, (2, 3)), (1, 0)) * 2.0,
    "broadcast": lambda x: lax.broadcast_in_dim(x[:2], (3, 2), (1,)),
    "complex": lambda x: lax.real(lax.complex(x, x[::-1]) * (1.0 + 0.5j)),
    "branches": in_one_of_two,
    "running": running,
    "backwards": backwards,
    "repeated": repeated,
    "jit": jit(lambda x: x[1:] / x[:-1]),
    "checkpoint": checkpoint(lambda x: lax.tanh(x)[::2]),
    "number": lambda x: x[2],
    "constant": lambda x: np.ones(3),
    "no elements": lambda x: x[:0],
    "stencil": lambda x: filtered(x**2, np.array([1.0, 0.0, -1.0])),
    "kernel": lambda x: filtered(np.array([1.0, 0.0, 2.0, 3.0]), x[:3]),
    "window sums": lambda x: lax.reduce_window(x, 0.0, lax.add, (3,), (2,), "SAME"),
    "window maxima": lambda x: lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), "VALID"),
}


def true_pattern(function: Any, draws: int = 12) -> np.ndarray[Any, Any]:
    """The places where the dense Jacobian differs from zero at some points."""
    found = np.zeros(1, bool)
    rng = np.random.default_rng(1)
    for _ in range(draws):
        x = rng.uniform(0.2, 2.2, X.shape)
        found = found | (np.asarray(jacfwd(function)(x)).reshape(-1, X.size) != 0)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_patterns_are_the_true_ones(name: str) -> None:
    function = FUNCTIONS[name]
    pattern = sparsity_pattern(function)(X)

    assert pattern.conservative == ()
    np.testing.assert_array_equal(pattern.dense(), true_pattern(function))
    if pattern.shape[0]:
        backward = sparsity_pattern(function, mode="reverse")(X)
        assert np.all(backward.dense() >= pattern.dense())


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_values_are_those_of_the_dense_jacobian(name: str, mode: str) -> None:
    function = FUNCTIONS[name]
    dense = np.asarray(jacfwd(function)(X)).reshape(-1, X.size)
    got = sparse_jacobian(function, mode=mode, format="dense")(X)
    np.testing.assert_allclose(np.asarray(got), dense, rtol=1e-12, atol=1e-14)


def test_a_loop_of_unknown_length_depends_on_what_any_number_of_steps_may_bring() -> None:
    pattern = sparsity_pattern(until_large)(X)
    np.testing.assert_array_equal(pattern.dense(), np.eye(6, dtype=bool))
    assert not sparsity_pattern(running)(X).conservative


PROBLEMS = {
    "brusselator": (brusselator, 2 * 71**2, lambda: brusselator_pattern(71)),
    "obstacle": (obstacle, 100**2, lambda: grid_pattern(100)),
    "network": (network, 10**4, lambda: network_pattern(10**4)),
}
SMALL = {"brusselator": (2 * 6**2, 10), "obstacle": (6**2, 7), "network": (40, 7)}


@pytest.mark.parametrize("name", PROBLEMS)
def test_large_problems_have_their_patterns(name: str) -> None:
    function, size, wanted = PROBLEMS[name]
    pattern = sparsity_pattern(function)(ShapeDtypeStruct((size,), np.float64))

    assert pattern.conservative == ()
    assert (pattern.scipy() != sp.csr_array(wanted())).nnz == 0


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_have_the_derivatives_of_dense_ones(name: str) -> None:
    size, colors = SMALL[name]
    function = PROBLEMS[name][0]
    x = np.random.default_rng(2).uniform(0.0, 1.0, size)
    dense = np.asarray(jacfwd(function)(x))
    pattern = sparsity_pattern(function)(x)

    assert color_columns(pattern).max() < colors + 1
    for format in ("bcoo", "scipy", "dense"):
        got = sparse_jacobian(function, format=format)(x)
        whole = got if format == "dense" else got.todense()
        np.testing.assert_allclose(np.asarray(whole), dense, rtol=1e-12, atol=1e-14)


def test_hessians() -> None:
    x = np.random.default_rng(3).uniform(0.0, 0.4, 36)
    got = sparse_hessian(membrane_energy, format="scipy")(x)

    assert got.nnz == grid_pattern(6).nnz
    np.testing.assert_allclose(got.todense(), hessian(membrane_energy)(x), rtol=1e-11, atol=1e-14)


def test_it_composes_with_jit_and_vmap() -> None:
    jacobian = sparse_jacobian(network)
    xs = np.stack([np.linspace(0.0, 1.0, 12), np.linspace(1.0, 2.0, 12)])
    wanted = np.stack([jacfwd(network)(x) for x in xs])

    compiled = jit(jacobian)(xs[0])
    assert isinstance(compiled, sparse.BCOO)
    np.testing.assert_allclose(compiled.todense(), wanted[0], rtol=1e-12)
    batched = vmap(lambda x: jacobian(x).data)(xs)
    np.testing.assert_allclose(batched[1], jacobian(xs[1]).data, rtol=1e-12)


def test_other_arguments_and_dtypes() -> None:
    def scaled(a: Any, x: Any) -> Any:
        return a * x[1:] * x[:-1]

    x = X.astype(np.float32)
    got = sparse_jacobian(scaled, argnums=1)(np.float32(2.0), x)

    assert got.dtype == np.float32
    np.testing.assert_allclose(got.todense(), jacfwd(scaled, 1)(np.float32(2.0), x), rtol=1e-6)


def test_rules_of_derivatives_are_respected() -> None:
    straight = custom_jvp(lambda x: lax.round(x))
    straight.defjvp(lambda xs, ts: (straight(*xs), ts[0]))
    np.testing.assert_array_equal(sparsity_pattern(straight)(X).dense(), np.eye(6, dtype=bool))

    backward = custom_vjp(lambda x: lax.round(x))
    backward.defvjp(lambda x: (backward(x), None), lambda _, ct: (ct[::-1],))
    got = sparse_jacobian(backward, mode="reverse", format="dense")(X)
    np.testing.assert_array_equal(np.asarray(got), np.eye(6)[::-1])
    (note,) = sparsity_pattern(backward)(X).conservative
    assert note.startswith("custom_vjp_linear at ")
    with pytest.raises(TypeError, match="of the custom_vjp function"):
        sparse_jacobian(backward, mode="forward")(X)


def twice() -> Any:
    made = primitive(
        "example.reversed_twice",
        rules.impl(lambda x: 2 * x[::-1]),
        rules.abstract_eval(lambda x: x),
        rules.jvp(lambda xs, ts: (made.bind(*xs), made.bind(*ts))),
        rules.vmap.absent("a test"),
        rules.transpose.absent("a test"),
        rules.lowering["stablehlo"].absent("a test"),
    )
    return made


def test_what_has_no_rule_is_taken_to_depend_on_everything_and_named() -> None:
    made = twice()
    pattern = sparsity_pattern(lambda x: made.bind(x[:3]))(X)

    np.testing.assert_array_equal(pattern.dense(), np.tile(np.arange(6) < 3, (3, 1)))
    assert len(pattern.conservative) == 1
    assert pattern.conservative[0].startswith("example.reversed_twice at ")
    assert repr(pattern).startswith("Pattern(3x6, 9 places, conservative because of example.rev")
    rule = sparsity(lambda context, x: x.matrix[::-1])
    with sparsity.scoped(made, rule):
        exact = sparsity_pattern(made.bind)(X)
    assert exact.conservative == ()
    np.testing.assert_array_equal(exact.dense(), np.eye(6, dtype=bool)[::-1])


def test_random_keys_are_no_obstacle() -> None:
    random = pytest.importorskip("bindax_random")
    key = random.key(0)
    pattern = sparsity_pattern(lambda x: x * random.normal(random.fold_in(key, 1), (6,)))(X)
    np.testing.assert_array_equal(pattern.dense(), np.eye(6, dtype=bool))


def test_indices_that_the_input_decides() -> None:
    pattern = sparsity_pattern(lambda x: x[lax.convert_element_type(x[:2], np.int32)])(X)

    assert pattern.dense().all()
    assert pattern.conservative[0].startswith("gather at ")


def test_colours_of_columns_share_no_row() -> None:
    rng = np.random.default_rng(4)
    matrix = rng.random((30, 20)) < 0.1
    colors = color_columns(Pattern(matrix))
    for color in range(colors.max() + 1):
        assert matrix[:, colors == color].sum(axis=1).max() <= 1


def test_bad_arguments_are_errors_that_say_what_to_do() -> None:
    with pytest.raises(ValueError, match="format must be 'bcoo', 'scipy' or 'dense', but it is 'c"):
        sparse_jacobian(lambda x: x, format="csc")
    with pytest.raises(ValueError, match="mode must be 'forward', 'reverse' or None, but it is 1"):
        sparse_jacobian(lambda x: x, mode=1)
    with pytest.raises(ValueError, match="mode must be 'forward' or 'reverse', but it is 'both'"):
        sparsity_pattern(lambda x: x, mode="both")
    with pytest.raises(TypeError, match="argument 0 must be an array of floating-point numbers"):
        sparse_jacobian(lambda x: x)(np.arange(3))
    with pytest.raises(TypeError, match="must return one array, but it returns 2: concatenate"):
        sparsity_pattern(lambda x: (x, x))(X)
