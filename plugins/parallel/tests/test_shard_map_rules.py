"""``shard_map`` inside and around transformations and control flow, and its messages."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import lax
from bindax.sharding import AbstractMesh
from bindax.sharding import PartitionSpec as P

MESH = AbstractMesh((2, 2), ("x", "y"))
X = np.arange(16, dtype=np.float32).reshape(4, 4) / 8
Function = Callable[..., Any]


def halves(x: Any) -> Any:
    return bnp.sin(x)[:2] + bnp.sin(x)[2:]


def part(x: Any) -> Any:
    return lax.psum(bnp.sin(x), "x")


XY, Y = P("x", "y"), P(None, "y")


def mapped(f: Function, in_specs: Any = XY, out_specs: Any = Y, **options: Any) -> Any:
    specs = {"in_specs": in_specs, "out_specs": out_specs}
    return bindax.shard_map(f, **{"mesh": MESH, **specs, **options})


@bindax.custom_vjp
def by_hand(x: Any) -> Any:
    return part(x)


# A result that is the same on all devices along an axis gives each its share of the cotangent.
by_hand.defvjp(lambda x: (part(x), x), lambda x, ct: (lax.psum(ct, "x") * bnp.cos(x),))

FORMS: dict[str, Function] = {
    "plain": part,
    "jit": bindax.jit(part),
    "checkpoint": bindax.checkpoint(part),
    "custom_vjp": by_hand,
}
AROUND: dict[str, Callable[[Function], Function]] = {
    "value": lambda f: f,
    "grad": lambda f: bindax.grad(lambda x: (f(x) ** 2).sum()),
    "vmap": lambda f: lambda x: bindax.vmap(f, 1, 2)(bnp.stack([x, 2 * x], 1)),
    "vmap of grad": lambda f: lambda x: bindax.vmap(AROUND["grad"](f))(bnp.stack([x, 2 * x])),
    "hessian": lambda f: bindax.jacfwd(AROUND["grad"](f)),
    "checkpoint": lambda f: AROUND["grad"](bindax.checkpoint(f)),
    "scan": lambda f: (
        lambda x: lax.scan(lambda c, _: (bnp.tile(f(c), (2, 1)), c.sum()), x, None, 3)[0]
    ),
    "grad of scan": lambda f: AROUND["grad"](AROUND["scan"](f)),
    "cond": lambda f: lambda x: lax.cond(x.sum() > 0, f, lambda x: x[:2], x),
}


@pytest.mark.pairwise
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("form", FORMS)
def test_transformations(form: str, around: str, jit: bool) -> None:
    if form == "custom_vjp" and around == "hessian":
        around = "grad"  # custom_vjp has no derivative in forward mode
    got = AROUND[around](mapped(FORMS[form], check_vma=form != "custom_vjp"))
    wanted = AROUND[around](halves)
    got = bindax.jit(got) if jit else got
    np.testing.assert_allclose(got(X), wanted(X), rtol=2e-5, atol=1e-5)


def test_values_that_the_program_closes_over() -> None:
    def loss(w: Any, x: Any) -> Any:
        return (mapped(lambda a: lax.psum(bnp.sin(a * w), "x"))(x) ** 2).sum()

    wanted = bindax.grad(lambda w, x: (halves(x * w) ** 2).sum())(np.float32(1.5), X)
    np.testing.assert_allclose(bindax.grad(loss)(np.float32(1.5), X), wanted, rtol=1e-5)


def test_trees_some_axes_and_keyword_arguments() -> None:
    def sums(tree: Any, *, scale: Any) -> Any:
        return {"s": lax.psum(tree["a"] + tree["b"][0], "x") * scale}

    f = mapped(sums, ({"a": P("x"), "b": P("x")},), P(), axis_names={"x"})
    got = f({"a": X, "b": [X]}, scale=np.float32(2))
    np.testing.assert_allclose(got["s"], 4 * (X[:2] + X[2:]))


def test_a_decorator_and_the_mesh_that_is_set() -> None:
    @bindax.shard_map(in_specs=P("i"), out_specs=P("i"))
    def twice(x: Any) -> Any:
        return 2 * x + lax.axis_index("i")

    with bindax.set_mesh(bindax.make_mesh((1,), ("i",))):
        np.testing.assert_array_equal(twice(X), 2 * X)


def test_it_prints_the_program_of_one_device() -> None:
    printed = str(bindax.make_jaxpr(mapped(part))(X))
    assert "c:float32[2,2]{V:(x,y)} .\n" in printed
    assert "psum [ axis_name=x\n" in printed


MISTAKES: dict[str, tuple[Function, str]] = {
    "differing results": (
        lambda: mapped(lambda x: x)(X),
        (
            "shard_map: output may differ between devices along the mesh axis 'x', but its "
            "out_specs entry does not name the axis: results that it takes to be the same require "
            "replication, which is statically inferred from the function. Name the axis in "
            "out_specs, combine the results by a collective such as psum(x, 'x'), or, if you know "
            "that they are equal, pass check_vma=False."
        ),
    ),
    "differing in a loop": (
        lambda: mapped(
            lambda x: lax.fori_loop(0, lax.axis_index("x"), lambda i, c: c, x[0, 0]), P(), P()
        )(X),
        "output may differ between devices along the mesh axis 'x'",
    ),
    "differing in a branch": (
        lambda: mapped(lambda x: lax.cond(lax.axis_index("y") > 0, bnp.sin, bnp.cos, x), P(), P())(
            X
        ),
        "output may differ between devices along the mesh axis 'y'",
    ),
    "uneven": (
        lambda: mapped(part)(X[:3]),
        (
            "shard_map: x of shape (3, 4): axis 0, of size 3, is not evenly divisible into 2 parts "
            "along 'x'; pad it to a multiple of 2."
        ),
    ),
    "unknown axis": (
        lambda: mapped(part, P("z"))(X),
        (
            "shard_map: in_specs for x=P('z'): in_specs refers to 'z', but the axes that shard_map "
            "divides are ['x', 'y']."
        ),
    ),
    "long spec": (
        lambda: mapped(part, P("x", None, "y"))(X),
        "shard_map: in_specs for x=P('x', None, 'y'), which has length 3, is for an array",
    ),
    "no spec": (
        lambda: mapped(part, "x")(X),
        "shard_map: in_specs for x must be a PartitionSpec such as P('x', None), but is 'x'.",
    ),
    "long out_specs": (
        lambda: mapped(part, out_specs=P(None, None, "y"))(X),
        "shard_map: out_specs for output=P(None, None, 'y'), which has length 3, is for an array",
    ),
    "number of specs": (
        lambda: mapped(part, (P(), P()))(X),
        "shard_map: in_specs has 2 entries for 1 positional arguments.",
    ),
    "no mesh": (
        lambda: mapped(part, mesh=None)(X),
        (
            "shard_map: The context mesh cannot be empty without mesh=.... Pass mesh=..., or name "
            "one for a while by `with set_mesh(mesh):`."
        ),
    ),
    "axis_names": (
        lambda: mapped(part, axis_names={"z"})(X),
        "shard_map: axis_names has 'z', but the axes of the mesh are ['x', 'y'].",
    ),
    "an axis that is not there": (
        lambda: mapped(lambda x: lax.psum(x, "z"))(X),
        (
            "psum: no axis is named 'z' here; there is 'x' (of size 2), 'y' (of size 2). Name one "
            "by vmap(..., axis_name=...) or shard_map around the function that uses it."
        ),
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: str) -> None:
    act, message = MISTAKES[mistake]
    with pytest.raises((TypeError, ValueError, NameError), match=re.escape(message)):
        act()
