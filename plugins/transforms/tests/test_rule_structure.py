"""The structure of what rules return is checked always, and the error names the rule."""

from __future__ import annotations

import numpy as np
import pytest

from bindax_core.errors import RuleOutputError
from bindax_core.extend import ShapedArray, primitive, rules
from bindax_transforms import jit, jvp, vjp, vmap

X = np.arange(3.0)
ESCAPED = []
jit(lambda x: ESCAPED.append(x))(X)


def scaled(name: str, multiple_results: bool = False, **changed):
    """A primitive that doubles its operand; some rules are exchanged."""

    def one(x):
        return [x] if multiple_results else x

    def first(xs):
        return xs

    given = {
        "impl": lambda x: one(x * 2.0),
        "abstract_eval": lambda x: one(x),
        "jvp": lambda primals, tangents: (
            one(made.bind(*primals)),
            one(made.bind(*tangents)),
        ),
        "vmap": lambda size, operands, dims: (made.bind(*operands), one(dims[0])),
        "transpose": lambda ct, x: [made.bind(ct)],
    }
    if multiple_results:
        given["impl"] = lambda x: [x * 2.0, x]
        given["abstract_eval"] = lambda x: [x, x]
    given.update(changed)
    made = primitive(
        name,
        *(getattr(rules, kind)(function) for kind, function in given.items()),
        rules.lowering["stablehlo"].absent("a test"),
        multiple_results=multiple_results,
    )
    return made


def complaint(kind: str, name: str, *texts: str) -> str:
    """A pattern for the error about a rule of this file."""
    parts = [f"the {kind} rule of {name}", r"test_rule_structure\.py:\d+", *texts]
    return ".*".join([*parts, r"config\.check_rules"])


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (lambda p, t: p[0], ["one value, float64\\[3\\]", "pair"]),
        (lambda p, t: (p[0], t[0], t[0]), ["tuple of 3", "pair"]),
        (lambda p, t: (p[0], (t[0],)), ["tangent should be one array", "tuple of 1"]),
        (lambda p, t: ([p[0]], t[0]), ["primal result should be one array", "list of 1"]),
        (lambda p, t: (p[0], None), ["tangent should be one array", "NoneType"]),
        (lambda p, t: (p[0], 1.0), [r"tangent of shape \(\)", r"result of shape \(3,\)"]),
        (lambda p, t: (p[0], np.ones(3, np.float32)), [r"float32\[3\] for a result of", "float64"]),
        (lambda p, t: (p[0], np.ones(3, int)), [r"int64\[3\] for a result of", "float64"]),
        (
            lambda p, t: (p[0], ESCAPED[0]),
            ["the tangent is a traced value that was", "jit of"],
        ),
        (lambda p, t: (ESCAPED[0], t[0]), ["the primal result is a traced value that was made"]),
    ],
)
def test_jvp_rules(rule, texts):
    made = scaled("wrong_jvp", jvp=rule)
    with pytest.raises(RuleOutputError, match=complaint("jvp", "wrong_jvp", *texts)):
        jvp(made.bind, (X,), (X,))


def test_an_array_of_two_is_no_pair():
    made = scaled("wrong_pair", jvp=lambda p, t: p[0], vmap=lambda size, xs, dims: xs[0])
    two = np.arange(2.0)
    with pytest.raises(RuleOutputError, match=complaint("jvp", "wrong_pair", "pair")):
        jvp(made.bind, (two,), (two,))
    with pytest.raises(RuleOutputError, match=complaint("vmap", "wrong_pair", "pair")):
        vmap(made.bind)(two)


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (lambda size, xs, dims: (xs[0], 1), ["1 as the batch dimension", "no such axis"]),
        (lambda size, xs, dims: (xs[0], -1), ["-1 as the batch dimension", "no such axis"]),
        (lambda size, xs, dims: (xs[0], "0"), ["'0' as the batch dimension"]),
        (lambda size, xs, dims: (xs[0], 0.0), ["0.0 as the batch dimension", "must be an integer"]),
        (lambda size, xs, dims: (xs[0], np.array([0])), [r"array\(\[0\]\) as the batch dim"]),
        (lambda size, xs, dims: (xs[0], None), [r"\(3,\) without a batch", r"the shape \(\)"]),
        (lambda size, xs, dims: (ESCAPED[0], 0), ["the result is a traced value that was made"]),
        (lambda size, xs, dims: (np.ones(4), 0), ["has the size 4", "batch has the size 3"]),
        (lambda size, xs, dims: ([xs[0]], [0]), ["result should be one array", "list of 1"]),
        (lambda size, xs, dims: (xs[0], 0, 0), ["tuple of 3", "pair"]),
    ],
)
@pytest.mark.parametrize("traced", [False, True])
def test_vmap_rules(rule, texts, traced):
    made = scaled("wrong_vmap", vmap=rule)
    batched = vmap(made.bind)
    with pytest.raises(RuleOutputError, match=complaint("vmap", "wrong_vmap", *texts)):
        jit(batched)(X) if traced else batched(X)


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (lambda ct, x: ct, ["one entry for each of its 1 operands", "one value"]),
        (lambda ct, x: [ct, ct], ["one entry for each of its 1 operands", "list of 2"]),
        (lambda ct, x: [1.0], [r"cotangent of shape \(\) for operand 0", r"\(3,\)"]),
        (lambda ct, x: [[ct]], ["cotangent of operand 0 should be one array", "list of 1"]),
        (
            lambda ct, x: [np.ones(3, np.float32)],
            [r"type float32\[3\] for operand 0, .*float64"],
        ),
        (lambda ct, x: [np.ones(3, int)], [r"of type int64\[3\] for operand 0, .*float64"]),
        (lambda ct, x: [ESCAPED[0]], ["cotangent of operand 0 is a traced value that was made"]),
    ],
)
def test_transpose_rules(rule, texts):
    made = scaled("wrong_transpose", transpose=rule)
    with pytest.raises(RuleOutputError, match=complaint("transpose", "wrong_transpose", *texts)):
        vjp(made.bind, X)[1](X)


@pytest.mark.parametrize(
    ("rule", "texts"),
    [
        (lambda x: (x,), ["result should be one type", "tuple of 1"]),
        (lambda x: [x], ["result should be one type", "list of 1"]),
        (lambda x: x.shape, ["result should be one type", "tuple of 1"]),
        (lambda x: None, ["result should be one type", "NoneType None"]),
    ],
)
def test_abstract_eval_rules(rule, texts):
    made = scaled("wrong_types", abstract_eval=rule)
    for call in (made.bind, jit(made.bind)):
        with pytest.raises(
            RuleOutputError, match=complaint("abstract_eval", "wrong_types", *texts)
        ):
            call(X)


def test_several_results():
    made = scaled("wrong_several", multiple_results=True, abstract_eval=lambda x: x)
    with pytest.raises(
        RuleOutputError, match=complaint("abstract_eval", "wrong_several", "sequence")
    ):
        made.bind(X)
    made = scaled("few", multiple_results=True)
    with pytest.raises(RuleOutputError, match=complaint("jvp", "few", "2 results")):
        jvp(lambda x: scaled("few", True, jvp=lambda p, t: ([p[0]], [t[0]])).bind(x), (X,), (X,))
    with pytest.raises(RuleOutputError, match=complaint("jvp", "few", "should be a list or tuple")):
        jvp(lambda x: scaled("few", True, jvp=lambda p, t: (p[0], t[0])).bind(x), (X,), (X,))
    with pytest.raises(RuleOutputError, match=complaint("vmap", "few", "dimensions are 1 values")):
        vmap(lambda x: scaled("few", True, vmap=lambda s, xs, d: ([xs[0]] * 2, [0])).bind(x))(X)


@pytest.mark.parametrize("value", [[1, 2], np.ones(2)])
def test_parameters_that_are_operands(value):
    made = scaled("with_parameter", impl=lambda x, k: x, abstract_eval=lambda x, k: x)
    for call in (made.bind, jit(lambda x, k: made.bind(x, k=value))):
        with pytest.raises(TypeError, match="the parameter 'k' of with_parameter is a"):
            call(X, k=value)
    with pytest.raises(TypeError, match="the parameter 'k' of with_parameter is a JaxprTracer"):
        jit(lambda x: made.bind(x, k=x))(X)


def test_types_are_types():
    assert scaled("right").out_avals((ShapedArray((3,), np.float32),), {})[0].shape == (3,)


@pytest.mark.parametrize(
    ("kind", "call"),
    [
        ("impl", lambda f: f(X)),
        ("abstract_eval", lambda f: f(X)),
        ("jvp", lambda f: jvp(f, (X,), (X,))),
        ("vmap", lambda f: vmap(f)(X)),
        ("transpose", lambda f: vjp(f, X)[1](X)),
    ],
)
@pytest.mark.parametrize("rule", [lambda: None, lambda x, *, other: None])
def test_rules_that_take_something_else(kind, call, rule):
    made = scaled("of_another_form", **{kind: rule})
    texts = ["cannot be called with the (one argument|. arguments) that it is given: ", "signature"]
    with pytest.raises(RuleOutputError, match=complaint(kind, "of_another_form", *texts)):
        call(made.bind)


def test_parameters_that_a_rule_does_not_take():
    made = scaled("without_k", abstract_eval=lambda x, k: x)
    with pytest.raises(RuleOutputError, match="one argument and the parameters k that it is given"):
        made.bind(X, k=2)


def test_errors_in_the_body_of_a_rule_are_its_own():
    def rule(x):
        return len(3)

    made = scaled("failing", impl=rule)
    with pytest.raises(TypeError) as caught:
        made.bind(X)
    assert str(caught.value) == "object of type 'int' has no len()"
    (note,) = caught.value.__notes__
    assert note.startswith("It was raised in the impl rule of failing, from ")


def test_a_rule_that_writes_to_its_operand_is_named():
    def rule(x):
        x *= 2.0
        return x

    made = scaled("writing", impl=rule)
    with pytest.raises(RuleOutputError, match=complaint("impl", "writing", "work on a copy")):
        made.bind(X)


def test_shapes_of_types_are_sizes():
    assert ShapedArray([3], np.float32) is ShapedArray((3,), np.float32)
    with pytest.raises(ValueError, match=r"sizes are not negative, but the shape is \(-3,\)"):
        ShapedArray((-3,), np.float32)
    ShapedArray((3,), np.float32)  # that it is known changes nothing
    for size in (3.5, 3.0, np.float32(3)):
        with pytest.raises(TypeError, match=r"'.*float.*' object cannot be interpreted as an int"):
            ShapedArray((size,), np.float32)
