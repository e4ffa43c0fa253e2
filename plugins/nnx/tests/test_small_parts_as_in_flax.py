"""Small parts of programs that were written for Flax."""

import numpy as np
import pytest

import bindax
import bindax_numpy as jnp
from bindax import nnx, optimizers
from bindax_nnx.settings import nnx_sow_capture_noop

flax_nnx = pytest.importorskip("flax.nnx", reason="the library to compare with")
BOTH = pytest.mark.parametrize("library", [nnx, flax_nnx])


@BOTH
def test_subclasses_define_what_is_read_and_written(library):
    class Shifted(library.Param):
        def get_value(self, **kwargs):
            return super().get_value(**kwargs) + 3

        def set_value(self, value, **kwargs):
            super().set_value(value * 2, **kwargs)

    x = Shifted(np.array([1.0, 2.0], np.float32) if library is flax_nnx else jnp.array([1.0, 2.0]))
    assert np.asarray(x + 0).tolist() == np.asarray(x[...]).tolist() == [4.0, 5.0]
    x[...] = np.array([5.0, 5.0], np.float32)
    assert np.asarray(x.get_raw_value()).tolist() == [10.0, 10.0]
    assert float(x[0]) == 13.0


@BOTH
def test_variables_call_what_they_hold(library):
    assert library.Variable(abs)(-3) == 3


def test_sequential_passes_keywords_to_the_layers_that_take_them():
    empty = nnx.Sequential()
    assert (empty(1), empty(1, 2), empty(), empty(k=2)) == (1, (1, 2), None, {"k": 2})
    layers = nnx.Sequential(
        lambda x, by: x * by, lambda x: (x, x), lambda x, y, *, plus: {"a": x, "b": y + plus}, dict
    )
    assert layers(3, by=2, plus=1) == {"a": 6, "b": 7, "by": 2, "plus": 1}
    assert len(list(layers)) == 4
    with pytest.raises(TypeError, match=r"Sequential\.layers\[1\] is given \['by'\] twice"):
        nnx.Sequential(lambda x: {"by": x}, lambda by: by)(1, by=2)


@BOTH
def test_masks_of_metrics_may_be_numbers_or_one_for_each(library):
    average = library.metrics.Average()
    values, weights = np.float32([1.0, 2.0, 4.0]), np.float32([0.0, 1.0, 1.0])
    average.update(values=bindax_or_jax(library, values), mask=bindax_or_jax(library, weights))
    assert float(average.compute()) == 3.0
    both = library.MultiMetric(z=library.metrics.Average("z"), a=library.metrics.Average("a"))
    both = library.merge(*library.split(both))
    numbers, mask = (bindax_or_jax(library, x) for x in (values, np.array([True, False, True])))
    both.update(z=numbers, a=numbers, mask={"a": mask})
    assert {k: float(x) for k, x in both.compute().items()} == pytest.approx({"z": 7 / 3, "a": 2.5})
    assert list(both.compute()) == ["z", "a"]


def bindax_or_jax(library, x):
    import jax.numpy

    return jnp.asarray(x) if library is nnx else jax.numpy.asarray(x)


@pytest.mark.parametrize(
    ("threshold", "shapes", "message"),
    [
        (None, ((2, 2, 2), (4,)), r"For multi-class classification, .* \(2, 2, 2\) and \(4,\)"),
        (0.5, ((4,), (2, 2)), r"For binary classification, with a threshold, .* \(4,\) and"),
    ],
)
def test_shapes_of_accuracy(threshold, shapes, message):
    logits, labels = map(np.zeros, shapes)
    with pytest.raises(ValueError, match=message):
        nnx.metrics.Accuracy(threshold).update(logits=logits, labels=labels)
    with pytest.raises(ValueError, match="values should be a jax array where there is a mask"):
        nnx.metrics.Average().update(values=2, mask=np.ones(2))


def test_updates_of_an_optimizer_are_returned_and_gradients_may_be_modules():
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optimizers.sgd(0.5))
    before = np.asarray(model.kernel.value)
    grads = nnx.grad(lambda m: (m(np.ones((1, 2), "f4")) ** 2).sum(), graph=False)(model)
    assert type(grads) is nnx.Linear
    updates = optimizer.update(model, grads)
    np.testing.assert_allclose(updates["kernel"], -0.5 * grads.kernel.value, rtol=1e-6)
    np.testing.assert_allclose(model.kernel.value, before + updates["kernel"], rtol=1e-6)
    params, rest = nnx.unpack(model, nnx.Param, ...)

    def loss(params, rest):
        return (nnx.merge(params, rest)(np.ones((1, 2), "f4")) ** 2).sum()

    updates = optimizer.update(model, nnx.grad(loss, graph=False)(params, rest))
    assert params["kernel"] is model.kernel
    assert updates["kernel"].shape == (2, 3)
    assert bindax.tree.structure(updates) == bindax.tree.structure(nnx.as_pure(params))


def test_attributes_are_set_in_a_mode_and_slices_are_lists():
    model = nnx.Dict(a=nnx.Dropout(0.5, rngs=nnx.Rngs(0)))
    model.set_attributes(deterministic=True, graph=True)
    assert model.a.deterministic
    model.b = model.a
    with pytest.raises(ValueError, match="Duplicate"):
        model.set_attributes(deterministic=False, graph=False)
    assert nnx.List([1, 2, 3])[1:] == [2, 3]
    assert nnx.PureState[nnx.Linear]
    assert nnx.GraphDef[nnx.Linear]
    assert isinstance(bindax.tree.leaves(nnx.compat.split(model)[1]), list)


def test_partial_compiled_functions_are_lowered():
    model = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    function = nnx.jit_partial(lambda m, x: m(x), model)
    x = np.ones((1, 2), np.float32)
    np.testing.assert_allclose(function.lower(x).compile()(x), function(x), rtol=1e-6)


def test_changes_inside_of_update_contexts_come_out():
    class Part(nnx.Module):
        def __init__(self):
            self.x = 1
            self.count = nnx.Param(jnp.zeros(2))

    model = nnx.Dict(a=Part())
    model.b, part, variable = model.a, model.a, model.a.count

    @bindax.jit
    def step(graphdef, state):
        with nnx.merge_context("graph", inner=True) as ctx:
            model = ctx.merge(graphdef, state)
        model.a.x, model.new, model.c = 2, Part(), model.a
        model.me = model
        model.a.count.value += 1
        del model.b
        with nnx.split_context("graph") as ctx:
            return ctx.split(model)

    for expected in (1.0, 2.0):
        with nnx.update_context("graph"):
            with nnx.split_context("graph") as ctx:
                parts = ctx.split(model)
            with nnx.merge_context("graph", inner=False) as ctx:
                assert ctx.merge(*step(*parts)) is model
        assert model.a is model.c is part
        assert model.a.count is variable
        assert variable.value.tolist() == [expected] * 2
        assert (part.x, model.new.x, model.me is model) == (2, 1, True)
        model.b = model.a


def test_contexts_are_refused_by_their_tags():
    with pytest.raises(ValueError, match=r"split_context: there is no open block .* tag 'a'"):
        nnx.split_context("a").__enter__()
    with nnx.update_context("a"):
        with pytest.raises(ValueError, match="merge_context: inner must be True or False for the"):
            nnx.merge_context("a").__enter__()
        with pytest.raises(ValueError, match="a block of the tag 'a' is open; choose another"):
            nnx.update_context("a").__enter__()


def test_trees_of_objects_become_trees_of_states():
    layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
    pure = nnx.to_tree((layer, 1, {"b": layer}), prefix=(0, None, 0))
    assert isinstance(pure[0], nnx.NodeStates)
    assert len(bindax.tree.leaves(pure)) == 3
    doubled = nnx.from_tree(bindax.tree.map(lambda x: x * 2, pure))
    assert doubled[0] is doubled[2]["b"]
    np.testing.assert_array_equal(doubled[0].kernel.value, layer.kernel.value * 2)
    with pytest.raises(ValueError, match="Inconsistent aliasing detected"):
        nnx.to_tree((layer, 1, {"b": layer}), prefix=(0, None, 1))


def test_modules_of_functions_are_pickled_by_value():
    cloudpickle = pytest.importorskip("cloudpickle")

    class Model(nnx.Module):
        def __init__(self):
            self.linear = nnx.Linear(2, 3, rngs=nnx.Rngs(0))

        def __call__(self, x):
            return self.linear(x)

    x = np.ones((1, 2), np.float32)
    model = Model()
    copy = cloudpickle.loads(cloudpickle.dumps(model))
    np.testing.assert_array_equal(copy(x), model(x))


@BOTH
def test_values_stay_without_variables_where_none_are_asked_for(library):
    rngs = library.map(lambda path, x: 0, library.Rngs(0), recreate_variables=False)
    assert rngs.default.count == rngs.default.key == 0
    assert not isinstance(rngs.default.count, library.Variable)
    assert isinstance(library.map(lambda p, x: 0, library.Rngs(0)).default.count, library.Variable)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((2, 6, 4, 8), (6, 4, 8), (6, 4, 8)), "must have the same rank"),
        (((2, 6, 4, 8), (3, 6, 4, 8), (3, 6, 4, 8)), "batch dims of query, key and value must"),
        (((2, 6, 4, 8), (2, 6, 4, 8), (2, 5, 4, 8)), "lengths must match of key and value"),
        (((2, 6, 4, 8), (2, 6, 4, 7), (2, 6, 4, 8)), "depths must match of query and key"),
        (((2, 6, 4, 8), (2, 6, 4, 8), (2, 6, 2, 8)), "key and value must have as many heads"),
        (((2, 6, 5, 8), (2, 6, 2, 8), (2, 6, 2, 8)), "heads of query must be a multiple of that"),
    ],
)
def test_shapes_of_attention_that_do_not_fit_are_refused(shapes, message):
    with pytest.raises(ValueError, match=rf"dot_product_attention: .*{message}.* but the shapes"):
        nnx.dot_product_attention(*(np.ones(shape, np.float32) for shape in shapes))


def test_states_are_compared_with_dictionaries_and_biases_of_einsum_have_a_size():
    layer = nnx.Einsum("ik,kj->ij", (5, 4), 4, rngs=nnx.Rngs(0))
    assert layer.bias.shape == layer.bias_shape == (4,)
    _, params, rest = nnx.split(layer, nnx.Param, ...)
    assert rest == {}
    assert params != {}
    assert params == {"kernel": params["kernel"], "bias": params["bias"]}


class Recorder(nnx.Module):
    def __call__(self, x, **options):
        self.sow(nnx.Intermediate, "seen", x, **options)
        return self.perturb("shift", 2 * x, **options)


def test_sow_and_perturb_outside_of_capture():
    x = np.float32(3.0)
    for silent in (Recorder(), Recorder()):
        assert not silent.sow(nnx.Intermediate, "seen", x, capture_noop=True)
        assert float(silent(x, capture_noop=True)) == 6.0
        assert not nnx.to_flat_state(nnx.state(silent))
    result, seen, _ = nnx.capture(Recorder(), nnx.Intermediate, nnx.Perturbation)(x)
    assert (float(result), float(seen["seen"].value[0])) == (6.0, 3.0)
    with nnx_sow_capture_noop(True):
        assert not nnx.to_flat_state(nnx.state(after(Recorder())))
        assert len(nnx.to_flat_state(nnx.state(after(Recorder(), capture_noop=False)))) == 2
        assert float(nnx.capture(Recorder(), nnx.Intermediate)(x)[1]["seen"].value[0]) == 3.0
    assert len(nnx.to_flat_state(nnx.state(after(Recorder())))) == 2


def after(recorder, **options):
    """A module after a compiled call."""
    call = nnx.jit(lambda m: m(np.float32(3.0), **options), graph=True, graph_updates=True)
    call(recorder)
    return recorder


def test_data_descriptors_of_a_class_are_set_by_themselves():
    class Doubled:
        def __get__(self, instance, owner):
            return self if instance is None else instance.kept

        def __set__(self, instance, value):
            instance.kept = 2 * value

    class Holder(nnx.Module):
        x = Doubled()

    holder = Holder()
    holder.x = 3
    assert holder.x == 6
    assert "x" not in vars(holder)
