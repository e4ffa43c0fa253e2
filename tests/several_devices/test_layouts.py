"""The order of the axes of arrays in memory, said by programs and chosen by the compiler."""

from __future__ import annotations

import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import bindax
from bindax import P, lax
from bindax.experimental.layout import Format, Layout, with_layout_constraint
from bindax.sharding import NamedSharding, SingleDeviceSharding

X = np.arange(32, dtype=np.float32).reshape(4, 8)
SWAPPED, DEFAULT = Layout((1, 0)), Layout((0, 1))


@pytest.fixture(params=["one device", "the first device", "a mesh"])
def sharding(request: Any, on: Any) -> Any:
    if request.param == "a mesh":
        return on("x", "y")
    return SingleDeviceSharding(bindax.devices()[request.param == "one device"])


def test_arrays_in_another_order(sharding: Any) -> None:
    y = bindax.device_put(X, Format(SWAPPED, sharding))
    assert y.format == Format(SWAPPED, sharding)
    assert y.sharding == sharding
    assert bindax.device_put(X, sharding).format == Format(DEFAULT, sharding)
    for z in (y, y.copy(), pickle.loads(pickle.dumps(y)), bindax.device_put(y)):
        np.testing.assert_array_equal(z, X)
    assert y.copy().format == y.format or sharding.num_devices == 1  # which NumPy copies
    for shard in y.addressable_shards:
        assert shard.data.format.layout == SWAPPED
        np.testing.assert_array_equal(shard.data, X[shard.index])


def test_programs_take_arrays_as_they_lie(sharding: Any) -> None:
    y = bindax.device_put(X, Format(SWAPPED, sharding))
    plain = bindax.device_put(X, sharding)
    double = bindax.jit(lambda x: x * 2)
    for x in (plain, y, X, y, plain):
        np.testing.assert_array_equal(double(x), 2 * X)
    np.testing.assert_array_equal(bindax.jit(lambda x, y: x - y.T.T)(plain, y), 0 * X)
    np.testing.assert_array_equal(y + plain, 2 * X)
    np.testing.assert_array_equal(bindax.jit(bindax.grad(lambda x: (x**2).sum()))(y), 2 * X)
    np.testing.assert_array_equal(bindax.vmap(lambda x: x[::-1])(y), X[:, ::-1])
    total, sums = lax.scan(lambda c, x: (c + x, x.sum()), np.zeros(8, np.float32), y)
    np.testing.assert_array_equal(total, X.sum(0))
    np.testing.assert_array_equal(sums, X.sum(1))


def test_arrays_move_between_orders(sharding: Any) -> None:
    y = bindax.device_put(X, Format(SWAPPED, sharding))
    back = bindax.device_put(y, Format(DEFAULT, sharding))
    assert back.format.layout == DEFAULT
    assert bindax.device_put(y, Format(SWAPPED, sharding)) is y
    assert bindax.device_put(y, sharding) is y  # which says nothing of the order
    other = SingleDeviceSharding(bindax.devices()[2])
    there = bindax.device_put(y, other)
    assert there.format == Format(DEFAULT, other)
    moved = bindax.device_put(y, Format(SWAPPED, other))
    assert moved.format == Format(SWAPPED, other)
    for z in (back, there, moved):
        np.testing.assert_array_equal(z, X)
    assert bindax.device_put(X, Format(None, sharding)).format.layout == DEFAULT
    assert not bindax.device_put(X, Format()).committed


def test_a_donated_array_gives_its_memory_to_one_in_its_order(sharding: Any) -> None:
    y = Format(SWAPPED, sharding)
    square = bindax.jit(lambda x: x * x, in_shardings=y, out_shardings=y, donate_argnums=0)
    given = bindax.device_put(X, y)
    np.testing.assert_array_equal(square(given), X * X)
    assert given.is_deleted()
    swapped = bindax.jit(lambda x: x * x, out_shardings=y, donate_argnums=0)
    plain = bindax.device_put(X, sharding)
    with pytest.warns(UserWarning, match="no result that is left has the same shape"):
        np.testing.assert_array_equal(swapped(plain), X * X)
    np.testing.assert_array_equal(plain, X)
    free = bindax.jit(lambda x: x * x, out_shardings=Format(Layout.AUTO), donate_argnums=0)
    np.testing.assert_array_equal(free(plain), X * X)
    assert plain.is_deleted()


def test_the_compiler_chooses_an_order() -> None:
    auto = Format(Layout.AUTO)
    turn = bindax.jit(lambda x, y: x.T, in_shardings=auto, out_shardings=auto)
    compiled = turn.lower(X, X).compile()
    (taken, unused), _ = compiled.input_formats
    assert taken.layout.major_to_minor == compiled.output_formats.layout.major_to_minor[::-1]
    assert unused.layout == DEFAULT
    for call in (turn, compiled):
        made = call(X, X)
        assert made.format.layout == compiled.output_formats.layout
        np.testing.assert_array_equal(made, X.T)
    again = bindax.jit(lambda x, y: x.T, in_shardings=(taken, unused))
    np.testing.assert_array_equal(again(X, X), X.T)
    usual = bindax.jit(lambda x, y: x.T).lower(X, X).compile()
    assert usual.output_formats.layout == DEFAULT
    assert usual.input_formats == ((Format(DEFAULT, taken.sharding), Format()), {})


def test_arguments_in_an_order(sharding: Any) -> None:
    asked = bindax.jit(lambda x: x + 1, in_shardings=Format(SWAPPED, sharding))
    compiled = asked.lower(bindax.ShapeDtypeStruct(X.shape, X.dtype)).compile()
    assert compiled.input_formats[0][0].layout == SWAPPED
    for x in (X, bindax.numpy.asarray(X), bindax.device_put(X, Format(SWAPPED, sharding))):
        np.testing.assert_array_equal(asked(x), X + 1)
    plain = bindax.device_put(X, sharding)
    text = r"operand 0 is to lie in memory as .*\(1, 0\)\), but it does as .*\(0, 1\)\), and"
    with pytest.raises(ValueError, match=text):
        asked(plain)
    described = bindax.ShapeDtypeStruct(X.shape, X.dtype, sharding=Format(SWAPPED, sharding))
    assert described.format == Format(SWAPPED, sharding)
    assert described.sharding == sharding
    ready = bindax.jit(lambda x: x + 1).lower(described).compile()
    assert ready.input_formats[0][0] == described.format
    np.testing.assert_array_equal(ready(bindax.device_put(X, described.format)), X + 1)
    with pytest.raises(ValueError, match=r"is on Layout\(.*\(0, 1\)\), but the program was comp"):
        ready(plain)


def test_an_order_inside_of_a_program(sharding: Any) -> None:
    def turned(x: Any) -> Any:
        return lax.with_sharding_constraint(x.T, Format(SWAPPED, bound))

    spec = sharding.update(spec=P("y", "x")) if isinstance(sharding, NamedSharding) else sharding
    bound = spec
    made = bindax.jit(turned)(bindax.device_put(X, sharding))
    assert made.format == Format(SWAPPED, bound)
    np.testing.assert_array_equal(made, X.T)
    nested = bindax.jit(lambda x: (bindax.jit(turned)(x), x))(bindax.device_put(X, sharding))
    assert [x.format.layout for x in nested] == [SWAPPED, DEFAULT]
    slope = bindax.jit(bindax.grad(lambda x: (turned(x) ** 2).sum()))(X)
    np.testing.assert_array_equal(slope, 2 * X)


def test_batches_of_an_order() -> None:
    both = np.stack([X, X + 1, X + 2])
    swap = lambda x: with_layout_constraint(x, SWAPPED)  # noqa: E731
    for axis, order in ((0, (0, 2, 1)), (1, (1, 2, 0)), (2, (2, 1, 0))):
        given = np.moveaxis(both, 0, axis)
        for call in (bindax.vmap(swap, axis, axis), bindax.jit(bindax.vmap(swap, axis, axis))):
            made = call(given)
            assert made.format.layout == Layout(order)
            np.testing.assert_array_equal(made, given)


@pytest.mark.parametrize("dtype", [bool, "int4", "uint8", "bfloat16", "complex64", "float64"])
@pytest.mark.parametrize("shape", [(4, 6), (0, 3), (1, 1)])
def test_dtypes_in_another_order(dtype: Any, shape: Any) -> None:
    x = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(
        getattr(ml_dtypes, str(dtype), dtype) if isinstance(dtype, str) else dtype
    )
    for device in bindax.devices()[:2]:
        y = bindax.device_put(x, Format(SWAPPED, SingleDeviceSharding(device)))
        assert y.format.layout == SWAPPED
        np.testing.assert_array_equal(np.asarray(y), x)
        np.testing.assert_array_equal(np.asarray(bindax.jit(lambda y: y.T)(y)), x.T)


def test_parts_of_arrays(on: Any) -> None:
    format = Format(SWAPPED, on("x"))
    made = bindax.make_array_from_callback(X.shape, format, lambda index: X[index])
    assert made.format == format
    np.testing.assert_array_equal(made, X)
    parts = [shard.data for shard in made.addressable_shards]
    joined = bindax.make_array_from_single_device_arrays(X.shape, format.sharding, parts)
    np.testing.assert_array_equal(joined, X)
    with pytest.raises(TypeError, match=r"`Layout.AUTO` is given, which a compiler decides"):
        bindax.make_array_from_callback(
            X.shape, Format(Layout.AUTO, format.sharding), lambda index: X[index]
        )


def test_another_memory_with_an_order(sharding: Any) -> None:
    other = Format(SWAPPED, sharding.with_memory_kind("pinned_host"))
    made = bindax.jit(lambda x: x * 2, out_shardings=other)(bindax.device_put(X, sharding))
    assert made.format == other
    np.testing.assert_array_equal(made, 2 * X)
    np.testing.assert_array_equal(bindax.jit(lambda x: x + 1)(made), 2 * X + 1)


def test_an_exported_program_for_a_mesh_without_devices(on: Any) -> None:
    mesh = on("x").mesh
    rows, columns = [NamedSharding(mesh.abstract_mesh, P(*spec)) for spec in (("x",), (None, "x"))]
    program = bindax.jit(lambda x: lax.with_sharding_constraint(x @ x.T, columns))
    described = bindax.ShapeDtypeStruct((8, 8), np.float32, sharding=rows)
    exported = bindax.export.export(program)(described)
    assert exported.nr_devices == 8
    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    made = bindax.jit(exported.call)(bindax.device_put(x, on("x")))
    np.testing.assert_array_equal(made, x @ x.T)
    assert made.sharding == on(None, "x")


def test_refusals() -> None:
    here = SingleDeviceSharding(bindax.devices()[0])
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: Layout((0, 0)), ValueError, r"each axis of an array once, but it is \(0, 0\)"),
        (lambda: Layout((1, 2)), ValueError, "each axis of an array once"),
        (lambda: Layout((0, 1), ((8, 128),)), ValueError, "no device here keeps arrays in tiles"),
        (lambda: Format((1, 0), here), TypeError, "layout must be a Layout, Layout.AUTO or None"),
        (lambda: Format(None, "cpu"), TypeError, "sharding must be a Sharding or None"),
        (lambda: Format(SWAPPED), ValueError, "needs a sharding beside it"),
        (
            lambda: bindax.device_put(X, Format(Layout.AUTO, here)),
            ValueError,
            "should be concrete, but `Layout.AUTO` is given",
        ),
        (
            lambda: bindax.device_put(X, Format(Layout((0, 2, 1)), here)),
            ValueError,
            r"device_put: x has 2 axes \(shape \(4, 8\)\), but Layout\(.*\) orders 3",
        ),
        (
            lambda: bindax.device_put(
                bindax.random.split(bindax.random.key(0), (2, 2)), Format(SWAPPED, here)
            ),
            ValueError,
            "lies in the default order alone",
        ),
        (
            lambda: bindax.ShapeDtypeStruct((2, 2), np.float32, sharding=Format(Layout.AUTO)),
            TypeError,
            "ShapeDtypeStruct: sharding: the sharding and layout",
        ),
        (
            lambda: bindax.jit(lambda x: x, in_shardings=Layout.AUTO),
            ValueError,
            r"take shardings, but got the layout Layout.AUTO; put it into Format",
        ),
        (
            lambda: bindax.jit(lambda x: x, out_shardings=Format(Layout((0,)), here))(X),
            ValueError,
            r"out_shardings: One of pjit outputs, leaf 0, has 2 axes",
        ),
        (lambda: with_layout_constraint(X, 1), TypeError, "layouts must be a Layout"),
    ]
    for call, error, text in cases:
        with pytest.raises(error, match=text):
            call()


def test_layouts_of_a_tree() -> None:
    made = with_layout_constraint({"a": X, "b": [X, X]}, {"a": SWAPPED, "b": DEFAULT})
    assert [x.format.layout for x in (made["a"], *made["b"])] == [SWAPPED, DEFAULT, DEFAULT]


def test_an_interpreter_has_one_order() -> None:
    with bindax.config.override(backend="numpy"):
        assert with_layout_constraint(X, DEFAULT).format.layout == DEFAULT
        with pytest.raises(ValueError, match="'numpy' has the default order alone"):
            with_layout_constraint(X, SWAPPED)
        np.testing.assert_array_equal(bindax.jit(lambda x: x * 2)(X), 2 * X)


def test_a_compiled_function_takes_what_is_bound_to_its_device() -> None:
    compiled = bindax.jit(lambda x: x + 1).lower(X).compile()
    np.testing.assert_array_equal(compiled(bindax.device_put(X, bindax.devices()[0])), X + 1)
    with pytest.raises(ValueError, match=r"is on SingleDeviceSharding\(device=Device\(cpu:1\)\)"):
        compiled(bindax.device_put(X, bindax.devices()[1]))
