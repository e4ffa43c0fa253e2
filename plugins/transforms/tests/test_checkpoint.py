"""``checkpoint`` without a compiler: derivatives, what is saved, what is computed again, errors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core.extend import (
    Effect,
    abstract_eval,
    effects,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    tree_leaves,
    vmap,
)
from bindax_transforms import checkpoint, checkpoint_name
from bindax_transforms import checkpoint_policies as policies

pytestmark = pytest.mark.usefixtures("toy_operations")

evaluations: list[str] = []


def _counted_sin(x: Any) -> Any:
    evaluations.append("sin")
    return np.sin(x)


counted_sin_p = primitive(
    "toy.counted_sin",
    impl(_counted_sin),
    abstract_eval(lambda x: x),
    jvp(lambda p, t: (counted_sin_p.bind(*p), toy.mul(toy.cos(*p), t[0]))),
    vmap(lambda size, operands, dims: (counted_sin_p.bind(*operands), dims[0])),
    transpose.absent("not linear"),
    toy.interpreted,
)


def even_sin(primitive: Any, *avals: Any, **params: Any) -> bool:
    """A policy of a user."""
    return primitive.name == "toy.sin" and avals[0].size % 2 == 0


POLICIES = [
    None,
    policies.nothing_saveable,
    policies.everything_saveable,
    policies.dots_saveable,
    policies.save_only_these_names("a"),
    policies.save_any_names_but_these("a"),
    policies.save_anything_except_these_names("b"),
    policies.save_from_both_policies(policies.save_only_these_names("b"), even_sin),
    even_sin,
]


def f(x: Any) -> Any:
    a = checkpoint_name(toy.sin(toy.mul(x, x)), "a")
    b = checkpoint_name(toy.cos(a), "b")
    return toy.reduce_sum(toy.mul(toy.sin(b), toy.mul(a, x)))


def plain(x: Any) -> Any:
    a = toy.sin(toy.mul(x, x))
    return toy.reduce_sum(toy.mul(toy.sin(toy.cos(a)), toy.mul(a, x)))


TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "grad": bt.grad,
    "jit of grad": lambda g: bt.jit(bt.grad(g)),
    "grad of jit": lambda g: bt.grad(bt.jit(g)),
    "jvp": lambda g: lambda x: bt.jvp(g, (x,), (x,)),
    "linearize": lambda g: lambda x: bt.linearize(g, x)[1](x),
    "vmap of grad": lambda g: lambda x: bt.vmap(bt.grad(g))(np.stack([x, 2 * x])),
    "grad of vmap": lambda g: (
        lambda x: bt.grad(lambda xs: toy.reduce_sum(bt.vmap(g)(xs)))(np.stack([x, 2 * x]))
    ),
    "reverse over reverse": lambda g: (
        lambda x: bt.grad(lambda y: toy.reduce_sum(toy.sin(bt.grad(g)(y))))(x)
    ),
    "forward over reverse": lambda g: lambda x: bt.jvp(bt.grad(g), (x,), (x,)),
    "reverse over forward": lambda g: lambda x: bt.grad(lambda y: bt.jvp(g, (y,), (x,))[1])(x),
    "reverse over jit of reverse": lambda g: (
        lambda x: bt.grad(lambda y: toy.reduce_sum(bt.jit(bt.grad(g))(y)))(x)
    ),
    "checkpoint of grad": lambda g: (
        lambda x: bt.grad(lambda y: toy.reduce_sum(checkpoint(bt.grad(g))(y)))(x)
    ),
}


@pytest.mark.every(2)
@pytest.mark.parametrize("policy", POLICIES, ids=lambda p: getattr(p, "__name__", str(p)))
@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
def test_derivatives_are_those_of_the_function(transform: Any, policy: Any) -> None:
    x = np.array([0.3, -1.2])
    wanted = tree_leaves(transform(plain)(x))
    variants = {
        "plain": checkpoint(f, policy=policy),
        "of jit": checkpoint(bt.jit(f), policy=policy),
        "nested": checkpoint(checkpoint(f, policy=policy), policy=policies.dots_saveable),
        "in a nest": checkpoint(checkpoint(f), policy=policy),
    }
    for name, function in variants.items():
        for got, expected in zip(tree_leaves(transform(function)(x)), wanted, strict=True):
            np.testing.assert_allclose(np.asarray(got), np.asarray(expected), err_msg=name)


def test_the_value_is_that_of_the_function() -> None:
    x = np.array([0.3, -1.2])
    assert float(checkpoint(f)(x)) == float(f(x)) == float(bt.jit(checkpoint(f))(x))
    assert float(np.asarray(bt.vmap(checkpoint(f))(np.stack([x, x])))[1]) == float(f(x))


def residuals(fun: Any, *args: Any) -> list[Any]:
    return [residual.aval.shape for residual in bt.saved_residuals(fun, *args)]


def chain(x: Any) -> Any:
    for _ in range(3):
        x = counted_sin_p.bind(x)
    return x


def test_eager_reverse_mode_computes_again() -> None:
    for function, forward, backward in [
        (chain, 3, 0),
        (checkpoint(chain), 3, 2),  # the last sine is not needed by the derivative
        (checkpoint(chain, policy=policies.everything_saveable), 3, 0),
        (checkpoint(checkpoint(chain)), 3, 2),
        (lambda x: chain(checkpoint(chain)(x)), 6, 2),
    ]:
        evaluations.clear()
        _, pull = bt.vjp(function, 0.5)
        assert len(evaluations) == forward
        evaluations.clear()
        pull(1.0)
        assert len(evaluations) == backward


def test_only_the_policy_s_values_are_kept() -> None:
    x = np.array([0.3, -1.2])
    assert len(residuals(plain, x)) == 7
    for policy, kept in [
        (None, ["x"]),
        (policies.nothing_saveable, ["x"]),
        (policies.dots_saveable, ["x"]),
        (policies.save_only_these_names("a"), ["x", "'a'"]),
        (policies.save_only_these_names("b", "a"), ["x", "'a'", "'b'"]),
        (policies.save_any_names_but_these("a"), ["x", "'b'"]),
        (even_sin, ["x", "toy.sin", "toy.sin", "toy.sin"]),
        (policies.save_from_both_policies(policies.save_only_these_names("b"), even_sin), None),
    ]:
        function = checkpoint(f, policy=policy)
        found = bt.saved_residuals(function, x)
        _, f_lin = bt.linearize(function, x)
        assert len(tree_leaves(f_lin)) == len(found)
        if kept is not None:
            assert len(found) == len(kept)
            for word, residual in zip(kept, found, strict=True):
                assert f" {word}" in residual.description


def test_a_policy_looks_into_jit_and_checkpoint() -> None:
    x = np.array([0.3, -1.2])
    policy = policies.save_only_these_names("a")
    for inner in (f, bt.jit(f), checkpoint(f), bt.jit(checkpoint(bt.jit(f)))):
        found = bt.saved_residuals(checkpoint(inner, policy=policy), x)
        kinds = [residual.description.split(" at ")[0] for residual in found]
        assert kinds == ["is the argument x", "is named 'a'"]


def test_policies_see_types_and_parameters() -> None:
    seen: list[Any] = []

    def policy(primitive: Any, *avals: Any, **params: Any) -> bool:
        seen.append((primitive.name, [aval.str_short() for aval in avals], params))
        return False

    bt.linearize(checkpoint(lambda x: toy.sin(checkpoint_name(x, "n")), policy=policy), 1.0)
    assert ("name", ["float64[]"], {"name": "n"}) in seen
    assert ("toy.sin", ["float64[]"], {}) in seen


def test_policies_print_and_compare() -> None:
    names = policies.save_only_these_names("b", "a")
    assert names == policies.save_only_these_names("a", "b")
    assert hash(names) == hash(policies.save_only_these_names("a", "b"))
    assert names != policies.save_any_names_but_these("a", "b")
    assert repr(names) == "save_only_these_names('a', 'b')"
    both = policies.save_from_both_policies(policies.dots_saveable, names)
    assert repr(both) == ("save_from_both_policies(dots_saveable, save_only_these_names('a', 'b'))")
    assert policies.checkpoint_dots is policies.dots_saveable
    assert policies.checkpoint_dots_with_no_batch_dims is policies.dots_with_no_batch_dims_saveable


def test_pretty_print() -> None:
    def g(x: Any) -> Any:
        return toy.sin(x)

    assert str(bt.make_jaxpr(checkpoint(g))(1.0)).splitlines() == [
        "{ lambda a:float64[] .",
        "  let b:float64[] = checkpoint a",
        "        { lambda a:float64[] .",
        "          let b:float64[] = toy.sin a",
        "          in ( b ) }",
        "  in ( b ) }",
    ]
    text = str(
        bt.make_jaxpr(
            bt.grad(checkpoint(g, policy=policies.save_only_these_names("a"), prevent_cse=False))
        )(1.0)
    )
    assert "policy=save_only_these_names('a')" in text
    assert "differentiated=True" in text
    assert "prevent_cse=False" in text


def test_trees_keywords_and_static_arguments() -> None:
    @functools.partial(checkpoint, static_argnums=(1,))
    def power(x: Any, n: int, *, scale: Any) -> Any:
        out = scale["s"]
        for _ in range(n):
            out = out * x
        return {"out": out}

    assert float(power(2.0, 3, scale={"s": 5.0})["out"]) == 40.0
    assert float(power(2.0, n=2, scale={"s": 1.0})["out"]) == 4.0
    gradient = bt.grad(lambda x: power(x, 3, scale={"s": 1.0})["out"])(2.0)
    assert float(gradient) == 12.0

    @checkpoint(static_argnums=-1)
    def last(x: Any, flag: bool) -> Any:
        return toy.sin(x) if flag else x

    assert float(last(2.0, False)) == 2.0
    assert last.__name__ == "last"
    assert float(checkpoint(lambda x, n: x * float(n), static_argnums=1)(2.0, 3)) == 6.0

    @checkpoint(static_argnames="kind")
    def named(x: Any, kind: str = "plain") -> Any:
        return toy.sin(x) if kind == "sine" else x

    assert float(named(2.0)) == float(named(2.0, kind="plain")) == 2.0
    for slope in (bt.grad(named)(0.0, "sine"), bt.grad(lambda x: named(x, kind="sine"))(0.0)):
        assert float(slope) == 1.0
    with pytest.raises(ValueError, match="static_argnames of checkpoint names 'sort', but the par"):
        checkpoint(named, static_argnames="sort")


class Factor:
    """A static argument that says of itself that it is equal to all others, and can be changed."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Factor)

    def __hash__(self) -> int:
        return 0


def test_a_trace_is_remembered_with_its_static_arguments() -> None:
    traces: list[Any] = []
    note = traces.append

    @checkpoint(static_argnums=1)
    def scaled(x: Any, n: Any) -> Any:
        note(n)
        return toy.mul(x, float(n[0] if isinstance(n, list) else n))

    for _ in range(3):
        assert [float(scaled(2.0, n)) for n in (2, 3, True, 2.0)] == [4.0, 6.0, 2.0, 4.0]
    assert list(map(repr, traces)) == ["2", "3", "True", "2.0"]
    assert [float(scaled(2.0, [n])) for n in (2, 3)] == [4.0, 6.0]  # which have no hash
    for zero in (0.0, -0.0, 0.0):
        assert np.signbit(scaled(2.0, zero)) == np.signbit(zero)

    factor = Factor(2.0)
    by_object = checkpoint(lambda x, n: toy.mul(x, n.value), static_argnums=1)
    assert float(by_object(2.0, factor)) == 4.0
    factor.value = 3.0
    assert float(by_object(2.0, factor)) == 6.0
    assert float(by_object(2.0, Factor(5.0))) == 10.0


def test_custom_rules_may_change() -> None:
    slope = 2.0
    double = bt.custom_jvp(lambda x: toy.mul(x, 2.0))
    double.defjvp(lambda x, x_dot: (double(*x), toy.mul(x_dot[0], slope)))
    hidden = checkpoint(lambda x: toy.sin(double(x)))
    assert float(bt.grad(hidden)(0.0)) == 2.0
    slope = 5.0
    assert float(bt.grad(hidden)(0.0)) == 5.0


def test_closures() -> None:
    def loss(w: Any, x: Any) -> Any:
        return toy.reduce_sum(checkpoint(lambda x: toy.sin(toy.mul(x, w)))(x))

    w, x = np.array([1.0, 2.0]), np.array([0.5, 0.25])
    np.testing.assert_allclose(np.asarray(bt.grad(loss)(w, x)), x * np.cos(w * x))
    hidden = checkpoint(lambda y: toy.mul(y, outer[0]))
    outer: list[Any] = [2.0]
    assert float(bt.grad(hidden)(1.0)) == 2.0

    # An array that is closed over may be replaced by another, and by a tracer.
    state = {"w": np.ones(2)}
    model = checkpoint(lambda x: toy.reduce_sum(toy.mul(x, state["w"])))
    assert float(model(x)) == 0.75
    state["w"] = 2 * state["w"]
    assert float(model(x)) == 1.5

    def trained(w: Any) -> Any:
        state["w"] = w
        return model(x)

    np.testing.assert_allclose(np.asarray(bt.grad(trained)(np.ones(2))), x)

    # So may a number; programs that say the same are one, with what was derived from it.
    number = 2.0
    scaled = checkpoint(lambda x: toy.mul(x, number))
    programs = [bt.make_jaxpr(scaled)(1.0).eqns[0].params["jaxpr"] for _ in range(2)]
    assert programs[0] is programs[1]
    assert (float(scaled(1.0)), float(bt.grad(scaled)(1.0))) == (2.0, 2.0)
    number = 3.0
    assert (float(scaled(1.0)), float(bt.grad(scaled)(1.0))) == (3.0, 3.0)

    def of_tracer(z: Any) -> Any:
        outer[0] = z
        return checkpoint(lambda y: toy.mul(y, outer[0]))(3.0)

    assert float(bt.grad(of_tracer)(1.0)) == 3.0
    np.testing.assert_allclose(np.asarray(bt.vmap(of_tracer)(w)), 3 * w)


def test_results_that_need_no_derivative() -> None:
    @checkpoint
    def g(x: Any, y: Any) -> Any:
        return toy.mul(x, y), toy.greater(x, y), y, 7.0

    out, pull = bt.vjp(lambda x: g(x, 2.0), 3.0)
    assert [float(v) for v in out] == [6.0, 1.0, 2.0, 7.0]
    zeros = np.zeros((), bx.float0)
    assert float(pull((1.0, zeros, 5.0, 5.0))[0]) == 2.0
    assert residuals(lambda x: g(x, 2.0)[3], 3.0) == []


seen: list[float] = []


def _record(x: Any) -> Any:
    seen.append(float(x))
    return x


record_p = primitive(
    "toy.record",
    impl(_record),
    abstract_eval(lambda x: x),
    effects(lambda: frozenset({Effect("record")})),
    jvp(lambda primals, tangents: (record_p.bind(*primals), tangents[0])),
    vmap(lambda size, operands, dims: (record_p.bind(*operands), dims[0])),
    transpose.absent("it has an effect"),
    toy.interpreted,
)


def test_effects_happen_once() -> None:
    def function(x: Any) -> Any:
        return toy.sin(record_p.bind(toy.sin(x)))

    for wrapped in (
        checkpoint(function),
        checkpoint(bt.jit(function)),
        bt.jit(checkpoint(function)),
    ):
        for transform, count in [
            (lambda g: g(1.0), 1),
            (lambda g: bt.grad(g)(1.0), 1),
            (lambda g: bt.jit(bt.grad(g))(1.0), 1),
            (lambda g: bt.vjp(g, 1.0)[0], 1),
        ]:
            seen.clear()
            transform(wrapped)
            assert seen == [pytest.approx(np.sin(1.0))] * count
        assert float(bt.grad(wrapped)(1.0)) == pytest.approx(float(bt.grad(function)(1.0)))


def test_rules_of_users_inside() -> None:
    @bt.custom_vjp
    def clipped(x: Any) -> Any:
        return toy.sin(x)

    clipped.defvjp(lambda x: (toy.sin(x), (x,)), lambda res, ct: (toy.mul(ct, res[0]),))

    @bt.custom_jvp
    def odd(x: Any) -> Any:
        return toy.sin(x)

    odd.defjvp(lambda primals, tangents: (odd(*primals), toy.mul(tangents[0], toy.neg(*primals))))
    for policy in (None, policies.everything_saveable):
        both = checkpoint(lambda x: clipped(odd(x)), policy=policy)
        wanted = np.sin(0.5) * -0.5
        assert float(bt.grad(both)(0.5)) == pytest.approx(wanted)
        assert float(bt.grad(bt.jit(both))(0.5)) == pytest.approx(wanted)
        assert float(bt.jit(bt.grad(both))(0.5)) == pytest.approx(wanted)
        second = bt.grad(bt.grad(lambda x: clipped(odd(x))))(0.5)
        assert float(bt.grad(bt.grad(both))(0.5)) == pytest.approx(float(second))


def test_unused_results_and_arguments_go() -> None:
    @checkpoint
    def g(x: Any, y: Any) -> Any:
        return toy.sin(x), toy.sin(y)

    jaxpr = bt.make_jaxpr(lambda x, y: g(x, y)[0])(1.0, 2.0)
    pruned, used = bt.dce_jaxpr(jaxpr.jaxpr, [True])
    assert used == [True, False]
    (eqn,) = pruned.eqns
    assert len(eqn.invars) == len(eqn.outvars) == len(eqn.params["jaxpr"].eqns) == 1


def test_name_is_the_identity() -> None:
    assert float(checkpoint_name(2.0, "n")) == 2.0
    tree = checkpoint_name({"a": np.ones(2), "b": (1.0, None)}, "n")
    assert sorted(tree) == ["a", "b"]
    tangent = bt.jvp(lambda x: checkpoint_name(x, "n"), (1.0,), (3.0,))[1]
    assert float(tangent) == 3.0
    np.testing.assert_allclose(
        np.asarray(bt.vmap(lambda x: checkpoint_name(x, "n"))(np.arange(3.0))), np.arange(3.0)
    )
    assert [float(x) for x in bt.linear_transpose(lambda x: checkpoint_name(x, "n"), 1.0)(4.0)] == [
        4.0
    ]
    given = np.ones(2)
    named = checkpoint_name(given, "n")
    given[0] = 5.0
    assert float(np.asarray(named)[0]) == 1.0


def test_methods_integers_and_linear_functions() -> None:
    class Model:
        w = 3.0

        @functools.partial(checkpoint, static_argnums=0)
        def apply(self, x: Any, n: Any) -> Any:
            return toy.mul(toy.sin(x), self.w) if n is None else toy.mul(x, x)

    model = Model()
    assert float(bt.grad(model.apply)(0.5, None)) == pytest.approx(3 * np.cos(0.5))
    assert float(bt.grad(model.apply)(0.5, np.int32(1))) == 1.0
    _, pull = bt.vjp(checkpoint(lambda x, n: (toy.sin(x), n)), 0.5, np.int32(3))
    x_ct, n_ct = pull((1.0, np.zeros((), bx.float0)))
    assert float(x_ct) == pytest.approx(np.cos(0.5))
    assert n_ct.dtype == bx.float0
    transposed = bt.linear_transpose(checkpoint(lambda x: toy.add(toy.mul(x, 2.0), x)), 1.0)
    assert [float(ct) for ct in transposed(4.0)] == [12.0]


class RecordingContext:
    """A lowering context that only remembers what it is asked to add."""

    def __init__(self, platform: str) -> None:
        self.platform = platform
        self.avals_in: tuple[Any, ...] = ()
        self.added: list[str] = []

    def op(self, name: str, operands: Any, *rest: Any, **others: Any) -> list[Any]:
        self.added.append(name)
        return list(operands)[:1]

    def constant(self, value: Any) -> Any:
        return value

    def inline(self, jaxpr: Any, values: Any) -> list[Any]:
        self.added.append("program")
        assert [eqn.primitive.name for eqn in jaxpr.jaxpr.eqns] == ["toy.sin"]
        return list(values)


@pytest.mark.parametrize(
    ("platform", "differentiated", "prevent_cse", "added"),
    [
        ("cuda", True, True, ["stablehlo.optimization_barrier", "program"]),
        ("cpu", True, True, ["stablehlo.rng", "stablehlo.convert", "stablehlo.case"]),
        ("cuda", False, True, ["program"]),
        ("cpu", False, True, ["program"]),
        ("cpu", True, False, ["program"]),
    ],
)
def test_lowering_hides_what_is_computed_again(
    platform: str, differentiated: bool, prevent_cse: bool, added: list[str]
) -> None:
    (eqn,) = bt.make_jaxpr(checkpoint(toy.sin))(1.0).eqns
    params = {**eqn.params, "differentiated": differentiated, "prevent_cse": prevent_cse}
    context = RecordingContext(platform)
    lowering["stablehlo"].get(eqn.primitive)(context, "value", **params)
    assert context.added == added


def test_policies_may_ask_for_the_text_of_a_primitive() -> None:
    by_text = checkpoint(
        lambda x: toy.sin(toy.sin(x)), policy=lambda p, *_, **__: str(p) == "toy.cos"
    )
    _, linear = bt.linearize(by_text, 1.0)
    text = str(bt.make_jaxpr(linear)(1.0))
    assert "toy.cos" not in text
    assert "toy.sin" not in text
