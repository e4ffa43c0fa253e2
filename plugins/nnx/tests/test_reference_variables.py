"""Variables in mutable arrays, which plain transformations change, beside Flax's."""

import copy
import pickle

import numpy as np
import pytest

import bindax
from bindax import nnx, optimizers
from bindax.numpy import array, ones

jax = pytest.importorskip("jax", reason="the library below the one to compare with")
flax_nnx = pytest.importorskip("flax.nnx", reason="the library to compare with")
BOTH = pytest.mark.parametrize(
    ("library", "plain"), [(nnx, bindax), (flax_nnx, jax)], ids=["ours", "theirs"]
)


def scale(library, plain, value=2.0, **metadata):
    return library.Param(plain.numpy.asarray(np.float32(value)), **metadata)


@BOTH
def test_plain_transformations_change_variables(library, plain):
    counts = library.Dict(n=scale(library, plain, 0.0, ref=True))

    @plain.jit
    def step(counts, x):
        counts.n[...] += x
        return counts.n * 2

    assert [float(step(counts, 1.0)), float(step(counts, 2.0))] == [2.0, 6.0]
    plain.lax.scan(lambda c, _: (counts.n.set_value(counts.n + 1), (c, None))[1], 0, None, length=2)
    assert float(counts.n[...]) == 5.0

    def loss(x):
        counts.n[...] = plain.lax.stop_gradient(3 * x)
        return x**2 + counts.n[...]

    assert float(plain.grad(loss)(4.0)) == 8.0
    assert float(counts.n[...]) == 12.0
    assert plain.eval_shape(step, counts, np.float32(1)).shape == ()
    assert float(counts.n[...]) == 12.0


def test_averages_of_a_batch_are_gathered_inside_of_a_plain_gradient():
    kept, plain = (nnx.BatchNorm(2, rngs=nnx.Rngs(0)) for _ in range(2))
    kept = nnx.with_vars(kept, ref=True)
    x = ones((3, 2)) * np.arange(3, dtype=np.float32)[:, None]
    loss = lambda scale, layer: (layer(x * scale) ** 2).sum()  # noqa: E731
    found = bindax.jit(bindax.grad(lambda scale: loss(scale, kept)))(2.0)
    assert float(found) == pytest.approx(float(nnx.grad(loss)(2.0, plain)), abs=1e-5)
    np.testing.assert_allclose(kept.mean[...], plain.mean[...], rtol=1e-6)
    np.testing.assert_allclose(kept.var[...], plain.var[...], rtol=1e-6)


@pytest.mark.graph
@BOTH
def test_some_variables_of_a_graph_get_mutable_arrays(library, plain):
    layer = library.Dict(kernel=scale(library, plain), bias=scale(library, plain, 1.0))
    assert (layer.kernel.ref, layer.kernel.hijax) == (False, False)
    some = library.with_vars(layer, ref=True, only=lambda path, x: path[-1] == "kernel")
    assert (some.kernel.ref, some.bias.ref) == (True, False)
    assert some.bias is layer.bias
    all_ = library.with_vars(some, ref=True)
    assert all_.kernel is some.kernel
    assert all_.bias.ref
    back = library.with_vars(all_, ref=False)
    np.testing.assert_array_equal(np.asarray(back.kernel[...]), np.asarray(layer.kernel[...]))
    assert isinstance(all_.bias.get_raw_value(), plain.Ref if library is flax_nnx else bindax.Ref)
    tied = library.Dict(a=layer.kernel, b=layer.kernel)
    with pytest.raises(ValueError, match=None if library is flax_nnx else r"at \.a and \.b\. Pass"):
        library.with_vars(tied, ref=True)
    shared = library.with_vars(tied, ref=True, allow_duplicates=True)
    assert shared.a.ref


@BOTH
def test_defaults_of_new_variables(library, plain):
    assert dict(library.var_defaults()) == {"hijax": False, "ref": False}
    with library.var_defaults(ref=True):
        assert scale(library, plain).ref
        assert not scale(library, plain, ref=False).ref
        with library.var_defaults(ref=False, hijax=False):
            assert dict(library.var_defaults()) == {"hijax": False, "ref": False}
        assert (library.var_defaults().ref, library.var_defaults().hijax) == (True, False)
    made = library.var_defaults(ref=True)(lambda: scale(library, plain))()
    assert made.ref
    assert not scale(library, plain).ref


def program(name, model):
    """Return the results of a transformation of modules, and the values it leaves."""

    def step(m):
        m.w.value = m.w * 2.0
        return m

    def change(m):
        step(m)

    if name == "grad":
        return nnx.grad(lambda m: (m.w * m.w).sum())(model)
    if name == "vmap":
        return nnx.vmap(lambda m: (change(m), m.w + 1)[1])(model)
    if name == "scan":
        return nnx.scan(step, in_axes=(nnx.Carry,), out_axes=nnx.Carry, length=3)(model)
    if name == "while_loop":
        return nnx.while_loop(lambda m: m.w.sum() < 10, step, model)
    if name == "cond":
        return nnx.cond(True, change, lambda m: None, model)
    if name == "remat":
        return nnx.grad(nnx.remat(lambda x, m: (change(m), (m.w * x).sum())[1]))(2.0, model)
    return getattr(nnx, name)(lambda m: (change(m), m.w + 1)[1])(model)


NAMES = ["jit", "grad", "vmap", "scan", "while_loop", "cond", "remat"]


@pytest.mark.parametrize("name", NAMES)
def test_transformations_of_modules_do_the_same(name):
    usual, kept = (nnx.Dict(w=nnx.Param(array([1.0, 2.0]), ref=x)) for x in (False, True))
    results = [bindax.tree.leaves(nnx.pure(program(name, m))) for m in (usual, kept)]
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(np.asarray(theirs), np.asarray(ours))
    np.testing.assert_array_equal(kept.w.value, usual.w.value)
    assert isinstance(kept.w.get_raw_value(), bindax.Ref)


@pytest.mark.parametrize("graph", [True, False])
def test_gradients_are_of_some_arguments_alone(graph):
    model = nnx.Dict(w=nnx.Param(array([1.0, 2.0]), ref=True))

    def loss(x, m, power):
        m.w.value = m.w * 2.0
        return ((m.w * x) ** power).sum()

    gradient = nnx.grad(loss, graph=graph, graph_updates=False)
    assert float(gradient(2.0, model, 1)) == 6.0
    compiled = nnx.jit(gradient, static_argnums=2, graph=graph, graph_updates=False)
    assert float(compiled(2.0, model, 1)) == 12.0
    np.testing.assert_array_equal(model.w.value, [4.0, 8.0])
    both = nnx.grad(loss, argnums=(1, 0), graph=graph, graph_updates=False)(2.0, model, 1)
    np.testing.assert_array_equal(both[0].w.value, [4.0, 4.0])
    assert float(both[1]) == 24.0


def test_copies_have_mutable_arrays_of_their_own():
    model = nnx.Dict(w=nnx.Param(array([1.0, 2.0]), ref=True))
    copies = [
        nnx.clone(model),
        copy.deepcopy(model),
        pickle.loads(pickle.dumps(model)),
        nnx.merge(*nnx.split(model), copy=True),
        nnx.Dict(w=nnx.Param(model.w)),
        nnx.Dict(w=model.w.copy()),
    ]
    for one in copies:
        assert one.w.ref
        one.w[0] = 5.0
        np.testing.assert_array_equal(one.w.value, [5.0, 2.0])
    np.testing.assert_array_equal(model.w.value, [1.0, 2.0])
    nnx.merge(*nnx.split(model)).w[...] = ones(2)
    np.testing.assert_array_equal(model.w.value, [1.0, 1.0])
    nnx.update(model, {"w": np.float32([3.0, 4.0])})
    np.testing.assert_array_equal(model.w.get_raw_value()[...], [3.0, 4.0])
    given = bindax.new_ref(1.0)
    around = nnx.Param(given)
    around.value = 2.0
    assert (float(given[...]), around.ref) == (2.0, True)


def test_optimizers_train_what_is_in_mutable_arrays():
    layers = [nnx.Linear(2, 1, rngs=nnx.Rngs(0)) for _ in range(2)]
    layers[1] = nnx.with_vars(layers[1], ref=True)
    for layer in layers:
        optimizer = nnx.Optimizer(layer, optimizers.adam(0.1), wrt=nnx.Param)
        for _ in range(2):
            gradients = nnx.grad(lambda m: (m(ones((1, 2))) ** 2).sum())(layer)
            optimizer.update(layer, gradients)
    np.testing.assert_array_equal(layers[0].kernel.value, layers[1].kernel.value)


def test_types_of_models_stay_types():
    with nnx.var_defaults(ref=True):
        types = nnx.eval_shape(lambda: nnx.Linear(2, 3, rngs=nnx.Rngs(0)))
    assert isinstance(types.kernel.get_raw_value(), bindax.ShapeDtypeStruct)
    with nnx.var_defaults(ref=True):
        norm = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
    assert nnx.eval_shape(lambda m, x: m(x), norm, ones((3, 2))).shape == (3, 2)
    np.testing.assert_array_equal(norm.mean.value, [0.0, 0.0])


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nnx.Param(1.0, hijax=True),
        lambda: nnx.Param.from_metadata(1.0, {"hijax": True}),
        lambda: nnx.Param(1.0).copy(hijax=True),
        lambda: nnx.Param(1.0).set_metadata(hijax=True),
        lambda: setattr(nnx.Param(1.0), "hijax", True),
        lambda: nnx.with_vars(nnx.Linear(1, 1, rngs=nnx.Rngs(0)), hijax=True),
        lambda: nnx.var_defaults(hijax=True),
        lambda: nnx.var_defaults(hijax=True, ref=True),
    ],
)
def test_asking_for_a_hijax_variable_is_an_error_that_says_so(ask):
    with pytest.raises(
        ValueError, match=r"hijax variable, which bindax\.nnx does not have.*ref=True"
    ):
        ask()
    assert nnx.Param(1.0, hijax=False).hijax is False


def test_what_mutable_arrays_refuse():
    with pytest.raises(TypeError, match=r"Cache with ref=True holds one array.*dict"):
        nnx.Cache({"a": 1.0}, ref=True)
    kept = nnx.Param(array([1.0, 2.0]), ref=True)
    with pytest.raises(ValueError, match=r"do not broadcast"):
        kept.value = ones(3)
    with pytest.raises(ValueError, match=r"grad with respect to m\.value: it is a mutable array"):
        bindax.grad(lambda m: m.sum())(kept)
    with pytest.raises(ValueError, match=r"appeared at both a\.value and b\.value"):
        bindax.jit(lambda a, b: a * b)(kept, kept)
