"""Effects of programs: what transformations keep, and what they refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core.extend import (
    Effect,
    abstract_eval,
    effects,
    impl,
    jvp,
    lowering,
    primitive,
    transpose,
    vmap,
)
from bindax_transforms import check_repeatable, dce_jaxpr, partial_eval_jaxpr, without_effects

pytestmark = pytest.mark.usefixtures("toy_operations")

WRITE = Effect("write")
IN_ORDER = Effect("write in order", ordered=True, repeatable=True)
written: list[float] = []


def _write(x: Any, *, ordered: bool) -> list[Any]:
    written.append(float(x))
    return []


write_p = primitive(
    "toy.write",
    impl(_write),
    abstract_eval(lambda x, *, ordered: []),
    effects(lambda *, ordered: frozenset({IN_ORDER if ordered else WRITE})),
    jvp(lambda primals, tangents, **params: (write_p.bind(*primals, **params), [])),
    vmap.absent("elements are written one by one"),
    transpose.absent("what is written cannot be taken back"),
    lowering["stablehlo"].absent("the kernel's own tests run without a compiler"),
    multiple_results=True,
)


@pytest.fixture(autouse=True)
def nothing_written() -> Iterator[None]:
    written.clear()
    with bx.config.override(backend="numpy", derived_rules="silent"):
        yield


def noisy(x: Any, ordered: bool = False) -> Any:
    write_p.bind(x, ordered=ordered)
    return toy.mul(x, x)


def program(f: Any, *args: Any) -> bx.ClosedJaxpr:
    return bt.make_jaxpr(f)(*args)


def test_effects_of_equations_are_those_of_their_programs() -> None:
    made = program(lambda x: toy.add(bt.jit(noisy)(x), bt.checkpoint(noisy)(x)), 2.0)
    assert [eqn.effects for eqn in made.eqns] == [{WRITE}, {WRITE}, frozenset()]
    assert made.jaxpr.effects == {WRITE}
    assert program(lambda x: noisy(noisy(x), ordered=True), 2.0).jaxpr.effects == {WRITE, IN_ORDER}


def test_elimination_keeps_effects_and_nothing_that_they_do_not_need() -> None:
    def f(x: Any, y: Any) -> Any:
        bt.jit(lambda x: toy.sin(noisy(toy.neg(x))))(x)
        toy.cos(y)
        return y

    pruned, used = dce_jaxpr(program(f, 2.0, 3.0).jaxpr, [False])
    assert used == [True, False]
    (call,) = pruned.eqns
    assert call.outvars == []
    inner = call.params["jaxpr"]
    assert [eqn.primitive.name for eqn in inner.eqns] == ["toy.neg", "toy.write"]
    bx.eval_jaxpr(pruned, [], 2.0, 3.0)
    assert written == [-2.0]


@pytest.mark.parametrize("unknown", [[True, False], [False, True], [False, False]])
def test_partial_evaluation_has_each_effect_once(unknown: list[bool]) -> None:
    def f(x: Any, y: Any) -> Any:
        return toy.add(bt.jit(noisy)(x), noisy(y))

    parts = partial_eval_jaxpr(program(f, 2.0, 3.0), unknown)
    known = [x for x, flag in zip((2.0, 3.0), unknown, strict=True) if not flag]
    outs = bx.eval_jaxpr(parts.known.jaxpr, [], *known)
    assert sorted(written) == known
    if any(unknown):
        later = [x for x, flag in zip((2.0, 3.0), unknown, strict=True) if flag]
        assert parts.forwarded == [None]
        assert float(bx.eval_jaxpr(parts.unknown.jaxpr, [], *outs, *later)[0]) == 13.0
    assert sorted(written) == [2.0, 3.0]


def test_derivatives_have_each_effect_once() -> None:
    for f in (noisy, bt.jit(noisy), bt.checkpoint(noisy)):
        assert float(bt.grad(f)(3.0)) == 6.0
        assert written == [3.0]
        written.clear()


def test_effect_on_linear_values_is_no_silent_loss() -> None:
    def f(x: Any) -> Any:
        write_p.bind(x, ordered=False)
        return toy.neg(x)

    with pytest.raises(bx.errors.MissingRuleError, match="what is written cannot be taken back"):
        bt.linear_transpose(f, 1.0)(2.0)


def test_vmap_by_a_derived_rule() -> None:
    bt.vmap(noisy)(np.arange(3.0))
    assert written == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match=r"vmap of toy\.write .* 'write in order': the elements"):
        bt.vmap(lambda x: noisy(x, ordered=True))(np.arange(3.0))


def test_what_must_not_be_repeated() -> None:
    check_repeatable(program(lambda x: noisy(x, ordered=True), 1.0), "testing")
    with pytest.raises(ValueError, match=r"testing: the program has the effect 'write', which"):
        check_repeatable(program(noisy, 1.0), "testing")


def test_programs_without_their_effects() -> None:
    made = program(lambda x: bt.jit(noisy)(noisy(x)), 3.0)
    pure = without_effects(made)
    assert pure.jaxpr.effects == frozenset()
    assert float(bx.eval_jaxpr(pure.jaxpr, pure.consts, 3.0)[0]) == 81.0
    assert written == []
    assert without_effects(pure) is pure
