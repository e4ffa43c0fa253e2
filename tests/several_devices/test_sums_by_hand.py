"""Sums inside of ``shard_map`` that are still to be added up, and their cotangents: copies."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import P, lax
from bindax.errors import ManualAxisError, ShardingTypeError
from bindax.sharding import AbstractMesh, AxisType, explicit_axes, reshard

X = np.arange(32, dtype=np.float32).reshape(8, 4) / 32
W = np.arange(24, dtype=np.float32).reshape(4, 6) / 24


@pytest.fixture(autouse=True)
def explicit(mesh: Any) -> Any:
    with bindax.set_mesh(mesh.update(axis_types=(AxisType.Explicit,) * 2)) as _:
        yield


def shown(x: Any) -> str:
    return str(bindax.typeof(x).str_short())


@pytest.mark.parametrize("compiled", [False, True])
def test_terms_of_a_product_are_added_up_later(compiled: bool) -> None:
    types = []

    @bindax.shard_map(in_specs=(P(None, "x"), P("x")), out_specs=P(unreduced={"x"}))
    def product(x: Any, w: Any) -> Any:
        terms = lax.pcast(x @ w, "x", to="unreduced")
        types.append(shown(terms))
        return terms + terms

    @bindax.shard_map(in_specs=P(unreduced={"x"}), out_specs=P())
    def added(terms: Any) -> Any:
        return lax.psum(terms, "x")

    @bindax.shard_map(in_specs=P(unreduced={"x"}), out_specs=P("x"))
    def shared_out(terms: Any) -> Any:
        return lax.psum_scatter(terms, "x", tiled=True)

    x, w = reshard(X, P(None, "x")), reshard(W, P("x"))
    for finish in (added, shared_out):

        def function(x: Any, w: Any, finish: Any = finish) -> Any:
            return finish(product(x, w))

        run = bindax.jit(function) if compiled else function
        np.testing.assert_allclose(run(x, w), 2 * X @ W, rtol=1e-5)
        slopes = bindax.grad(lambda x, w, f=run: (f(x, w) ** 2).sum(), argnums=(0, 1))(x, w)
        wanted = bindax.grad(lambda x, w: ((2 * x @ w) ** 2).sum(), argnums=(0, 1))(X, W)
        for ours, theirs in zip(slopes, wanted, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5)
        assert [shown(slope) for slope in slopes] == ["float32[8,4@x]", "float32[4@x,6]"]
    assert types[0] == "float32[8,6]{U:x}"
    assert shown(product(x, w)) == "float32[8,6]{U:x}"


def test_gathered_copies_have_cotangents_that_are_scattered() -> None:
    @bindax.shard_map(out_specs=P(reduced={"x"}))
    def gathered(w: Any) -> Any:
        return lax.all_gather(w, "x", tiled=True, to="reduced")

    @bindax.shard_map(in_specs=P(), out_specs=P(reduced={"x"}))
    def copied(w: Any) -> Any:
        return lax.pcast(w, "x", to="reduced")

    x = reshard(X, P("x"))
    wanted = bindax.grad(lambda w: ((X @ w) ** 2).sum())(W)
    for make, spec in ((gathered, P("x")), (copied, P())):
        w = reshard(W, spec)
        loss = bindax.jit(lambda w, make=make: ((x @ make(w)) ** 2).sum())
        assert shown(make(w)) == "float32[4,6]{R:x}"
        slope = bindax.grad(loss)(w)
        assert shown(slope) == shown(w)
        np.testing.assert_allclose(slope, wanted, rtol=1e-5)
        assert "psum_scatter" in str(bindax.make_jaxpr(bindax.grad(loss))(w)) or make is copied


@pytest.mark.parametrize("by", ["mul", "add"])
def test_copies_are_taken_to_vary_beside_what_varies(by: str) -> None:
    @bindax.shard_map(out_specs=P("x"))
    def function(x: Any, w: Any) -> Any:
        return getattr(lax, by)(x, w.reshape(2, 4).T.reshape(2, 4))

    x, w = reshard(X, P("x")), reshard(np.arange(8, dtype=np.float32), P(reduced={"x"}))
    loss = bindax.jit(lambda x, w: (function(x, w) ** 2).sum())
    slopes = bindax.grad(loss, argnums=(0, 1))(x, w)
    assert [shown(slope) for slope in slopes] == ["float32[8@x,4]", "float32[8]{U:x}"]
    plain = bindax.grad(loss, argnums=(0, 1))(x, reshard(w, P()))
    np.testing.assert_allclose(slopes[0], plain[0], rtol=1e-6)
    np.testing.assert_allclose(reshard(slopes[1], P()), plain[1], rtol=1e-6)


def test_terms_times_copies_are_terms() -> None:
    @bindax.shard_map(out_specs=P(unreduced={"x"}))
    def function(terms: Any, copies: Any) -> Any:
        return (terms * copies).sum()

    terms = reshard(np.arange(8, dtype=np.float32), P(unreduced={"x"}))
    copies = reshard(np.arange(8, dtype=np.float32), P(reduced={"x"}))
    slopes = bindax.jit(bindax.grad(function, argnums=(0, 1)))(terms, copies)
    assert [shown(slope) for slope in slopes] == ["float32[8]{R:x}", "float32[8]{U:x}"]
    for slope in slopes:
        np.testing.assert_allclose(reshard(slope, P()), np.arange(8))


def test_what_the_first_part_leaves_may_be_terms_or_copies() -> None:
    @bindax.shard_map(out_specs=P(reduced={"x"}))
    def function(copies: Any) -> Any:
        return jnp.sin(copies * copies).sum()

    copies = reshard(np.arange(8, dtype=np.float32), P(reduced={"x"}))
    for derive in (bindax.grad, lambda f: bindax.jit(bindax.grad(bindax.checkpoint(f)))):
        slope = derive(function)(copies)
        assert shown(slope) == "float32[8]{U:x}"
        numbers = np.arange(8, dtype=np.float32)
        np.testing.assert_allclose(
            reshard(slope, P()), 2 * numbers * np.cos(numbers**2), rtol=1e-4, atol=1e-4
        )


@pytest.mark.parametrize("spec", [P(), P("x")])
def test_unchecked_results_may_be_terms(spec: Any) -> None:
    @bindax.shard_map(in_specs=spec, out_specs=P(unreduced={"x"}), check_vma=False)
    def terms(x: Any) -> Any:
        return 2 * x

    @bindax.shard_map(in_specs=P(unreduced={"x"}), out_specs=P("x"), check_vma=False)
    def back(x: Any) -> Any:
        return lax.psum_scatter(x, "x", tiled=True)

    x = reshard(np.arange(16, dtype=np.float32), spec)
    made = bindax.jit(terms)(x)
    assert shown(made) == f"float32[{16 if spec == P() else 4}]{{U:x}}"
    total = 8 * np.arange(16) if spec == P() else 2 * np.arange(16).reshape(4, 4).sum(0)
    np.testing.assert_allclose(reshard(made, P()), total)
    np.testing.assert_allclose(back(made), total)
    slope = bindax.grad(lambda x: back(terms(x)).sum())(x)
    np.testing.assert_allclose(slope, np.full(16, 8 if spec == P() else 2))
    assert shown(bindax.grad(lambda u: back(u).sum())(made)).endswith("{R:x}")


def test_one_device_computes_what_several_do() -> None:
    mesh = AbstractMesh((4, 2), ("x", "y"), (AxisType.Explicit,) * 2)

    def added(x: Any) -> Any:
        return lax.psum_scatter(lax.pcast(x, "x", to="unreduced"), "x", tiled=True)

    with bindax.set_mesh(None):
        one = bindax.shard_map(added, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(
            np.ones((16, 3))
        )
        terms = bindax.shard_map(
            lambda x: (lax.pcast(x, "x", to="unreduced"), x),
            mesh=mesh,
            in_specs=P("x"),
            out_specs=(P(unreduced={"x"}), P("x")),
        )(np.arange(16.0))
        back = bindax.shard_map(
            lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P(unreduced={"x"}), out_specs=P()
        )(np.arange(4.0))
    np.testing.assert_array_equal(one, np.full((4, 3), 4.0))
    np.testing.assert_array_equal(terms[0], np.arange(16.0).reshape(4, 4).sum(0))
    np.testing.assert_array_equal(back, np.arange(4.0))


def test_loops_and_branches_hand_terms_on() -> None:
    @bindax.shard_map(in_specs=P("x"), out_specs=P())
    def function(x: Any) -> Any:
        terms = terms_of(x)
        twice = lax.fori_loop(0, 3, lambda _, c: c + c, terms)
        either = lax.cond(lax.psum(x, "x").sum() > 0, lambda: twice, lambda: terms)
        _, rows = lax.scan(lambda c, row: (c + row, row), terms[0], terms)
        return lax.psum(either + rows, "x")

    x = reshard(X, P("x"))
    np.testing.assert_allclose(function(x), 9 * X.reshape(4, 2, 4).sum(0), rtol=1e-6)
    slope = bindax.grad(lambda x: (function(x) * X[:2]).sum())(x)
    np.testing.assert_allclose(slope, 9 * np.tile(X[:2], (4, 1)), rtol=1e-6)


def test_terms_are_padded_by_zeros() -> None:
    @bindax.shard_map(in_specs=P(unreduced={"x"}), out_specs=P())
    def function(terms: Any) -> Any:
        return lax.psum(jnp.pad(terms, 1) * 2 - 3 * jnp.pad(terms, 1), "x")

    terms = reshard(np.arange(4, dtype=np.float32), P(unreduced={"x"}))
    np.testing.assert_array_equal(function(terms), [0, 0, -1, -2, -3, 0])
    slope = bindax.grad(lambda terms: (function(terms) * np.arange(6)).sum())(terms)
    np.testing.assert_array_equal(slope, [-1, -2, -3, -4])


@pytest.mark.parametrize(
    "within",
    [
        lambda both, terms: both(terms),
        lambda both, terms: lax.cond(reshard(terms.sum(), P()) > 0, both, both, terms),
        lambda both, terms: lax.fori_loop(0, 1, lambda _, found: both(found[1]), (0 * X[0], terms)),
        lambda both, terms: bindax.jvp(both, (terms,), (terms,))[1],
    ],
)
def test_arguments_of_programs_may_be_added_up(within: Any) -> None:
    @bindax.shard_map(in_specs=P(unreduced={"x"}), out_specs=(P(), P(unreduced={"x"})))
    def both(terms: Any) -> Any:
        return lax.psum(terms, "x"), terms

    terms = reshard(X[1], P(unreduced={"x"}))
    function = bindax.jit(lambda terms: within(both, terms))
    total, same = function(terms)
    np.testing.assert_array_equal(total, X[1])
    np.testing.assert_array_equal(reshard(same, P()), X[1])
    # XLA of jaxlib 0.12 refuses to compile without it.
    assert re.search(
        r'constraint %\w+ <@mesh, \[{}\], unreduced={"x"}>.*\n.* sdy.manual_computation',
        function.lower(terms).as_text(),
    )


def terms_of(x: Any) -> Any:
    return lax.pcast(x, "x", to="unreduced")


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: jnp.sin(terms_of(x)), ShardingTypeError, "sin: .* cannot be unreduced"),
        (lambda x: terms_of(x).astype(np.int32), ShardingTypeError, "cannot be unreduced"),
        (
            lambda x: lax.cond(True, lambda: terms_of(x), lambda: jnp.ones((2, 4), np.float32)),
            TypeError,
            "cond",
        ),
        (
            lambda x: lax.fori_loop(0, 2, lambda _, c: terms_of(x), jnp.ones((2, 4), np.float32)),
            TypeError,
            "fori_loop|carry",
        ),
        (lambda x: terms_of(x) + 1, ShardingTypeError, "lhs is unreduced while rhs is not"),
        (lambda x: 1 - terms_of(x).sum(), ShardingTypeError, "lhs is unreduced while rhs is not"),
        (lambda x: jnp.pad(terms_of(x), 1, constant_values=3), ShardingTypeError, "by zero alone"),
        (lambda x: terms_of(x) + x, ShardingTypeError, "lhs is unreduced while rhs is not"),
        (lambda x: terms_of(x) * terms_of(x), ShardingTypeError, "multiplies an unreduced value"),
        (lambda x: lax.pcast(terms_of(x), "x", to="varying"), ValueError, "one that all devices"),
        (lambda x: lax.pcast(x, "x", to="reduced"), ValueError, "one that all devices have"),
        (lambda x: lax.pcast(lax.psum(x, "x"), "x", to="unreduced"), ValueError, "that varies"),
        (lambda x: lax.all_gather(terms_of(x), "x"), ValueError, "all_gather .* unreduced there"),
        (
            lambda x: lax.all_gather(lax.psum(x, "x"), "x", to="reduced"),
            ValueError,
            "takes a value that varies there",
        ),
        (
            lambda x: lax.psum(lax.all_gather(x, "x", to="reduced"), "x"),
            ValueError,
            "along which the operand is reduced",
        ),
        (terms_of, ValueError, "must say the same of sums as the result"),
    ],
)
def test_mistakes_with_sums_are_explained(function: Any, error: Any, message: str) -> None:
    x = reshard(X, P("x"))
    with pytest.raises(error, match=message):
        bindax.shard_map(function, out_specs=P("x"))(x)


def test_sums_need_explicit_axes_all_by_hand(mesh: Any) -> None:
    with (
        bindax.set_mesh(mesh),
        pytest.raises(ValueError, match="all of type `Explicit`"),
    ):
        bindax.shard_map(lambda x: x, in_specs=P(unreduced={"x"}), out_specs=P())(np.ones(8))
    with pytest.raises(ManualAxisError, match="full manual mode"):
        bindax.shard_map(lambda x: x, in_specs=P(unreduced={"x"}), out_specs=P(), axis_names={"x"})(
            np.ones(8)
        )


def test_axes_by_hand_cannot_be_made_explicit() -> None:
    inside = explicit_axes(lambda x: 2 * x, axes=("x",), in_sharding=P("x"))
    with pytest.raises(ValueError, match=r"explicit_axes: .* 'x' is a manual axis here"):
        bindax.shard_map(inside, in_specs=P("x"), out_specs=P("x"))(reshard(X, P("x")))


def test_tracers_say_along_which_axes_they_vary() -> None:
    found = []

    @bindax.shard_map(in_specs=(P("x"), P(reduced={"x"})), out_specs=P("x"))
    def function(x: Any, copies: Any) -> Any:
        found.extend([x.mat, copies.mat])
        return x

    function(reshard(X, P("x")), reshard(X, P(reduced={"x"})))
    assert [mat.varying for mat in found] == [{"x"}, frozenset()]
    assert found[1].reduced == {"x"}
