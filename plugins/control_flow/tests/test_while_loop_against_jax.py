"""Random loop bodies, and the corners of the interface, against JAX."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

import bindax_core as bx
import bindax_lax_basic
import bindax_transforms as bt
from bindax_control_flow import cond, fori_loop, switch, while_loop
from bindax_core.extend import tree_leaves

jax = pytest.importorskip("jax")

SIZE = 3
X = np.array([0.25, -0.5, 0.75], np.float32)
TANGENT = np.array([1.0, 0.5, -0.25], np.float32)


class Library:
    """The same names from bindax and from JAX, so that one program runs with both."""

    def __init__(self, lax: Any, **functions: Callable[..., Any]) -> None:
        self.lax = lax
        self.__dict__.update(functions)


OURS: Any = Library(
    bindax_lax_basic, cond=cond, switch=switch, fori_loop=fori_loop, while_loop=while_loop
)
THEIRS: Any = Library(
    jax.lax,
    cond=jax.lax.cond,
    switch=jax.lax.switch,
    fori_loop=jax.lax.fori_loop,
    while_loop=jax.lax.while_loop,
)

# An expression is a nested tuple: an operation and its operands; "x", "y", "z" are the carry.
leaves = st.sampled_from(["x", "y", "z", "w", 0.5, -0.75])


def _branches(children: Any) -> Any:
    return st.one_of(
        st.tuples(st.sampled_from(["sin", "tanh", "neg", "halve"]), children),
        st.tuples(st.sampled_from(["add", "mul", "max"]), children, children),
        st.tuples(st.just("cond"), children, children, children),
        st.tuples(st.just("while"), children, children),
        st.tuples(st.just("fori"), children),
    )


expressions = st.recursive(leaves, _branches, max_leaves=3)


def evaluate(lib: Any, e: Any, env: dict[str, Any]) -> Any:
    """The value of an expression, an array of ``SIZE`` elements, bounded by construction."""
    if isinstance(e, str):
        return env[e]
    if isinstance(e, float):
        return env["x"] * 0.0 + e
    name, *rest = e
    if name == "cond":
        return lib.cond(
            evaluate(lib, rest[0], env).sum() > 0.0,
            lambda: evaluate(lib, rest[1], env),
            lambda: evaluate(lib, rest[2], env),
        )
    if name == "while":
        start = evaluate(lib, rest[0], env)
        body = lambda c: (c[0] + 1, evaluate(lib, rest[1], {**env, "x": c[1]}) * 0.5 + c[1])  # noqa: E731
        return lib.while_loop(lambda c: (c[0] < 3) & (c[1].sum() < 2.0), body, (0, start))[1]
    if name == "fori":
        body = lambda i, c: evaluate(lib, rest[0], {**env, "x": c}) * 0.5 + i * 0.125  # noqa: E731
        return lib.fori_loop(0, 2, body, env["y"])
    operands = [evaluate(lib, operand, env) for operand in rest]
    if name == "halve":
        return operands[0] * 0.5
    return getattr(lib.lax, name)(*operands)


def program(lib: Any, bodies: Any) -> Callable[..., Any]:
    """A loop over a carry of three arrays, some of which may not depend on the argument."""

    def f(n: Any, x: Any) -> Any:
        def body(carry: Any) -> Any:
            i, x, y, z = carry
            env = {"x": x, "y": y, "z": z, "w": w}
            new = [lib.lax.tanh(evaluate(lib, e, env)) for e in bodies]
            return (i + 1, *new)

        w, ones = x * 0.5, np.ones(SIZE, np.float32)
        init = (np.int32(0), x, ones, ones * np.float32(0.5))
        limit = lambda c: (c[0] < n) & (c[1].sum() < 2.5)  # noqa: E731
        return lib.while_loop(limit, body, init)[1:]

    return f


def along(f: Any, transforms: Any) -> Any:
    """Values and derivatives of ``f`` for a batch of iteration limits and arguments."""
    forward = lambda n, x: transforms.jvp(lambda x: f(n, x), (x,), (TANGENT,))  # noqa: E731
    return transforms.vmap(forward)


@seed(20)
@settings(max_examples=6 if os.environ.get("BINDAX_NIGHTLY") else 2, deadline=None, database=None)
@given(st.tuples(expressions, expressions, expressions))
def test_random_bodies(bodies: Any) -> None:
    ours = program(OURS, bodies)
    ns, xs = np.array([0, 2, 4], np.int32), np.stack([X, -X, X * 2.0])
    wanted, wanted_dots = jax.jit(along(program(THEIRS, bodies), jax))(ns, xs)
    close(bt.jit(along(ours, bt))(ns, xs), (wanted, wanted_dots))
    with bx.config.override(check_jaxprs=True, backend="numpy"):
        batched = bt.jvp(lambda xs: bt.vmap(ours)(ns, xs), (xs,), (np.stack([TANGENT] * 3),))
        close(batched, (wanted, wanted_dots))
        for i in range(3):
            out, f_lin = bt.linearize(lambda x, n=ns[i]: ours(n, x), xs[i])
            close(out, [y[i] for y in wanted])
            close(f_lin(TANGENT), [y[i] for y in wanted_dots])


def close(found: Any, wanted: Any) -> None:
    for a, b in zip(tree_leaves(found), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5)


CORNERS: dict[str, Callable[[Any], Any]] = {
    "strong body": lambda lib: lib.while_loop(lambda c: c < 10, lambda c: c * np.float32(1.5), 1),
    "index of a type": lambda lib: lib.fori_loop(np.int16(1), 4, lambda i, c: c + i, np.int16(0)),
    "no iterations": lambda lib: lib.fori_loop(5, 3, lambda i, c: c + 1.0, X),
    "five arguments": lambda lib: lib.cond(X[0] > 0, X, lambda x: x + 1, -X, lambda x: x - 1),
    "operand": lambda lib: lib.cond(False, lambda x: 1.0, lambda x: 2.0, operand=None),
    "number": lambda lib: lib.cond(0.5, lambda x: x, lambda x: -x, X),
    "nan": lambda lib: lib.cond(np.float32("nan"), lambda x: x, lambda x: -x, X),
    "one branch": lambda lib: lib.switch(np.int32(7), [lambda x: x * 2.0], X),
    "unsigned": lambda lib: lib.switch(np.uint8(200), [lambda x: x, lambda x: -x], X),
    "negative": lambda lib: lib.switch(np.int8(-1), [lambda x: x, lambda x: -x], X),
    "operand of switch": lambda lib: lib.switch(1, [lambda x: x, lambda x: -x], operand=X),
}


@pytest.mark.parametrize("name", CORNERS)
def test_corners(name: str) -> None:
    f = CORNERS[name]
    wanted = f(THEIRS)
    for got in (f(OURS), bt.jit(lambda: f(OURS))()):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
        assert got.weak_type == getattr(wanted, "weak_type", False)
        if not got.weak_type:  # numbers of Python keep their precision
            assert got.dtype == wanted.dtype
