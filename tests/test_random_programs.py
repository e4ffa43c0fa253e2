"""Random programs under random transformations: evaluated, compiled, and by JAX, all the same.

Two programs run with the other tests, the same each day; BINDAX_RANDOM_PROGRAMS=2000 is the nightly
run, with others each night. A failure names what it is repeated with: BINDAX_RANDOM_SEED for all
programs of that run, and the seed of its case for `random_case`. With BINDAX_RANDOM_SHRINK=1 the
case is made smaller first, which compiles for minutes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import bindax
from bindax_core.extend import plugin_contents

sys.path.insert(0, str(Path(__file__).parent))

from _random_programs.comparison import rounding, tolerance
from _random_programs.generation import Case, random_case, smaller
from _random_programs.programs import STEPS, Program
from _random_programs.transformations import reverses, transformed
from jax_calls import FAST_COMPILER

jax: Any = pytest.importorskip("jax", reason="JAX is the reference of differential tests")

COUNT = int(os.environ.get("BINDAX_RANDOM_PROGRAMS", "2"))
FIRST_SEED = int(os.environ.get("BINDAX_RANDOM_SEED", "0"))
SHRINK = bool(os.environ.get("BINDAX_RANDOM_SHRINK"))
PARTS = 4 if COUNT > 6 else 2  # tests, so that several processes share the work


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    with jax.enable_x64(True), bindax.config.override(default_dtype_bits=64):
        yield


def evaluated(program: Program, chain: Sequence[str], arguments: Any, **options: Any) -> Any:
    """What NumPy says, step by step."""
    function = program.function(bindax, reverse=reverses(chain), **options)
    with bindax.config.override(backend="numpy", check_jaxprs=True):
        return transformed(bindax, function, chain)(*arguments)


def check_types(program: Program, arguments: Any, reverse: bool) -> None:
    """Every value has the shape, dtype and weak type that it has in JAX."""
    found = []
    for api in (bindax, jax):
        values: list[Any] = []
        api.make_jaxpr(program.function(api, reverse=reverse, values=values))(*arguments)
        avals = [api.typeof(value) for value in values]
        found.append([(aval.shape, str(aval.dtype), aval.weak_type) for aval in avals])
    assert found[0] == found[1]


def compiled_by_jax(function: Any, arguments: Any) -> Any:
    """What JAX computes, compiled quickly, or step by step where XLA cannot; None if JAX fails."""
    try:
        return jax.jit(function, compiler_options=FAST_COMPILER)(*arguments)
    except jax.errors.JaxRuntimeError:  # XLA has no code for `mulhi` inside of a fusion
        return function(*arguments)
    except TypeError as error:
        # JAX's reverse mode takes an absent cotangent of a loop for a value.
        if "The problematic value is of type <class 'NoneType'>" not in str(error):
            raise
        return None


def check_case(case: Case) -> float:
    """Compare the three, and return how far apart they might have been, relatively."""
    program, chain, data = case
    arguments = program.arguments(data)
    reverse = reverses(chain)
    check_types(program, arguments, reverse)
    value = evaluated(program, chain, arguments)
    ours = transformed(bindax, program.function(bindax, reverse=reverse), chain)
    theirs = transformed(jax, program.function(jax, reverse=reverse), chain)
    compiled = bindax.jit(ours)(*arguments)
    expected = compiled_by_jax(theirs, arguments)
    if expected is None:
        expected = value
    assert value.dtype == compiled.dtype == expected.dtype == program.result_dtype
    if not np.isclose(float(value), float(expected)):
        # Without its passes XLA computes the branches of some conditionals wrong.
        expected = jax.jit(theirs)(*arguments)
    results = [float(result) for result in (value, compiled, expected)]
    assert np.isfinite(results).all(), f"evaluated, compiled, JAX: {results}"
    apart = max(results) - min(results)
    nearby: list[Any] = []
    for samples in (2, 20):  # more of them only where the first ones do not explain a difference
        for _ in range(samples):
            perturb = rounding(len(nearby))
            nearby.append(evaluated(program, chain, arguments, perturb=perturb))
        allowed = tolerance(value, nearby)
        if apart <= allowed:
            break
    assert apart <= allowed, f"evaluated, compiled, JAX: {results}, may differ by {allowed}"
    return allowed / (abs(results[0]) + 0.1)


def fails(case: Case) -> bool:
    try:
        check_case(case)
    except Exception:
        return True
    return False


def smallest(case: Case) -> Case:
    """The same failure, as far as that is known, in fewer steps."""
    for candidate in smaller(case):
        if fails(candidate):
            return smallest(candidate)
    return case


@pytest.mark.timeout(0 if COUNT > 100 else 900)
@pytest.mark.parametrize("part", range(PARTS))
def test_random_programs(part: int) -> None:
    sharpness: list[float] = []
    print(f"BINDAX_RANDOM_SEED={FIRST_SEED} BINDAX_RANDOM_PROGRAMS={COUNT}")

    @seed(FIRST_SEED + part)
    @settings(
        max_examples=-(-COUNT // PARTS),
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    @given(number=st.integers(0, 2**64 - 1))
    def check(number: int) -> None:
        case = random_case(number)
        if len(sharpness) % 50 == 49:
            jax.clear_caches()  # code that nobody calls; a process cannot hold all of it
        try:
            sharpness.append(check_case(case))
        except Exception as error:
            error.add_note(repr(smallest(case) if SHRINK else case))
            error.add_note(
                f"repeat it with BINDAX_RANDOM_SEED={FIRST_SEED} BINDAX_RANDOM_PROGRAMS={COUNT} "
                f"pytest -n0 'tests/test_random_programs.py::test_random_programs[{part}]'"
            )
            raise

    check()
    # Where rounding decides what a program computes, the comparison says nothing.
    assert len(sharpness) < 25 or np.median(sharpness) < 1e-4


def _primitives(jaxpr: Any) -> Iterator[str]:
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for parameter in equation.params.values():
            for one in parameter if isinstance(parameter, tuple | list) else (parameter,):
                inner = getattr(one, "jaxpr", one)
                if hasattr(inner, "eqns"):
                    yield from _primitives(inner)


NOT_DRAWN = {
    "log2": "JAX has a function for it since 0.11",
    "one_minus_square": "JAX has a function for it since 0.11",
    "platform_index": "there is one platform",
    "rng_uniform": "implementations draw different numbers",
    "select_and_scatter": "JAX has no function for it",
}


@pytest.mark.nightly
def test_every_primitive_occurs() -> None:
    """Steps of each kind and their derivatives bind all primitives but those in `NOT_DRAWN`."""
    plugins = [*plugin_contents("lax_basic"), *plugin_contents("control_flow")]
    primitives = {primitive.name for plugin in plugins for primitive in plugin.primitives}
    found: set[str] = set()
    names = [(library, name) for library, steps in STEPS.items() for name in steps]
    for library, name in sorted(names, key=lambda pair: pair[1] == "integers"):
        if name.endswith("of loops") or (library == "lapack" and name in STEPS["fourier"]):
            continue
        for choices in range(300 if name == "integers" else 10):
            if choices >= 10 and primitives - found == set(NOT_DRAWN):
                break  # integers have more operations than ten choices show
            steps = [("converted", choices), (name, choices)]
            program = Program(steps, "float64", (3, 3), library)
            chain = ["jvp", "vjp"][choices % 2 :][:1]
            function = transformed(bindax, program.function(bindax, reverse=True), chain)
            found.update(_primitives(bindax.make_jaxpr(function)(*program.arguments(choices))))
    assert primitives - found == set(NOT_DRAWN)
