"""Collectives within groups of elements along several axes together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax.sharding import AbstractMesh

GROUPS = [[0, 5, 2], [4, 1, 3]]
X = np.random.default_rng(0).normal(size=(2, 3, 3, 4))
"""A value of the shape (3, 4) for each of 2 by 3 elements."""
FLAT = X.reshape(6, 3, 4)

COLLECTIVES: dict[str, tuple[Callable[..., Any], Callable[[Any], list[Any]]]] = {
    "psum": (
        lambda x, names, groups: lax.psum(x, names, axis_index_groups=groups),
        lambda g: [g.sum(0)] * 3,
    ),
    "pmean": (
        lambda x, names, groups: lax.pmean(x, names, axis_index_groups=groups),
        lambda g: [g.mean(0)] * 3,
    ),
    "pmax": (
        lambda x, names, groups: lax.pmax(x, names, axis_index_groups=groups),
        lambda g: [g.max(0)] * 3,
    ),
    "all_gather": (
        lambda x, names, groups: lax.all_gather(x, names, axis_index_groups=groups, axis=1),
        lambda g: [np.moveaxis(g, 0, 1)] * 3,
    ),
    "all_gather tiled": (
        lambda x, names, groups: lax.all_gather(x, names, axis_index_groups=groups, tiled=True),
        lambda g: [g.reshape(9, 4)] * 3,
    ),
    "psum_scatter": (
        lambda x, names, groups: lax.psum_scatter(x, names, axis_index_groups=groups),
        lambda g: list(g.sum(0)),
    ),
    "all_to_all": (
        lambda x, names, groups: lax.all_to_all(x, names, 0, 0, axis_index_groups=groups),
        lambda g: list(np.swapaxes(g, 0, 1)),
    ),
}


def expected(name: str) -> Any:
    """The results of the elements, group by group."""
    found: dict[int, Any] = {}
    for group in GROUPS:
        found.update(zip(group, COLLECTIVES[name][1](FLAT[group]), strict=True))
    flat = np.stack([found[i] for i in range(6)])
    return flat.reshape(2, 3, *flat.shape[1:])


def within_groups(name: str) -> Callable[[Any], Any]:
    return lambda x: COLLECTIVES[name][0](x, ("i", "j"), GROUPS)


def under_vmaps(name: str) -> Callable[[Any], Any]:
    return bindax.vmap(bindax.vmap(within_groups(name), axis_name="j"), axis_name="i")


def under_shard_map(name: str) -> Callable[[Any], Any]:
    def part(x: Any) -> Any:
        return within_groups(name)(x[0, 0])[None, None]

    mesh, spec = AbstractMesh((2, 3), ("i", "j")), P("i", "j")
    return bindax.shard_map(part, mesh=mesh, in_specs=spec, out_specs=spec)


@pytest.mark.parametrize("mapped", [under_vmaps, under_shard_map])
@pytest.mark.parametrize("name", COLLECTIVES)
def test_each_group_is_an_axis_by_itself(name: str, mapped: Any) -> None:
    np.testing.assert_allclose(mapped(name)(X), expected(name), rtol=1e-12)


@pytest.mark.parametrize("name", ["psum", "pmax", "all_gather", "psum_scatter", "all_to_all"])
def test_derivatives_and_other_axes(name: str) -> None:
    function = under_shard_map(name)
    t, h = np.random.default_rng(1).normal(size=X.shape), 1e-6
    out, tangent = bindax.jvp(function, (X,), (t,))
    difference = (np.asarray(function(X + h * t)) - np.asarray(function(X - h * t))) / (2 * h)
    np.testing.assert_allclose(tangent, difference, rtol=1e-5, atol=1e-8)
    ct = np.random.default_rng(2).normal(size=out.shape)
    (back,) = bindax.vjp(function, X)[1](ct)
    np.testing.assert_allclose((np.asarray(back) * t).sum(), (np.asarray(tangent) * ct).sum())
    twice = bindax.vmap(function)(np.stack([X, 2 * X]))
    np.testing.assert_allclose(twice[1], function(2 * X), rtol=1e-12)


def test_the_sum_of_a_number_counts_the_elements_of_a_group() -> None:
    counts = bindax.vmap(
        bindax.vmap(lambda x: x + lax.psum(1, ("i", "j"), axis_index_groups=GROUPS), axis_name="j"),
        axis_name="i",
    )(np.zeros((2, 3)))
    np.testing.assert_array_equal(counts, np.full((2, 3), 3.0))


def test_groups_that_are_no_partition_are_an_error_that_names_the_axes() -> None:
    message = (
        r"psum: axis_index_groups must hold each index of the axes \['i', 'j'\] of size 6 once"
    )
    with pytest.raises(ValueError, match=message):
        bindax.vmap(
            bindax.vmap(
                lambda x: lax.psum(x, ("i", "j"), axis_index_groups=[[0, 1], [2, 3]]), axis_name="j"
            ),
            axis_name="i",
        )(X)
