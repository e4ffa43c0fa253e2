"""Losses, schedules, projections, tree functions and line searches beside optax."""

from __future__ import annotations

import functools
import os
from typing import Any

import numpy as np
import pytest

import bindax
import bindax_optimizers as optimizers
from bindax import nnx

jax = pytest.importorskip("jax")
optax = pytest.importorskip("optax")
from _comparisons import assert_close  # noqa: E402

DRAW = np.random.default_rng(1)
X, Y = DRAW.normal(size=(2, 4, 5)).astype("f4")
P = np.asarray(jax.nn.softmax(Y))
CLASS = np.array([0, 4, 2, 2])
SIGN = np.sign(X)
WHERE = Y > -0.5
TREE = {"w": X, "b": Y[0]}

LOSSES = {
    "log_cosh": lambda o: o.log_cosh(X, Y),
    "cosine_similarity": lambda o: o.cosine_similarity(X, Y, epsilon=1e-6, where=WHERE),
    "cosine_distance": lambda o: o.cosine_distance(X, Y, axis=0),
    "masked entropy": lambda o: o.softmax_cross_entropy(X, P, where=WHERE),
    "entropy of rows": lambda o: o.softmax_cross_entropy(X, P, where=np.arange(4) > 1),
    "entropy of all": lambda o: o.softmax_cross_entropy(X, P, axis=None),
    "masked integers": lambda o: o.softmax_cross_entropy_with_integer_labels(
        X, CLASS, where=np.arange(4) > 1
    ),
    "integers, axes": lambda o: o.softmax_cross_entropy_with_integer_labels(
        X, np.array(7), axis=(0, 1)
    ),
    "safe": lambda o: o.safe_softmax_cross_entropy(np.where(P > 0.1, X, -np.inf), P * (P > 0.1)),
    "focal": lambda o: o.sigmoid_focal_loss(X * 5, P, alpha=0.3, gamma=1.5),
    "poly": lambda o: o.losses.poly_loss_cross_entropy(X, P),
    "smooth": lambda o: o.smooth_labels(P, 0.2),
    "smooth, masked": lambda o: o.smooth_labels(P, 0.2, axis=0, where=WHERE),
    "hinge": lambda o: o.hinge_loss(X, SIGN),
    "perceptron": lambda o: o.losses.perceptron_loss(Y, SIGN),
    "hinge of classes": lambda o: o.losses.multiclass_hinge_loss(X, CLASS),
    "perceptron of classes": lambda o: o.losses.multiclass_perceptron_loss(X, CLASS),
    "kl": lambda o: o.kl_divergence(Y, P * (P > 0.2)),
    "kl of logs": lambda o: o.losses.kl_divergence_with_log_targets(Y, X, axis=0),
    "generalized kl": lambda o: o.generalized_kl_divergence(Y, P, where=WHERE),
    "ctc": lambda o: o.ctc_loss_with_forward_probs(
        DRAWN, TIMES, np.array([[1, 1, 2], [3, 2, 0]]), np.array([[0, 0, 0], [0, 0, 1.0]])
    ),
    "ntxent": lambda o: o.ntxent(X, np.array([0, 1, 0, 1])),
    "triplet": lambda o: o.losses.triplet_margin_loss(X, Y, X[::-1]),
    "ranking": lambda o: o.losses.ranking_softmax_loss(X, P, where=WHERE, weights=abs(Y)),
    "ranking, each": lambda o: o.losses.ranking_softmax_loss(X, P, reduce_fn=None),
    "dice": lambda o: o.losses.dice_loss(X[None], P[None], alpha=0.3, ignore_background=True),
    "dice, weights": lambda o: o.losses.dice_loss(
        X[None], P[None], class_weights=np.arange(5.0, dtype="f4"), reduction="sum"
    ),
    "binary dice": lambda o: o.losses.binary_dice_loss(X, P),
    "generalized dice": lambda o: o.losses.multiclass_generalized_dice_loss(X[None], P[None]),
    "sparsemax": lambda o: o.losses.sparsemax_loss(X, CLASS[:, None] > 1),
    "sparsemax of classes": lambda o: o.losses.multiclass_sparsemax_loss(X, CLASS),
}
DRAWN = DRAW.normal(size=(2, 6, 4)).astype("f4")
TIMES = (np.arange(6) >= np.array([[6], [5]])).astype("f4")
CYCLE = {"init_value": 0.0, "peak_value": 1.0, "warmup_steps": 2, "decay_steps": 5}
SCHEDULES = {
    "no steps": lambda o: o.linear_schedule(1.0, 0.1, 0),
    "no steps of decay": lambda o: o.exponential_decay(1.0, 0, 0.5),
    "no warm-up": lambda o: o.warmup_cosine_decay_schedule(0.0, 1.0, 0, 12),
    "early": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 5, -3),
    "constant": lambda o: o.piecewise_constant_schedule(0.5),
    "interpolated": lambda o: o.piecewise_interpolate_schedule("linear", 1.0, {3: 0.5, 8: 2.0}),
    "cosine": lambda o: o.piecewise_interpolate_schedule("cosine", 1.0, {3: 0.5, 8: 2.0}),
    "no boundary": lambda o: o.piecewise_interpolate_schedule("linear", 0.5),
    "one cycle": lambda o: o.linear_onecycle_schedule(12, 2.0),
    "one cosine cycle": lambda o: o.cosine_onecycle_schedule(12, 2.0),
    "warm-up": lambda o: o.warmup_constant_schedule(0.0, 1.0, 4),
    "warm-up, decay": lambda o: o.warmup_exponential_decay_schedule(0.0, 1.0, 4, 3, 0.5, 1),
    "restarts": lambda o: o.sgdr_schedule([CYCLE, CYCLE]),
}
TREES = {
    "norm 1": lambda o: o.tree.norm(TREE, ord=1, squared=True),
    "norm inf": lambda o: o.tree.norm(TREE, ord="inf"),
    "sum": lambda o: o.tree.sum(TREE, associative_reduction=True),
    "extrema": lambda o: (o.tree.max(TREE), o.tree.min(TREE)),
    "vdot": lambda o: o.tree.vdot(TREE, TREE),
    "add": lambda o: o.tree.add(TREE, TREE, TREE),
    "batch": lambda o: o.tree.batch_shape(TREE, (2,)),
    "random": lambda o: o.tree.random_like(_key(o), TREE),
    "clipped": lambda o: o.per_example_global_norm_clip({"w": X, "b": Y}, 1.0),
    "clipped by layer": lambda o: o.per_example_layer_norm_clip({"w": X, "b": Y}, 1.0, False),
    "simplex": lambda o: o.projections.projection_simplex(TREE, 2.0),
    "l1": lambda o: o.projections.projection_l1_ball(TREE, 2.0),
    "l2": lambda o: o.projections.projection_l2_ball(TREE, 2.0),
    "linf": lambda o: o.projections.projection_linf_ball(TREE, 0.5),
    "halfspace": lambda o: o.projections.projection_halfspace(TREE, TREE, 0.5),
}


def _key(o: Any) -> Any:
    return (bindax if o is optimizers else jax).random.key(0)


BY_DAY = ("masked entropy", "integers, axes", "smooth, masked", "kl", "norm 1", "clipped by layer")
"""The cases of ordinary runs; each of the rest takes JAX some time."""
CHOSEN = [*LOSSES, *TREES] if os.environ.get("BINDAX_NIGHTLY") else BY_DAY


@pytest.mark.every(2)
@pytest.mark.parametrize("name", CHOSEN)
def test_results_are_those_of_optax(name: str) -> None:
    call = {**LOSSES, **TREES}[name]
    ours, theirs = call(optimizers), call(optax)
    assert_close(jax.tree.map(lambda x: x, ours), theirs, 2e-5, 1e-5)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_are_those_of_optax(name: str) -> None:
    counts = np.arange(16, dtype="int32")
    ours, theirs = SCHEDULES[name](optimizers), SCHEDULES[name](optax)
    expected = [float(theirs(i)) for i in counts]
    np.testing.assert_allclose([float(ours(i)) for i in counts], expected, rtol=1e-5, atol=1e-7)


def rosenbrock(x: Any) -> Any:
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


def minimized(o: Any, jax: Any, optimizer: Any) -> tuple[Any, Any]:
    """Ten steps with a line search, compiled."""
    value_and_grad = o.value_and_grad_from_state(rosenbrock)

    @jax.jit
    def step(params: Any, state: Any) -> Any:
        value, grad = value_and_grad(params, state=state)
        updates, state = optimizer.update(
            grad, state, params, value=value, grad=grad, value_fn=rosenbrock
        )
        return o.apply_updates(params, updates), state

    params = np.array([-1.0, 1.5, 0.5], "f4")
    state = optimizer.init(params)
    for _ in range(10):
        params, state = step(params, state)
    return params, state


LINE_SEARCHES = {
    "backtracking": lambda o: o.chain(
        o.sgd(1.0),
        o.scale_by_backtracking_linesearch(20, max_learning_rate=0.1, store_grad=True),
    ),
    "lbfgs": lambda o: o.lbfgs(memory_size=4),
}
SEARCHES = LINE_SEARCHES if os.environ.get("BINDAX_NIGHTLY") else ["backtracking"]


@pytest.mark.parametrize("name", SEARCHES)
def test_line_searches_find_what_those_of_optax_find(name: str) -> None:
    make = LINE_SEARCHES[name]
    ours, state = minimized(optimizers, bindax, make(optimizers))
    theirs, other = minimized(optax, jax, make(optax))
    # Ten steps through a curved valley make last digits grow.
    np.testing.assert_allclose(ours, theirs, rtol=2e-3)
    assert float(state[-1].value) == pytest.approx(float(other[-1].value), rel=2e-3)
    assert [x.shape for x in bindax.tree.leaves(state)] == [x.shape for x in jax.tree.leaves(other)]


def test_modules_are_trained_by_line_searches_and_injected_rates() -> None:
    def make() -> nnx.Linear:
        return nnx.Linear(3, 1, rngs=nnx.Rngs(0))

    def loss(model: nnx.Linear) -> Any:
        return ((model(X[:, :3]) - Y[:, :1]) ** 2).mean()

    model = make()
    optimizer = nnx.Optimizer(model, optimizers.lbfgs(memory_size=2))
    graphdef, _ = nnx.split(model)
    for _ in range(2):
        value, grads = nnx.value_and_grad(loss)(model)
        optimizer.update(
            model, grads, value=value, grad=grads, value_fn=lambda s: loss(nnx.merge(graphdef, s))
        )
    assert float(loss(model)) < float(loss(make())) - 0.05
    model = make()
    optimizer = nnx.Optimizer(model, optimizers.inject_hyperparams(optimizers.adam)(0.1))
    optimizer.opt_state.hyperparams["learning_rate"].value = np.float32(0.0)
    optimizer.update(model, nnx.grad(loss)(model))
    np.testing.assert_array_equal(model.kernel.value, make().kernel.value)


def test_values_of_states_by_name() -> None:
    found = []
    for o in (optimizers, optax):
        state = o.chain(o.clip(1.0), o.adam(0.1)).init(TREE)
        changed = o.tree.set(state, count=np.int32(7))
        path = o.tree.get_all_with_path(changed, "count")[0][0]
        mapped = o.tree_map_params(o.adam(0.1), lambda x: x + 1, o.adam(0.1).init(TREE))
        found.append((o.tree.get(changed, "count"), o.tree.get(state, "ScaleByAdamState"), mapped))
        assert str(path[-1]) == "ScaleByAdamState.count"
        with pytest.raises(KeyError):
            o.tree.set(state, nothing=1)
    assert_close(*found)


def test_losses_of_a_mask_have_finite_derivatives() -> None:
    where = np.array([[True] * 5, [False] * 5, [True, False] * 2 + [True], [False] * 5])
    loss = functools.partial(optimizers.softmax_cross_entropy, labels=P, where=where)
    assert np.isfinite(bindax.grad(lambda x: loss(x).sum())(X)).all()
    logits = np.array([0.0, -np.inf, 1.0], "f4")
    safe = functools.partial(
        optimizers.safe_softmax_cross_entropy, labels=np.array([0.5, 0, 0.5], "f4")
    )
    assert np.isfinite(bindax.grad(safe)(logits)).all()
