"""A primitive with a ``vjp`` rule and no ``jvp``: reverse mode, and what forward mode says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import toy

import bindax_transforms as bt
from bindax_core.extend import Rule, abstract_eval, impl, jvp, primitive, transpose, vjp, vmap

pytestmark = pytest.mark.usefixtures("toy_operations")

XS = np.linspace(-1.0, 2.0, 4)


def card(name: str, rule: Any) -> Any:
    return primitive(
        name,
        impl(np.multiply),
        abstract_eval(toy.same_type),
        jvp.absent("reverse mode is enough for a test"),
        vjp(rule),
        vmap(lambda size, operands, dims: (product_p.bind(*operands), dims[0])),
        transpose.absent("not linear"),
        toy.interpreted,
    )


product_p = card(
    "toy.reverse_product",
    lambda x, y: (product_p.bind(x, y), lambda ct: (10.0 * ct * y, ct * x)),
)


def toy_product(primals: Any, tangents: Any) -> Any:
    (x, y), (s, t) = primals, tangents
    return product_p.bind(x, y), s * y + x * t


COMMON = (
    impl(np.multiply),
    abstract_eval(toy.same_type),
    vmap.absent("a test"),
    transpose.absent("not linear"),
    toy.interpreted,
)


def square(x: Any) -> Any:
    return product_p.bind(x, x)


def test_reverse_mode() -> None:
    out, pull = bt.vjp(square, 3.0)
    assert (float(out), float(pull(1.0)[0])) == (9.0, 33.0)
    for f in (square, bt.jit(square)):
        np.testing.assert_allclose(bt.vmap(bt.grad(f))(XS), 11.0 * XS)
        np.testing.assert_allclose(bt.grad(lambda x, f=f: toy.reduce_sum(f(x)))(XS), 11.0 * XS)
        assert float(bt.grad(bt.grad(f))(3.0)) == 11.0
    ct_x, ct_y = bt.grad(product_p.bind, argnums=(0, 1))(3.0, 2.0)
    assert (float(ct_x), float(ct_y)) == (20.0, 3.0)


def test_the_derived_rule_is_said_to_be_derived() -> None:
    bt.grad(square)(3.0)
    rule = jvp.rule_of(product_p)
    assert isinstance(rule, Rule)
    assert rule.derived == "the vjp rule, for reverse mode alone"


def test_forward_mode_names_the_missing_rule() -> None:
    text = (
        "of the primitive toy.reverse_product, which has a vjp rule and no jvp rule: it has rules "
        "for reverse mode only. Use grad, vjp or jacrev, or give it a jvp rule"
    )
    for f in (square, bt.jit(square)):
        with pytest.raises(TypeError, match=re.escape(text)):
            bt.jvp(f, (3.0,), (1.0,))


def test_what_is_differentiated_is_told() -> None:
    told: list[Any] = []

    def rule(x: Any, y: Any, perturbed: Any) -> Any:
        told.append(perturbed)
        return product_p.bind(x, y), lambda ct: (ct * y, ct * x)

    options = (vjp(rule, takes_perturbed=True), jvp(toy_product))
    both_p = primitive("toy.told", *COMMON, *options)
    reverse_p = primitive("toy.told_reverse", *COMMON, options[0], jvp.absent("a test"))
    for made in (both_p, reverse_p):
        told.clear()
        assert float(bt.grad(made.bind, argnums=1)(3.0, 2.0)) == 3.0
        assert float(bt.grad(bt.jit(made.bind))(3.0, 2.0)) == 2.0
        assert set(told) == {(False, True), (True, False)}


def test_wrong_vjp_rules() -> None:
    cases = [
        (lambda x, y: x, "must return a pair (out, vjp_function), but it returned an object"),
        (
            lambda x, y: (x, lambda ct: (ct,)),
            "must return one cotangent for each of the 2",
        ),
        (
            lambda x, y: (x, lambda ct: (np.complex64(1.0), None)),
            "for operand 0, because the primal there is float64[], but it returned complex64[].",
        ),
    ]
    for i, (rule, text) in enumerate(cases):
        wrong_p = card(f"toy.wrong_{i}", rule)
        with pytest.raises(TypeError, match=re.escape(text)):
            bt.vjp(wrong_p.bind, 1.0, 1.0)
