"""What users read when something is wrong: each message by its text."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import toy

import bindax_core as bx
import bindax_transforms as bt
from bindax_core import errors
from bindax_core.extend import (
    RuleKind,
    abstract_eval,
    extend,
    impl,
    jvp,
    primitive,
    transpose,
    vmap,
)

pytestmark = pytest.mark.usefixtures("toy_operations")


@pytest.mark.parametrize("transformation", ["jit", "grad", "vmap"])
def test_escaped_tracer(transformation: str) -> None:
    kept: list[Any] = []

    def leaky(x: Any) -> Any:
        kept.append(toy.sin(x))
        return x

    x = np.ones(2) if transformation == "vmap" else 1.0
    getattr(bt, transformation)(leaky)(x)
    with pytest.raises(errors.UnexpectedTracerError) as caught:
        toy.sin(kept[0])
    text = str(caught.value)
    assert f"made in {transformation} of " in text
    assert "leaky" in text
    assert "test_messages.py" in text
    assert "escaped from it and is used after it ended. Return it from the function" in text
    if transformation == "jit":
        assert "it was made by toy.sin at " in text


def test_escaped_tracer_into_the_next_trace() -> None:
    kept: list[Any] = []

    @bt.jit
    def first(x: Any) -> Any:
        kept.append(x)
        return x

    first(1.0)
    with pytest.raises(errors.UnexpectedTracerError, match=r"escaped from it"):
        bt.jit(lambda y: y + kept[0])(2.0)
    with pytest.raises(errors.UnexpectedTracerError, match=r"escaped from it"):
        bt.jit(lambda: kept[0])()


def test_tracer_in_another_thread() -> None:
    caught: list[BaseException] = []

    def g(x: Any) -> Any:
        def work() -> None:
            try:
                toy.sin(x)
            except errors.UnexpectedTracerError as error:
                caught.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return x

    bt.grad(g)(1.0)
    assert "is used in another thread than the one that traces it" in str(caught[0])


def test_if_on_a_traced_value() -> None:
    def g(x: Any) -> Any:
        return x if x > 0.0 else -x

    with pytest.raises(errors.TracerBoolConversionError) as caught:
        bt.jit(g)(1.0)
    text = str(caught.value)
    assert "boolean conversion of a traced value (by if, while, and, or, not)" in text
    assert "bool[] in jit of " in text
    assert "it was made by toy.greater at " in text
    assert "Use bindax.lax.cond, bindax.lax.while_loop or bindax.numpy.where" in text
    with pytest.raises(errors.TracerBoolConversionError, match=r"vmap of "):
        bt.vmap(g)(np.ones(2))


def test_numbers_and_numpy_of_a_traced_value() -> None:
    with pytest.raises(
        errors.ConcretizationTypeError, match=r"Abstract tracer value .* by float\(\): "
    ):
        bt.jit(lambda x: float(x))(1.0)
    with pytest.raises(
        errors.TracerIntegerConversionError, match=r"__index__\(\) method was called on"
    ):
        bt.jit(lambda x: [1.0, 2.0][x])(1)
    with pytest.raises(
        errors.TracerArrayConversionError, match=r"numpy.ndarray conversion .*: float64"
    ):
        bt.jit(lambda x: np.sin(x))(1.0)
    with pytest.raises(TypeError, match=r"immutable, so x\[i\] = y is not possible"):
        bt.jit(lambda x: x.__setitem__(0, 1.0))(np.ones(2))
    assert float(bt.grad(lambda x: x * float(x))(3.0)) == 3.0  # concrete under grad


def test_non_array_argument_of_jit() -> None:
    def g(config: Any, x: Any) -> Any:
        return x

    with pytest.raises(TypeError) as caught:
        bt.jit(g)({"name": "adam"}, 1.0)
    text = str(caught.value)
    assert "argument config['name'] is not an array: a value of type builtins.str" in text
    assert "static_argnames" in text


def test_integer_that_is_too_large_for_the_dtype_of_an_argument() -> None:
    f = bt.jit(lambda x, d: (x, d["n"]))
    with bx.config.override(enable_x64=False):
        for _ in range(2):
            with pytest.raises(OverflowError, match=r"jit of .*: argument d\['n'\]: .* 21474836"):
                f(1.0, {"n": 2**31})
            f(1.0, {"n": 1})


def test_unhashable_static_argument() -> None:
    with pytest.raises(ValueError, match=r"Non-hashable static .*: 1 is \[1, 2\] .* pass a tuple"):
        bt.jit(lambda x, n: x, static_argnums=1)(1.0, [1, 2])


def test_incomparable_static_argument() -> None:
    class Strange:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            raise NotImplementedError("no order among these")

    f = bt.jit(lambda x, n: x, static_argnums=1)
    f(1.0, Strange())
    with pytest.raises(ValueError, match=r"comparable by ==, but 1, of type Strange, .* among"):
        f(1.0, Strange())


@pytest.mark.parametrize("name", ["jit", "grad", "vmap", "make_jaxpr", "jacfwd"])
def test_non_array_result(name: str) -> None:
    def g(x: Any) -> Any:
        return {"a": [x, "no"]}

    with pytest.raises(TypeError, match=r"at output\['a'\]\[1\] a value of type builtins.str") as c:
        getattr(bt, name)(g)(np.ones(2))
    assert " of " in str(c.value)
    assert "test_messages.py" in str(c.value)


def test_mismatched_primals_and_tangents() -> None:
    with pytest.raises(TypeError, match=r"must have the same structure, but the primals are"):
        bt.jvp(lambda x: x, ({"a": 1.0},), ({"b": 1.0},))
    with pytest.raises(TypeError, match=r"tangent for x\['a'\] must have the type float64\[2\]"):
        bt.jvp(lambda x: x, ({"a": np.ones(2)},), ({"a": np.ones(3)},))
    with pytest.raises(TypeError, match=r"must have the type float0\[\], because the primal is in"):
        bt.jvp(lambda x: x, (1,), (1,))
    with pytest.raises(TypeError, match=r"primals and tangents as tuples or lists"):
        bt.jvp(lambda x: x, 1.0, 1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"jvp with respect to x: a value of type builtins.str"):
        bt.jvp(lambda x: x, ("no",), (1.0,))


def test_a_callable_whose_text_raises_has_a_name() -> None:
    class Callable:
        def __call__(self, x: Any) -> Any:
            return (x, object())

        def __repr__(self) -> str:
            raise ValueError("no text")

    assert repr(bt.jit(Callable())) == "<jit of an object of type Callable>"
    with pytest.raises(TypeError, match=r"jit of an object of type Callable returned at output"):
        bt.jit(Callable())(1.0)


def test_mismatched_cotangents() -> None:
    _, pullback = bt.vjp(lambda x: (x, x), 1.0)
    with pytest.raises(TypeError, match=r"cotangent must have the structure of the output"):
        pullback(1.0)
    with pytest.raises(TypeError, match=r"cotangent for output\[1\] must have the type float64"):
        pullback((1.0, np.ones(3)))
    transposed = bt.linear_transpose(lambda x: {"y": toy.neg(x)}, np.ones(2))
    with pytest.raises(TypeError, match=r"for output\['y'\] must have the type float64\[2\]"):
        transposed({"y": np.ones(3)})
    with pytest.raises(TypeError, match=r"the output is float64\[2\], but it is float32\[2\]"):
        transposed({"y": np.ones(2, np.float32)})
    with pytest.raises(TypeError, match=r"cotangent for output\['y'\]: a value of type builtins"):
        transposed({"y": "no"})
    single = bt.linear_transpose(toy.neg, np.float32(1.0))
    assert single(2.0)[0].dtype == np.float32  # a Python scalar takes the dtype that is needed
    with pytest.raises(TypeError, match=r"must have the type float32\[\], .* but it is complex128"):
        single(1j)
    _, linear = bt.linearize(lambda x: x, 1.0)
    with pytest.raises(TypeError, match=r"tangents must have the structure of the arguments"):
        linear(1.0, 2.0)


def test_grad_of_what_is_not_a_float_scalar() -> None:
    with pytest.raises(TypeError, match=r"^Gradient only defined for .* shape \(3,\). Reduce"):
        bt.grad(toy.sin)(np.ones(3))
    with pytest.raises(TypeError, match=r"returned tuple: .* use has_aux=True for more outputs"):
        bt.grad(lambda x: (x, x))(1.0)
    with pytest.raises(TypeError, match=r"inputs of a float dtype, but d\['n'\] is int64"):
        bt.grad(lambda d: d["n"])({"n": 3})
    with pytest.raises(TypeError, match=r"returns a float scalar, but it returned complex128\[\]"):
        bt.grad(lambda x: x)(1j)
    with pytest.raises(TypeError, match=r"jacfwd needs real inputs, but \w+ is complex128"):
        bt.jacfwd(lambda x: x)(1j)
    with pytest.raises(TypeError, match=r"float dtype, but the output\['n'\] is int64\[2\]"):
        bt.jacrev(lambda x: {"n": np.arange(2), "x": x})(np.ones(2))
    with pytest.raises(TypeError, match=r"but the output is complex128\[\]\. .*holomorphic=True"):
        bt.jacrev(lambda x: x)(1j)
    with pytest.raises(TypeError, match=r"jacrev needs complex outputs with holomorphic=True, but"):
        bt.jacrev(lambda x: np.ones(2), holomorphic=True)(1j)
    with pytest.raises(TypeError, match=r"with respect to \w+: a value of type builtins.str"):
        bt.grad(lambda x: x)("no")
    with pytest.raises(TypeError, match=r"with respect to argument 1, but the function was called"):
        bt.grad(lambda x: x, argnums=1)(1.0)
    with pytest.raises(ValueError, match=r"argnums=\(0, -2\) of grad names an argument twice"):
        bt.grad(lambda x, y: x * y, argnums=(0, -2))(1.0, 2.0)
    with pytest.raises(TypeError, match=r"argnums of grad must be an integer or a sequence"):
        bt.grad(lambda x: x, argnums=("x",))(1.0)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"returns a pair"):
        bt.grad(lambda x: x, has_aux=True)(1.0)


def test_inconsistent_batch_sizes() -> None:
    with pytest.raises(
        ValueError, match=r"inconsistent sizes for array axes to be mapped"
    ) as caught:
        bt.vmap(lambda x, y: x)(np.ones(2), {"k": np.ones((3, 4))})
    text = str(caught.value)
    assert "x of type float64[2] has size 2 along axis 0" in text
    assert "y['k'] of type float64[3,4] has size 3 along axis 0" in text
    with pytest.raises(ValueError, match=r"y of type float64\[3\] has size 3"):
        bt.vmap(lambda x, y: x)(np.ones(2), y=np.ones(3))
    with pytest.raises(ValueError, match=r"axis_size=4 was given"):
        bt.vmap(lambda x: x, axis_size=4)(np.ones(2))
    for wrong in (2.5, "2", -1, np.array([2, 2])):
        with pytest.raises(TypeError, match="axis_size of vmap must be an integer from 0 on, but"):
            bt.vmap(lambda: 1.0, axis_size=wrong)()
    with pytest.raises(ValueError, match=r"map axis 1 of x, which has the type float64\["):
        bt.vmap(lambda x: x, in_axes=1)(np.ones(2))
    with pytest.raises(ValueError, match=r"needs at least one mapped argument"):
        bt.vmap(lambda x: x, in_axes=None)(np.ones(2))
    with pytest.raises(ValueError, match=r"in_axes of vmap has 1 entries for 2 positional"):
        bt.vmap(lambda x, y: x, in_axes=(0,))(np.ones(2), np.ones(2))
    with pytest.raises(ValueError, match=r"out_axes None for output 0, but that output depends"):
        bt.vmap(lambda x: x, out_axes=None)(np.ones(2))
    with pytest.raises(ValueError, match=r"put the mapped axis at 3 of output 0"):
        bt.vmap(lambda x: x, out_axes=3)(np.ones(2))
    with pytest.raises(errors.TreeError, match=r"in_axes"):
        bt.vmap(lambda x: x, in_axes=({"b": 0},))({"a": np.ones(2)})


@pytest.mark.parametrize("wrong", ["a", 1.0, False, np.ones(2), np.ones(())])
@pytest.mark.parametrize("what", ["in_axes", "out_axes"])
def test_axes_that_are_no_integers_are_refused_before_the_call(what: str, wrong: Any) -> None:
    for axes in (wrong, (wrong,), [{"a": wrong}]):
        with pytest.raises(TypeError, match=rf"vmap {what} must be an int, None, or a tree of"):
            bt.vmap(lambda x: x, **{what: axes})


def test_axes_of_arguments_have_an_entry_for_each() -> None:
    with pytest.raises(TypeError, match=r"or a tuple with an entry for each positional argument"):
        bt.vmap(lambda x: x["a"], in_axes={"a": 0})
    one = bt.vmap(lambda x: x["a"], in_axes=[{"a": np.int64(0)}], out_axes={"b": 0}["b"])
    assert one({"a": np.ones(2)}).shape == (2,)


@pytest.mark.parametrize("count", [0, 2])
def test_a_derivative_called_with_other_than_one_cotangent(count: int) -> None:
    _, pullback = bt.vjp(lambda x: (x, x), 1.0)
    text = rf"the vjp of <lambda> .* takes one cotangent, .* it was called with {count} arguments"
    with pytest.raises(TypeError, match=text):
        pullback(*(1.0,) * count)


def test_calls_without_the_argument_that_is_differentiated() -> None:
    for f in (bt.grad(lambda x: x, 1), bt.value_and_grad(lambda x: x, 1)):
        with pytest.raises(TypeError, match="with respect to argument 1, but the function was"):
            f(1.0)
    for f in (bt.jacfwd(lambda x: x, 1), bt.jacrev(lambda x: x, 1), bt.grad(lambda x: x, -2)):
        with pytest.raises(ValueError, match="the function was called with 1 positional"):
            f(1.0)


def test_transposes_of_integers_that_become_floats() -> None:
    multiply = pytest.importorskip("bindax.numpy").multiply
    text = r"linear_transpose only supports .* but <lambda> .* is one of \(int64\[\]\) to \(float64"
    with pytest.raises(TypeError, match=text):
        bt.linear_transpose(lambda x: multiply(x, 2.0), 1)
    assert int(bt.linear_transpose(lambda x: multiply(x, 2), 1)(3)[0]) == 6


def masked() -> Any:
    return np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize(
    ("where", "call"),
    [
        ("", lambda x: toy.sin(x)),
        ("", lambda x: toy.add(np.ones(3), x)),
        ("", lambda x: bx.device_put(x)),
        ("", lambda x: bt.jit(lambda: toy.sin(x))()),
        ("jit of <lambda> .*: argument y is not an array: ", lambda x: bt.jit(lambda y: y)(x)),
        (r"vmap over y: ", lambda x: bt.vmap(lambda y: y)(x)),
        ("jvp with respect to y: ", lambda x: bt.jvp(lambda y: y, (x,), (x,))),
        ("vjp with respect to y: ", lambda x: bt.vjp(lambda y: y, x)),
        ("grad with respect to y: ", lambda x: bt.grad(lambda y: y)(x)),
        ("jit of <lambda> .* returned at output ", lambda x: bt.jit(lambda: x)()),
        ("eval_shape: ", lambda x: bt.eval_shape(lambda y: y, x)),
        ("make_jaxpr: ", lambda x: bt.make_jaxpr(lambda y: y)(x)),
        ("checkpoint of <lambda> .* is not an array: ", lambda x: bt.checkpoint(lambda y: y)(x)),
    ],
)
def test_masked_arrays_are_refused(where: str, call: Any) -> None:
    text = (
        rf"(?s)^{where}a value of type numpy\.ma\.(core\.)?MaskedArray is not a legal operand: "
        r"masked_array.* Its mask would be ignored: pass x\.filled\(value\), or x\.data and x\.mas"
    )
    with pytest.raises(ValueError, match=text) as caught:
        call(masked())
    assert isinstance(caught.value, TypeError)


def test_other_arrays_of_numpy_are_legal() -> None:
    class Named(np.ndarray[Any, Any]):
        """A subclass that says nothing about which elements count."""

    np.testing.assert_array_equal(toy.sin(masked().filled(0.0)), np.sin([1.0, 0.0, 3.0]))
    np.testing.assert_array_equal(toy.sin(np.ones(3).view(Named)), np.sin(np.ones(3)))
    with pytest.raises(errors.AbstractionError, match=r"MaskedConstant is not a legal operand"):
        toy.sin(np.ma.masked)


def test_wrong_operands_of_a_primitive() -> None:
    for call in (toy.add, bt.jit(toy.add)):
        with pytest.raises(TypeError, match=r"operands must agree"):
            call(np.ones(2), np.ones(3))
    with pytest.raises(errors.AbstractionError, match=r"type builtins.str is not a legal operand"):
        toy.sin("no")
    with pytest.raises(errors.AbstractionError, match=r"dtype object and shape"):
        toy.sin(np.array([None, 1]))
    with pytest.raises(OverflowError, match=r"does not fit into int64"):
        toy.neg(2**70)


def test_missing_rules() -> None:
    bare_p = primitive(
        "toy.bare",
        impl(lambda x: x),
        abstract_eval(lambda x: x),
        jvp.absent("nobody knows its derivative"),
        vmap(lambda size, operands, dims: (*operands, *dims)),
        transpose.elsewhere("bindax-elsewhere"),
        toy.interpreted,
    )
    with pytest.raises(errors.MissingRuleError) as caught:
        bt.jvp(bare_p.bind, (1.0,), (1.0,))
    text = str(caught.value)
    assert "toy.bare has no jvp rule: nobody knows its derivative." in text
    assert "test_messages" in text
    assert "has the rules abstract_eval, impl, vmap." in text
    assert "(primals, tangents, **params) -> (primal_out, tangent_out)" in text
    with pytest.raises(
        errors.MissingRuleError, match=r"The rule is expected from bindax-elsewhere"
    ):
        transpose.get(bare_p)
    with pytest.raises(errors.MissingRuleError, match=r"toy.sin has no transpose rule: not linear"):
        bt.linear_transpose(toy.sin, 1.0)(1.0)


def test_cards_mention_every_canonical_rule() -> None:
    expected = r"does not mention lowering.stablehlo, jvp, transpose, vmap"
    with pytest.raises(TypeError, match=expected):
        primitive("toy.incomplete", impl(lambda x: x), abstract_eval(lambda x: x))
    with pytest.raises(TypeError, match=r"holds 3, which is not a rule"):
        primitive("toy.incomplete", 3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"impl\(...\) takes the rule as a function"):
        impl(3)  # type: ignore[arg-type]


def test_tables_are_written_once() -> None:
    extension = extend(toy.sin_p, impl(np.cos))
    (rule,) = extension.rules
    with pytest.raises(errors.DuplicateRuleError) as caught:
        rule.kind.install(toy.sin_p, rule)
    text = str(caught.value)
    assert "the impl rule for toy.sin from " in text
    assert "is already defined by " in text
    assert "A rule is given once" in text
    with impl.scoped(toy.sin_p, rule):
        assert float(toy.sin(0.0)) == 1.0
    assert float(toy.sin(0.0)) == 0.0


def test_wrong_rules_are_named() -> None:
    wrong_p = primitive(
        "toy.wrong",
        impl(lambda x: np.zeros(3, np.float32)),
        abstract_eval(lambda x: bx.ShapedArray((7,), np.float64)),
        jvp.absent("a test"),
        vmap.absent("a test"),
        transpose(lambda ct, x: 3),
        toy.interpreted,
    )
    with pytest.raises(errors.RuleOutputError) as caught:
        wrong_p.bind(1.0)
    text = str(caught.value)
    assert "the impl rule of toy.wrong returned float32[3], but its" in text
    assert "abstract_eval rule says float64[7]" in text
    with pytest.raises(
        TypeError, match=r"transpose rule of toy.wrong, .* must return a sequence with"
    ):
        bt.linear_transpose(lambda x: wrong_p.bind(x), 1.0)(np.zeros(7))


def test_recursion() -> None:
    @bt.jit
    def g(x: Any) -> Any:
        return g(x)

    with pytest.raises(errors.TracingRecursionError) as caught:
        g(1.0)
    text = str(caught.value)
    assert "g (" in text
    assert "calls itself, while it is being traced, with arguments of the same types" in text
    assert "use while_loop or scan" in text

    def h(x: Any) -> Any:
        return h(x)

    with pytest.raises(RecursionError):
        bt.grad(h)(1.0)
    assert float(bt.grad(toy.sin)(0.0)) == 1.0  # the trace stack is clean afterwards


def test_unknown_backend_and_settings() -> None:
    with pytest.raises(errors.BackendError, match=r"no backend named 'tpu9'; installed are"):
        bt.jit(toy.sin, backend="tpu9")(1.0)
    with pytest.raises(ValueError, match=r"default_dtype_bits must be one of 32, 64, but got 16"):
        bx.config.default_dtype_bits = 16  # type: ignore[assignment]


def test_internal_frames_are_hidden() -> None:
    import traceback

    def user(x: Any) -> Any:
        return toy.add(x, np.ones(3))

    def frames() -> list[str]:
        try:
            bt.grad(user)(np.ones(2))
        except TypeError as error:
            return [entry.filename for entry in traceback.extract_tb(error.__traceback__)]
        raise AssertionError

    with bx.config.override(traceback="filtered"):
        hidden = frames()
    with bx.config.override(traceback="full"):
        full = frames()
    assert not [name for name in hidden if "bindax_core" in name]
    assert [name for name in full if "bindax_core" in name]
    assert hidden[-1].endswith("toy.py")


def test_new_rule_kinds() -> None:
    cost = RuleKind("toy.cost", signature="(*avals, **params) -> int")
    extension = extend(toy.sin_p, cost(lambda x: x.size))
    with pytest.raises(errors.MissingRuleError, match=r"toy.sin has no toy.cost rule"):
        cost.get(toy.sin_p)
    cost.install(toy.sin_p, extension.rules[0])
    assert cost.get(toy.sin_p)(bx.ShapedArray((2, 3), np.float32)) == 6


@pytest.mark.parametrize("position", [5, -5, (0, 7)])
def test_static_positions_that_name_no_parameter(position: Any) -> None:
    def f(x: Any, y: Any) -> Any:
        return x

    for transformation in (bt.make_jaxpr, bt.checkpoint, bt.jit):
        name = transformation.__name__
        with pytest.raises(ValueError, match=rf"static_argnums of {name} names position -?[57]"):
            transformation(f, static_argnums=position)(1.0, 2.0)


def test_axis_names_are_hashable() -> None:
    with pytest.raises(TypeError, match=r"vmap: axis_name must be hashable, .* but is \['i'\]"):
        bt.vmap(lambda x: x, axis_name=["i"])
