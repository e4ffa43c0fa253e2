"""The kernel's own primitives keep the rules' contract, on programs made of ``lax`` functions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import bindax
from bindax import lax
from bindax_core import find_primitive
from bindax_testing import (
    EquivalentMutant,
    MutationReport,
    Sample,
    array,
    check_rules,
    mutate_rules,
    sample,
)
from bindax_transforms import custom_jvp, custom_vjp, custom_vmap, jit

NO_FORWARD = dict.fromkeys(("jvp", "linearize", "second order"), "it has no forward mode")


def network(w: Any, x: Any) -> Any:
    """Two results; residuals, reductions, and an operand that is used twice."""
    hidden = lax.tanh(lax.dot_general(x, w, (((1,), (0,)), ((), ()))))
    return lax.reduce_sum(lax.mul(hidden, hidden), (0, 1)), lax.sin(hidden)


def linear(w: Any, x: Any) -> Any:
    return lax.add(lax.transpose(w, (1, 0)), x), lax.sub(x, lax.neg(lax.rev(x, (0,))))


def mixed(n: Any, x: Any) -> Any:
    """An integer operand, and a result that is one."""
    doubled = lax.add(n, n)
    return doubled, lax.mul(lax.convert_element_type(doubled, "float64"), lax.cos(x))


def with_jvp(fun: Callable[..., Any]) -> Any:
    made = custom_jvp(fun)
    made.defjvp(lambda primals, tangents: bindax.jvp(fun, primals, tangents))
    return made


def with_vjp(fun: Callable[..., Any]) -> Any:
    made = custom_vjp(fun)
    made.defvjp(lambda *args: (fun(*args), args), lambda args, cts: bindax.vjp(fun, *args)[1](cts))
    return made


def with_vmap(fun: Callable[..., Any]) -> Any:
    made = custom_vmap(fun)

    @made.def_vmap
    def rule(axis_size: int, in_batched: Any, *args: Any) -> Any:
        axes = tuple(0 if flag else None for flag in in_batched)
        return bindax.vmap(fun, axes, axis_size=axis_size)(*args), (True, True)

    return made


def named(w: Any, x: Any) -> Any:
    return bindax.ad_checkpoint.checkpoint_name(lax.mul(w, x), "product")


WRAPPERS: dict[str, Callable[..., Any]] = {
    "jit": jit,
    "checkpoint": bindax.checkpoint,
    "custom_jvp_call": with_jvp,
    "custom_vjp_call": with_vjp,
    "custom_vmap_call": with_vmap,
}


def samples(name: str) -> Iterator[Sample]:
    square = array((2, 2), "float64")
    if name == "name":
        yield sample(named, square, square)
        yield sample(named, array((3,), "complex64"), array((3,), "complex64"))
        return
    wrap, skip = WRAPPERS[name], NO_FORWARD if name == "custom_vjp_call" else {}
    for fun in (network, linear):
        yield sample(wrap(fun), square, square, label=fun.__name__, skip=skip)
    number = array((), "int32")
    if name != "custom_vjp_call":  # its rule gives cotangents for every operand
        yield sample(wrap(mixed), number, array((3,), "float64"), label="mixed", skip=skip)


@pytest.mark.every(2)
@pytest.mark.parametrize("name", [*WRAPPERS, "name"])
def test_the_rules_agree(name: str) -> None:
    report = check_rules(find_primitive(name), samples(name), budget=60.0)
    assert report.ok, str(report)
    assert not report.of_status("not run")


COMPILATION = {
    "inline": "whether tracing dissolves the call; the operations are the same",
    "keep_unused": "whether compiled programs take operands that they ignore",
    "prevent_cse": "whether the compiler may merge computations; the results are the same",
    "differentiated": "when a part of a derivative runs; the results are the same",
}


def equivalent(name: str) -> Iterator[EquivalentMutant]:
    """What says how programs are compiled changes no result."""
    for parameter, reason in COMPILATION.items():
        yield EquivalentMutant(name, "*", f"flipped {parameter}", reason)


COUNT = 20 if os.environ.get("BINDAX_NIGHTLY") else 8


@pytest.mark.parametrize("name", ["jit", "checkpoint", "custom_jvp_call"])
def test_mistakes_are_noticed_and_leave_nothing_behind(name: str) -> None:
    pytest.importorskip("jaxlib", reason="without a compiler impl alone says what is computed")
    made, given = find_primitive(name), [*samples(name), *equivalent(name)]
    report: MutationReport = mutate_rules(made, given, count=COUNT)
    assert report.ok, str(report)
    assert len(report.mutants) == COUNT
    # Nothing that was made with a damaged rule is used again.
    again = check_rules(made, given)
    assert again.ok, str(again)
