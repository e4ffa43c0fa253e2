"""The code blocks and claims of the document on axis metadata."""

import abc
import dataclasses

import numpy as np
import pytest

import bindax
import bindax_axis_metadata as meta
from bindax import lax
from bindax_axis_metadata import Partitioned, PartitionSpec, with_partitioning

LAYERS = {Partitioned.AXIS_NAME: "layers"}


def dense_variables(kernel_init):
    """The result of initializing a layer of 8 features on inputs of 4."""
    return {"params": {"kernel": kernel_init((4, 8)), "bias": np.zeros(8)}}


def test_the_base_class_is_abstract_in_three_methods():
    assert isinstance(meta.AxisMetadata, abc.ABCMeta)
    assert meta.AxisMetadata.__abstractmethods__ == {"unbox", "add_axis", "remove_axis"}


def test_an_initializer_makes_the_box_and_the_structure_of_variables_shows_it():
    variables = dense_variables(with_partitioning(np.zeros, (None, "data")))
    shapes = bindax.tree.map(np.shape, variables)
    assert shapes == {
        "params": {"kernel": Partitioned(value=(4, 8), names=(None, "data")), "bias": (8,)}
    }
    assert repr(shapes["params"]["kernel"]) == "Partitioned(value=(4, 8), names=(None, 'data'))"


def test_boxes_become_partition_specs():
    def to_sharding_spec(x):
        return PartitionSpec(*x.names) if isinstance(x, Partitioned) else PartitionSpec()

    variables = dense_variables(with_partitioning(np.zeros, (None, "data")))
    specs = bindax.tree.map(
        to_sharding_spec, variables, is_leaf=lambda x: isinstance(x, Partitioned)
    )
    expected = {"params": {"kernel": PartitionSpec(None, "data"), "bias": PartitionSpec()}}
    assert specs == expected == meta.get_partition_spec(variables)
    assert repr(specs["params"]["kernel"]) == "P(None, 'data')"


def test_mapping_over_a_boxed_value_maps_the_value_in_the_box():
    doubled = bindax.tree.map(lambda x: x * 2, Partitioned(3.0, ("data",)))
    assert doubled == Partitioned(6.0, ("data",))


def test_methods_return_new_boxes_and_are_inverse():
    box = Partitioned(np.ones((2, 3)), ("a", None))
    added = box.add_axis(1, LAYERS)
    assert added.names == ("a", "layers", None)
    assert box.names == ("a", None)
    assert added.unbox() is box.unbox()
    assert added.remove_axis(1, LAYERS).names == box.names
    with pytest.raises(dataclasses.FrozenInstanceError):
        box.names = ()


def test_unbox_of_a_box_is_shallow_and_unbox_of_a_tree_is_deep():
    inner = Partitioned(1.0, ())
    outer = Partitioned(inner, ())
    assert outer.unbox() is inner
    assert meta.unbox({"a": outer, "b": 2}) == {"a": 1.0, "b": 2}


def test_an_optimizer_state_inherits_the_boxes():
    params = {"kernel": Partitioned(np.ones((4, 8)), (None, "data"))}
    momentum = bindax.tree.map(np.zeros_like, params)
    assert meta.get_partition_spec(momentum) == meta.get_partition_spec(params)


def test_a_step_of_an_optimizer_keeps_the_boxes():
    init = with_partitioning(bindax.nn.initializers.lecun_normal(), (None, "data"))
    params = {"kernel": init(bindax.random.key(0), (4, 8)), "bias": np.zeros(8, "f4")}
    optimizer = bindax.optimizers.adam(0.1)
    state = optimizer.init(params)
    found = meta.get_partition_spec(state)
    moments = [x for x in bindax.tree.leaves(found) if x == PartitionSpec(None, "data")]
    assert len(moments) == 2

    def loss(params):
        plain = meta.unbox(params)
        return ((np.ones((2, 4), "f4") @ plain["kernel"] + plain["bias"]) ** 2).sum()

    @bindax.jit
    def step(params, state):
        updates, state = optimizer.update(bindax.grad(loss)(params), state, params)
        return bindax.optimizers.apply_updates(params, updates), state

    after, _ = step(params, state)
    assert after["kernel"].names == (None, "data")
    assert float(loss(after)) < float(loss(params))


def test_specs_divide_arrays_over_a_mesh():
    mesh = bindax.sharding.AbstractMesh((4,), ("data",))
    spec = meta.get_partition_spec({"kernel": Partitioned(np.ones((4, 8)), (None, "data"))})
    sharding = bindax.sharding.NamedSharding(mesh, spec["kernel"])
    assert sharding.shard_shape((4, 8)) == (4, 2)


def test_boxes_go_through_jit_grad_and_control_flow():
    box = Partitioned(np.arange(3.0, dtype=np.float32), ("data",))

    def energy(box):
        return (box.unbox() * box.unbox()).sum()

    gradient = bindax.jit(bindax.grad(energy))(box)
    assert gradient.names == ("data",)
    np.testing.assert_array_equal(gradient.unbox(), [0, 2, 4])
    chosen = lax.cond(True, lambda b: b, lambda b: b.replace(value=-b.value), box)
    assert chosen.names == ("data",)
    last, _ = lax.scan(lambda c, x: (c.replace(value=c.value + x), None), box, np.ones(2, "f4"))
    np.testing.assert_array_equal(last.unbox(), [2, 3, 4])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_vmap_removes_and_adds_the_axis(axis):
    names = ["data", None]
    names.insert(axis if axis >= 0 else len(names), "layers")
    shape = [2, 3]
    shape.insert(axis if axis >= 0 else len(shape), 5)
    inside = []

    def function(box):
        inside.append((box.names, box.unbox().shape))
        return box

    box = Partitioned(np.ones(shape), tuple(names))
    out = meta.vmap(function, in_axes=axis, out_axes=0, metadata_params=LAYERS)(box)
    assert inside == [(("data", None), (2, 3))]
    assert out.names == ("layers", "data", None)
    assert out.unbox().shape == (5, 2, 3)


def test_scan_removes_the_axis_of_layers():
    layers = {"kernel": Partitioned(np.ones((3, 2, 2), "f4"), ("layers", None, "data"))}
    inside = []

    def step(x, layer):
        inside.append(layer["kernel"].names)
        return x @ layer["kernel"].unbox(), layer

    last, ys = meta.scan(step, np.ones(2, "f4"), layers, metadata_params=LAYERS)
    assert set(inside) == {(None, "data")}
    np.testing.assert_array_equal(last, [8, 8])
    assert ys["kernel"].names == ("layers", None, "data")


@dataclasses.dataclass(frozen=True)
class Scaled(meta.AxisMetadata):
    """A user's box: one learning rate for each axis."""

    value: object
    rates: tuple

    def unbox(self):
        return self.value

    def add_axis(self, index, params):
        rates = (*self.rates[:index], params["rate"], *self.rates[index:])
        return dataclasses.replace(self, rates=rates)

    def remove_axis(self, index, params):
        return dataclasses.replace(self, rates=self.rates[:index] + self.rates[index + 1 :])


bindax.tree_util.register_dataclass(Scaled, data_fields=["value"], meta_fields=["rates"])


def test_boxes_of_different_types_nest_and_each_is_told():
    params = {**LAYERS, "rate": 0.5}
    box = Scaled(Partitioned(np.ones((3, 2)), ("layers", "data")), (0.5, 0.1))
    inside = []

    def function(box):
        inside.append((box.rates, box.unbox().names))
        return box

    out = meta.vmap(function, metadata_params=params)(box)
    assert inside == [((0.1,), ("data",))]
    assert out.rates == box.rates
    assert out.unbox().names == box.unbox().names
    meta.check_axis_metadata(box, params)


def test_content_is_replaced_in_the_boxes():
    tree = {"a": Scaled(Partitioned(1.0, ()), ()), "b": 2.0}
    new = meta.replace_boxed(tree, {"a": 5.0, "b": 6.0})
    assert new == {"a": Scaled(Partitioned(5.0, ()), ()), "b": 6.0}
    with pytest.raises(ValueError, match="replace_boxed needs updates of the structure"):
        meta.replace_boxed(tree, {"a": 5.0})


def test_errors_say_which_name():
    box = Partitioned(np.ones((3, 2)), ("stages", "data"))
    with pytest.raises(ValueError, match=r"axis 0 of \('stages', 'data'\) is named 'stages'"):
        meta.vmap(lambda b: b, metadata_params=LAYERS)(box)
    with pytest.raises(ValueError, match=r"pass metadata_params=\{'partition_name'"):
        meta.vmap(lambda b: b)(box)
    with pytest.raises(ValueError, match="there is no axis 0 among"):
        meta.vmap(lambda b: b, metadata_params=LAYERS)(Partitioned(np.ones(2), ()))
    with pytest.raises(ValueError, match="cannot be inserted at position 1"):
        Partitioned(np.ones(2), ()).add_axis(1, LAYERS)
    two = Partitioned((np.ones((2, 2)), np.ones((2, 2))), ("layers", None))
    prefix = Partitioned((0, 1), ("layers", None))
    with pytest.raises(ValueError, match="mapped along different axes"):
        meta.vmap(lambda b: b, in_axes=(prefix,), metadata_params=LAYERS)(two)


def test_the_conformance_check_finds_a_box_that_forgets():
    @dataclasses.dataclass(frozen=True)
    class Forgetful(Scaled):
        def remove_axis(self, index, params):
            return self

    bindax.tree_util.register_dataclass(Forgetful, data_fields=["value"], meta_fields=["rates"])
    with pytest.raises(ValueError, match=r"remove_axis\(0, .*does not undo add_axis"):
        meta.check_axis_metadata(Forgetful(np.ones(2), (0.1,)), {"rate": 0.5})
    with pytest.raises(TypeError, match="does not derive from AxisMetadata"):
        meta.check_axis_metadata(3, {})


def test_boxes_pass_the_checks_of_containers():
    import bindax_testing as testing

    testing.check_pytree(Partitioned(np.ones(3), ("data",))).raise_if_failed()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_scan_along_any_axis_with_arguments_that_are_the_same_in_all_steps(axis):
    names = ["data", None]
    names.insert(axis if axis >= 0 else 3 + axis, "layers")
    kernels = np.moveaxis(np.arange(1, 13, dtype="f4").reshape(3, 2, 2), 0, axis)
    shared = Partitioned(np.ones(2, "f4"), ("data",))
    inside = []

    def step(x, given):
        layer, bias, rate = given
        inside.append((layer.names, bias.names, bias.unbox().shape, np.shape(rate)))
        x = x @ layer.unbox() * rate + bias.unbox()
        return x, {"layer": layer, "x": Partitioned(x, (None,))}

    last, ys = meta.scan(
        step,
        np.ones(2, "f4"),
        (Partitioned(kernels, tuple(names)), shared, np.array([1, 2, 3], "f4")),
        in_axes=(axis, None, 0),
        out_axes={"layer": axis, "x": -1},
        metadata_params=LAYERS,
    )
    assert set(inside) == {(("data", None), ("data",), (2,), ())}
    assert ys["layer"].names == tuple(names)
    assert ys["x"].names == (None, "layers")
    np.testing.assert_array_equal(ys["layer"].unbox(), kernels)
    x, expected = np.ones(2, "f4"), []
    for rate, kernel in enumerate(np.moveaxis(kernels, axis, 0), 1):
        x = x @ kernel * rate + 1
        expected.append(x)
    np.testing.assert_array_equal(last, x)
    np.testing.assert_array_equal(ys["x"].unbox(), np.stack(expected, -1))


def test_scan_differentiates_what_is_the_same_in_all_steps():
    def loss(shared):
        last, _ = meta.scan(
            lambda x, w: (x * w.unbox(), None),
            np.float32(1),
            shared,
            length=3,
            in_axes=None,
            metadata_params=LAYERS,
        )
        return last

    gradient = bindax.grad(loss)(Partitioned(np.float32(2), ()))
    assert gradient == Partitioned(gradient.value, ())
    assert float(gradient.value) == 12


def test_scan_names_axes_that_do_not_fit():
    xs = Partitioned(np.ones((3, 2)), ("layers", None))

    def run(step=lambda c, x: (c, x), **options):
        return meta.scan(step, 0.0, xs, metadata_params=LAYERS, **options)

    with pytest.raises(ValueError, match=r"scan: in_axes has axis 2 for an array of shape \(3, 2"):
        run(in_axes=2)
    with pytest.raises(TypeError, match=r"scan: in_axes must hold integers, None and .* not 'a'"):
        run(in_axes="a")
    with pytest.raises(TypeError, match=r"scan: out_axes must hold integers and trees.* not None"):
        run(out_axes=None)
    with pytest.raises(ValueError, match=r"axis 1 of \('layers', None\) is named None"):
        run(in_axes=1)
    with pytest.raises(ValueError, match="out_axes has axis 3 for an array"):
        run(lambda c, x: (c, x.unbox()), out_axes=3)
    with pytest.raises(ValueError, match="length"):
        run(in_axes=None)
