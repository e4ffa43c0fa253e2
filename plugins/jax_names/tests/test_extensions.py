"""Primitives and rules that packages give by JAX's names become bindax's, as their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
from bindax import numpy as jnp
from bindax_core import rule_coverage
from bindax_core.extend import Zero
from bindax_jax_names._alias import alias_module
from bindax_jax_names.shims import (
    ad,
    batching,
    extend_core,
    linear_util,
    mlir,
    monitoring,
    partial_eval,
)
from bindax_jax_names.shims._primitive import Primitive
from bindax_jax_names.shims.api_util import flatten_fun, flatten_fun_nokwargs
from bindax_jax_names.shims.test_util import check_grads


def _scale(x: Any, *, by: float) -> Any:
    return x * by


@pytest.fixture(scope="module")
def scale_p() -> Primitive:
    """A linear primitive of one result."""
    scale = Primitive("jax_names.scale")
    scale.def_impl(_scale)
    scale.def_abstract_eval(lambda x, *, by: x)
    ad.deflinear2(scale, lambda ct, x, *, by: [scale.bind(ct, by=by)])
    batching.primitive_batchers[scale] = lambda xs, dims, *, by: (scale.bind(*xs, by=by), dims[0])
    mlir.register_lowering(scale, mlir.lower_fun(_scale, multiple_results=False))
    return scale


def test_accumulators_to_which_nothing_was_added_are_zeros():
    first = bindax.custom_vjp(lambda x, y: x * 2.0)
    first.defvjp_with_accums(lambda x, y: (x * 2.0, None), lambda _, ct, x, y: x.accum(2.0 * ct))
    slopes = bindax.grad(first, (0, 1))(1.0, 5.0)
    assert tuple(map(float, slopes)) == (2.0, 0.0)


@pytest.mark.smoke
def test_a_primitive_through_every_transformation(scale_p):
    def f(x):
        return scale_p.bind(jnp.sin(x), by=3.0)

    assert float(f(0.5)) == pytest.approx(3 * np.sin(0.5))
    assert float(bindax.grad(f)(0.5)) == pytest.approx(3 * np.cos(0.5))
    assert float(bindax.jit(bindax.grad(f))(0.5)) == pytest.approx(3 * np.cos(0.5))
    xs = np.array([0.1, 0.2], np.float32)
    np.testing.assert_allclose(bindax.jit(bindax.vmap(f))(xs), 3 * np.sin(xs), rtol=1e-6)
    check_grads(f, (xs,), 2, rtol=1e-2)


def test_rules_are_the_package_s_own(scale_p):
    report = rule_coverage(scale_p.name)
    given = {r["kind"]: r for r in report["rules"] if r["status"] == "present"}
    kinds = {"impl", "abstract_eval", "jvp", "transpose", "vmap", "lowering.stablehlo"}
    assert kinds <= set(given)
    assert all(given[kind]["file"] == __file__ for kind in kinds)


def test_several_results_and_symbolic_zeros():
    both = Primitive("jax_names.both")
    both.multiple_results = True
    both.def_impl(lambda x, y: [x + y, x * y])
    both.def_abstract_eval(lambda x, y: [x, x])

    def jvp(primals, tangents):
        x, y = primals
        dx, dy = tangents
        assert type(dy) is ad.Zero
        return both.bind(x, y), [dx, ad.instantiate_zeros(dx) * y]

    ad.primitive_jvps[both] = jvp
    outs, tangents = bindax.jvp(lambda x: both.bind(x, 2.0), (3.0,), (1.0,))
    assert [float(x) for x in outs] == [5.0, 6.0]
    assert [float(x) for x in tangents] == [1.0, 2.0]
    ad.primitive_jvps[both] = lambda primals, tangents: (both.bind(*primals), list(tangents))
    _, tangents = bindax.jvp(lambda x: both.bind(x, 2.0), (3.0,), (1.0,))
    assert float(tangents[0]) == 1.0


def test_rules_of_bindax_are_read_as_jax_has_them():
    from bindax.lax import mul_p, sin_p

    out, tangent = ad.primitive_jvps[sin_p]((0.0,), (2.0,))
    assert float(out) == 0.0
    assert float(tangent) == 2.0
    rows = jnp.ones((2, 3))
    out, dim = batching.primitive_batchers[mul_p]((rows, rows), (0, 0))
    assert (out.shape, dim) == ((2, 3), 0)
    assert mul_p in ad.primitive_transposes
    assert Primitive("jax_names.bare") not in ad.primitive_jvps
    with pytest.raises(NotImplementedError, match="Transpose rule"):
        ad.get_primitive_transpose(Primitive("jax_names.bare"))


def test_symbolic_zeros_come_out_of_mapped_rules():
    rounded = Primitive("jax_names.rounded")
    rounded.multiple_results = True
    rounded.def_impl(lambda x: [x * 2, jnp.round(x)])
    rounded.def_abstract_eval(lambda x: [x, x])

    def one(x, t):
        return [x * 2, jnp.round(x)], [t * 2, Zero.like(x)]

    ad.primitive_jvps[rounded] = lambda primals, tangents: bindax.vmap(one)(*primals, *tangents)
    xs = jnp.array([0.4, 1.7])
    _, slopes = bindax.jvp(lambda x: rounded.bind(x), (xs,), (jnp.ones(2),))
    np.testing.assert_allclose(slopes, [[2, 2], [0, 0]])


def test_derivatives_by_operand():
    product = Primitive("jax_names.product")
    product.def_impl(lambda x, y: x * y)
    product.def_abstract_eval(lambda x, y: x)
    ad.defjvp(product, lambda t, x, y: t * y, lambda t, x, y: t * x)
    assert float(bindax.grad(lambda x: product.bind(x, 4.0))(2.0)) == 4.0
    assert isinstance(ad.Zero.like(1.0), Zero)


def test_functions_with_transformations_around_them():
    @linear_util.transformation_with_aux2
    def counted(f, store, factor, *args):
        store.store(len(args))
        return f(*args) * factor

    wrapped, count = counted(linear_util.wrap_init(lambda x, y: x + y), 10)
    with pytest.raises(linear_util.StoreException, match="has not run"):
        count()
    assert wrapped.call_wrapped(1, 2) == 30
    assert count() == 2

    @linear_util.transformation
    def doubled(*args):
        out = yield args, {}
        yield 2 * out

    assert doubled(linear_util.wrap_init(lambda x: x + 1)).call_wrapped(3) == 8


def test_functions_of_trees_as_functions_of_leaves():
    leaves, tree = bindax.tree.flatten((({"a": 1.0, "b": 2.0},), {"c": 3.0}))
    flat, out_tree = flatten_fun(linear_util.wrap_init(lambda d, c: (d["a"] + c, d)), tree)
    assert flat.call_wrapped(*leaves) == [4.0, 1.0, 2.0]
    assert bindax.tree.unflatten(out_tree(), [0, 1, 2]) == (0, {"a": 1, "b": 2})
    tree = bindax.tree.structure((0,))
    flat, _ = flatten_fun_nokwargs(linear_util.wrap_init(lambda x: [x]), tree)
    assert flat.call_wrapped(5) == [5]


def test_partial_evaluation():
    fun = linear_util.wrap_init(lambda x, y: [x + 1.0, x * y])
    unknown = partial_eval.PartialVal.unknown(bindax.ShapeDtypeStruct((), np.float32))
    pvals = [partial_eval.PartialVal.known(2.0), unknown]
    jaxpr, outs, consts = partial_eval.trace_to_jaxpr_nounits(fun, pvals)
    assert [out.is_known() for out in outs] == [True, False]
    assert float(outs[0].value) == 3.0
    assert len(jaxpr.eqns) == 1
    assert len(consts) <= 1


def test_the_state_of_tracing():
    outside = extend_core.get_opaque_trace_state()
    assert outside == extend_core.get_opaque_trace_state(convention="flax")
    seen = []
    bindax.make_jaxpr(lambda x: seen.append(extend_core.get_opaque_trace_state()))(1.0)
    assert seen[0] != outside
    assert extend_core.get_opaque_trace_state() == outside


def test_tables_of_operands_can_be_read_and_filled():
    from bindax_jax_names.shims import core, xla

    class Variable:
        """A type of a package."""

    assert core.pytype_aval_mappings[np.ndarray](np.ones(2, np.float32)).shape == (2,)
    core.pytype_aval_mappings[Variable] = core.pytype_aval_mappings[np.ndarray]
    assert Variable in core.pytype_aval_mappings
    assert Variable not in xla.canonicalize_dtype_handlers
    del core.pytype_aval_mappings[Variable]


def test_the_registry_of_containers_is_an_object():
    from bindax_jax_names.shims.tree_util import default_registry

    children, _ = default_registry.flatten_one_level({"a": 1, "b": [2]})
    assert list(children) == [1, [2]]
    assert default_registry.flatten_one_level(3.0) is None
    assert default_registry.flatten([1, (2,)])[0] == [1, 2]


def test_methods_of_the_type_of_arrays_are_functions_of_an_array():
    x = jnp.arange(4.0)
    assert float(bindax.Array.mean(x)) == 1.5
    assert bindax.Array.all.__name__ == "all"
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        bindax.Array.nothing_of_this_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("jax.core", "Effects"),
        ("jax.core", "pytype_aval_mappings"),
        ("jax.interpreters.xla", "canonicalize_dtype_handlers"),
        ("jax.interpreters.batching", "register_vmappable"),
        ("jax.experimental.colocated_python.serialization", "DeviceList"),
        ("jax.extend.ifrt_programs", "ifrt_programs"),
        ("jax._src.core", "Primitive"),
        ("jax._src.interpreters.ad", "CustomVJPException"),
        ("jax._src.literals", "TypedFloat"),
        ("jax._src.pjit", "jit_p"),
    ],
)
def test_names_that_packages_ask_for_while_they_are_imported(path, name):
    assert hasattr(alias_module(path), name)


class _Pair(Primitive):
    multiple_results = True

    def __init__(self):
        super().__init__("jax_names.pair")

    def impl(self, x, *, by):
        return x, x * by

    def abstract_eval(self, x, *, by):
        return (x, x), frozenset()


def test_a_subclass_gives_rules_as_methods():
    pair = _Pair()
    x = np.array([1.0, 2.0], np.float32)
    first, second = pair.bind(x, by=3.0)
    np.testing.assert_allclose(second, 3 * np.asarray(first))
    assert len(bindax.make_jaxpr(lambda x: pair.bind(x, by=3.0))(x).out_avals) == 2


def test_an_entry_of_the_private_registry_takes_a_container_apart():
    from bindax_jax_names.shims.private import node_registry

    entry = node_registry[dict]
    children, structure = entry.to_iter({"a": [1, 2], "b": 3})
    assert list(children) == [[1, 2], 3]
    assert entry.from_iter(structure, [4, [5]]) == {"a": 4, "b": [5]}
    assert int not in node_registry


def test_scalar_arrays_that_a_function_closes_over_are_constants_of_its_program():
    jax, jnp = alias_module("jax"), alias_module("jax.numpy")
    scale, shift, rows = (jnp.asarray(x, "float32") for x in (2.0, 3.0, [1.0, 1.0, 1.0]))

    def f(x):
        return scale * (x + rows) + shift, shift

    program = jax.make_jaxpr(f)(jnp.ones(3))
    assert [c.shape for c in program.consts] == [(3,), (), ()]
    assert program.consts[1] is scale
    assert program.consts[2] is shift
    for got, wanted in zip(
        jax.core.jaxpr_as_fun(program)(jnp.ones(3)), f(jnp.ones(3)), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)

    shapes = []

    def outer(scale):
        program, types = jax.make_jaxpr(lambda x: scale * x + rows, return_shape=True)(jnp.ones(3))
        shapes.append([c.shape for c in program.consts])
        assert types.shape == (3,)
        return scale

    outer(scale)
    jax.jit(outer)(scale)
    assert shapes == [[(), (3,)]] * 2


@pytest.mark.parametrize("base", ["HiPrim", "VJPHiPrimitive"])
def test_primitives_as_classes(base):
    hijax = alias_module("jax.experimental.hijax")

    class Product(getattr(hijax, base)):
        def __init__(self, aval):
            self.in_avals, self.out_aval, self.params = (aval, aval), aval, {}
            super().__init__()

        def expand(self, x, y):
            return x * y

        def jvp(self, primals, tangents):
            (x, y), (s, t) = primals, map(hijax.instantiate_zeros, tangents)
            return self(x, y), s * y + x * t

        def vjp_fwd(self, nzs_in, x, y):
            return self(x, y), (x, y)

        def vjp_bwd(self, res, ct, *accums):
            assert [isinstance(a, ad.NullAccum) for a in accums] == [True, False]
            accums[1].accum(ct * res[0])

    product = Product(bindax.typeof(0.5))
    assert float(bindax.grad(product, argnums=1)(0.5, 2.0)) == 0.5
    assert float(bindax.jvp(lambda y: product(0.5, y), (2.0,), (3.0,))[1]) == 1.5


def test_private_attributes_of_arrays_with_a_public_meaning():
    x = bindax.device_put(jnp.arange(3), bindax.devices()[0])
    assert type(x._value) is np.ndarray
    assert (x._value.tolist(), x._committed) == ([0, 1, 2], True)
    assert not jnp.arange(3)._committed
    with pytest.raises(bindax.errors.TracerArrayConversionError):
        bindax.jit(lambda x: x._value)(x)


def test_sizes_and_dtypes_by_private_names():
    core = alias_module("jax._src.core")
    (b,) = bindax.export.symbolic_shape("b")
    assert core.is_constant_shape((2, 3))
    assert not core.is_constant_shape((2, b))
    assert (core.max_dim(2, 3), core.min_dim(2, 3)) == (3, 2)
    assert (str(core.max_dim(b, 3)), str(core.min_dim(3, b))) == ("max(b, 3)", "min(3, b)")
    assert core.primal_dtype_to_tangent_dtype(np.dtype(np.int32)) == bindax.dtypes.float0
    assert core.primal_dtype_to_tangent_dtype(np.dtype(np.float16)) == np.float16
    closed = bindax.make_jaxpr(lambda x: bindax.jit(jnp.sin)(x))(1.0)
    (inner,) = core.subjaxprs(closed.jaxpr)
    assert [eqn.primitive.name for eqn in inner.eqns] == ["sin"]
    assert alias_module("jax._src.sharding").IndivisibleError is bindax.errors.IndivisibleError


def test_a_lowering_for_a_platform_that_nobody_has():
    with pytest.raises(NotImplementedError, match="unknown platform cudda"):
        mlir.register_lowering(Primitive("nothing"), lambda ctx, x: [x], platform="cudda")


def test_events_are_recorded_by_keyword():
    heard: list[Any] = []

    def listener(*values: Any, **words: Any) -> None:
        heard.append((values, words))

    monitoring.register_scalar_listener(callback=listener)
    monitoring.register_event_time_span_listener(callback=listener)
    monitoring.record_scalar(event="loss", value=0.5, step=3)
    monitoring.record_event_time_span("run", start_time=1.0, end_time=2.0)
    monitoring.record_event_duration_secs(event="unheard", duration=1.0)
    monitoring.unregister_scalar_listener(callback=listener)
    monitoring.record_scalar(event="loss", value=0.25)
    monitoring.unregister_event_time_span_listener(callback=listener)
    assert heard == [(("loss", 0.5), {"step": 3}), (("run", 1.0, 2.0), {})]
