"""Primitives as classes, against closed forms and against the same functions without them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax.experimental import hijax
from bindax.experimental.hijax import HiPrim, VJPHiPrimitive, Zero, instantiate_zeros
from bindax_core.extend import Effect, eval_jaxpr, typeof

X = np.float32(0.7)
XS = np.linspace(-1.0, 1.0, 6, dtype=np.float32).reshape(2, 3)


class PowerBase(HiPrim):
    """A power without derivatives."""

    exponent: int

    def __init__(self, aval: Any, *, exponent: int) -> None:
        self.in_avals = (aval,)
        self.out_aval = aval
        self.params = {"exponent": exponent}
        super().__init__()

    def expand(self, x: Any) -> Any:
        return x**self.exponent

    def lower(self, x: Any) -> Any:
        return type(self)(typeof(x), exponent=self.exponent - 1)(x)


class Power(PowerBase):
    """A power with a backward rule of its own."""

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        (x,) = args
        return self(x), x

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        return (outgrad * self.exponent * self.lower(res),)


class BothPower(Power):
    """The same with a forward rule."""

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return self(x), t * self.exponent * self.lower(x)


class JVPPower(PowerBase):
    """A power whose reverse mode is the transpose of its forward rule."""

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (t,) = primals, tangents
        return self(x), t * self.exponent * self.lower(x)


class LinPower(PowerBase):
    """A power with a forward rule in two steps."""

    def lin(self, nzs_in: Any, *primals: Any) -> Any:
        assert nzs_in == (True,)
        (x,) = primals
        return self(x), x, True, {"factor": self.exponent * self.lower(x)}

    def linearized(self, residuals: Any, *tangents: Any) -> Any:
        kept, (t,) = tangents[0], tangents[1:]
        return t * kept["factor"]


class DerivedPower(JVPPower):
    """A power whose rules follow from the forward rule."""

    lin, linearized = hijax.linearize_from_jvp
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_jvp


class DerivedLinPower(LinPower):
    """A power whose rules follow from the rule in two steps."""

    jvp = hijax.jvp_from_lin
    vjp_fwd, vjp_bwd_retval = hijax.vjp_from_lin


KINDS = [Power, BothPower, JVPPower, LinPower, DerivedPower, DerivedLinPower]


def cube_of(kind: Any) -> Any:
    return lambda x: kind(typeof(x), exponent=3)(x)


def elements(f: Any) -> Any:
    return bindax.vmap(bindax.vmap(f))


WRAPPED = [(kind, lambda f: f) for kind in KINDS]
WRAPPED += [(Power, bindax.jit), (BothPower, bindax.checkpoint), (LinPower, bindax.checkpoint)]


@pytest.mark.parametrize(("kind", "wrap"), WRAPPED)
def test_reverse_mode(kind: Any, wrap: Any) -> None:
    f = wrap(cube_of(kind))
    assert f(X) == pytest.approx(X**3, rel=1e-6)
    assert bindax.grad(f)(X) == pytest.approx(3 * X**2, rel=1e-6)
    assert bindax.grad(bindax.grad(f))(X) == pytest.approx(6 * X, rel=1e-6)
    assert bindax.grad(bindax.grad(bindax.grad(f)))(X) == pytest.approx(6.0, rel=1e-6)
    np.testing.assert_allclose(elements(bindax.grad(f))(XS), 3 * XS**2, rtol=1e-6)
    total = bindax.grad(lambda xs: jnp.sum(elements(f)(xs)))
    np.testing.assert_allclose(total(XS), 3 * XS**2, rtol=1e-6)


def test_nested_transformations() -> None:
    for f in (cube_of(BothPower), bindax.jit(cube_of(LinPower))):
        nested = bindax.jit(
            bindax.vmap(bindax.grad(lambda x, f=f: jnp.sum(bindax.vmap(f)(x) ** 2)))
        )
        np.testing.assert_allclose(nested(XS), 6 * XS**5, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    ("kind", "wrap"), [*[x for x in WRAPPED[:6] if x[0] is not Power], (BothPower, bindax.jit)]
)
def test_forward_mode(kind: Any, wrap: Any) -> None:
    f = wrap(cube_of(kind))
    out, tangent = bindax.jvp(f, (X,), (np.float32(2.0),))
    assert (out, tangent) == (pytest.approx(X**3, rel=1e-6), pytest.approx(6 * X**2, rel=1e-6))
    assert bindax.linearize(f, X)[1](np.float32(1.0)) == pytest.approx(3 * X**2, rel=1e-6)
    np.testing.assert_allclose(elements(bindax.jacfwd(f))(XS), 3 * XS**2, rtol=1e-6)
    np.testing.assert_allclose(bindax.jacfwd(bindax.grad(f))(X), 6 * X, rtol=1e-6)
    np.testing.assert_allclose(bindax.grad(bindax.jacfwd(f))(X), 6 * X, rtol=1e-6)
    _, tangents = bindax.jvp(elements(f), (XS,), (np.ones_like(XS),))
    np.testing.assert_allclose(tangents, 3 * XS**2, rtol=1e-6)


def test_forward_mode_of_a_class_with_a_backward_rule_alone() -> None:
    with pytest.raises(TypeError, match="Power, which has a vjp rule and no jvp rule"):
        bindax.jvp(cube_of(Power), (X,), (X,))


class Product(VJPHiPrimitive):
    """The products of an array with the entries of a dict, and the number of entries."""

    seen: list[Any]

    def __init__(self, x: Any, factors: dict[str, Any]) -> None:
        self.in_avals = (x, factors)
        count = typeof(np.int32(0))
        self.out_aval = {"products": dict.fromkeys(factors, x), "count": count}
        self.params = {}
        self.seen = []
        super().__init__()

    def expand(self, *args: Any) -> Any:
        x, factors = args
        return {"products": {k: x * y for k, y in factors.items()}, "count": jnp.int32(2)}

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        self.seen.append(nzs_in)
        return self(*args), args

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
        (x, factors), (x_accum, accums) = res, arg_accums
        for name, ct in outgrad["products"].items():
            ct = instantiate_zeros(ct)
            x_accum.accum(ct * factors[name])
            accums[name].accum(ct * x)


def products(x: Any, factors: Any) -> Any:
    made = Product(typeof(x), {name: typeof(y) for name, y in factors.items()})
    return made(x, factors)


def plain_products(x: Any, factors: Any) -> Any:
    return {"products": {k: x * y for k, y in factors.items()}, "count": jnp.int32(2)}


FACTORS = {"a": XS + 1.0, "b": XS * XS}


@pytest.mark.parametrize(
    ("wrap", "dims"),
    [(bindax.jit, (0, 0)), (lambda f: f, (None, 0)), (lambda f: f, (1, {"a": None, "b": 1}))],
)
def test_batches_of_trees(wrap: Any, dims: Any) -> None:
    def total(f: Any) -> Any:
        def loss(x: Any, factors: Any) -> Any:
            found = wrap(bindax.vmap(f, in_axes=dims))(x, factors)
            return jnp.sum(jnp.sin(found["products"]["a"])) + jnp.sum(found["products"]["b"] ** 2)

        return bindax.value_and_grad(loss, argnums=(0, 1))

    x = XS[0] if dims[0] is None else XS
    factors = {"a": XS[:, 0], "b": XS} if dims[0] == 1 else FACTORS
    if dims[0] == 1:
        assert products(x[:, 0], {"a": XS[:, 0], "b": XS[:, 1]})["count"] == 2
    found, expected = total(products)(x, factors), total(plain_products)(x, factors)
    for a, b in zip(bindax.tree.leaves(found), bindax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_what_is_differentiated_is_told() -> None:
    made = Product(typeof(X), {"a": typeof(X), "b": typeof(X)})
    for argnums, expected in ((0, (True, {"a": False, "b": False})),):
        bindax.grad(lambda x, y: made(x, y)["products"]["a"], argnums)(X, {"a": X, "b": X})
        assert made.seen[-1] == expected
    bindax.grad(lambda a: made(X, {"a": a, "b": X})["products"]["a"])(X)
    assert made.seen[-1] == (False, {"a": True, "b": False})


class FlaggedPair(HiPrim):
    """Two results, of which one is said to have no derivative."""

    def __init__(self, aval: Any) -> None:
        self.in_avals = (aval,)
        self.out_aval = (aval, aval)
        self.params = {}
        super().__init__()

    def expand(self, *args: Any) -> Any:
        return args[0] * 2.0, args[0] * 3.0

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        return self(*args), None, (True, False)

    def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
        assert isinstance(outgrad[1], Zero)
        return (outgrad[0] * 2.0,)


@pytest.mark.parametrize("wrap", [lambda f: f, bindax.jit, bindax.vmap])
def test_results_without_derivative(wrap: Any) -> None:
    def loss(xs: Any) -> Any:
        pair = FlaggedPair(typeof(xs[0]) if wrap is bindax.vmap else typeof(xs))
        a, b = wrap(pair)(xs)
        return jnp.sum(a) + jnp.sum(b)

    np.testing.assert_allclose(bindax.grad(loss)(XS), np.full_like(XS, 2.0))


class Scaled(HiPrim):
    """``factor * x``, which is linear in ``x``: forward mode and transposition."""

    def __init__(self, factor: Any, x: Any) -> None:
        self.in_avals = (factor, x)
        self.out_aval = x
        self.params = {}
        super().__init__()

    def expand(self, *args: Any) -> Any:
        factor, x = args
        return factor * x

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (factor, x), (factor_dot, x_dot) = primals, tangents
        out_dot = scaled(factor, instantiate_zeros(x_dot))
        return scaled(factor, x), out_dot + instantiate_zeros(factor_dot) * x

    def transpose(self, out_ct: Any, *maybe_accums: Any) -> None:
        factor, accumulator = maybe_accums
        accumulator.accum(scaled(factor, instantiate_zeros(out_ct)))


def scaled(factor: Any, x: Any) -> Any:
    return Scaled(typeof(factor), typeof(x))(factor, x)


def declared_like_first(factor: Any, x: Any) -> Any:
    """The same, of operands that are both declared with the type of the first."""
    return Scaled(typeof(factor), typeof(factor))(factor, x)


def test_transposition() -> None:
    two = np.float32(2.0)
    assert bindax.linear_transpose(lambda x: scaled(two, x), X)(X) == (pytest.approx(2 * X),)
    for f in (scaled, bindax.jit(scaled)):
        a, b = bindax.grad(f, argnums=(0, 1))(two, X)
        assert (a, b) == (pytest.approx(X), pytest.approx(2.0))
    mapped = bindax.vmap(bindax.vmap(scaled, in_axes=(None, 0)), in_axes=(None, 1), out_axes=1)
    np.testing.assert_allclose(bindax.jit(mapped)(two, XS), 2 * XS)
    a, b = bindax.grad(lambda c, x: jnp.sum(mapped(c, x) * XS), argnums=(0, 1))(two, XS)
    np.testing.assert_allclose(a, np.sum(XS * XS), rtol=1e-6)
    np.testing.assert_allclose(b, 2 * XS, rtol=1e-6)
    (ct,) = bindax.linear_transpose(lambda x: mapped(two, x), XS)(XS)
    np.testing.assert_allclose(ct, 2 * XS)


@pytest.mark.parametrize("enable_x64", ["explicit", True, False])
def test_python_numbers_take_the_declared_dtype(enable_x64: Any) -> None:
    with bindax.enable_x64(enable_x64):
        for two in (2, 2.0):
            value, expected = declared_like_first(X, two), X * np.float32(two)
            assert (value.dtype, value) == (np.float32, pytest.approx(expected, rel=1e-6))
            assert bindax.jit(lambda c, two=two: declared_like_first(c, two))(X) == value
            assert bindax.jit(declared_like_first)(X, two) == value
        mapped = bindax.vmap(declared_like_first, in_axes=(0, None))
        out, tangent = bindax.jvp(lambda xs: mapped(xs, 2.0), (XS[0],), (XS[1],))
        np.testing.assert_allclose(out, 2 * XS[0])
        np.testing.assert_allclose(tangent, 2 * XS[1])
        assert bindax.grad(lambda c: declared_like_first(X, c))(3.0) == pytest.approx(X)


@pytest.mark.parametrize("other", [True, 2j, np.float16(2), np.int32(2)])
def test_other_operands_keep_their_dtype(other: Any) -> None:
    with pytest.raises(TypeError, match=r"operand 1 of Scaled\[\] must be float32\[\], which in"):
        declared_like_first(X, other)


class RowSum(HiPrim):
    """A class with rules for batches: the first says where axes are, the other moves them."""

    def __init__(self, aval: Any) -> None:
        self.in_avals = (aval,)
        self.out_aval = aval.update(shape=aval.shape[:-1])
        self.params = {}
        super().__init__()

    def expand(self, *args: Any) -> Any:
        return jnp.sum(args[0], axis=-1)

    def batch(self, axis_data: Any, args: Any, dims: Any) -> Any:
        (x,) = hijax.bdims_at_front(axis_data, args, dims)
        (aval,) = hijax.unmap_avals(axis_data, self.in_avals, (0,))
        return RowSum(aval)(x), 0


class AxisRule(RowSum):
    """The same by the place of the axis alone."""

    batch = HiPrim.batch

    def batch_dim_rule(self, axis_data: Any, dims: Any, /) -> Any:
        return min(dims[0], len(self.in_avals[0].shape) - 1)


@pytest.mark.parametrize("kind", [RowSum, AxisRule])
def test_batch_rules(kind: Any) -> None:
    def f(x: Any) -> Any:
        return kind(typeof(x))(x)

    np.testing.assert_allclose(bindax.vmap(f)(XS), XS.sum(1), rtol=1e-6)
    np.testing.assert_allclose(bindax.vmap(f, in_axes=1)(XS), XS.sum(0), rtol=1e-6)
    text = str(bindax.make_jaxpr(bindax.vmap(f))(XS))
    assert ("Batched" in text) == (kind is AxisRule)


class Reduced(HiPrim):
    """Two results, of which ``dce`` can leave the second and its argument out."""

    def __init__(self, *avals: Any) -> None:
        self.in_avals = avals
        self.out_aval = avals
        self.params = {}
        super().__init__()

    def expand(self, *args: Any) -> Any:
        return tuple(x + 1.0 for x in args)

    def dce(self, used_outs: Any, live_ins: Any = None) -> Any:
        return used_outs, used_outs, Reduced(self.in_avals[0])


def test_dead_code() -> None:
    def first(x: Any, y: Any) -> Any:
        return Reduced(typeof(x), typeof(y))(x, y)[0]

    from bindax_transforms import dce_jaxpr

    made = bindax.make_jaxpr(lambda x, y: Reduced(typeof(x), typeof(y))(x, y))(X, X)
    reduced, used = dce_jaxpr(made.jaxpr, [True, False])
    assert used == [True, False]
    assert len(reduced.eqns[0].invars) == len(reduced.eqns[0].outvars) == 1
    assert bindax.jit(first)(X, X) == pytest.approx(X + 1)


@bindax.custom_jvp
def custom_cube(x: Any) -> Any:
    return cube_of(Power)(x)


custom_cube.defjvp(lambda primals, tangents: (custom_cube(*primals), tangents[0]))


@bindax.custom_vjp
def other_cube(x: Any) -> Any:
    return cube_of(Power)(x)


other_cube.defvjp(lambda x: (other_cube(x), None), lambda _, ct: (ct,))


def in_branches(x: Any) -> Any:
    def step(total: Any, y: Any) -> Any:
        out = bindax.lax.cond(total > y, cube_of(Power), custom_cube, total)
        return out, bindax.jit(cube_of(Power))(y)

    return bindax.lax.scan(step, x, jnp.asarray(XS)[jnp.arange(2), jnp.arange(1, 3)])


@pytest.mark.parametrize(
    "f",
    [
        cube_of(Power),
        custom_cube,
        other_cube,
        in_branches,
        bindax.checkpoint(other_cube),
        bindax.grad(cube_of(JVPPower)),
        bindax.grad(bindax.grad(cube_of(Power))),
        lambda x: bindax.vmap(bindax.vmap(other_cube))(XS + x),
        lambda x: PowerOfPower(typeof(x), exponent=3)(x),
    ],
)
def test_what_operations_stand_for(f: Any) -> None:
    traced = bindax.jit(f).trace(X)
    found = traced.lojax
    assert traced.jaxpr.is_high
    assert not found.jaxpr.is_high
    text = str(found.jaxpr)
    assert "Power" not in text
    assert "custom" not in text
    assert found.out_info == traced.out_info
    assert found.jaxpr.out_avals == traced.jaxpr.out_avals
    outs = eval_jaxpr(found.jaxpr.jaxpr, found.jaxpr.consts, X)
    for out, expected in zip(outs, bindax.tree.leaves(f(X)), strict=True):
        np.testing.assert_allclose(out, expected, rtol=1e-6)


class PowerOfPower(PowerBase):
    """A power made of another class."""

    def expand(self, x: Any) -> Any:
        return Power(typeof(x), exponent=self.exponent)(x)


class Shifted(PowerBase):
    """A power of what is shifted by a constant array."""

    def expand(self, x: Any) -> Any:
        return bindax.jit(lambda y: y + jnp.asarray(XS[0]))(x) ** self.exponent


def test_constants_of_what_operations_stand_for() -> None:
    def f(x: Any) -> Any:
        return bindax.lax.scan(lambda total, y: (cube_of(Shifted)(total * y), y), x, XS[1])[0]

    mapped = bindax.vmap(f)
    found = bindax.jit(mapped).trace(XS).lojax.jaxpr
    assert not found.is_high
    assert [program.consts for program in found.jaxpr.programs] == [[]]
    (out,) = eval_jaxpr(found.jaxpr, found.consts, XS)
    np.testing.assert_allclose(out, mapped(XS), rtol=1e-5)


def test_operations_that_stand_for_none() -> None:
    traced = bindax.jit(bindax.nn.relu).trace(X)
    assert not traced.jaxpr.is_high
    assert str(traced.lojax.jaxpr) == str(traced.jaxpr)
    assert repr(traced.lojax) == "Expanded(relu: (float32[]))"


def test_references_beside_classes() -> None:
    ref = bindax.new_ref(jnp.float32(0))

    def f(x: Any) -> Any:
        ref[...] += cube_of(Power)(x)
        return ref[...]

    found = bindax.jit(f).trace(X).lojax.jaxpr
    assert "Power" not in str(found)
    assert len(found.in_avals) == len(bindax.jit(f).trace(X).jaxpr.in_avals)


def test_effects_keep_an_equation() -> None:
    effect = Effect("noted", ordered=False) if "ordered" in vars(Effect) else Effect("noted")

    class Noted(HiPrim):
        effects = frozenset({effect})

        def __init__(self, aval: Any) -> None:
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def expand(self, *args: Any) -> Any:
            return args[0]

    made = bindax.make_jaxpr(lambda x: Noted(typeof(x))(x))(X)
    assert made.jaxpr.effects == {effect}


def test_random_keys_as_operands() -> None:
    class Draw(HiPrim):
        def __init__(self, key: Any) -> None:
            self.in_avals, self.params = (key,), {}
            self.out_aval = typeof(X)
            super().__init__()

        def expand(self, *args: Any) -> Any:
            return bindax.random.uniform(args[0], (), "float32")

    key = bindax.random.key(0)
    draw = Draw(typeof(key))
    expected = bindax.random.uniform(key, (), "float32")
    assert float(draw(key)) == float(bindax.jit(draw)(key)) == float(expected)
    keys = bindax.random.split(key, 3)
    expected = bindax.vmap(lambda k: bindax.random.uniform(k, (), "float32"))(keys)
    np.testing.assert_array_equal(bindax.jit(bindax.vmap(draw))(keys), expected)


def test_objects_with_equal_parameters_are_one_operation() -> None:
    aval = typeof(X)
    assert Power(aval, exponent=3) == Power(aval, exponent=3) != Power(aval, exponent=2)
    assert hash(Power(aval, exponent=3)) == hash(Power(aval, exponent=3))
    assert Power(aval, exponent=3) != BothPower(aval, exponent=3)
    assert Power(aval, exponent=3) != Power(typeof(XS), exponent=3)
    assert repr(Power(aval, exponent=3)) == "Power[exponent=3]"
    assert "Power [ exponent=3 ] a" in str(bindax.make_jaxpr(cube_of(Power))(X))


def wrong(expected: str, method: str, rule: Any, call: Any) -> None:
    made: Any = type("Wrong", (BothPower,), {method: rule})
    with pytest.raises((TypeError, AttributeError, NotImplementedError)) as caught:
        call(lambda x: made(typeof(x), exponent=2)(x))
    assert expected in re.sub(r"\s+", " ", str(caught.value))


def test_messages() -> None:
    def apply(f: Any) -> Any:
        return f(X)

    def reverse(f: Any) -> Any:
        return bindax.grad(f)(X)

    def incomplete(self: Any, aval: Any, exponent: int) -> None:
        HiPrim.__init__(self)

    wrong("Wrong.__init__ must set self.in_avals", "__init__", incomplete, apply)
    wrong("evaluation needs the method expand", "expand", HiPrim.expand, apply)
    shape = "expand of Wrong[exponent=2] must return float32[], which out_aval says"
    wrong(shape, "expand", lambda self, x: XS, apply)
    wrong(shape, "expand", lambda self, x: XS, lambda f: bindax.jit(f)(X))
    tree = "expand of Wrong[exponent=2] must return the structure of out_aval"
    wrong(tree, "expand", lambda self, x: (x, x), apply)
    pair = "vjp_fwd of Wrong[exponent=2] must return a tuple of the result and residuals"
    wrong(pair, "vjp_fwd", lambda self, nzs, x: x, reverse)
    structured = "vjp_fwd of Wrong[exponent=2] returned structured residuals, a fourth part"
    wrong(structured, "vjp_fwd", lambda self, nzs, x: (x, x, True, x), reverse)
    returned = "but it returned tuple. A rule that returns cotangents is vjp_bwd_retval"
    wrong(returned, "vjp_bwd", lambda self, res, ct, accum: (ct,), reverse)
    backward = "reverse mode needs the method vjp_bwd_retval or vjp_bwd"
    wrong(backward, "vjp_bwd_retval", HiPrim.vjp_bwd_retval, reverse)
    unpacked = "are pairs of rules; write lin, linearized = linearize_from_jvp"
    wrong(unpacked, "vjp_fwd", hijax.vjp_from_jvp, reverse)
    aval = typeof(X)
    with pytest.raises(TypeError, match=r"operand 0 of .* must be float32\[\], which in_avals"):
        Power(aval, exponent=2)(XS)
    with pytest.raises(TypeError, match="takes arguments of the structure"):
        Power(aval, exponent=2)(X, X)


def test_classes_with_contradictory_rules() -> None:
    class Two(VJPHiPrimitive):
        def __init__(self, aval: Any) -> None:
            self.in_avals, self.out_aval, self.params = (aval,), aval, {}
            super().__init__()

        def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> None:
            return None

        def vjp_bwd_retval(self, res: Any, outgrad: Any, /) -> Any:
            return (outgrad,)

    class Circular(JVPPower):
        jvp = hijax.jvp_from_lin
        lin, linearized = hijax.linearize_from_jvp

    with pytest.raises(AttributeError, match="Two defines both vjp_bwd and vjp_bwd_retval"):
        Two(typeof(X))
    with pytest.raises(TypeError, match="so that each is defined by the other"):
        bindax.jvp(cube_of(Circular), (X,), (X,))


def test_a_class_without_rules() -> None:
    with pytest.raises(NotImplementedError, match="the class defines neither jvp nor lin"):
        bindax.grad(cube_of(PowerBase))(X)
    np.testing.assert_allclose(bindax.jit(elements(cube_of(PowerBase)))(XS), XS**3, rtol=1e-6)


class Logged(PowerBase):
    """A square whose backward rule logs its residual."""

    def vjp_fwd(self, nzs_in: Any, /, *args: Any) -> Any:
        return self(*args), args[0]

    def vjp_bwd(self, res: Any, outgrad: Any, /, *arg_accums: Any) -> Any:
        arg_accums[0].accum(outgrad * 2.0 * res)
        return {"x": res}


def test_backward_rules_log() -> None:
    def square(x: Any) -> Any:
        return Logged(typeof(x), exponent=2)(x)

    wrapped = (square, bindax.jit(square), bindax.checkpoint(square), elements(square))
    for function, x in ((f, X) if f is not wrapped[3] else (f, XS) for f in wrapped):
        y, pullback = bindax.vjp(function, x)
        (ct,), logs = pullback.with_logs(jnp.ones_like(y))
        np.testing.assert_allclose(ct, 2 * x, rtol=1e-6)
        np.testing.assert_allclose(logs["x"], x)
        np.testing.assert_allclose(pullback(jnp.ones_like(y))[0], 2 * x, rtol=1e-6)
