"""Policies of ``checkpoint`` inside of loops and conditionals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as bnp
from bindax import checkpoint, debug
from bindax import checkpoint_policies as policies
from bindax.ad_checkpoint import checkpoint_name, saved_residuals
from bindax.lax import cond, scan, switch

Function = Callable[[Any], Any]
X = np.linspace(0.2, 0.8, 3)


def step(x: Any) -> Any:
    return checkpoint_name(bnp.sin(x), "sine") * bnp.cos(bnp.tanh(x))


def in_steps(x: Any) -> Any:
    def body(carry: Any, y: Any) -> Any:
        new = step(carry * y)
        return new, (new * x, bnp.exp(y))

    return scan(body, x, bnp.linspace(0.5, 1.0, 4)[:, None])


def in_backward_steps(x: Any) -> Any:
    return scan(lambda c, _: (step(c), None), x, None, length=3, reverse=True)


def in_a_branch(x: Any) -> Any:
    return cond(x.sum() > 0, step, lambda x: (x * 2.0).astype(x.dtype), x)


def in_one_of_three(x: Any) -> Any:
    return switch(1, [bnp.cos, lambda x: step(step(x)), bnp.exp], x)


def in_a_nest(x: Any) -> Any:
    return scan(lambda c, _: (bindax.jit(in_a_branch)(c), None), x, None, length=2)


def with_changing_flags(x: Any) -> Any:
    """The second carry is unknown from the second step on, the third never."""

    def body(carry: Any, _: Any) -> Any:
        a, b, c = carry
        return (step(a), bnp.sin(a * b), bnp.cos(c)), c * b

    half = bnp.full(x.shape, 0.5)
    return scan(body, (x, half, half), None, length=3)


FUNCTIONS = (
    in_steps,
    in_backward_steps,
    in_a_branch,
    in_one_of_three,
    in_a_nest,
    with_changing_flags,
)


def cosines(primitive: Any, *avals: Any, **params: Any) -> bool:
    return primitive.name == "cos"


def total(function: Function) -> Function:
    return lambda x: sum(leaf.sum() for leaf in bindax.tree.leaves(function(x)))


def differentiated(f: Function) -> Function:
    return bindax.grad(total(f))


def compiled(f: Function) -> Function:
    return bindax.jit(bindax.vmap(differentiated(f)))


def linearized(f: Function) -> Function:
    return lambda x: bindax.linearize(total(f), x)[1](x)


@pytest.mark.pairwise
@pytest.mark.parametrize("transform", [differentiated, compiled, linearized])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "policy",
    [
        policies.nothing_saveable,
        policies.everything_saveable,
        policies.save_only_these_names("sine"),
        policies.save_anything_except_these_names("sine"),
        cosines,
    ],
    ids=lambda policy: getattr(policy, "__name__", repr(policy)),
)
def test_derivatives_are_those_of_the_function(
    function: Function, policy: Any, transform: Callable[[Function], Function]
) -> None:
    saving = checkpoint(function, policy=policy)
    x = bnp.stack([X, -X])
    found, expected = transform(saving)(x), transform(function)(x)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_second_derivatives_are_those_of_the_function(function: Function) -> None:
    found, expected = (
        bindax.grad(total(bindax.grad(total(f))))(X)
        for f in (checkpoint(function, policy=cosines), function)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_named_values_are_saved_and_not_computed_again(function: Function) -> None:
    small = saved_residuals(checkpoint(function), X)
    assert all(r.description.startswith(("is the argument", "is a constant")) for r in small)
    named = checkpoint(function, policy=policies.save_only_these_names("sine"))
    assert len(saved_residuals(named, X)) > len(small)
    assert computed_later(named, "tanh") >= 1


def computed_later(function: Function, name: str) -> int:
    _, linear = bindax.linearize(function, X)
    return str(bindax.make_jaxpr(linear)(X)).count(f" {name} ")


@pytest.mark.parametrize("function", [in_backward_steps, in_a_branch])
def test_each_value_is_saved_or_computed_again(function: Function) -> None:
    everything = checkpoint(function, policy=policies.everything_saveable)
    assert computed_later(everything, "cos") == computed_later(everything, "sin") == 0
    assert computed_later(checkpoint(function), "cos") >= 1
    # One cosine is a factor, the other a slope, and both are there.
    saving = checkpoint(function, policy=cosines)
    assert computed_later(saving, "cos") == 0
    assert computed_later(saving, "tanh") >= 1


def test_a_result_that_is_saved_is_no_second_residual() -> None:
    def body(carry: Any, _: Any) -> Any:
        square = checkpoint_name(carry * carry, "square")
        return bnp.sin(square), square

    saving = checkpoint(
        lambda x: scan(body, x, None, length=3)[1],
        policy=policies.save_only_these_names("square"),
    )
    kept = [r.description for r in saved_residuals(lambda x: saving(x) ** 2, X)]
    assert sum("named 'square'" in text for text in kept) == 1


OFFLOADING = policies.save_and_offload_only_these_names(
    names_which_can_be_saved=[],
    names_which_can_be_offloaded=["sine"],
    offload_src="device",
    offload_dst="pinned_host",
)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_wait_in_the_memory_of_the_host(function: Function) -> None:
    pytest.importorskip("jaxlib", reason="its CPU has a memory of this kind")
    saving = checkpoint(total(function), policy=OFFLOADING)
    np.testing.assert_allclose(bindax.grad(saving)(X), bindax.grad(total(function))(X), rtol=1e-6)
    named = checkpoint(total(function), policy=policies.save_only_these_names("sine"))
    assert len(saved_residuals(saving, X)) == len(saved_residuals(named, X))
    text = str(bindax.make_jaxpr(bindax.grad(saving))(X))
    assert text.count("Space.Host") == text.count("Space.Device") >= 1


def test_residuals_lie_in_the_memory_of_the_host() -> None:
    pytest.importorskip("jaxlib", reason="its CPU has a memory of this kind")
    _, f_vjp = bindax.vjp(checkpoint(lambda x: bnp.cos(step(x)), policy=OFFLOADING), X)
    assert [x.sharding.memory_kind for x in f_vjp.opaque_residuals] == ["pinned_host"]
    dots = policies.offload_dot_with_no_batch_dims("device", "pinned_host")
    matmul = checkpoint(lambda x: bnp.sin(x @ x).sum(), policy=dots)
    text = str(bindax.make_jaxpr(bindax.grad(matmul))(np.eye(3)))
    assert text.count("Space.Host") == text.count("Space.Device") == 1


def test_names_and_memories_of_a_policy_are_checked() -> None:
    names = {"names_which_can_be_saved": ["a"], "names_which_can_be_offloaded": ["a"]}
    make = policies.save_and_offload_only_these_names
    with pytest.raises(ValueError, match="'a' is a name of values to be saved, and of"):
        make(**names, offload_src="device", offload_dst="pinned_host")
    with pytest.raises(ValueError, match="offload_dst must be the kind of a memory, 'device' or"):
        policies.offload_dot_with_no_batch_dims("device", "disk")


def test_an_effect_in_a_step_happens_once() -> None:
    seen = []

    def body(carry: Any, _: Any) -> Any:
        debug.callback(lambda c: seen.append(float(c)), carry)
        return bnp.sin(carry), None

    for policy in (None, policies.everything_saveable):
        seen.clear()
        bindax.grad(checkpoint(lambda x: scan(body, x, None, length=3)[0], policy=policy))(0.5)
        assert len(seen) == 3
