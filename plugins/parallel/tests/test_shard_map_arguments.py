"""The arguments of ``shard_map`` and ``smap``: specs, values without one, axes, meshes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax.sharding import AbstractMesh, AxisType

MESH = AbstractMesh((2, 2), ("x", "y"))
EXPLICIT = AbstractMesh((2, 2), ("x", "y"), (AxisType.Explicit,) * 2)
X = np.arange(8, dtype=np.float32).reshape(4, 2)


def mapped(f: Any, in_specs: Any, out_specs: Any, **options: Any) -> Any:
    return bindax.shard_map(f, in_specs=in_specs, out_specs=out_specs, **{"mesh": MESH, **options})


class Named:
    """A value that is no array, and has no hash."""

    __hash__ = None  # type: ignore[assignment]


def test_what_has_no_spec_reaches_the_function_as_it_is() -> None:
    seen: list[Any] = []

    def part(first: Any, x: Any, tree: Any, shape: Any, *, more: Any, factor: Any) -> Any:
        seen.extend((first, tree["a"], more))
        return x * factor + np.ones(shape, np.float32)

    one, two, three = Named(), Named(), Named()
    specs = (None, P("x"), {"a": None}, None)
    out = mapped(part, specs, P("x"))(one, X, {"a": two}, (2, 2), more=three, factor=np.float32(3))
    np.testing.assert_array_equal(out, 3 * X + 1)
    assert seen[0] is one
    assert seen[1] is two
    assert seen[2] is three
    assert mapped(lambda x, y: y + x, (None, P("x")), P("x"))(3, X).shape == (4, 2)


def test_derivatives_of_a_value_without_a_spec() -> None:
    def loss(w: Any, x: Any) -> Any:
        return mapped(lambda w, x: lax.psum((w * x).sum(), "x"), (None, P("x")), P())(w, x)

    slope = bindax.grad(loss)(np.float32(2), X)
    np.testing.assert_allclose(slope, X.sum())
    slopes = bindax.vmap(bindax.grad(loss), (0, None))(np.ones(3, np.float32), X)
    np.testing.assert_allclose(slopes, np.full(3, X.sum()))


def test_one_inside_of_another_takes_the_axes_that_are_left() -> None:
    def inner(x: Any) -> Any:
        return lax.psum(x, "y") * (1 + lax.axis_index("x"))

    def outer(x: Any) -> Any:
        return bindax.shard_map(inner, in_specs=P(None, "y"), out_specs=P())(x)

    whole = mapped(outer, P("x"), P("x"), axis_names={"x"})
    wanted = X.sum(1, keepdims=True) * np.array([[1], [1], [2], [2]])
    np.testing.assert_array_equal(whole(X), wanted)
    np.testing.assert_array_equal(bindax.jit(whole)(X), wanted)
    np.testing.assert_array_equal(
        bindax.grad(lambda x: whole(x).sum())(X), np.ones_like(X) * [[1], [1], [2], [2]]
    )


@pytest.fixture
def on_one() -> Any:
    with bindax.set_mesh(bindax.make_mesh((1, 1), ("x", "y"))):
        yield


@pytest.mark.usefixtures("on_one")
def test_smap_divides_along_one_axis() -> None:
    @bindax.smap(in_axes=(0, None), out_axes=(-1, None), axis_name="x")
    def f(x: Any, w: Any) -> Any:
        return (x * w).T + lax.axis_index("x"), lax.psum(x.sum(), "x")

    scaled, total = f(X, 2.0)
    np.testing.assert_array_equal(scaled, 2 * X.T)
    assert total == X.sum()
    nested = bindax.smap(
        lambda x: bindax.smap(lambda x: x + 1, in_axes=1, out_axes=1, axis_name="y")(x),
        in_axes=0,
        out_axes=0,
        axis_name="x",
    )
    np.testing.assert_array_equal(bindax.jit(nested)(X), X + 1)


def smapped(**options: Any) -> Callable[[], Any]:
    given = {"in_axes": 0, "out_axes": 0, "axis_name": "x", **options}

    def call() -> Any:
        with bindax.set_mesh(bindax.make_mesh((1, 1), ("x", "y"))):
            return bindax.smap(lambda x: x, **given)(X)

    return call


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "in_axes": (smapped(in_axes=2), "smap: in_axes for x=2 does not exist among 2 axes."),
    "in_axes of a name": (
        smapped(in_axes="x"),
        "smap: in_axes for x must be an integer or None, but is 'x'.",
    ),
    "number of in_axes": (
        smapped(in_axes=(0, 1)),
        "smap: in_axes has 2 entries for 1 positional arguments.",
    ),
    "out_axes": (smapped(out_axes=-3), "smap: out_axes for output=-3 does not exist among 2 axes."),
    "axis_name": (
        smapped(axis_name="z"),
        "smap: axis_names has 'z', but the axes of the mesh are ['x', 'y'].",
    ),
    "in_axes left out": (
        lambda: (
            bindax.set_mesh(bindax.make_mesh((1,), ("x",)))
            and bindax.smap(lambda x: x, out_axes=0, axis_name="x")(X)
        ),
        (
            "smap: in_axes was not specified, and is known of the arguments where all axes are "
            "explicit alone, but the axis 'x' of the mesh is not. Pass in_axes=...."
        ),
    ),
    "in_specs left out": (
        lambda: bindax.shard_map(lambda x: x, out_specs=P("x"), mesh=MESH)(X),
        (
            "shard_map: in_specs was not specified, and is known of the arguments where all axes "
            "are explicit alone, but the axis 'x' of the mesh is not. Pass in_specs=...."
        ),
    ),
    "the same axis twice": (
        lambda: mapped(
            lambda x: bindax.shard_map(lambda x: x, in_specs=P(), out_specs=P(), axis_names={"x"})(
                x
            ),
            P("x"),
            P("x"),
        )(X),
        (
            "shard_map: a shard_map around the caller divides along 'x' already; axes of the mesh "
            "that are left are []."
        ),
    ),
    "no axis is left": (
        lambda: mapped(
            lambda x: bindax.shard_map(lambda x: x, in_specs=P(), out_specs=P())(x), P("x"), P("x")
        )(X),
        "shard_map: a shard_map around the caller divides along 'x' already",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_explained(mistake: str) -> None:
    act, message = MISTAKES[mistake]
    before = bindax.config.mesh
    try:
        with pytest.raises((TypeError, ValueError), match=re.escape(message)):
            act()
    finally:
        bindax.set_mesh(before)


def test_arrays_that_lie_nowhere_are_whole_where_specs_are_left_out() -> None:
    twice = bindax.shard_map(lambda x: 2 * x, out_specs=P(), mesh=EXPLICIT)
    np.testing.assert_array_equal(twice(X), 2 * X)
