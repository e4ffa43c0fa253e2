"""Parameters of functions of Flax: what they do."""

import numpy as np
import pytest

import bindax
from bindax import nnx, optimizers
from bindax.sharding import AxisType, PartitionSpec


def layer():
    return nnx.Linear(2, 3, rngs=nnx.Rngs(0))


def test_states_become_dictionaries_and_come_back():
    state = nnx.state(nnx.List([layer()]))
    kinds = nnx.to_pure_dict(state, lambda x: type(x).__name__)
    assert kinds == {0: {"bias": "Param", "kernel": "Param"}}
    nnx.replace_by_pure_dict(state, {"0": {"bias": 2.0}}, lambda x, new: x.replace(new + 1))
    assert state[0].bias.value == 3.0  # as files have them, integers are text
    with pytest.raises(ValueError, match="the state has no 'scale', but"):
        nnx.replace_by_pure_dict(state, {0: {"scale": 1.0}})


def test_states_are_made_of_other_classes():
    first, second = nnx.State({"a": {"b": 1}}), nnx.State({"a": {"c": 2}})
    assert nnx.merge_state(first, second, cls=dict) == {"a": {"b": 1, "c": 2}}
    assert type(nnx.from_flat_state({("a", "b"): 1}, cls=dict)["a"]) is dict

    class Own(nnx.State):
        pass

    assert type(nnx.merge_state(first, second, cls=Own)) is Own


@pytest.mark.parametrize(
    "function",
    [
        lambda node: nnx.variables(node, graph=False),
        lambda node: nnx.EMA(node, 0.5, graph=False),
        lambda node: nnx.Optimizer(node, optimizers.sgd(0.1), wrt=nnx.Param, graph=False),
    ],
)
def test_sharing_is_refused_where_graph_is_false(function):
    shared = layer()
    with pytest.raises(ValueError, match=r"\.first\.bias and \.second\.bias"):
        function(nnx.Dict(first=shared, second=shared))
    with nnx.set_graph_mode(False):
        function(nnx.Dict(first=shared))


def test_hooks_of_a_variable_run_in_turn():
    seen = []
    metadata = nnx.VariableMetadata(
        np.float32(1.0),
        on_set_value=(lambda _, x: x + 1, lambda _, x: x * 10),
        on_get_value=(lambda _, x: x / 2,),
        on_create_value=(lambda _, x: x + 3,),
        on_add_axis=(lambda _, *args: seen.append(args),),
        metadata={"role": "scale"},
    )
    variable = nnx.Param(metadata)
    assert variable.role == "scale"
    assert variable.raw_value == 4.0
    assert variable.value == 2.0
    variable.value = np.float32(1.0)
    assert variable.value == 10.0
    variable.add_axis(0, "layers")
    assert seen == [(0, "layers")]


def test_trees_have_prefixes_in_both_directions():
    taken = []

    def split(ctx, path, prefix, node):
        taken.append((prefix, type(node).__name__))
        is_object = isinstance(node, nnx.Object)
        return nnx.NodeStates.from_split(*ctx.split(node)) if is_object else node

    def merge(ctx, path, prefix, leaf):
        taken.append((prefix, type(leaf).__name__))
        is_states = isinstance(leaf, nnx.NodeStates)
        return ctx.merge(leaf.graphdef, *leaf.states) if is_states else leaf

    given = {"prefix": ["a", "b"], "map_non_graph_nodes": True}
    tree = nnx.to_tree([layer(), 1.0], split_fn=split, **given)
    found = nnx.from_tree(tree, merge_fn=merge, **given)
    assert type(found[0]) is nnx.Linear
    assert found[1] == 1.0
    assert taken == [("a", "Linear"), ("b", "float"), ("a", "NodeStates"), ("b", "float")]
    kept = nnx.from_tree(tree, is_node_leaf=lambda x: False)
    assert type(kept[0]) is nnx.NodeStates


@pytest.mark.parametrize("copies", [True, False])
def test_graphs_have_copies_of_variables(copies):
    model = layer()
    graphdef, flat = nnx.flatten(model)
    again = nnx.unflatten(graphdef, flat, copy_variables=copies)
    assert (again.kernel is dict(flat)[("kernel",)]) is not copies
    pure = [x.value for _, x in flat]
    bare = nnx.unflatten(graphdef, pure, recreate_variables=False)
    assert not isinstance(bare.kernel, nnx.Variable)


def test_metadata_are_changed_in_copies():
    model = nnx.Dict(x=nnx.Param(1.0, mutable=False))
    assert nnx.with_vars(model, mutable=True).x.mutable
    assert not model.x.mutable


def test_layers_take_their_input_by_name():
    x = np.ones((1, 2), np.float32)
    rngs = nnx.Rngs(0)
    for own in (nnx.LoRALinear(2, 3, lora_rank=1, rngs=rngs), nnx.WeightNorm(layer(), rngs=rngs)):
        np.testing.assert_array_equal(own(x=x), own(x))


def test_encoded_classes_lie_along_explicit_axes():
    pytest.importorskip("jaxlib", reason="a compiler lays arrays out")
    with bindax.set_mesh(bindax.make_mesh((1,), ("x",), AxisType.Explicit)):
        found = nnx.one_hot(np.array([0, 2]), 3, out_sharding=PartitionSpec(None, "x"))
        assert found.sharding.spec == PartitionSpec(None, "x")
        assert bindax.typeof(found).shape == (2, 3)


@pytest.mark.parametrize("mode", [True, False])
def test_pmap_has_static_arguments_and_devices(mode):
    def scaled(model, x, how, y):
        return model(x) * len(how) + y

    x, y = np.ones((1, 5, 2), np.float32), np.ones((1, 5, 3), np.float32)
    model, (device, *_) = layer(), bindax.devices()
    mapped = nnx.pmap(
        scaled,
        in_axes=(None, 0, None, 0),
        static_broadcasted_argnums=2,
        devices=[device],
        donate_argnums=(3,),
        graph=mode,
        graph_updates=mode,
    )
    for how in ("ab", "abc"):
        found = mapped(model, x, how, bindax.numpy.asarray(y))
        assert found.devices() == {device}
        np.testing.assert_allclose(found, model(x) * len(how) + y, rtol=1e-6)
    tripled = nnx.pmap(lambda x, how: x * len(how), static_broadcasted_argnums=[1])
    np.testing.assert_array_equal(tripled(x, "abc"), 3 * x)


def test_compiled_functions_run_on_a_device():
    device, model = bindax.devices()[-1], layer()

    def step(model, x):
        model.bias.value = model.bias.value + 1
        return model(x)

    found = nnx.jit(step, device=device)(model, np.ones((1, 2), np.float32))
    assert found.devices() == model.bias.value.devices() == {device}
    with pytest.raises(ValueError, match="a device, or shardings, not both"):
        nnx.jit(step, device=device, in_shardings=PartitionSpec())


def test_states_of_captures_are_divided_as_by_filters():
    class Probe(nnx.Module):
        def __call__(self, x):
            self.sow(nnx.Intermediate, "seen", x)
            return self.perturb("moved", x)

    _, *states = nnx.capture(Probe(), nnx.Perturbation, nnx.Intermediate)(np.ones(2))
    assert [list(state) for state in states] == [["moved"], ["seen"]]
    _, *states = nnx.capture(Probe(), nnx.Intermediate, nnx.Perturbation)(np.ones(2))
    assert [sorted(state) for state in states] == [["moved", "seen"], []]
