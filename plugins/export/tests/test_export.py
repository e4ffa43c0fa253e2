"""Exported programs: calls, derivatives, files, and what is refused."""

from __future__ import annotations

import re
from collections import OrderedDict
from typing import Any, NamedTuple, cast

import numpy as np
import pytest

import bindax_export
import bindax_lax_basic as lax
from bindax_core import ShapedArray, ShapeDtypeStruct, config
from bindax_core.tree_util import register_pytree_node
from bindax_export import (
    DisabledSafetyCheck,
    Exported,
    ExportError,
    default_export_platform,
    deserialize,
    export,
    register_namedtuple_serialization,
    register_pytree_node_serialization,
    symbolic_shape,
)
from bindax_export._flatbuffers import write
from bindax_export._writing import program_table
from bindax_transforms import grad, jit, vmap

pytest.importorskip("jaxlib")

F32 = np.float32
X = np.arange(1, 4, dtype=F32)


def vector(text: str = "b", **options: Any) -> ShapeDtypeStruct:
    return ShapeDtypeStruct(symbolic_shape(text, **options), F32)


@pytest.fixture(scope="module")
def scaled() -> Exported:
    """The sum of sines, times the size."""
    function = jit(lambda x: lax.reduce_sum(lax.sin(x), (0,)) * x.shape[0])
    return export(function)(vector())


def test_what_an_exported_program_knows(scaled: Exported) -> None:
    assert repr(scaled) == "Exported(<lambda>: (float32[b]) -> (float32[]), for cpu)"
    assert scaled.platforms == (default_export_platform(),) == ("cpu",)
    low = bindax_export.minimum_supported_calling_convention_version
    high = bindax_export.maximum_supported_calling_convention_version
    assert low <= scaled.calling_convention_version <= high
    assert (scaled.fun_name, scaled.nr_devices, scaled.module_kept_var_idx) == ("<lambda>", 1, (0,))
    assert (scaled.in_shardings_hlo, scaled.out_shardings_hlo) == ((None,), (None,))
    assert "get_dimension_size" in scaled.mlir_module()
    assert scaled.has_vjp()
    assert scaled.vjp().in_avals == (*scaled.in_avals, *scaled.out_avals)


def test_calls_in_every_context(scaled: Exported) -> None:
    wanted = np.sin(X).sum() * 3
    read = deserialize(scaled.serialize(vjp_order=2))
    np.testing.assert_allclose(read.call(X), wanted, rtol=1e-6)
    np.testing.assert_allclose(jit(lambda x: read.call(x) + 1)(X), wanted + 1, rtol=1e-6)
    np.testing.assert_allclose(vmap(read.call)(np.stack([X, X])), [wanted] * 2, rtol=1e-6)
    np.testing.assert_allclose(grad(read.call)(X), np.cos(X) * 3, rtol=1e-6)
    second = grad(lambda x: lax.reduce_sum(grad(read.call)(x), (0,)))(X)
    np.testing.assert_allclose(second, -np.sin(X) * 3, rtol=1e-6)
    with pytest.raises(ExportError, match=r"has no reverse derivative: .*\(vjp_order=1\)"):
        read.vjp().vjp().vjp()


def test_an_exported_program_inside_another(scaled: Exported) -> None:
    around = export(jit(lambda x: scaled.call(lax.concatenate([x, x], 0))))(vector("n"))
    found = deserialize(around.serialize()).call(X)
    np.testing.assert_allclose(found, np.sin(X).sum() * 12, rtol=1e-6)


def test_integers_have_no_derivative() -> None:
    taken = export(jit(lambda i, x: x[i] * 2))(
        ShapeDtypeStruct(symbolic_shape("b"), np.int32), ShapeDtypeStruct((4,), F32)
    )
    read = deserialize(taken.serialize(1))
    assert str(read.vjp().out_avals[0].str_short()) == "float0[b]"
    found = grad(lambda x: lax.reduce_sum(read.call(np.array([0, 0, 1], np.int32), x), (0,)))
    np.testing.assert_array_equal(found(np.ones(4, F32)), [4, 2, 0, 0])


def test_python_scalars_yield() -> None:
    program = export(jit(lambda x, y: x * y))(X, F32(1))
    np.testing.assert_array_equal(program.call(X, 2), X * 2)
    with pytest.raises(ExportError, match=r"args\[1\] of type float32\[\].*complex128\[\]"):
        program.call(X, 2j)


def test_arrays_that_the_function_closes_over_are_in_the_file() -> None:
    many = np.arange(100, dtype=F32)
    program = export(jit(lambda x: x + many))(ShapeDtypeStruct((100,), F32))
    np.testing.assert_array_equal(deserialize(program.serialize()).call(many), 2 * many)


def test_loops_over_symbolic_lengths_have_one_size_in_all_steps() -> None:
    def f(x: Any) -> Any:
        return lax.cumsum(x, 0), lax.cumsum(x, 0, reverse=True), lax.cummax(x, 0)

    outs = export(jit(f))(vector()).call(np.array([3, 1, 2], F32))
    wanted = [[3, 4, 6], [6, 3, 2], [3, 3, 3]]
    np.testing.assert_array_equal([np.asarray(out) for out in outs], wanted)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_containers() -> None:
    function = jit(lambda p, *, o: (Pair(p.b, p.a), o, [None, {"k": p.a}]))
    program = export(function)(Pair(X, X[0]), o=OrderedDict(z=X, y=X))
    with pytest.raises(ExportError, match="with a Pair cannot be serialized: give the type a name"):
        program.serialize()
    register_namedtuple_serialization(Pair, serialized_name="test_export.Pair")
    blob = program.serialize()
    out = deserialize(blob).call(Pair(X, X[0]), o=OrderedDict(z=X, y=X))
    assert type(out[0]) is Pair
    assert list(out[1]) == ["z", "y"]
    np.testing.assert_array_equal(out[2][1]["k"], X)
    with pytest.raises(ValueError, match=r"is already serialized as 'test_export\.Pair'"):
        register_namedtuple_serialization(Pair, serialized_name="test_export.Other")
    with pytest.raises(ValueError, match="already stands for Pair"):
        register_namedtuple_serialization(_Triple, serialized_name="test_export.Pair")
    with pytest.raises(ValueError, match="is no named tuple"):
        register_namedtuple_serialization(dict, serialized_name="test_export.dict")
    table = program_table(program, 0)
    foreign = bytes(write(table)).replace(b"test_export.Pair", b"test_export.Away")
    with pytest.raises(ExportError, match=r"calls 'test_export\.Away', a name that no type has"):
        deserialize(foreign)
    with pytest.raises(TypeError, match=r"only for dictionaries with string keys.*has the key 1"):
        export(jit(lambda d: d[1]))({1: X}).serialize()


class _Triple(NamedTuple):
    a: Any


def test_containers_with_their_own_bytes() -> None:
    from collections import defaultdict

    register_pytree_node_serialization(
        defaultdict,
        serialized_name="test_export.defaultdict",
        serialize_auxdata=lambda data: ",".join(data[1]).encode(),
        deserialize_auxdata=lambda data: data.decode().split(","),
        from_children=lambda keys, children: defaultdict(list, zip(keys, children, strict=True)),
    )
    program = export(jit(lambda d: d))(defaultdict(list, x=X, y=X))
    assert deserialize(program.serialize()).in_tree == program.in_tree
    with pytest.raises(ValueError, match="set is no pytree node; register it by register_pytree_"):
        register_pytree_node_serialization(
            set,
            serialized_name="test_export.set",
            serialize_auxdata=str.encode,
            deserialize_auxdata=bytes.decode,
        )


# ----------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.call(X.astype(np.float64)), r"args\[0\] of type float32\[b\].*float64\[3\]"),
        (lambda e: e.call(X.astype(np.float64)), r"Dtype mismatch for args\[0\]"),
        (lambda e: e.call(X[:, None]), r"Rank mismatch for args\[0\].*with float32\[3,1\]"),
        (lambda e: e.call(X[:0]), "was called with b = 0; it must be at least 1"),
        (lambda e: e.call(X, X), "structure"),
        (lambda e: e.call(y=X), "structure"),
        (
            lambda e: deserialize(e.serialize()).serialize(1),
            "no reverse derivative of the order",
        ),
        (lambda e: deserialize(e.serialize()).vjp(), "it was serialized without"),
        (
            lambda e: e.platform_index("cuda"),
            "was exported for platform cpu, but is called on cuda",
        ),
    ],
)
def test_calls_that_are_refused(scaled: Exported, call: Any, message: str) -> None:
    with pytest.raises(ExportError, match=message):
        call(scaled)


def test_sizes_that_do_not_fit() -> None:
    with pytest.raises(ExportError, match=re.escape("args[0].shape[0] = floordiv(n, 2)")):
        export(jit(lambda x: x))(vector("floordiv(n, 2)"))
    scope = bindax_export.SymbolicScope(["n >= 3", "mod(n, 2) == 0"])
    both = export(jit(lambda x, y: (x, y)))(vector("n", scope=scope), vector("n + 1", scope=scope))
    assert len(both.call(np.ones(4, F32), np.ones(5, F32))) == 2
    for sizes, message in (
        ((5, 6), "violate n >= 3, mod(n, 2) == 0"),
        ((2, 3), "violate n >= 3"),
        ((4, 4), "dimension size args[1].shape[0] (= 4) and the specification 'n + 1' (= 5)"),
    ):
        with pytest.raises(ExportError, match=re.escape(message)):
            both.call(*[np.ones(size, F32) for size in sizes])
    pairs = export(jit(lambda x: x))(ShapeDtypeStruct(symbolic_shape("2*n, 3"), F32))
    assert pairs.call(np.ones((4, 3), F32)).shape == (4, 3)
    for shape, message in (
        ((5, 3), "Division had remainder 1 when computing the value of 'n' from args[0].shape[0]"),
        ((4, 4), "Shape mismatch for args[0].shape[1] (expected same constant)"),
    ):
        with pytest.raises(ExportError, match=re.escape(message)):
            pairs.call(np.ones(shape, F32))


def test_the_calling_convention() -> None:
    with config.override(export_calling_convention_version=9):
        older = deserialize(export(jit(lambda x: x * 2))(vector()).serialize())
    assert older.calling_convention_version == 9
    np.testing.assert_array_equal(older.call(X), 2 * X)
    for version in (8, 11):
        with config.override(export_calling_convention_version=version):  # noqa: SIM117
            with pytest.raises(ExportError, match=rf"version {version} is outside the range"):
                export(jit(lambda x: x))(X)


def test_shapes_of_two_scopes():
    with pytest.raises(
        ExportError, match=r"symbolic scopes when exporting .*args\[0\].*'n' \(kwargs"
    ):
        export(jit(lambda x, *, y: x + y))(vector("n"), y=vector("n"))


def test_constraints_of_variables_that_no_shape_has():
    scope = bindax_export.SymbolicScope(["n >= m"])
    with pytest.raises(ExportError, match="Encountered dimension variable 'm' in the constraints"):
        export(jit(lambda x: x))(vector("n", scope=scope))


def test_the_text_of_a_program_names_arguments_results_and_places():
    text = export(jit(lambda x, *, y: {"s": lax.sin(x), "d": x - y}))(X, y=X).mlir_module()
    assert '%arg0: tensor<3xf32> loc("args[0]"), %arg1: tensor<3xf32> loc("kwargs[\'y\']")' in text
    assert """{jax.result_info = "result['d']"}""" in text
    assert "test_export.py" in text


def test_platforms_that_are_not_known_here():
    exported = export(jit(lambda x: x * 2), platforms=["cpu", "other"])(X)
    assert exported.platforms == ("cpu", "other")
    np.testing.assert_array_equal(exported.call(X), 2 * X)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: export(cast("Any", 3)), TypeError, "fun_jit"),
        (lambda: export(jit(lambda x: x), platforms="cpu"), ValueError, "a sequence of names"),
        (lambda: export(jit(lambda x: x), platforms=["gpu"]), ValueError, "no platform 'gpu'"),
        (
            lambda: export(jit(lambda x: x), disabled_checks=cast("Any", ["a"])),
            TypeError,
            "which is no DisabledSafetyCheck",
        ),
    ],
)
def test_what_is_not_exported(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_functions_outside_of_xla() -> None:
    from bindax_core.extend import primitive, rules

    def lower(ctx: Any, x: Any) -> Any:
        attributes = {"call_target_name": '"my_kernel"', "api_version": "4 : i32"}
        return ctx.op("stablehlo.custom_call", [x], attributes=attributes)[0]

    kernel = primitive(
        "test_export.kernel",
        rules.impl(np.sin),
        rules.abstract_eval(lambda x: x),
        *[kind.absent("a test") for kind in (rules.jvp, rules.vmap, rules.transpose)],
        rules.lowering["stablehlo"](lower),
    )
    with pytest.raises(ExportError, match=r"calls my_kernel outside of XLA.*custom_call\('my_ker"):
        export(jit(kernel.bind))(vector())
    allowed = [DisabledSafetyCheck.custom_call("my_kernel"), DisabledSafetyCheck.platform()]
    program = export(jit(kernel.bind), disabled_checks=allowed)(vector())
    assert list(deserialize(program.serialize()).disabled_safety_checks) == allowed
    assert "indices_of_shape_operands" in program.mlir_module()


def test_a_function_that_was_not_compiled_before():
    exported = export(lambda x: x * 2)(np.ones(3, F32))
    np.testing.assert_array_equal(exported.call(np.ones(3, F32)), 2 * np.ones(3, F32))


def test_containers_that_look_at_the_shapes_of_what_they_hold():
    class Labelled:
        def __init__(self, values, labels):
            assert values.shape == (len(labels),)
            self.values, self.labels = values, labels

    register_pytree_node(Labelled, lambda x: ((x.values,), x.labels), lambda k, c: Labelled(*c, k))
    given = Labelled(np.ones(2, F32), ("a", "b"))
    assert export(jit(lambda x: x))(given).call(given).labels == ("a", "b")


def test_types_like_arrays():
    aval = ShapedArray.like(np.ones((2, 3), F32))
    assert (aval.shape, aval.dtype) == ((2, 3), F32)
    assert aval.sharding.mesh.empty
