"""Types that vary between devices, which decide on what derivatives are summed over."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import P, lax
from bindax.sharding import AbstractMesh
from bindax_core.extend import jaxpr_as_fun

MESH = AbstractMesh((2, 2), ("x", "y"))
RNG = np.random.default_rng(0)
FIRST, SECOND, ROWS = (RNG.normal(size=shape) for shape in ((3, 4), (4, 2), (6, 3)))


def mapped(f: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
    return bindax.shard_map(f, mesh=MESH, in_specs=in_specs, out_specs=out_specs, **options)


def varying(x: Any) -> set[str]:
    return set(bindax.typeof(x).mat.varying)


def test_types_name_the_axes_along_which_values_vary() -> None:
    seen = {}

    def part(x: Any, w: Any) -> Any:
        values = {
            "part": x,
            "whole": w,
            "product": x @ w,
            "sum": lax.psum(x, "x"),
            "index": lax.axis_index("y"),
            "cast": lax.pcast(w, "y", to="varying"),
            "gathered": lax.all_gather(x, "x"),
            "gathered for all": lax.all_gather(x, "x", to="invarying"),
            "scattered": lax.psum_scatter(x, "x", tiled=True),
            "jit": bindax.jit(jnp.sin)(x),
            "loop": lax.fori_loop(0, 2, lambda i, c: c + x.sum(), 0.0),
            "branch": lax.cond(x.sum() > 0, lambda: w, lambda: -w),
            "a constant that is cast": lax.pcast(np.zeros(2), "y", to="varying"),
        }
        seen.update({name: varying(value) for name, value in values.items()})
        return lax.psum(x @ w, "x")

    mapped(part, (P("x"), P()), P())(np.ones((4, 3)), np.ones((3, 2)))
    wanted = {name: {"x"} for name in seen}
    for name in ("whole", "sum", "gathered for all"):
        wanted[name] = set()
    wanted["index"] = wanted["cast"] = wanted["a constant that is cast"] = {"y"}
    assert seen == wanted
    unchecked = mapped(lambda x: seen.update(x=varying(x)) or x, P("x"), P(), check_vma=False)
    unchecked(np.ones((2, 2)))
    assert seen["x"] == set()


def test_loops_of_programs_from_elsewhere_vary_as_their_operands() -> None:
    def loop(x: Any) -> Any:
        return lax.scan(lambda c, _: (c * 2.0, c.sum()), x, None, length=2)

    program = jaxpr_as_fun(bindax.make_jaxpr(loop)(np.ones((2, 3))))
    seen = []

    def part(x: Any) -> Any:
        last, sums = program(x)
        seen.extend([varying(last), varying(sums)])
        return last

    mapped(part, P("x"), P("x"))(np.ones((4, 3)))
    assert seen == [{"x"}, {"x"}]


def whole_loss(params: Any, x: Any) -> Any:
    return (jnp.tanh(x @ params[0]) @ params[1]).var()


def part_loss(params: Any, x: Any) -> Any:
    """The rows are divided along ``x``, the hidden units along ``y``."""
    out = lax.psum(jnp.tanh(x @ params[0]) @ params[1], "y")
    mean = lax.pmean(out.mean(), "x")
    return lax.pmean(((out - mean) ** 2).mean(), "x")


def in_a_loop(params: Any, x: Any) -> Any:
    def step(total: Any, row: Any) -> Any:
        return total + lax.psum(jnp.tanh(row @ params[0]) @ params[1], "y") ** 2, None

    total, _ = lax.scan(step, np.zeros(2), x)
    return lax.psum(total.sum(), "x")


def in_a_branch(params: Any, x: Any) -> Any:
    def other(w: Any) -> Any:
        return jnp.sin(x @ w @ params[1]).sum()

    here = lax.cond(lax.axis_index("x") > 0, lambda w: (x @ w @ params[1]).sum(), other, params[0])
    return lax.psum(here, ("x", "y"))


def in_one_branch(params: Any, x: Any) -> Any:
    """All devices take the same branch, in which some have shares of cotangents."""

    def first(w: Any) -> Any:
        return (jnp.tanh(x @ w) @ params[1]).sum()

    here = lax.cond(lax.psum(x.sum(), "x") > -100, first, lambda w: w.sum(), params[0])
    return lax.psum(here, ("x", "y"))


def branches(params: Any, x: Any) -> Any:
    halves = [params[0][:, :2] @ params[1][:2], params[0][:, 2:] @ params[1][2:]]
    return sum(jnp.sin(x[:3] @ w).sum() + (x[3:] @ w).sum() for w in halves)


LOSSES = {
    "network": (part_loss, whole_loss),
    "loop": (in_a_loop, lambda p, x: ((jnp.tanh(x @ p[0]) @ p[1]) ** 2).sum()),
    "jit": (bindax.jit(part_loss), whole_loss),
    "checkpoint": (bindax.checkpoint(part_loss), whole_loss),
    "branch": (in_a_branch, branches),
    "one branch": (in_one_branch, lambda p, x: (jnp.tanh(x @ p[0]) @ p[1]).sum()),
}
SPECS = (P(None, "y"), P("y", None))


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("inside", [True, False])
def test_gradients_are_whole_inside_and_outside(inside: bool, name: str) -> None:
    """A gradient inside needs no sum of the user's: that of what is the same is summed."""
    part, whole = LOSSES[name]
    rows = P("x")
    if inside:
        got = mapped(bindax.grad(part), (SPECS, rows), SPECS)((FIRST, SECOND), ROWS)
    else:
        got = bindax.grad(mapped(part, (SPECS, rows), P()))((FIRST, SECOND), ROWS)
    for found, exact in zip(got, bindax.grad(whole)((FIRST, SECOND), ROWS), strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("check", [True, False])
def test_the_cotangent_of_copies_is_their_sum(check: bool) -> None:
    f = mapped(lambda x: 2 * x, P(), P(("x", "y")), check_vma=check)
    np.testing.assert_array_equal(bindax.vjp(f, np.ones(1))[1](np.arange(4.0))[0], [12.0])
    g = mapped(lambda x: x, P(), P("x"), check_vma=check)
    np.testing.assert_array_equal(bindax.vjp(g, np.ones(1))[1](np.arange(2.0))[0], [1.0])


def test_cotangents_are_taken_to_vary_as_results_do() -> None:
    def pulled(x: Any) -> Any:
        out, back = bindax.vjp(lambda x: x * lax.psum(x, "x"), x)
        return back(np.ones(out.shape))[0]

    x = np.arange(4.0)
    total = x[:2] + x[2:]
    wanted = np.concatenate([total, total]) + np.concatenate([total, total])
    np.testing.assert_array_equal(mapped(pulled, P("x"), P("x"))(x), wanted)


def test_reverse_rules_of_users_see_whole_cotangents() -> None:
    @bindax.custom_vjp
    def f(x: Any) -> Any:
        return lax.psum(jnp.sin(x), "x")

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * jnp.cos(x),))
    loss = mapped(f, P("x"), P())
    x = np.arange(4.0)
    np.testing.assert_allclose(bindax.grad(lambda x: loss(x).sum())(x), np.cos(x))


def test_values_computed_on_one_device_do_not_vary() -> None:
    def part(x: Any) -> Any:
        return x * lax.pcast(lax.psum(x, "x"), "x", to="varying")

    with bindax.config.override(backend="numpy"):
        f = mapped(part, P("x"), P("x"))
        out, back = bindax.vjp(f, FIRST[:2])
        (cotangent,) = back(np.ones((2, 4)))
    assert varying(out) == varying(cotangent) == set()
    np.testing.assert_allclose(cotangent, 2 * FIRST[:2].sum(0) + np.zeros((2, 1)))
