"""Tracing and lowering of long functions, reported for one equation."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import jax

import bindax
from benchmarks.growth import SCALAR, long_function
from benchmarks.measure import Case, repeated


def traced(library: ModuleType, equations: int) -> Callable[[], Any]:
    """Make the task of tracing such a function."""
    return lambda: library.make_jaxpr(long_function(library, equations))(SCALAR)


def traced_gradient(library: ModuleType, equations: int) -> Callable[[], Any]:
    """Make the task of tracing the gradient of such a function."""
    return lambda: library.make_jaxpr(library.grad(long_function(library, equations)))(SCALAR)


def lowered(library: ModuleType, equations: int) -> Callable[[], Any]:
    """Make the task of tracing and lowering such a function."""
    return lambda: library.jit(long_function(library, equations)).lower(SCALAR)


def names_case(equations: int) -> Case:
    """Make the case of names: what tracing a gradient takes with scopes, and without."""

    def own() -> Any:
        function = bindax.named_scope("encoder")(long_function(bindax, equations))
        return bindax.make_jaxpr(bindax.grad(bindax.named_scope("model")(function)))(SCALAR)

    other = traced_gradient(bindax, equations)
    title = f"make_jaxpr(grad) with names, per equation of {equations // 1000}k"
    samples = repeated(own), repeated(other)
    return Case(title, *samples, target=1.05, goal=1.02, per=equations, against="no names")


def case(
    name: str,
    task: Callable[[ModuleType, int], Callable[[], Any]],
    equations: int,
    target: float,
    goal: float,
) -> Case:
    """Make the case of one task for one length."""
    own, other = repeated(task(bindax, equations)), repeated(task(jax, equations))
    title = f"{name}, per equation of {equations // 1000}k"
    return Case(title, own, other, target, goal, per=equations)


def cases() -> Iterator[Case]:
    """Yield tracing, tracing of a gradient, and lowering."""
    for equations in (1_000, 10_000):
        yield case("make_jaxpr", traced, equations, target=0.5, goal=0.25)
    for equations in (1_000, 10_000):
        yield case("make_jaxpr(grad)", traced_gradient, equations, target=0.4, goal=0.15)
    yield names_case(1_000)
    yield case("trace + lower", lowered, 1_000, target=0.5, goal=0.25)
