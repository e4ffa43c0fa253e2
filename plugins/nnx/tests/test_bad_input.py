"""Mistakes of users: each error names path and attribute, and nothing has changed after it."""

import numpy as np
import pytest

import bindax.numpy as jnp
from bindax import nnx
from bindax.errors import UnexpectedTracerError

X = np.ones((4, 2), "f4")


class Inner(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.dropout = nnx.Dropout(0.5, deterministic=True)
        self.count = nnx.Variable(jnp.array(0))

    def __call__(self, x):
        self.count.value = self.count.value + 1
        return self.dropout(self.linear(x))


class Outer(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.blocks = nnx.List([Inner(rngs), Inner(rngs)])
        self.plain = [Inner(rngs)]
        self.flag = 1

    def __call__(self, x):
        return self.blocks[1](x)


def grow(model):
    model.blocks[1].extra = nnx.Param(jnp.zeros(2))
    return model


def widen(model):
    model.blocks[1].count.value = jnp.zeros(2)
    return model


def widen_only(model):
    widen(model)


def switched(model):
    model.flag = 2


def leaked(model):
    kept = []

    def keep(model, x):
        kept.append(model)
        model.blocks[0].count.value = x.sum()

    nnx.jit(keep)(nnx.clone(model), X)
    return kept[0]


def put(model):
    model.blocks[0].count.value = leaked(model).blocks[0].count.value
    return model.blocks[0](X)


def with_attribute(model, name, value):
    other = nnx.clone(model)
    setattr(other.blocks[1], name, value)
    return other


def load(model, directory, change):
    nnx.save(directory / "saved", model)
    other = nnx.clone(model)
    change(other.blocks[1])
    before = signature(other)
    try:
        nnx.load(directory / "saved", other)
    finally:
        assert_same(signature(other), before)


CARRY, CARRIED = nnx.Carry, {"in_axes": nnx.Carry, "out_axes": nnx.Carry, "length": 2}
CASES = {
    "a variable of the enclosing scope": (
        lambda m: nnx.jit(lambda x: m(x))(X),
        r"Outer\.blocks\.1\.count was changed inside jit of <lambda> \(.*test_bad_input\.py:\d+\)",
    ),
    "an attribute of the enclosing scope": (
        lambda m: nnx.vmap(lambda x: setattr(m.blocks[0], "new", 1))(X),
        r"Outer\.blocks\.0\.new was changed inside vmap of <lambda> \(.*test_bad_input\.py",
    ),
    "a module in a list of the enclosing scope": (
        lambda m: nnx.jit(lambda x: m.plain[0](x))(X),
        r"Outer\.plain\.0\.count was changed inside jit",
    ),
    "two ways at once": (
        lambda m: nnx.compat.vmap(lambda a, b: None, in_axes=(0, 1))(m.blocks[0].linear, m.blocks),
        r"have different prefixes:\nNode: <class 'bindax_nnx.variables.Param'>\n  bias: 0\n  0/lin",
    ),
    "a carry of scan that grows": (
        lambda m: nnx.scan(grow, **CARRIED)(m),
        r"what scan carries changes .* In a step, Outer\.blocks\.1\.extra was added",
    ),
    "a carry of while_loop that grows": (
        lambda m: nnx.while_loop(lambda m: True, grow, m),
        r"what while_loop carries changes from step to step: Outer\.blocks\.1\.extra was added",
    ),
    "a static attribute that changes in a loop": (
        lambda m: nnx.fori_loop(0, 2, lambda i, m: (switched(m), m)[1], m),
        r"what fori_loop carries changes from step to step: Outer\.flag was changed",
    ),
    "a carry that changes its shape": (
        lambda m: nnx.while_loop(lambda m: True, widen, m),
        r"Outer\.blocks\.1\.count comes in as int32\[\] and goes out as float32\[2\]",
    ),
    "branches that leave different structures": (
        lambda m: nnx.compat.cond(True, lambda m: (grow(m), None)[1], lambda m: None, m),
        r"branch 0 gives .* Outer\.blocks\.1\.extra was added, and branch 1 gives",
    ),
    "branches that leave different types": (
        lambda m: nnx.switch(0, [widen_only, lambda m: None], m),
        r"the branches of switch leave different types in Outer\.blocks\.1\.count: float",
    ),
    "a substate without axes": (
        lambda m: nnx.compat.vmap(lambda m: None, in_axes=(nnx.StateAxes({nnx.Param: 0}),))(m),
        r"has no filter for blocks/0/count, a Variable; add one, or `\.\.\.`",
    ),
    "a substate without a filter": (
        lambda m: nnx.split(m, nnx.Param),
        r"no filter takes blocks/0/count, a Variable",
    ),
    "an array in a static attribute": (
        lambda m: setattr(m.blocks[1], "table", nnx.static(jnp.ones(3))),
        r"Found data in the static attribute Outer\.blocks\.1\.table: .* holds a Array",
    ),
    "an attribute that cannot be hashed": (
        lambda m: nnx.jit(lambda m: 0)(with_attribute(m, "names", {1})),
        r"Outer\.blocks\.1\.names is static, .* but cannot be hashed",
    ),
    "a change after the trace": (
        lambda m: setattr(leaked(m).blocks[0].count, "value", 0),
        r"Outer\.blocks\.0\.count was changed outside of any transformation, but .* jit of keep",
    ),
    "a traced value that stays in a module": (
        lambda m: put(nnx.clone(m)),
        r"Outer\.blocks\.0\.count holds .* made in jit of keep \(.*test_bad_input\.py:\d+\), which",
    ),
    "a missing stream": (
        lambda m: m.blocks[0].dropout(X, deterministic=False),
        r"Dropout at Outer\.blocks\.0\.dropout needs random numbers of the stream 'dropout'",
    ),
    "a stream that is not there": (
        lambda m: nnx.Linear(1, 1, rngs=nnx.Rngs(dropout=0)),
        r"Linear\.kernel needs .* Rngs has no stream 'params'",
    ),
    "a copy with other streams to restore": (
        lambda m: nnx.restore_rngs(nnx.split_rngs(nnx.Rngs(0), splits=2, graph=False)),
        r"^restore_rngs takes .* with updates .* a value of type Rngs\..* nothing to restore\.$",
    ),
    "no streams": (
        lambda m: nnx.Dropout(0.5, rngs=3),
        r"rngs are random streams, Rngs or an RngStream, but got 3 of type int",
    ),
    "wrong features": (
        lambda m: m(np.ones((4, 5), "f4")),
        r"Linear at Outer\.blocks\.1\.linear was made for inputs with 2 .* the shape \(4, 5\)",
    ),
    "wrong features while tracing": (
        lambda m: nnx.jit(lambda m, x: m(x))(m, np.ones((4, 5), "f4")),
        r"Linear at Outer\.blocks\.1\.linear was made for inputs with 2 features",
    ),
    "a mode that is none": (
        lambda m: nnx.set_graph_mode("tree"),
        r"^set_graph_mode: value must be True or False, but got 'tree' of type str\.$",
    ),
    "filters that are none": (
        lambda m: nnx.prefix(m, 0),
        r"^prefix: filter_map must be a mapping of filters, .* but it is 0\.$",
    ),
    "a structure that is none": (
        lambda m: nnx.unflatten(m, {}),
        r"^unflatten: graphdef must be a GraphDef, such as flatten returns, but it is Outer",
    ),
    "variables that are none": (
        lambda m: nnx.unflatten(nnx.flatten(m)[0], 3),
        r"^unflatten: state must be a FlatState, a State or a sequence .* but it is 3\.$",
    ),
    "a method that is not there": (
        lambda m: nnx.tabulate(m, X, method="call"),
        r"^tabulate: method is the name of what is called, but Outer has no method 'call'\.$",
    ),
    "a stream or none": (
        lambda m: nnx.LSTMCell(1, 1, keep_rngs=X, rngs=nnx.Rngs(0)),
        r"^LSTMCell: keep_rngs must be True or False, but it is array",
    ),
    "an integer variable to differentiate": (
        lambda m: nnx.compat.grad(lambda m: 0.0, argnums=nnx.DiffState(0, nnx.Variable))(m),
        r"grad needs variables of a float dtype, but Outer\.blocks\.0\.count is int32\[\]",
    ),
}


def signature(model):
    graphdef, state = nnx.split(model)
    return graphdef, [np.asarray(x.raw_value) for x in state.flat_state().values()]


def assert_same(found, expected):
    assert found[0] == expected[0]
    for x, y in zip(found[1], expected[1], strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("name", CASES)
def test_mistakes_are_named_and_change_nothing(name):
    mistake, message = CASES[name]
    model = Outer()
    before = signature(model)
    with pytest.raises((ValueError, TypeError, AttributeError, UnexpectedTracerError)) as info:
        mistake(model)
    assert info.match(message)
    if name != "wrong features":  # eagerly, what ran before the mistake has run
        assert_same(signature(model), before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda block: setattr(block, "more", nnx.Param(jnp.zeros(2))),
            "there is no 'blocks/1/more'",
        ),
        (
            lambda block: setattr(block.linear, "kernel", nnx.Param(jnp.zeros(2))),
            r"'blocks/1/linear/kernel' is float32\[2,3\], but float32\[2\] is expected",
        ),
        (
            lambda block: setattr(block.linear, "bias", nnx.BatchStat(jnp.zeros(3))),
            "'blocks/1/linear/bias' is a bindax_nnx.variables.Param, but a .*BatchStat is expected",
        ),
        (
            lambda block: delattr(block, "count"),
            "there is 'blocks/1/count', which is not expected",
        ),
    ],
    ids=["missing", "shape", "kind", "surplus"],
)
def test_a_checkpoint_that_does_not_fit_changes_nothing(change, message, tmp_path):
    with pytest.raises(nnx.CheckpointError, match=message):
        load(Outer(), tmp_path, change)


def test_scan_names_a_variable_whose_tree_changes_its_types():
    held = nnx.List([nnx.Variable({"total": jnp.zeros(2), "steps": jnp.array(0, "i4")})])

    def step(held, x):
        held[0].value = {"total": held[0].value["total"], "steps": held[0].value["steps"] + x}
        return held, x

    message = r"a step of scan .* List\.0 comes in as int32\[\] and goes out as float32\[\]"
    with pytest.raises(TypeError, match=message):
        nnx.scan(step)(held, jnp.ones(3))


def test_a_program_of_states_has_the_arrays_that_are_in_no_variable_as_constants():
    class Scaled(nnx.Module):
        def __init__(self):
            self.factor = nnx.Param(jnp.ones(3))
            self.table = jnp.array([1.0, 2.0, 3.0])

    model = Scaled()
    traced = nnx.jit(lambda model: model.factor.value * model.table).trace(model)
    out = traced.lower().compile()(nnx.state(model, nnx.Variable))
    np.testing.assert_array_equal(out, [1.0, 2.0, 3.0])
