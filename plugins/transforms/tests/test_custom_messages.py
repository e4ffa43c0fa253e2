"""What functions with rules of their own say when something is wrong."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bindax_core as bx
import bindax_transforms as bt
from bindax_core.errors import UnexpectedTracerError

pytestmark = pytest.mark.usefixtures("toy_operations")

ONES = np.ones(3)


def plain(x: Any) -> Any:
    return x * 2.0


def two(x: Any, y: Any) -> Any:
    return {"a": x * y}


def with_jvp(rule: Callable[..., Any], function: Callable[..., Any] = plain) -> Any:
    f = bt.custom_jvp(function)
    f.defjvp(rule)
    return f


def with_vjp(
    fwd: Callable[..., Any], bwd: Callable[..., Any], function: Callable[..., Any] = plain
) -> Any:
    f = bt.custom_vjp(function)
    f.defvjp(fwd, bwd)
    return f


def raises(error: type[Exception], text: str, function: Callable[[], Any]) -> None:
    with pytest.raises(error, match=re.escape(text)):
        function()


def test_missing_and_impossible_rules() -> None:
    text = "plain (" + __file__
    raises(
        AttributeError, "has no derivative rule; define one with", lambda: bt.custom_jvp(plain)(1.0)
    )
    raises(
        AttributeError, "has no derivative rules; define them", lambda: bt.custom_vjp(plain)(1.0)
    )
    raises(AttributeError, text, lambda: bt.custom_vjp(plain)(1.0))
    raises(
        AttributeError,
        "has no vmap rule; define one with def_vmap",
        lambda: bt.custom_vmap(plain)(ONES),
    )
    raises(
        TypeError,
        "defjvps cannot be used with nondiff_argnums",
        lambda: bt.custom_jvp(plain, nondiff_argnums=0).defjvps(None),
    )
    f = bt.custom_jvp(plain)
    f.defjvps(None, None)
    raises(
        TypeError, "was given 2 rules, but the function has 1 arguments", lambda: bt.grad(f)(1.0)
    )


def test_calls_that_do_not_fit() -> None:
    f = with_jvp(lambda p, t: (p[0], t[0]))
    raises(TypeError, "was called wrongly: missing a required argument: 'x'.", f)
    raises(TypeError, "the argument x['k'] of the custom_jvp function plain", lambda: f({"k": "a"}))
    raises(TypeError, "in a position of nondiff_argnums", lambda: f({"k": "a"}))

    def by_keyword(x: Any, *, y: Any) -> Any:
        return x * y

    g = with_jvp(lambda p, t: (p[0], t[0]), by_keyword)
    raises(TypeError, "arguments that have no position: y", lambda: g(1.0, y=2.0))
    raises(
        ValueError,
        "nondiff_argnames of the custom_vjp function plain",
        lambda: bt.custom_vjp(plain, nondiff_argnames="z"),
    )
    h = bt.custom_jvp(plain, nondiff_argnums=3)
    h.defjvp(lambda *args: args)
    raises(ValueError, "has nondiff_argnums=(3,), but it was called with 1", lambda: h(1.0))
    strings = with_jvp(lambda p, t: ("a", "b"), lambda x: {"k": "text"})
    raises(TypeError, "returned at output['k']", lambda: strings(1.0))
    raises(TypeError, "returned as primal output at output", lambda: bt.grad(strings)(1.0))


def test_wrong_jvp_rules() -> None:
    def gradient(rule: Callable[..., Any], function: Any = plain) -> Callable[[], Any]:
        return lambda: bt.jvp(with_jvp(rule, function), (ONES,), (ONES,))

    raises(
        TypeError, "must return a pair (primal_out, tangent_out), but it", gradient(lambda p, t: 3)
    )
    raises(TypeError, "returned a tuple of length 3", gradient(lambda p, t: (1, 2, 3)))
    raises(
        TypeError,
        "must return a tangent of type float64[3] for output['a'], because the primal there is "
        "float64[3], but it returned float32[3].",
        gradient(lambda p, t: ({"a": p[0]}, {"a": np.ones(3, np.float32)})),
    )
    raises(
        TypeError,
        "returned the wrong structure: the tangent output",
        gradient(lambda p, t: ({"a": p[0]}, {"b": t[0]})),
    )
    raises(
        TypeError,
        "the tangent output must have the structure",
        gradient(lambda p, t: ((p[0], p[0]), t[0])),
    )
    raises(
        TypeError,
        "returned as tangent of output[0]",
        gradient(lambda p, t: ((p[0],), ("text",))),
    )


def test_rules_whose_output_differs_from_the_function() -> None:
    wrong_type = with_jvp(lambda p, t: (np.ones(3, np.float32), np.ones(3, np.float32)))
    raises(
        TypeError,
        "must return the primal output that the function returns: at output that is float64[3], "
        "but the rule returned float32[3].",
        lambda: bt.jvp(bt.jit(wrong_type), (ONES,), (ONES,)),
    )
    wrong_tree = with_vjp(lambda x: ((x, x), None), lambda _, ct: ct)
    raises(
        TypeError,
        "must return the primal output that the function returns, with the structure",
        lambda: bt.vjp(bt.jit(wrong_tree), ONES),
    )
    raises(TypeError, "the fwd rule <lambda> (", lambda: bt.vjp(bt.jit(wrong_tree), ONES))


def test_wrong_vjp_rules() -> None:
    def gradient(fwd: Any, bwd: Any, function: Any = two) -> Callable[[], Any]:
        return lambda: bt.vjp(with_vjp(fwd, bwd, function), ONES, ONES)[1]({"a": ONES})

    def fwd(x: Any, y: Any) -> Any:
        return two(x, y), (x, y)

    raises(
        TypeError,
        "must return a pair (output, residuals), but it returned an object of type dict",
        gradient(two, fwd),
    )
    raises(
        TypeError,
        "returned at residuals['k']",
        gradient(lambda x, y: (two(x, y), {"k": "text"}), fwd),
    )
    raises(
        TypeError,
        "must return a tuple with one cotangent for each of the 2 differentiated arguments, but it "
        "returned an object of type ndarray.",
        gradient(fwd, lambda res, ct: ct["a"]),
    )
    raises(TypeError, "returned a tuple of length 1", gradient(fwd, lambda res, ct: (ct["a"],)))
    raises(
        TypeError,
        "must return a cotangent of type float64[3] for y, because the primal there is float64[3], "
        "but it returned float64[].",
        gradient(fwd, lambda res, ct: (None, np.float64(1.0))),
    )
    raises(
        TypeError,
        "returned the wrong structure: the tuple of cotangents",
        gradient(fwd, lambda res, ct: ({"a": ct["a"]}, None)),
    )
    one = with_vjp(lambda x: (plain(x), None), lambda _, ct: ct)
    raises(
        TypeError, "for each of the 1 differentiated arguments", lambda: bt.vjp(one, ONES)[1](ONES)
    )


def test_forward_mode_of_a_vjp_rule() -> None:
    f = with_vjp(lambda x: (plain(x), None), lambda _, ct: (ct,))
    for g in (f, bt.jit(f), bt.vmap(f), bt.vmap(bt.jit(f))):
        for transformed in (
            lambda g=g: bt.jvp(g, (ONES,), (ONES,)),
            lambda g=g: bt.jit(lambda x: bt.jvp(g, (x,), (x,)))(ONES),
            lambda g=g: bt.linearize(g, ONES)[1](ONES),
            lambda g=g: bt.jvp(bt.linearize(g, ONES)[1], (ONES,), (ONES,)),
            lambda g=g: bt.vmap(bt.linearize(g, ONES)[1])(np.ones((2, 3))),
        ):
            raises(
                TypeError,
                "forward-mode differentiation (jvp, jacfwd, linearize's linear function) of the "
                "custom_vjp function plain",
                transformed,
            )
    raises(TypeError, "Use grad, vjp or jacrev", lambda: bt.jvp(f, (ONES,), (ONES,)))


def test_values_that_are_closed_over() -> None:
    def f(c: Any) -> Any:
        return with_jvp(lambda p, t: (p[0] * 2.0, t[0]), lambda x: x * c)

    def g(c: Any) -> Any:
        return with_vjp(lambda x: (x * 2.0, None), lambda _, ct: (ct,), lambda x: x * c)

    def rule(c: Any) -> Any:
        return with_jvp(lambda p, t: (p[0] * c, t[0]))

    for make in (f, g):
        for transformed in (
            lambda c, make=make: make(c)(2.0),
            lambda c, make=make: bt.jit(make(c))(2.0),
            lambda c, make=make: bt.vmap(lambda x: make(c)(x))(ONES)[0],
        ):
            raises(
                bx.errors.CustomRuleError,
                "closes over: its rules say how it depends on its arguments only. Pass the value "
                "as an argument.",
                lambda transformed=transformed: bt.grad(transformed)(3.0),
            )
    raises(TypeError, "closes over", lambda: bt.grad(lambda c: rule(c)(c))(3.0))
    raises(
        bx.errors.UnexpectedTracerError,
        "which runs after the function was traced and must not close over traced values; pass them "
        "as arguments: Encountered an unexpected tracer, float64[], made in jit of",
        lambda: bt.grad(lambda x: bt.jit(lambda x, c: rule(c)(x))(x, 2.0))(1.0),
    )
    scaled = bt.custom_jvp(lambda x, s: x * s, nondiff_argnums=1)
    scaled.defjvp(lambda s, p, t: (scaled(*p, s), s * t[0]))
    raises(TypeError, "closes over", lambda: bt.grad(scaled, argnums=1)(2.0, 3.0))
    traced = bt.custom_vjp(lambda x, s: x * s, nondiff_argnums=1)
    traced.defvjp(lambda x, s: (traced(x, s), None), lambda s, _, ct: (s * ct,))
    raises(
        bx.errors.UnexpectedTracerError,
        "was called with a traced value in a position of nondiff_argnums, (1,)",
        lambda: bt.jit(traced)(2.0, 3.0),
    )
    mapped = bt.custom_vmap(plain)
    mapped.def_vmap(lambda size, batched, x: (x, True))

    def closing(c: Any) -> Any:
        h = bt.custom_vmap(lambda x: x * c)
        h.def_vmap(lambda size, batched, x: (x * c, True))
        return h

    raises(
        TypeError,
        "vmap over a value that the custom_vmap function",
        lambda: bt.vmap(lambda x, c: closing(c)(x))(ONES, ONES),
    )
    raises(
        TypeError,
        "its rule says how it is mapped over its arguments only",
        lambda: bt.vmap(bt.jit(lambda x, c: closing(c)(x)))(ONES, ONES),
    )


def test_custom_gradient_and_closure_convert() -> None:
    raises(
        TypeError,
        "must return a pair (output, vjp_function), but it returned",
        lambda: bt.custom_gradient(plain)(1.0),
    )
    raises(TypeError, "the second output of the", lambda: bt.custom_gradient(lambda x: (x, x))(1.0))
    two_arguments = bt.custom_gradient(lambda x, y: (x * y, lambda ct: ct))
    raises(TypeError, "the tuple of cotangents", lambda: bt.grad(two_arguments)(1.0, 1.0))
    wrong = bt.custom_gradient(lambda x: (x, lambda ct: np.ones(2)))
    raises(
        ValueError, "must return a cotangent of type float64[] for x", lambda: bt.grad(wrong)(1.0)
    )
    raises(
        TypeError,
        "example_args[0]['k'] of closure_convert",
        lambda: bt.closure_convert(plain, {"k": "a"}),
    )
    converted, _ = bt.closure_convert(plain, 1.0)
    raises(
        TypeError, "takes arguments with the structure of the example", lambda: converted(1.0, 2.0)
    )


def test_wrong_vmap_rules() -> None:
    def mapped(rule: Callable[..., Any]) -> Callable[[], Any]:
        f = bt.custom_vmap(plain)
        f.def_vmap(rule)
        return lambda: bt.vmap(bt.jit(f))(ONES)

    raises(TypeError, "must return a pair (out, out_batched)", mapped(lambda size, flags, x: x))
    raises(TypeError, "booleans in out_batched", mapped(lambda size, flags, x: (x, 0)))
    raises(ValueError, "out_batched", mapped(lambda size, flags, x: (x, [True, True])))
    raises(
        ValueError,
        "says that output is batched, but its type float64[] has no first axis of size 3",
        mapped(lambda size, flags, x: (1.0, True)),
    )
    raises(
        ValueError,
        "must return what the function returns, with the structure",
        mapped(lambda size, flags, x: ((x, x), True)),
    )


def test_positions_that_are_no_integers() -> None:
    for use in (
        lambda: bt.jit(plain, static_argnums="x"),
        lambda: bt.jit(plain, donate_argnums=1.5),
        lambda: bt.checkpoint(plain, static_argnums=("x",)),
        lambda: bt.custom_jvp(plain, nondiff_argnums="x"),
        lambda: bt.custom_vjp(plain, nondiff_argnums="x"),
    ):
        raises(TypeError, "the positions of arguments, must be integers", use)


def test_static_arguments_that_are_traced() -> None:
    for transform in (bt.jit, bt.checkpoint):
        f = bt.grad(transform(lambda n, x: n, static_argnums=0))
        raises(
            TypeError, "the static argument 0 is traced: float64[]", functools.partial(f, 1.0, 2)
        )


def test_late_bwd_rules_that_close_over_traced_values() -> None:
    def scaled(w: Any, x: Any) -> Any:
        f = bt.custom_vjp(lambda x: x * w)
        f.defvjp(lambda x: (x * w, None), lambda _, ct: (ct * w,))
        return f(x)

    _, pull_back = bt.vjp(lambda x: bt.vmap(scaled, in_axes=(0, None))(ONES, x), 2.0)
    raises(
        UnexpectedTracerError,
        "in a rule of the custom_vjp function <lambda>",
        lambda: pull_back(ONES),
    )


def test_symbolic_zeros_of_another_argument() -> None:
    f = bt.custom_vjp(lambda x, y: x * 2.0)
    f.defvjp(lambda x, y: (x.value * 2.0, y.value), _swapped, symbolic_zeros=True)
    text = "a symbolic zero of type float64[3], but the primal there is float64[]. Return None"
    raises(ValueError, text, lambda: bt.grad(f)(2.0, ONES))


def _swapped(y: Any, cotangent: Any) -> Any:
    return bt.zero_from_primal(y, symbolic_zeros=True), None
