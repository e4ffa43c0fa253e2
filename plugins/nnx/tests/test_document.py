"""The code blocks and claims of the document on transformations with reference semantics."""

import contextlib
import io

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx, random


class Count(nnx.Variable):
    pass


class Weights(nnx.Module):
    def __init__(self, kernel, bias, count=None, seed=None):
        self.kernel, self.bias = nnx.Param(kernel), nnx.Param(bias)
        if count is not None:
            self.count = Count(count)
        if seed is not None:
            self.rngs = nnx.Rngs(noise=seed)


def batched_weights(count=None):
    return Weights(
        kernel=random.uniform(random.key(0), (10, 2, 3)), bias=jnp.zeros((10, 3)), count=count
    )


def shown(value):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        nnx.display(value)
    return out.getvalue()


@pytest.fixture
def x():
    return random.normal(random.key(1), (10, 2))


def vector_dot(weights, x):
    assert weights.kernel.ndim == 2, "Batch dimensions not allowed"
    assert x.ndim == 1, "Batch dimensions not allowed"
    return x @ weights.kernel + weights.bias


@pytest.mark.parametrize("in_axes", [0, (0, 0)])
def test_a_module_is_mapped_like_a_tree_of_arrays(x, in_axes):
    weights = batched_weights()
    y = nnx.vmap(vector_dot, in_axes=in_axes, out_axes=1)(weights, x)
    assert f"{y.shape = }" == "y.shape = (3, 10)"
    expected = np.einsum("bi,bio->ob", np.asarray(x), np.asarray(weights.kernel.value))
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
    assert shown(weights).startswith(
        "Weights( # Param: 90 (360 B)\n  bias=Param( # 30 (120 B)\n"
        "    value=Array(shape=(10, 3), dtype=float32)\n"
    )


def test_a_module_is_the_result_of_an_initializer():
    def create_weights(seed):
        return Weights(kernel=random.uniform(random.key(seed), (2, 3)), bias=jnp.zeros((3,)))

    weights = nnx.vmap(create_weights)(jnp.arange(10))
    assert weights.kernel.shape == (10, 2, 3)
    assert weights.bias.shape == (10, 3)
    np.testing.assert_array_equal(weights.kernel[3], random.uniform(random.key(3), (2, 3)))


@pytest.mark.graph
def test_methods_are_transformed_init_among_them(x):
    class WeightStack(nnx.Module):
        @nnx.vmap
        def __init__(self, seed):
            self.kernel = nnx.Param(random.uniform(random.key(seed), (2, 3)))
            self.bias = nnx.Param(jnp.zeros((3,)))

        @nnx.vmap(in_axes=0, out_axes=1)
        def __call__(self, x):
            assert self.kernel.ndim == 2, "Batch dimensions not allowed"
            assert x.ndim == 1, "Batch dimensions not allowed"
            return x @ self.kernel + self.bias

    weights = WeightStack(jnp.arange(10))
    y = weights(x)
    assert f"{y.shape = }" == "y.shape = (3, 10)"
    assert weights.kernel.shape == (10, 2, 3)


def stateful_vector_dot(weights, x):
    weights.count += 1
    return vector_dot(weights, x)


def test_state_is_propagated(x):
    weights = batched_weights(jnp.arange(10))
    nnx.vmap(stateful_vector_dot, in_axes=0, out_axes=1)(weights, x)
    counts = "Array([ 1,  2,  3,  4,  5,  6,  7,  8,  9, 10], dtype=int32)"
    assert repr(weights.count) == f"Count( # 10 (40 B)\n  value={counts}\n)"


@pytest.mark.graph
def test_changes_of_the_graph_are_propagated(x):
    def crazy_vector_dot(weights, x):
        y = stateful_vector_dot(weights, x)
        weights.some_property = ["a", 2, False]  # add attribute
        del weights.bias  # delete attribute
        weights.new_param = weights.kernel  # share reference
        return y

    weights = batched_weights(jnp.arange(10))
    kernel = weights.kernel
    nnx.vmap(crazy_vector_dot, in_axes=0, out_axes=1)(weights, x)
    assert weights.some_property == ["a", 2, False]
    assert not hasattr(weights, "bias")
    assert weights.new_param is weights.kernel is kernel
    assert "new_param=Param(<shared>)" in shown(weights)


@pytest.mark.graph
def test_jit_traces_again_while_the_graph_changes_and_scan_refuses():
    traces = []

    class Growing(nnx.Module):
        def __init__(self):
            self.size = 0

    @nnx.jit
    def grow(module):
        traces.append(module.size)
        module.size += 1

    module = Growing()
    for _ in range(3):
        grow(module)
    assert traces == [0, 1, 2]
    assert module.size == 3

    def step(module):
        module.extra = nnx.Param(jnp.zeros(()))
        return module

    with pytest.raises(nnx.GraphError, match="the structure of what scan carries changes"):
        nnx.scan(step, in_axes=nnx.Carry, out_axes=nnx.Carry, length=2)(module)
    assert not hasattr(module, "extra")


@pytest.mark.graph
def test_substates_are_told_by_state_axes(x):
    weights = batched_weights(jnp.array(0))
    state_axes = nnx.StateAxes({nnx.Param: 0, Count: None})  # broadcast Count
    nnx.vmap(stateful_vector_dot, in_axes=(state_axes, 0), out_axes=1)(weights, x)
    text = "Count( # 1 (4 B)\n  value=Array(1, dtype=int32, weak_type=True)\n)"
    assert repr(weights.count) == text


@pytest.mark.graph
def test_state_axes_stand_for_objects_only(x):
    state_axes = nnx.StateAxes({nnx.Param: 0, Count: None})
    with pytest.raises(ValueError, match="stands for an array, but it says what becomes of the va"):
        nnx.vmap(lambda given: None, in_axes=(state_axes,))([batched_weights(), x])


def noisy_vector_dot(weights, x):
    weights.count += 1
    y = vector_dot(weights, x)
    return y + random.normal(weights.rngs.noise(), y.shape)


RANDOM_AXES = nnx.StateAxes({nnx.RngState: 0, (nnx.Param, Count): None})


def shared_weights(seed):
    return Weights(
        kernel=random.uniform(random.key(0), (2, 3)),
        bias=jnp.zeros((3,)),
        count=jnp.array(0),
        seed=seed,
    )


@pytest.mark.graph
def test_random_state_is_state(x):
    weights = shared_weights(random.split(random.key(0), num=10))
    y1 = nnx.vmap(noisy_vector_dot, in_axes=(RANDOM_AXES, 0))(weights, x)
    y2 = nnx.vmap(noisy_vector_dot, in_axes=(RANDOM_AXES, 0))(weights, x)
    assert str(jnp.allclose(y1, y2)) == "False"
    assert int(weights.count) == 2
    np.testing.assert_array_equal(weights.rngs.noise.count.value, np.full(10, 2))
    assert len({tuple(row) for row in np.asarray(y1).tolist()}) == 10


@pytest.mark.graph
def test_random_state_is_split_around_a_call(x):
    weights = shared_weights(0)
    noisy = nnx.split_rngs(splits=10)(nnx.vmap(in_axes=(RANDOM_AXES, 0))(noisy_vector_dot))
    y1, y2 = noisy(weights, x), noisy(weights, x)
    assert str(jnp.allclose(y1, y2)) == "False"
    assert weights.rngs.noise.key.shape == ()
    assert int(weights.rngs.noise.count) == 2
    assert len({tuple(row) for row in np.asarray(y1).tolist()}) == 10


class Counter(nnx.Module):
    def __init__(self):
        self.count = nnx.Param(jnp.array(0))

    def increment(self):
        self.count += jnp.array(1)


def test_a_module_from_the_enclosing_scope_cannot_be_changed():
    counter = Counter()

    @nnx.jit
    def f(x):
        counter.increment()
        return 2 * x

    with pytest.raises(nnx.TraceContextError, match=r"Counter\.count was changed inside jit of"):
        f(3)
    assert int(counter.count) == 0

    @nnx.jit
    def g(counter, x):
        counter.increment()
        return 2 * x

    assert int(g(counter, 3)) == 6
    assert int(counter.count) == 1


class Weight(nnx.Module):
    def __init__(self, array):
        self.param = nnx.Param(array)


ALIASING = """\
Inconsistent aliasing detected. The following nodes have different prefixes:
Node: <class 'bindax_nnx.variables.Param'>
  param: 0
  param: 0
  param: 1"""


@pytest.mark.graph
def test_inconsistent_aliasing_is_an_error():
    m = Weight(jnp.arange(10))
    arg1 = {"a": {"b": m}, "c": m}
    arg2 = [(m, m), m]

    @nnx.vmap(in_axes=(0, 1))
    def f(arg1, arg2): ...

    with pytest.raises(ValueError) as info:
        f(arg1, arg2)
    assert str(info.value) == ALIASING

    @nnx.vmap(in_axes=0, out_axes=1)
    def g(arg1):
        return arg1

    with pytest.raises(ValueError) as info:
        g(arg1)
    assert str(info.value) == ALIASING


def test_axis_metadata_follow_the_axes():
    class Sharded(nnx.Module):
        def __init__(self, array, sharding):
            self.param = nnx.Param(array, sharding=sharding)

    m = Sharded(jnp.ones((3, 4, 5)), sharding=("a", "b", None))
    lines = []

    @nnx.vmap(in_axes=1, transform_metadata={nnx.PARTITION_NAME: "b"})
    def f(m):
        lines.append(f"Inner {m.param.shape = }")
        lines.append(f"Inner {m.param.sharding = }")

    f(m)
    outer = [f"Outter {m.param.shape = }", f"Outter {m.param.sharding = }"]
    assert lines == [
        "Inner m.param.shape = (3, 5)",
        "Inner m.param.sharding = ('a', None)",
    ]
    assert outer == [
        "Outter m.param.shape = (3, 4, 5)",
        "Outter m.param.sharding = ('a', 'b', None)",
    ]

    @nnx.vmap(out_axes=1, axis_size=4, transform_metadata={nnx.PARTITION_NAME: "b"})
    def init_vmap():
        return Sharded(jnp.ones((3, 5)), sharding=("a", None))

    m = init_vmap()
    assert [f"Outter {m.param.shape = }", f"Outter {m.param.sharding = }"] == outer
    with pytest.raises(ValueError, match="with 'b' for axis 1, but the transformation"):
        nnx.vmap(lambda m: None, in_axes=1, transform_metadata={nnx.PARTITION_NAME: "c"})(m)


def test_axis_metadata_follow_the_axes_of_scan():
    class Sharded(nnx.Module):
        def __init__(self, array, sharding):
            self.param = nnx.Param(array, sharding=sharding)

    m = Sharded(jnp.ones((3, 4, 5)), sharding=("a", "b", None))
    inner = []

    def step(carry, m):
        inner.append((m.param.shape, m.param.sharding))
        return carry, Sharded(m.param.value, m.param.sharding)

    _, out = nnx.scan(
        step,
        in_axes=(nnx.Carry, 1),
        out_axes=(nnx.Carry, 0),
        transform_metadata={nnx.PARTITION_NAME: "b"},
    )(0.0, m)
    assert inner == [((3, 5), ("a", None))]
    assert out.param.shape == (4, 3, 5)
    assert out.param.sharding == ("b", "a", None)
    assert m.param.sharding == ("a", "b", None)


def test_modules_of_the_enclosing_scope_can_be_read():
    weight = Weight(jnp.arange(3.0))
    found = nnx.jit(lambda x: weight.param * x)(2.0)
    np.testing.assert_array_equal(found, [0, 2, 4])
    np.testing.assert_array_equal(nnx.vmap(lambda x: weight.param.sum() + x)(jnp.zeros(2)), [3, 3])


@pytest.mark.graph
def test_shared_references_are_kept_between_arguments_and_results():
    weight = Weight(jnp.arange(3.0))

    @nnx.jit
    def again(a, b):
        assert a is b["x"]
        a.param.value = a.param.value + 1
        return [b["x"], a, b["x"].param]

    first, second, param = again(weight, {"x": weight})
    assert first is second is weight
    assert param is weight.param
    np.testing.assert_array_equal(weight.param, [1, 2, 3])


def test_on_arrays_alone_they_are_the_plain_transformations(x):
    def f(x):
        return (x * x).sum()

    np.testing.assert_array_equal(nnx.grad(f)(x), bindax.grad(f)(x))
    np.testing.assert_array_equal(nnx.jit(f)(x), bindax.jit(f)(x))
    np.testing.assert_array_equal(nnx.vmap(f)(x), bindax.vmap(f)(x))
    expected = bindax.lax.scan(lambda c, x: (c + f(x), c), 0.0, x)
    found = nnx.scan(lambda c, x: (c + f(x), c))(0.0, x)
    np.testing.assert_array_equal(found[1], expected[1])
