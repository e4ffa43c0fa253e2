"""Variables, states, filters, and graphs as structure and state."""

import copy
import gc
import pickle
import re

import numpy as np
import pytest

import bindax
import bindax_numpy as jnp
from bindax import nnx
from bindax_nnx import _tokens, graph


class Block(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.layers = [nnx.PReLU(), {"deep": nnx.PReLU()}]


@pytest.fixture
def block():
    return Block(nnx.Rngs(0))


def test_variables_behave_like_their_values():
    x = nnx.Param(jnp.asarray([1.0, 4.0]), role="weights")
    np.testing.assert_array_equal((x + x, x * 2, 2 - x, x @ x, -x, x[1:] ** 2)[0], [2, 8])
    assert float(np.ones(2) @ x) == 5
    np.testing.assert_array_equal(np.ones(2) - x, [0, -3])
    assert (x.shape, x.role, len(x), x.dtype) == ((2,), "weights", 2, np.float32)
    assert bool((x == 4)[1])
    assert bool((x != 3)[0])
    x[0] = 7.0
    x -= 1
    np.testing.assert_array_equal(x, [6, 3])
    x[...] = jnp.zeros(2)
    assert float(x.sum()) == 0
    with pytest.raises(AttributeError, match="has no metadata 'nothing'"):
        _ = x.nothing
    with pytest.raises(TypeError, match="cannot have metadata of the name 'type'"):
        nnx.Param(1.0, type="x")


def test_metadata_and_hooks():
    log = []

    def on_set(variable, value):
        log.append((variable.role, float(value)))
        return value * 2

    x = nnx.Variable(1.0, role="a", on_set_value=on_set, on_get_value=lambda v, value: value + 1)
    x.value = 3.0
    assert (log, x.raw_value, x.value) == ([("a", 3.0)], 6.0, 7.0)
    x.role = "b"
    del x.role
    assert not x.has_metadata("role")

    class Positive(nnx.Param):
        def on_create_value(self, value):
            return abs(value)

    assert Positive(-1.0).value == 1.0
    init = nnx.with_partitioning(lambda: np.ones(2), ("a",), eager_sharding=False)
    assert nnx.Param(init()).out_sharding == ("a",)
    x = nnx.Param(1.0, list=[1])
    with pytest.raises(TypeError, match="must be hashable"):
        nnx.split({"x": x})


def test_variables_and_states_are_trees(block):
    state = nnx.state(block, nnx.Param)
    doubled = bindax.tree.map(lambda x: x * 2, state)
    np.testing.assert_array_equal(doubled.linear.kernel.value, 2 * block.linear.kernel.value)
    kinds = bindax.tree.map(
        lambda v: type(v).__name__, state, is_leaf=lambda x: isinstance(x, nnx.Variable)
    )
    assert kinds["norm"]["scale"] == "Param"
    assert bindax.jit(lambda p: p.value + 1)(nnx.Param(jnp.ones(2))).shape == (2,)


def test_split_and_merge_are_inverse(block):
    graphdef, params, stats, rest = nnx.split(block, nnx.Param, nnx.BatchStat, ...)
    assert graphdef == nnx.graphdef(block)
    assert hash(graphdef) == hash(nnx.graphdef(nnx.clone(block)))
    assert pickle.loads(pickle.dumps(graphdef)) == graphdef
    assert set(stats.flat_state()) == {("norm", "mean"), ("norm", "var")}
    assert all(path[:2] == ("drop", "rngs") for path in rest.flat_state())
    other = nnx.merge(graphdef, params, stats, rest)
    x = np.ones((2, 2), "f4")
    np.testing.assert_array_equal(other.linear(x), block.linear(x))
    assert other.linear is not block.linear
    assert other.linear.kernel is params["linear"]["kernel"] is block.linear.kernel
    separate = nnx.merge(graphdef, params, stats, rest, copy=True)
    assert separate.linear.kernel is not block.linear.kernel
    assert nnx.state(block)["linear"]["kernel"] is block.linear.kernel
    with pytest.raises(nnx.GraphError, match="merge: the states have no norm/mean, norm/var"):
        nnx.merge(graphdef, params, rest)
    with pytest.raises(ValueError, match="no filter takes norm/mean, a BatchStat"):
        nnx.split(block, nnx.Param, nnx.RngState)


def test_update_is_in_place_and_whole(block):
    kernel = block.linear.kernel
    state = nnx.state(block, nnx.PathContains("kernel"))
    nnx.update(block, bindax.tree.map(jnp.zeros_like, state))
    assert block.linear.kernel is kernel
    assert float(kernel.sum()) == 0
    with pytest.raises(nnx.GraphError, match="no variable linear/nothing"):
        nnx.update(block, {"linear": {"bias": np.ones(3), "nothing": 1.0}})
    assert float(block.linear.bias.sum()) == 0


def test_filters():
    values = {
        ("a", "kernel"): nnx.Param(1.0, tag="x"),
        ("a", "mean"): nnx.BatchStat(1.0),
        ("b", "kernel"): nnx.Param(1.0),
    }
    state = nnx.State.from_flat_path(values)

    def paths(filter):
        return ["/".join(path) for path in state.filter(filter).flat_state()]

    assert paths(nnx.Param) == ["a/kernel", "b/kernel"]
    assert paths("x") == ["a/kernel"]
    assert paths(nnx.Not(nnx.Param)) == ["a/mean"]
    assert paths(nnx.All(nnx.Param, nnx.PathContains("a"))) == ["a/kernel"]
    assert paths((nnx.BatchStat, nnx.PathIn(("b", "kernel")))) == ["a/mean", "b/kernel"]
    assert (
        paths(lambda path, value: len(path) == 2) == paths(...) == paths(nnx.OfType(nnx.Variable))
    )
    assert paths(None) == []
    assert nnx.All(nnx.Param, "x") == nnx.All(nnx.Param, "x") != nnx.Any(nnx.Param, "x")
    with pytest.raises(TypeError, match="3 is no filter"):
        nnx.to_predicate(3)
    assert (state - state.filter("x") | state.filter("x")).flat_state() == values
    pure = state.to_pure_dict()
    pure["a"]["mean"] = 5.0
    state.replace_by_pure_dict(pure)
    assert state.a.mean.value == 5.0


def test_paths_and_duplicates(block):
    paths = [path for path, _ in nnx.iter_modules(block)]
    assert paths[-1] == ()
    assert ("layers", 1, "deep") in paths
    assert [name for name, _ in nnx.iter_children(block)] == ["drop", "linear", "norm"]
    assert nnx.find_duplicates(block) == []
    block.tied = block.linear.kernel
    assert nnx.find_duplicates(block) == [[("linear", "kernel"), ("tied",)]]


def test_modes_sow_and_perturb(block):
    block.eval()
    assert block.drop.deterministic
    assert block.norm.use_running_average
    training = nnx.train_mode(block)
    assert not training.drop.deterministic
    assert training.linear.kernel is block.linear.kernel
    assert block.drop.deterministic
    with pytest.raises(ValueError, match=r"has the attributes \['nothing'\]"):
        block.set_attributes(nothing=1)

    class Probe(nnx.Module):
        def __call__(self, x):
            self.sow(nnx.Intermediate, "seen", x)
            return self.perturb("bump", x) ** 2

    probe = Probe()
    for x in (1.0, 3.0):
        probe(jnp.asarray(x))
    assert [float(x) for x in probe.seen.value] == [1, 3]
    bumps = nnx.DiffState(0, nnx.Perturbation)
    gradients = nnx.compat.grad(lambda p: p(jnp.asarray(3.0)), argnums=bumps)(probe)
    assert float(gradients.bump.value) == 6
    taken = nnx.pop(probe, nnx.Intermediate)
    assert sorted(taken) == ["bump", "seen"]
    assert not hasattr(probe, "seen")


def test_copies_and_pickles(block):
    for other in (copy.deepcopy(block), pickle.loads(pickle.dumps(block)), nnx.clone(block)):
        assert nnx.graphdef(other) == nnx.graphdef(block)
        assert other.linear.kernel is not block.linear.kernel
    shallow = copy.copy(block)
    assert shallow.linear is block.linear


def test_display_shows_nested_and_shared_parts(block, capsys):
    block.again = block.linear
    nnx.display(block.layers, nnx.compat.state(block, nnx.BatchStat))
    text = capsys.readouterr().out
    assert "PReLU( # Param: 1 (4 B)\n" in text
    assert "State({\n  'norm': State({\n    'mean': BatchStat( # " in text
    assert "linear=Linear(<shared>)" in repr(block)


def test_numbers_and_bytes_are_shown_by_kind_in_total_and_once_if_shared():
    model = nnx.BatchNorm(4, rngs=nnx.Rngs(0))
    model.again, model.step = model.scale, nnx.Variable(3)
    head = "# Param: 8 (32 B), BatchStat: 8 (32 B), Total: 16 (64 B)"
    assert repr(model).startswith(f"BatchNorm( {head}\n")
    assert "value=Array(shape=(4,), dtype=float32)" in repr(model)
    assert "Array([" not in repr(model)
    assert "step=Variable(\n" in repr(model)  # a number of Python is no array
    assert f'<summary>BatchNorm( <span class="dim">{head[2:]}</span>' in model._repr_html_()
    traced = nnx.eval_shape(lambda: nnx.BatchNorm(4, rngs=nnx.Rngs(0)))
    assert head in repr(traced)
    assert repr(nnx.List([1, 2])).startswith("List(\n")


def test_a_model_of_many_layers_is_shown_shortly():
    layers = nnx.List([nnx.Linear(2, 2, rngs=nnx.Rngs(0)) for _ in range(1000)])
    for shown in (repr(layers), repr(nnx.state(layers)), layers._repr_html_()):
        assert len(shown) < 60_000
        assert "976 more" in shown
    assert "Param: 6,000 (24.0 KB)" in layers._repr_html_()
    names = re.findall(r"^  (\d+)=", repr(layers), re.MULTILINE)
    assert names == [str(i) for i in range(24)]


def test_lists_and_dicts_are_objects():
    layers = nnx.List([nnx.Param(1.0), nnx.Param(2.0)])
    layers.append(nnx.Param(3.0))
    assert list(nnx.state(layers).flat_state()) == [(0,), (1,), (2,)]
    assert nnx.jit(lambda ls: ls[-1].value + len(ls))(layers) == 6
    with pytest.raises(IndexError, match="3 items has none at 3"):
        _ = layers[3]
    table = nnx.Dict(a=nnx.Param(1.0))
    table["b"] = nnx.Param(2.0)
    assert list(nnx.state(table)) == ["a", "b"]


@pytest.mark.graph
def test_types_of_others_are_nodes():
    class Foreign:
        def __init__(self, **attributes):
            self.__dict__.update(attributes)

    def fill(node, attributes):
        node.__dict__.clear()
        node.__dict__.update(attributes)

    nnx.register_graph_node(Foreign, lambda x: (vars(x), None), lambda _: Foreign(), fill)
    shared = nnx.Param(jnp.ones(()))
    foreign = Foreign(a=shared, b=[shared])

    @nnx.jit
    def change(foreign):
        foreign.a.value = foreign.a.value + 1
        foreign.c = foreign.b

    change(foreign)
    assert float(shared) == 2
    assert foreign.c[0] is foreign.a is shared
    with pytest.raises(ValueError, match="is a graph node type already"):
        nnx.register_graph_node(Foreign, vars, vars, vars)
    with pytest.raises(TypeError, match="register_graph_node takes a type, but got 3"):
        nnx.register_graph_node(3, vars, vars, vars)
    with pytest.raises(TypeError, match="flatten of register_graph_node must be a function"):
        nnx.register_graph_node(int, 3, vars, vars)


def test_metrics():
    metrics = nnx.MultiMetric(accuracy=nnx.Accuracy(), loss=nnx.Average("loss"), w=nnx.Welford())

    @nnx.jit
    def update(metrics, logits, labels, values):
        metrics.update(logits=logits, labels=labels, loss=values, values=values)

    values = np.arange(6, dtype="f4").reshape(2, 3)
    for row in values:
        update(metrics, np.eye(3, dtype="f4"), np.array([0, 1, 1]), row)
    found = metrics.compute()
    np.testing.assert_allclose(found["accuracy"], 2 / 3, rtol=1e-6)
    np.testing.assert_allclose(found["loss"], 2.5)
    np.testing.assert_allclose(found["w"].standard_deviation, values.std(), rtol=1e-6)
    metrics.reset()
    assert float(metrics.loss.count) == 0
    with pytest.raises(TypeError, match="needs the keyword argument 'loss'"):
        nnx.Average("loss").update(values=1.0)
    with pytest.raises(ValueError, match="one axis more than labels"):
        nnx.Accuracy().update(logits=np.ones(3), labels=np.ones(3))


def test_optimizers_refuse_what_does_not_fit():
    model = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match="needs something with init and update as tx"):
        nnx.Optimizer(model, 3)
    from bindax import optimizers

    optimizer = nnx.Optimizer(model, optimizers.adam(0.1))
    assert isinstance(optimizer.opt_state[0].mu.kernel, nnx.Variable)
    with pytest.raises(ValueError, match=r"without \[\('bias',\)\]"):
        optimizer.update(model, nnx.State({"kernel": model.kernel}))
    both = nnx.ModelAndOptimizer(model, optimizers.sgd(0.1))
    both.update(nnx.grad(lambda m: m(np.ones((1, 2), "f4")).sum())(model))
    np.testing.assert_allclose(model.bias.value, [-0.1])


def test_decoding_with_a_cache_gives_what_a_causal_mask_gives():
    layer = nnx.MultiHeadAttention(2, 4, rngs=nnx.Rngs(0))
    x = np.random.default_rng(0).normal(size=(1, 3, 4)).astype("f4")
    expected = layer(x, mask=nnx.make_causal_mask(np.ones((1, 3))), decode=False)
    with pytest.raises(ValueError, match="no cache to decode with; call init_cache"):
        layer(x[:, :1], decode=True)
    layer.init_cache(x.shape)
    rows = [layer(x[:, i : i + 1], decode=True) for i in range(3)]
    np.testing.assert_allclose(jnp.concatenate(rows, axis=1), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="decodes one query at a time"):
        layer(x, decode=True)


def test_structures_that_nobody_uses_any_more_are_forgotten():
    alive = nnx.split(nnx.Linear(1, 1, rngs=nnx.Rngs(0)))[0]
    gc.collect()
    known = len(_tokens._tokens)
    once = nnx.Dict()
    for i in range(50):
        once.first = nnx.Param(jnp.zeros(1), step=i)
        nnx.split(once)
    del once, i
    graph._forget_roles()
    gc.collect()
    assert len(_tokens._tokens) <= known + 3
    assert nnx.split(nnx.Linear(1, 1, rngs=nnx.Rngs(0)))[0] == alive
