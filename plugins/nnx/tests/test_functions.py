"""Functions of graphs, states and records, containers and variables, as in Flax."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx


class Double(nnx.Module):
    def __call__(self, x):
        self.sow(nnx.Intermediate, "input", x)
        return 2 * self.perturb("out", x)


class Outer(nnx.Module):
    def __init__(self):
        self.inner = Double()

    def half(self, x):
        return x / 2

    def __call__(self, x):
        return self.half(self.inner(x))


def test_records_of_a_call():
    model = Outer()
    forward = nnx.capture(model, nnx.Perturbation, nnx.Intermediate)
    result, zeros, recorded = forward(jnp.float32(3))
    assert (float(result), recorded.inner.input.value) == (3.0, (3.0,))
    assert float(zeros.inner.out.value) == 0.0
    assert list(nnx.iter_graph(model)) == [(("inner",), model.inner), ((), model)]

    def loss(model, zeros, x):
        return nnx.capture(model, nnx.Intermediate, init=zeros)(x)

    (_, bars), _ = nnx.grad(loss, argnums=(0, 1), has_aux=True)(model, zeros, jnp.float32(3))
    assert float(bars.inner.out.value) == 1.0


def test_records_of_methods():
    _, recorded = nnx.capture(Outer(), nnx.Intermediate, method_outputs=nnx.Intermediate)(
        jnp.float32(3)
    )
    assert recorded.half.value == (3.0,)
    assert recorded.inner["__call__"].value == (6.0,)
    assert type(Outer()) is Outer


@pytest.mark.parametrize("options", [{}, {"graph_updates": False}, {"graph": False}])
def test_records_come_out_of_transformations(options):
    run = nnx.jit(lambda model, x: model(x), **options)
    _, recorded = nnx.capture(run, nnx.Intermediate)(Outer(), jnp.float32(3))
    assert float(recorded.inner.input.value[0]) == 3.0


def test_streams_by_rule():
    rngs = nnx.Rngs(params=0, dropout=1, noise=2)
    new = nnx.with_rngs(rngs, split={"params": 4}, broadcast={"noise": 2}, fork="dropout")
    assert [new[name].key.shape for name in ("params", "noise", "dropout")] == [(4,), (2,), ()]
    assert rngs.params.key.shape == ()
    assert bool((new.noise.key.value[0] == new.noise.key.value[1]).all())
    with pytest.raises(ValueError, match=r"at \.params matches multiple rules, split.*, fork"):
        nnx.with_rngs(rngs, split={"params": 2}, fork="params")
    assert nnx.split_rngs(rngs, splits=3, graph=False).params.key.shape == (3,)
    assert nnx.fork_rngs(rngs, split=2, graph_updates=False).params.key.shape == (2,)
    assert rngs.params.key.shape == ()
    with nnx.backup_keys(rngs):
        key = rngs.params()
    assert bool((rngs.params() == key).all())


def test_states_that_know_their_graph():
    model = nnx.BatchNorm(2, rngs=nnx.Rngs(0))
    params, rest = nnx.unpack(model, nnx.Param, ...)
    assert isinstance(nnx.merge(params, rest), nnx.BatchNorm)
    doubled = bindax.tree.map(lambda x: x * 2, params)
    assert float(nnx.merge(doubled, rest).scale.value[0]) == 2.0
    other = nnx.unpack(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))
    with pytest.raises(nnx.GraphError, match="GraphDef must be the same for all states"):
        nnx.merge(params, other)


def test_flat_states():
    graphdef, flat = nnx.flatten(nnx.BatchNorm(2, rngs=nnx.Rngs(0)))
    params, rest = flat.split(nnx.Param, ...)
    assert params.paths == (("bias",), ("scale",))
    assert isinstance(nnx.unflatten(graphdef, nnx.FlatState.merge(params, rest)), nnx.BatchNorm)
    with pytest.raises(nnx.GraphError, match=r"Incorrect number of leaves: .* has 4 variables"):
        nnx.unflatten(graphdef, params)


def test_calls_of_pairs():
    nodes = {"a": nnx.Linear(2, 2, rngs=nnx.Rngs(0))}
    y, (graphdef, state) = nnx.call(nnx.split(nodes))["a"](np.ones((1, 2), "f4"))
    assert y.shape == (1, 2)
    assert state.a.kernel.shape == (2, 2)
    assert type(nnx.merge(graphdef, state)) is dict


def test_flat_mappings():
    nested = {"a": {"b": 1, "c": {}}}
    flat = nnx.traversals.flatten_mapping(nested, keep_empty_nodes=True)
    assert flat == {("a", "b"): 1, ("a", "c"): nnx.traversals.empty_node}
    assert nnx.traversals.unflatten_mapping(flat) == nested
    with pytest.raises(TypeError, match="flatten_mapping takes a mapping, but got 3"):
        nnx.traversals.flatten_mapping(3)


def test_containers_compare_by_what_they_hold():
    layer = nnx.Linear(2, 2, rngs=nnx.Rngs(0))
    assert nnx.List([layer, 1]) == nnx.List([layer, 1])
    assert nnx.List([layer, 1]) != nnx.List([layer, 2])
    assert nnx.List([1, 2]) != [1, 2]
    assert nnx.Dict(a=layer) == nnx.Dict({"a": layer}) == {"a": layer}
    assert nnx.Dict(a=1) != nnx.Dict(a=2)
    held = nnx.Variable(jnp.ones(2))
    alike = nnx.Dict(kept=nnx.List([held]))
    assert alike == nnx.Dict(kept=nnx.List([held]))
    assert len({alike: 0, nnx.List(): 1, nnx.List(): 2}) == 3


def test_lists_and_dictionaries_have_the_methods_of_those_of_python():
    items = nnx.List([1, 2, 3])
    items.insert(1, 5)
    items.extend([7])
    items.reverse()
    del items[0]
    assert list(items) == [3, 2, 5, 1]
    assert (items.pop(), items.index(5), 2 in items) == (1, 2, True)
    items[1:] = [9]
    assert list(items) == [3, 9]
    with pytest.raises(IndexError, match="a List of 2 items has none at 4"):
        items[4]
    table = nnx.Dict(a=1)
    table.setdefault("b", 2)
    table.update(c=3)
    assert (table.pop("a"), dict(table), table.get("z")) == (1, {"b": 2, "c": 3}, None)


def test_methods_of_variables():
    one, other = nnx.Param(jnp.zeros(2), tag="one"), nnx.Param(jnp.ones(2))
    one.copy_from(other)
    assert (one.get_raw_value().sum(), one.get_metadata("tag", None)) == (2.0, None)
    one.set_metadata("tag", "new")
    assert one.get_metadata("tag") == "new"
    assert one.get_metadata("other", 3) == 3
    one.set_metadata({"step": 1})
    assert (one.step, one.has_metadata("tag")) == (1, False)
    one.del_metadata("step")
    one.set_value(jnp.float32(5), index=0)
    assert (float(one.get_value(index=0)), one.var_type) == (5.0, nnx.Param)
    with pytest.raises(ValueError, match="Cannot copy from incompatible container"):
        one.copy_from(nnx.BatchStat(1.0))
    with pytest.raises(TypeError, match="Cannot mix positional and keyword arguments"):
        one.set_metadata("a", 1, b=2)


def test_marks_of_attributes():
    class Marked(nnx.Module):
        steps: int = nnx.data()
        name: str = nnx.static()

        def __init__(self):
            self.steps, self.name, self.table = 3, "a", jnp.ones(2)
            self.sizes = nnx.static((1, 2))

    marked = Marked()
    assert bindax.tree.leaves(marked)[0] == 3
    assert len(bindax.tree.leaves(marked)) == 2
    assert bindax.jit(lambda m: m.steps + m.table.sum())(marked) == 5.0
    copy = nnx.clone(bindax.tree.map(lambda x: x, marked))
    assert (copy.sizes, copy.name) == ((1, 2), "a")
    with pytest.raises(ValueError, match=r"Found data in the static attribute Marked\.name"):
        marked.name = [jnp.ones(1)]
    assert marked.name == "a"
    with pytest.raises(ValueError, match="is marked as data and as static"):

        class Both(nnx.Module):
            x: nnx.Data[int] = nnx.static()

    with pytest.raises(TypeError, match=r"nnx\.data takes a value, or options of a field"):
        nnx.data(1, default=2)


def test_marks_whose_annotations_name_what_is_defined_later():
    # From Python 3.14 on, annotations are not evaluated where they stand.
    program = "" if sys.version_info >= (3, 14) else "from __future__ import annotations"
    program += """
class Tree(nnx.Module):
    children: nnx.Data[list[Tree]]
    kind: nnx.Static[Kind]
    size: Unknown.Size

    def __init__(self, children, kind):
        self.children, self.kind = children, kind
"""
    names = {"nnx": nnx, "__name__": __name__}
    exec(compile(program, "program", "exec", dont_inherit=True), names)
    tree = names["Tree"]([names["Tree"]([], "leaf"), jnp.ones(2)], "root")
    assert [leaf.shape for leaf in bindax.tree.leaves(tree)] == [(2,)]
    with pytest.raises(ValueError, match=r"Found data in the static attribute Tree\.kind"):
        tree.kind = [jnp.ones(1)]


@pytest.mark.graph
def test_changes_of_arrays_that_are_attributes_come_out():
    class Table(nnx.Module):
        def __init__(self):
            self.rows = [jnp.zeros(2)]
            self.total = jnp.zeros(())

    @nnx.jit
    def add(table, x):
        table.rows[0] = table.rows[0] + x
        table.total += x

    table = Table()
    for _ in range(2):
        add(table, jnp.float32(1))
    assert (float(table.total), float(table.rows[0].sum())) == (2.0, 4.0)
    state = nnx.state(table)
    nnx.update(table, {"total": jnp.float32(9)})
    assert (float(state["total"]), float(table.total)) == (2.0, 9.0)
    rows = nnx.vmap(lambda t, x: t.rows[0] * x, in_axes=(None, 0))(table, jnp.arange(3.0))
    assert rows.shape == (3, 2)


def test_paths_of_modules_are_those_of_flax():
    jax, flax = pytest.importorskip("jax"), pytest.importorskip("flax.nnx")

    def make(lib, array):
        layer = lib.Linear(2, 2, rngs=lib.Rngs(0))
        return lib.Dict(layers=lib.List([layer, lib.Param(array)]), table=array)

    ours = bindax.tree_util.tree_flatten_with_path(make(nnx, jnp.ones(2)))[0]
    theirs = jax.tree_util.tree_flatten_with_path(make(flax, jax.numpy.ones(2)))[0]
    assert [str(path) for path, _ in ours] == [str(path) for path, _ in theirs]


def test_train_states():
    from bindax.optimizers import sgd

    graphdef, params = nnx.split(nnx.Linear(2, 2, rngs=nnx.Rngs(0)))
    state = nnx.TrainState.create(graphdef, params=params, tx=sgd(0.5))
    step = bindax.jit(lambda state: state.apply_gradients(state.params))
    after = step(state)
    assert int(after.step) == 1
    np.testing.assert_allclose(after.params.kernel.value, params.kernel.value / 2)
    y, _ = after.apply("params")(np.ones((1, 2), "f4"))
    assert y.shape == (1, 2)
    with pytest.raises(TypeError, match=r"TrainState\.apply: 'step' is no state"):
        after.apply("step")
