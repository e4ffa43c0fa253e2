"""Programs that say explicitly how their arrays lie, as JAX's on axes of the type ``Explicit``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import P, lax
from bindax.errors import ShardingTypeError
from bindax.sharding import (
    AbstractMesh,
    AxisType,
    Mesh,
    NamedSharding,
    auto_axes,
    explicit_axes,
    get_abstract_mesh,
    get_mesh,
    reshard,
    use_abstract_mesh,
)


@pytest.fixture
def explicit(mesh: Any) -> Any:
    return mesh.update(axis_types=(AxisType.Explicit,) * 2)


def test_a_step_that_lays_its_values(explicit: Any, numbers: Any) -> None:
    def loss(weights: Any, x: Any) -> Any:
        hidden = reshard(jnp.tanh(x @ weights["in"]), P("x", "y"))
        return (jnp.matmul(hidden, weights["out"], out_sharding=P("x")) ** 2).mean()

    weights = {"in": numbers, "out": numbers.T}

    def alone(weights: Any, x: Any) -> Any:
        return ((jnp.tanh(x @ weights["in"]) @ weights["out"]) ** 2).mean()

    wanted = bindax.value_and_grad(alone)(weights, numbers)
    with bindax.set_mesh(explicit):
        laid = reshard(weights, {"in": P(None, "y"), "out": P("y")})
        found = bindax.jit(bindax.value_and_grad(loss))(laid, reshard(numbers, P("x")))
    assert found[1]["in"].sharding.spec == P(None, "y")
    for ours, theirs in zip(*map(bindax.tree.leaves, (found, wanted)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_functions_that_lay_arguments_and_results(explicit: Any, numbers: Any) -> None:
    with bindax.set_mesh(explicit):
        laid = auto_axes(lambda x: x @ x.T, out_sharding=P("x"))
        assert bindax.jit(laid)(numbers).sharding.spec == P("x", None)
        assert laid(numbers, out_sharding=P(None, "y")).sharding.spec == P(None, "y")
        seen: list[Any] = []

        @explicit_axes(axes=("x", "y"), in_sharding=(P("x"), P("x")))
        def added(x: Any, y: Any) -> Any:
            seen.extend([x.sharding.spec, y.sharding.spec])
            return x + y

        np.testing.assert_array_equal(added(numbers, numbers), 2 * numbers)
        assert seen == [P("x", None), P("x", None)]
        np.testing.assert_array_equal(auto_axes(out_sharding=P())(jnp.sum)(numbers), numbers.sum())


def test_where_indexed_and_reshaped_values_lie(explicit: Any, numbers: Any) -> None:
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x"))
        taken = x.at[np.array([0, 3])].get(out_sharding=P(None, "y"))
        changed = x.at[0].set(1.0, out_sharding=P("y"))
        applied = x.at[:2].apply(jnp.square, out_sharding=P("y"))
        shaped = bindax.jit(lambda x: x.reshape(4, 16, out_sharding=P(None, "x")))(x)
    for array, spec in ((taken, P(None, "y")), (changed, P("y", None)), (applied, P("y", None))):
        assert array.sharding.spec == spec
    assert shaped.sharding.spec == P(None, "x")
    np.testing.assert_array_equal(taken, numbers[[0, 3]])
    np.testing.assert_array_equal(shaped, numbers.reshape(4, 16))


def test_types_of_axes(explicit: Any) -> None:
    assert explicit.are_all_axes_explicit
    assert isinstance(explicit, Mesh)
    assert (explicit.explicit_axes, explicit.auto_axes) == (("x", "y"), ())
    mixed = AbstractMesh((4, 2), ("x", "y"), (AxisType.Auto, AxisType.Explicit))
    assert (mixed.auto_axes, mixed.explicit_axes, mixed.manual_axes) == (("x",), ("y",), ())
    assert mixed.update(axis_sizes=(2, 2)).shape_tuple == (("x", 2), ("y", 2))


def test_programs_in_which_another_mesh_is_at_work_are_transformed(
    explicit: Any, numbers: Any
) -> None:
    other = AbstractMesh((2, 4), ("a", "b"), (AxisType.Explicit,) * 2)

    @bindax.jit
    def doubled(x: Any) -> Any:
        x = jnp.sin(x)
        with use_abstract_mesh(other):
            x = 2 * reshard(x, P(("a", "b")))
        return reshard(x, P("y"))

    partly = auto_axes(lambda x: jnp.sin(2 * x), axes="x", out_sharding=P("x", "y"))
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x", "y"))
        for function in (doubled, partly, bindax.jit(partly)):
            slope = bindax.grad(lambda x, function=function: function(x).sum())(x)
            assert slope.aval is x.aval
            mapped = bindax.vmap(function)(jnp.stack([numbers] * 2))
            np.testing.assert_allclose(mapped[1], function(numbers), rtol=1e-6)


def test_results_that_are_whole_say_so(explicit: Any, numbers: Any) -> None:
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P())
        whole = NamedSharding(explicit, P(None, None))
        for function in (lambda x: jnp.cumsum(x, 0), lambda x: x[:, :-1], bindax.vmap(jnp.sort)):
            assert bindax.jit(function)(x).sharding == whole
        state, bits = lax.rng_bit_generator(
            np.arange(4, dtype=np.uint32), (8, 2), out_sharding=P("x")
        )
        assert (state.aval.str_short(), bits.aval.str_short()) == ("uint32[4]", "uint32[8@x,2]")
        unnamed = bindax.device_put(numbers, NamedSharding(explicit, P()))
        assert bindax.jit(lambda x: jnp.cumsum(x, 0))(unnamed).sharding == whole
        keys = reshard(bindax.random.split(bindax.random.key(0), 4), P("x"))
        assert keys.sharding == NamedSharding(explicit, P("x"))
        assert reshard(bindax.random.key(0), P()).sharding == NamedSharding(explicit, P())
        assert keys.addressable_shards[0].data.shape == (1,)
        words = bindax.random.key_data(keys)
        assert words.aval.str_short() == "uint32[4@x,2]"
        same = bindax.random.key_data(bindax.random.split(bindax.random.key(0), 4))
        np.testing.assert_array_equal(words, same)


def test_results_that_no_element_has_its_own_of_are_divided_as_the_batch(
    explicit: Any, numbers: Any
) -> None:
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x"))
        for function in (lambda row: numbers[0], lambda row: (row, jnp.ones(8))[1]):
            mapped = bindax.vmap(function)
            for found in (mapped(x), bindax.jit(mapped)(x)):
                assert found.aval.str_short() == "float32[8@x,8]"
                np.testing.assert_array_equal(np.asarray(found)[3], function(numbers[3]))


@pytest.mark.parametrize("name", ["poisson", "binomial", "gamma", "truncated_normal"])
def test_random_numbers_lie_as_their_parameters_do(explicit: Any, name: str) -> None:
    parameters = np.linspace(1, 15, 8, dtype=np.float32), np.linspace(0.1, 0.9, 8, dtype=np.float32)
    count = {"binomial": 2, "truncated_normal": 2}.get(name, 1)
    draw = bindax.jit(getattr(bindax.random, name))
    wanted = draw(bindax.random.key(0), *parameters[:count])
    with bindax.set_mesh(explicit):
        found = draw(bindax.random.key(0), *reshard(parameters[:count], P("x")))
    assert found.sharding.spec == P("x")
    np.testing.assert_array_equal(found, wanted)


def test_axes_that_are_divided_by_hand(explicit: Any, numbers: Any) -> None:
    def part(x: Any) -> Any:
        assert get_abstract_mesh().manual_axes == ("x",)
        assert x.aval.str_short() == "float32[2,8@y]{V:x}"
        product = jnp.matmul(x, x.T, out_sharding=P(None, "y"))
        assert product.aval.str_short() == "float32[2,2@y]{V:x}"
        return product

    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x", "y"))
        found = bindax.jit(bindax.shard_map(part, out_specs=P("x"), axis_names={"x"}))(x)
    blocks = numbers.reshape(4, 2, 8)
    np.testing.assert_allclose(found, np.concatenate(blocks @ blocks.swapaxes(1, 2)), rtol=1e-6)


def test_specs_that_leave_nothing_to_the_compiler(explicit: Any) -> None:
    with pytest.raises(ValueError, match=r"P\.UNCONSTRAINED` when no mesh axis_types are `Auto`"):
        NamedSharding(explicit, P(P.UNCONSTRAINED))


def test_constraints_beside_what_types_say(mesh: Any, numbers: Any) -> None:
    mixed = mesh.update(axis_types=(AxisType.Explicit, AxisType.Auto))
    with bindax.set_mesh(mixed):
        x = reshard(numbers, P("x"))
        for spec, wanted in ((P("y"), P(("x", "y"))), (P(None, "y"), P("x", "y"))):
            laid = bindax.jit(lambda x, spec=spec: lax.with_sharding_constraint(x, spec))(x)
            assert laid.aval is x.aval
            assert laid.sharding == NamedSharding(mixed, wanted)
        with pytest.raises(ValueError, match="can only refer to Auto axes of the mesh"):
            lax.with_sharding_constraint(x, P("x"))


def test_axes_of_size_one(eight_devices: Any) -> None:
    kinds = (AxisType.Explicit,) * 2
    with bindax.set_mesh(bindax.make_mesh((1, 8), ("x", "y"), kinds)):
        x = reshard(np.ones((1, 16)), P("x", "y"))
        split = x.reshape(1, 8, 2)
        assert split.aval.str_short() == "float64[1@x,8@y,2]"
        assert split.reshape(1, 16).aval is x.aval
        with bindax.remove_size_one_mesh_axis_from_type(True):
            y = reshard(np.ones((2, 16)), P("x", "y"))
            assert y.aval.str_short() == "float64[2,16@y]"
            assert lax.with_sharding_constraint(y, P("x", "y")) is y
            z = reshard(np.ones((16, 3)), P(("x", "y")))
            assert z.sharding == NamedSharding(get_mesh(), P("y", None))
            assert (
                bindax.vmap(jnp.sum, spmd_axis_name=("x", "y"))(z).aval.str_short()
                == "float64[16@y]"
            )


def test_what_is_refused(explicit: Any, numbers: Any) -> None:
    refused = pytest.raises(ShardingTypeError, match="cannot be sharded on the unstacking axis")
    with bindax.set_mesh(explicit), refused:
        jnp.unstack(reshard(numbers, P("x")))
    refused = pytest.raises(ShardingTypeError, match="The input should be fully replicated")
    with bindax.set_mesh(explicit), refused:
        jnp.cumsum(reshard(numbers, P("x")))
    refused = pytest.raises(ValueError, match="Incompatible types for broadcasting")
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x"))
        assert lax.broadcast_like(numbers[0], x).aval is x.aval
        assert bindax.jit(lax.broadcast_like)(numbers[:, :1], x).sharding == x.sharding
        with refused:
            lax.broadcast_like(reshard(numbers[0], P("x")), x)
    free = auto_axes(jnp.sin, out_sharding=P())
    np.testing.assert_allclose(free(numbers), np.sin(numbers), rtol=1e-6)
    with pytest.raises(ValueError, match="no mesh is set"):
        auto_axes(jnp.sin, out_sharding=P("x"))(numbers)


def test_results_lie_in_the_words_of_out_shardings(explicit: Any, numbers: Any) -> None:
    with bindax.set_mesh(explicit):
        x = reshard(numbers, P("x"))
        for spec in (P("x"), P("x", None), P(), P(unreduced={"y"})):
            found = bindax.jit(lambda x: 2 * x, out_shardings=spec)(x)
            assert found.sharding == NamedSharding(explicit, spec)
            np.testing.assert_array_equal(found, 2 * numbers)
        with (
            use_abstract_mesh(get_abstract_mesh().update_axis_types({"x": AxisType.Auto})),
            pytest.raises(ValueError, match=r"PartitionSpec .* cannot contain axis names"),
        ):
            bindax.jit(lambda x: jnp.matmul(x, x, out_sharding=P("x")))(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2"])
def test_sums_that_stay_open_over_devices_are_formed_in_a_wide_dtype(
    explicit: Any, dtype: str
) -> None:
    name = explicit.axis_names[0]

    @bindax.jit
    def total(x: Any) -> Any:
        terms = lax.reduce_sum(x, (0,), out_sharding=P(None, unreduced={name}))
        assert terms.dtype == x.dtype
        return reshard(terms, P(None))

    with bindax.set_mesh(explicit):
        ones = bindax.device_put(jnp.ones((8, 4), dtype), NamedSharding(explicit, P(name, None)))
        assert np.array_equal(np.asarray(total(ones), np.float32), [8.0] * 4)
