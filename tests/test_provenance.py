"""Where equations come from: the user's line and the stack of names, beside those of JAX."""

from __future__ import annotations

import inspect
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import bindax
from bindax import lax
from bindax.errors import MissingRuleError, NonFiniteError
from bindax_core.extend import (
    SourceInfo,
    Transformation,
    current_source,
    find_backend,
    primitive,
    rules,
    subjaxprs,
)

jax: Any = pytest.importorskip("jax", reason="stacks of names are compared with its own")
from jax._src.source_info_util import user_frame  # noqa: E402

X = np.linspace(0.1, 0.9, 3, dtype=np.float32)
W = np.linspace(-1.0, 1.0, 9, dtype=np.float32).reshape(3, 3)
XS = np.stack([X, X + 1.0])
HERE = re.escape(__file__)

Equation = tuple[str, str, int]
"""Of an equation the primitive, the names of all jaxprs that it is in, and the line."""


def line_of(function: Any, text: str) -> int:
    """The line of this file in which a function has a text."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def equations(jaxpr: Any, around: tuple[str, ...] = ()) -> Iterator[Equation]:
    """The equations of a program, with those of jaxprs inside of it."""
    for eqn in jaxpr.eqns:
        source = eqn.source_info
        names = (*around, source.names)
        yield eqn.primitive.name, " > ".join(names), source.line
        for _, program in subjaxprs(eqn.params):
            yield from equations(program.jaxpr, names)


def equations_of_jax(jaxpr: Any, around: tuple[str, ...] = ()) -> Iterator[Equation]:
    """The same of a program of JAX."""
    for eqn in jaxpr.eqns:
        frame = user_frame(eqn.source_info.traceback)
        names = (*around, str(eqn.source_info.name_stack))
        yield eqn.primitive.name, " > ".join(names), frame.start_line if frame else 0
        for value in eqn.params.values():
            for entry in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(entry, "jaxpr", entry if hasattr(entry, "eqns") else None)
                if inner is not None:
                    yield from equations_of_jax(inner, names)


def net(api: Any, w: Any, x: Any) -> Any:
    with api.named_scope("encoder"):
        with api.named_scope("attention"):
            x = api.numpy.sin(api.numpy.dot(x, w))
        x = api.numpy.cos(x)
    return x.sum()


def looped(api: Any, w: Any, x: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        with api.named_scope("step"):
            return api.numpy.sin(net(api, w, carry) * carry), None

    with api.named_scope("loop"):
        return api.lax.scan(body, x, None, length=3)[0].sum()


def chosen(api: Any, w: Any, x: Any) -> Any:
    with api.named_scope("choice"):
        x = api.numpy.dot(x, w)
        return api.lax.cond(
            x[0] > 0, lambda x: api.numpy.sin(x), lambda x: api.numpy.cos(x), x
        ).sum()


def repeated(api: Any, w: Any, x: Any) -> Any:
    def step(state: Any) -> Any:
        with api.named_scope("step"):
            return state[0] + 1, api.numpy.sin(api.numpy.dot(state[1], w))

    with api.named_scope("loop"):
        return api.lax.while_loop(lambda state: state[0] < 3, step, (0, x))[1].sum()


def with_rule(api: Any, w: Any, x: Any) -> Any:
    @api.custom_vjp
    def scaled(x: Any) -> Any:
        return api.numpy.sin(x)

    def forward(x: Any) -> Any:
        with api.named_scope("forward"):
            return api.numpy.sin(x), x

    def backward(x: Any, ct: Any) -> Any:
        with api.named_scope("backward"):
            return (api.numpy.cos(x) * ct,)

    scaled.defvjp(forward, backward)
    with api.named_scope("custom"):
        return scaled(api.numpy.dot(x, w)).sum()


def with_tangent_rule(api: Any, w: Any, x: Any) -> Any:
    @api.custom_jvp
    def scaled(x: Any) -> Any:
        return api.numpy.sin(x)

    @scaled.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        with api.named_scope("rule"):
            return api.numpy.sin(primals[0]), api.numpy.cos(primals[0]) * tangents[0]

    with api.named_scope("custom"):
        return scaled(api.numpy.dot(x, w)).sum()


TRANSFORMED: dict[str, Callable[[Any, Any], Any]] = {
    "plain": lambda api, f: f(W, X),
    "jvp": lambda api, f: api.jvp(f, (W, X), (W, X)),
    "grad": lambda api, f: api.grad(f)(W, X),
    "vmap": lambda api, f: api.vmap(f, (None, 0))(W, XS),
    "vmap of grad": lambda api, f: api.vmap(api.grad(f), (None, 0))(W, XS),
    "grad of vmap": lambda api, f: api.grad(lambda w: api.vmap(f, (None, 0))(w, XS).sum())(W),
    "grad of grad": lambda api, f: api.grad(lambda w: api.grad(f)(w, X).sum())(W),
    "jvp of grad": lambda api, f: api.jvp(lambda w: api.grad(f)(w, X), (W,), (W,)),
    "jit": lambda api, f: api.jit(f)(W, X),
    "grad of jit": lambda api, f: api.grad(api.jit(f))(W, X),
    "vmap of jit": lambda api, f: api.vmap(api.jit(f), (None, 0))(W, XS),
    "jit of grad": lambda api, f: api.jit(api.grad(f))(W, X),
    "linearize": lambda api, f: api.linearize(f, W, X)[1](W, X),
    "in a scope": lambda api, f: api.named_scope("outer")(api.grad(f))(W, X),
}
COMPARED = {"sin", "cos", "mul", "dot_general", "scan", "while", "cond", "jit"}
"""Primitives that programs of both have."""

TWICE: dict[Any, tuple[str, ...]] = {with_rule: ("vmap of grad", "grad of grad", "in a scope")}
"""Where JAX writes the names around a rule of the user's twice."""


def cases() -> Iterator[tuple[Callable[..., Any], str]]:
    """The programs with what can be done with them."""
    for function in (net, looped, chosen, repeated, with_rule, with_tangent_rule):
        for how in TRANSFORMED:
            reverse = "grad" in how or how in ("linearize", "in a scope")
            forward = "jvp" in how or how == "linearize"
            if (function is repeated and reverse) or (function is with_rule and forward):
                continue  # there is no such derivative
            if how not in TWICE.get(function, ()):
                yield function, how


@pytest.mark.parametrize(
    ("function", "how"), [pytest.param(f, how, id=f"{f.__name__}-{how}") for f, how in cases()]
)
def test_lines_and_names_are_those_of_jax(function: Callable[..., Any], how: str) -> None:
    def program(api: Any) -> Any:
        called = lambda w, x: function(api, w, x)  # noqa: E731
        return api.make_jaxpr(lambda: TRANSFORMED[how](api, called))().jaxpr

    # JAX writes what is around the tangents of a custom_jvp function twice.
    compared = COMPARED - ({"mul"} if function is with_tangent_rule else set())
    ours = {e for e in equations(program(bindax)) if e[0] in compared}
    theirs = {e for e in equations_of_jax(program(jax)) if e[0] in compared}
    assert ours == theirs


def model(w: Any, x: Any) -> Any:
    with bindax.named_scope("mlp"):
        hidden = bindax.numpy.tanh(bindax.numpy.dot(x, w))
    return hidden.sum()


def products(closed: Any) -> list[SourceInfo]:
    """Where the matrix products of a program come from."""
    eqns = [*closed.jaxpr.eqns]
    for _, program in (one for eqn in eqns for one in subjaxprs(eqn.params)):
        eqns += program.jaxpr.eqns
    return [eqn.source_info for eqn in eqns if eqn.primitive.name == "dot_general"]


MODEL_LINE = line_of(model, "dot(")
WAYS: dict[str, Callable[[], Any]] = {
    "on the fly": lambda: bindax.make_jaxpr(bindax.grad(model))(W, XS),
    "of a jitted function": lambda: bindax.make_jaxpr(bindax.grad(bindax.jit(model)))(W, XS),
    "recomputed": lambda: bindax.make_jaxpr(bindax.grad(bindax.checkpoint(model)))(W, XS),
    "inlined": lambda: bindax.make_jaxpr(bindax.grad(bindax.jit(model, inline=True)))(W, XS),
    "of a pullback": lambda: bindax.make_jaxpr(bindax.vjp(model, W, XS)[1])(1.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_backward_product_has_the_forward_line(way: str) -> None:
    found = products(WAYS[way]())
    assert found
    assert {(info.file, info.line, info.function) for info in found} == {
        (__file__, MODEL_LINE, "model")
    }


def test_a_source_says_where_in_words() -> None:
    forward, backward = products(WAYS["on the fly"]())
    assert (forward.names, forward.scope) == ("jvp(mlp)", "mlp")
    assert (backward.names, backward.scope) == ("transpose(jvp(mlp))", "mlp")
    line = f"{__file__}:{MODEL_LINE} (model, scope"
    assert forward.where == f"at {line} jvp(mlp))"
    assert backward.where == f"in the backward pass of {line} transpose(jvp(mlp)))"
    assert SourceInfo(None, 0).names == ""
    odd = SourceInfo(None, 0, (Transformation("vmap"), "a/b", Transformation("jvp")))
    assert (odd.names, str(odd)) == ("vmap(a/b)/jvp()", "<unknown>:0 (, scope vmap(a/b)/jvp())")


double_p = primitive(
    "provenance.double",
    rules.impl(lambda x: 2 * x),
    rules.abstract_eval(lambda x: x),
    rules.jvp(
        lambda primals, tangents: (double_p.bind(*primals), lax.neg(double_p.bind(*tangents)))
    ),
    rules.vmap(lambda size, operands, dims: (double_p.bind(*operands), *dims)),
    rules.transpose(lambda ct, x: [lax.neg(double_p.bind(ct))]),
    rules.lowering["stablehlo"](lambda ctx, x: ctx.op("stablehlo.add", [x, x])[0]),
)


def test_what_rules_of_others_make_has_the_line_of_the_application() -> None:
    double = double_p.bind

    def f(x: Any) -> Any:
        y = bindax.vmap(double)(x)
        return double(double(y))  # applied here

    def g(x: Any) -> Any:
        return bindax.jvp(f, (x,), (x,))

    found = {(names, line) for _, names, line in equations(bindax.make_jaxpr(g)(X).jaxpr)}
    first, second = line_of(f, "vmap("), line_of(f, "# applied here")
    assert found == {("jvp(vmap())", first), ("jvp()", second)}


def test_a_function_that_a_rule_traces_has_its_own_lines() -> None:
    helper = bindax.jit(lambda x: lax.cos(x))

    @bindax.custom_vjp
    def scaled(x: Any) -> Any:
        return lax.sin(x)

    scaled.defvjp(lambda x: (scaled(x), x), lambda x, ct: (helper(x) * ct,))
    bindax.make_jaxpr(bindax.grad(lambda x: scaled(x).sum()))(X)
    (eqn,) = bindax.make_jaxpr(helper)(X).jaxpr.eqns  # traced above, in the rule
    (inner,) = eqn.params["jaxpr"].jaxpr.eqns
    own = line_of(test_a_function_that_a_rule_traces_has_its_own_lines, "helper = ")
    assert (inner.source_info.line, inner.source_info.names) == (own, "")


def test_names_end_with_what_they_are_for() -> None:
    def fails(x: Any) -> Any:
        raise KeyError("x")

    for transformed in (
        bindax.grad(fails),
        bindax.vmap(fails),
        bindax.jit(fails),
        bindax.named_scope("scope")(fails),
        lambda x: bindax.jvp(fails, (x,), (x,)),
        lambda x: bindax.vjp(lambda x: double_p.bind(x, wrong=1), x),
    ):
        with pytest.raises((KeyError, TypeError, bindax.errors.RuleOutputError)):
            transformed(X)
        assert current_source.info == SourceInfo(None, 0)


def test_threads_have_names_of_their_own() -> None:
    found: list[str] = []

    def other() -> None:
        found.append(bindax.make_jaxpr(lax.sin)(X).jaxpr.eqns[0].source_info.names)

    with bindax.named_scope("mine"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == [""]


def test_nested_thrice_and_deep() -> None:
    def f(x: Any) -> Any:
        return bindax.jit(bindax.vmap(bindax.jit(lambda y: lax.sin(y))))(x).sum()

    program = bindax.make_jaxpr(bindax.grad(lambda x: bindax.grad(f)(x).sum()))(X)
    found = {names for name, names, _ in equations(program.jaxpr) if name == "cos"}
    assert found == {"jvp(jvp()) > vmap() > "}
    with pytest.raises(RecursionError):
        deep(X)
    assert current_source.info == SourceInfo(None, 0)


def deep(x: Any) -> Any:
    with bindax.named_scope("deep"):
        return bindax.make_jaxpr(deep)(x)


def test_printed_jaxprs_have_lines_and_names_on_request() -> None:
    closed = WAYS["on the fly"]()
    assert "#" not in str(closed) == closed.pretty_print()
    lines = closed.pretty_print(source_info=True, name_stack=True).splitlines()
    at = f"  # {__file__}:{MODEL_LINE} (model)"
    assert [line for line in lines if line.endswith(f"{at} [jvp(mlp)]")]
    assert [line for line in lines if line.endswith(f"{at} [transpose(jvp(mlp))]")]
    names = WAYS["of a jitted function"]().jaxpr.pretty_print(name_stack=True)
    assert re.search(r" = jit .*  # \[transpose\(jvp\(\)\)\]\n", names)
    assert re.search(r" = dot_general .*  # \[mlp\]\n", names)
    assert __file__ not in names


def test_a_nan_of_the_backward_pass_has_the_forward_line() -> None:
    def f(x: Any) -> Any:
        with bindax.named_scope("root"):
            return lax.sqrt(x).sum()

    def g(x: Any) -> Any:
        return f(x) * 0.0

    zeros, line = np.zeros(2, np.float32), line_of(f, "sqrt")
    ways = bindax.grad(g), bindax.grad(bindax.jit(g)), bindax.jit(bindax.grad(g))
    with bindax.debug_nans():
        for transformed in ways:
            with pytest.raises(NonFiniteError) as caught:
                transformed(zeros)
            assert "encountered in mul: 2 of the 2 elements of float32[2]" in str(caught.value)
            place = f"in the backward pass of {__file__}:{line} (f, scope transpose(jvp(root)))"
            names_of_calls = str(caught.value).replace("jvp())/root", "jvp(root))")
            assert place in names_of_calls
            assert not getattr(caught.value, "__notes__", [])


def test_an_error_of_a_rule_says_where_its_primitive_is_applied() -> None:
    def fails(*args: Any, **params: Any) -> Any:
        raise ZeroDivisionError("by the rule")

    def applied(x: Any) -> Any:
        with bindax.named_scope("layer"):
            return double_p.bind(x).sum()

    at = f"{__file__}:{line_of(applied, 'double_p')} (applied, scope"
    for kind, call, where in (
        (
            rules.transpose,
            bindax.grad(applied),
            f"in the backward pass of {at} transpose(jvp(layer)))",
        ),
        (rules.jvp, bindax.grad(bindax.jit(applied)), f"at {at} layer)"),
        (rules.vmap, bindax.vmap(bindax.jit(applied)), f"at {at} layer)"),
        (rules.vmap, bindax.vmap(applied), f"at {at} vmap(layer))"),
    ):
        with kind.scoped(double_p, kind(fails)), pytest.raises(ZeroDivisionError) as caught:
            call(XS)
        notes = caught.value.__notes__
        assert notes[0].startswith(f"It was raised in the {kind.name} rule of provenance.double, ")
        assert notes[1] == f"provenance.double is applied {where}."
    nothing = rules.transpose.absent("it is a test")
    with rules.transpose.scoped(double_p, nothing), pytest.raises(MissingRuleError) as missing:
        bindax.grad(applied)(X)
    (note,) = missing.value.__notes__
    assert (
        note == f"provenance.double is applied in the backward pass of {at} transpose(jvp(layer)))."
    )


def test_texts_of_jaxprs_have_sources_on_request() -> None:
    closed = WAYS["of a jitted function"]()
    assert "from (" not in bindax.jaxpr_to_text(closed)
    text = bindax.jaxpr_to_text(closed, source_info=True)
    assert f'(a, b) from ("{__file__}", ' in text
    assert f'from ("{__file__}", {MODEL_LINE}, "model", "mlp")\n' in text
    found = bindax.jaxpr_from_text(text)
    assert bindax.jaxpr_to_text(found, source_info=True) == text
    assert list(equations(found.jaxpr)) == list(equations(closed.jaxpr))
    assert [str(info) for info in products(found)] == [str(info) for info in products(closed)]
    text = re.sub("checksum .*\n", "", bindax.jaxpr_to_text(WAYS["on the fly"](), source_info=True))
    assert f'{MODEL_LINE}, "model", transpose, jvp, "mlp")' in text
    for old, new, message in (
        (f", {MODEL_LINE},", ", -1,", "expected the number of a line, found '-1'"),
        (
            f", {MODEL_LINE},",
            ", 12345678901,",
            "expected the number of a line, found '12345678901'",
        ),
        ('"model"', "model", "expected a string, found 'model'"),
        ("transpose, jvp", "transpose jvp", "expected ',', found 'jvp'"),
        ("from (", "from [", r"expected '\(', found '\['"),
    ):
        with pytest.raises(bindax.errors.JaxprTextError, match=rf"line \d+: {message}"):
            bindax.jaxpr_from_text(text.replace(old, new))


def test_compiled_programs_have_names_and_lines() -> None:
    pytest.importorskip("jaxlib")
    lowered = bindax.jit(bindax.grad(model)).lower(W, XS)
    text = lowered.as_text(debug_info=True)
    for names in ("jit(model)/jvp(mlp)/dot_general", "jit(model)/transpose(jvp(mlp))/dot_general"):
        (number,) = re.findall(rf'loc\("{re.escape(names)}"\(#(loc\d+)\)\)', text)
        (number,) = re.findall(rf'#{number} = loc\("model"\(#(loc\d+)\)\)', text)
        assert f'#{number} = loc("{__file__}":{MODEL_LINE}:' in text
    optimized = lowered.compile().as_text()
    found = {name.rpartition("/")[0] for name in re.findall(r'op_name="([^"]*)"', optimized)}
    assert {"jit(model)/jvp(mlp)", "jit(model)/transpose(jvp(mlp))"} <= found
    assert f'FileNames\n1 "{__file__}"\n\nFunctionNames\n1 "model"\n' in optimized
    assert {*re.findall(r" line=(\d+) ", optimized)} == {str(MODEL_LINE)}


def test_programs_that_were_saved_keep_names_and_lines() -> None:
    pytest.importorskip("jaxlib")
    saved = bindax.export.export(bindax.jit(bindax.grad(model)))(W, XS).serialize()
    loaded = bindax.export.deserialize(saved)
    lowered = bindax.jit(lambda w, xs: loaded.call(w, xs)).lower(W, XS)
    text = lowered.as_text(debug_info=True)
    around = "jit(<lambda>)/custom_vjp_call/call_exported/"
    compiled = re.findall(r'op_name="([^"]*)"', lowered.compile().as_text())
    found = {name.removeprefix(around).rpartition("/")[0] for name in compiled}
    for names in ("jit(model)/jvp(mlp)", "jit(model)/transpose(jvp(mlp))"):
        (number,) = re.findall(rf'loc\("{re.escape(names)}/dot_general"\(#(loc\d+)\)\)', text)
        (number,) = re.findall(rf'#{number} = loc\("model"\(#(loc\d+)\)\)', text)
        assert f'#{number} = loc("{__file__}":{MODEL_LINE}:' in text
        assert names in found
    closed = bindax.make_jaxpr(bindax.grad(model))(W, XS)
    read = bindax.jaxpr_from_text(bindax.jaxpr_to_text(closed, source_info=True))
    again = bindax.jit(lambda w, xs: bindax.eval_jaxpr(read.jaxpr, read.consts, w, xs))
    text = again.lower(W, XS).as_text(debug_info=True)
    for names in ("jit(<lambda>)/jvp(mlp)", "jit(<lambda>)/transpose(jvp(mlp))"):
        assert f'loc("{names}/dot_general"(' in text


def test_names_of_compiled_programs_are_those_of_jax() -> None:
    pytest.importorskip("jaxlib")

    def names(api: Any) -> set[str]:
        called = api.jit(lambda w, x: net(api, w, x))
        called.__name__ = "called"

        def f(w: Any, x: Any) -> Any:
            with api.named_scope("first"):
                y = called(w, x)
            with api.named_scope("second"):
                return y + called(w, x + 1) + chosen(api, w, x) + repeated(api, w, y * x)

        text = api.jit(api.vmap(f, (None, 0))).lower(W, XS).as_text(debug_info=True)
        found = re.findall(r'loc\("([^"]*)"', text)
        return {name for name in found if re.search("/(sin|cos|dot_general)$", name)}

    assert names(bindax) == names(jax)


def test_the_same_program_at_another_line_is_compiled_once() -> None:
    pytest.importorskip("jaxlib")
    one = bindax.jit(lambda x: lax.sin(x) * 3)
    other = bindax.jit(lambda x: lax.sin(x) * 3)
    first, second = one.lower(X), other.lower(X)
    assert first.as_text() == second.as_text()
    assert first.as_text(debug_info=True) != second.as_text(debug_info=True)
    first.compile()
    store: Any = find_backend("xla")
    count = len(store.compiled)
    second.compile()
    assert len(store.compiled) == count
