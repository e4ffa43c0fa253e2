"""Modules whose variables are divided over devices."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import lax, nnx
from bindax.experimental.layout import Format, Layout
from bindax.sharding import AbstractMesh, NamedSharding, PartitionSpec

P = PartitionSpec


class Dense(nnx.Module):
    def __init__(self, rngs):
        init = nnx.initializers.lecun_normal()
        wide = nnx.with_partitioning(init, (None, "model"), eager_sharding=False)
        self.wide = nnx.Param(wide(rngs.params(), (4, 8)))
        narrow = init(rngs.params(), (8, 4))
        self.narrow = nnx.Param(narrow, sharding_names=("model", None), eager_sharding=False)
        self.count = nnx.Variable(jnp.array(0))

    def __call__(self, x):
        self.count.value = self.count.value + 1
        return jnp.tanh(x @ self.wide) @ self.narrow


def test_specs_come_from_metadata():
    model = Dense(nnx.Rngs(0))
    specs = nnx.get_partition_spec(nnx.state(model))
    assert specs.to_pure_dict() == {
        "count": P(),
        "narrow": P("model", None),
        "wide": P(None, "model"),
    }
    assert type(specs["wide"]) is nnx.Param
    assert nnx.get_partition_spec(model).to_pure_dict() == specs.to_pure_dict()
    assert nnx.get_partition_spec({"a": np.ones(2)}) == {"a": P()}
    out_sharding = nnx.Param(jnp.ones((2, 2)), out_sharding=P("model"), eager_sharding=False)
    assert nnx.get_partition_spec(out_sharding).raw_value == P("model")
    mesh = AbstractMesh((4,), ("model",))
    shardings = nnx.get_named_sharding(nnx.state(model), mesh)
    assert shardings["wide"].raw_value == NamedSharding(mesh, P(None, "model"))
    with pytest.raises(nnx.GraphError, match=r"metadata of a Param do not fit .* axis: model"):
        nnx.get_named_sharding(model, AbstractMesh((4,), ("data",)))


def test_transformations_move_the_names_of_axes():
    @nnx.split_rngs(splits=3)
    @nnx.vmap(transform_metadata={nnx.PARTITION_NAME: "layers"})
    def make(rngs):
        return Dense(rngs)

    stack = make(nnx.Rngs(0))
    assert nnx.get_partition_spec(stack)["wide"].raw_value == P("layers", None, "model")
    assert nnx.get_partition_spec(stack)["narrow"].raw_value == P("layers", "model", None)


@pytest.mark.graph
def test_shard_map_divides_the_variables_of_objects():
    mesh = AbstractMesh((2,), ("model",))
    model = Dense(nnx.Rngs(0))
    x = np.ones((3, 4), "f4")
    expected = nnx.clone(model)(x)
    parts = nnx.StateSharding(nnx.get_partition_spec(model))
    shapes = []

    @nnx.shard_map(mesh=mesh, in_specs=(parts, P()), out_specs=P())
    def apply(model, x):
        shapes.append((model.wide.shape, model.narrow.shape))
        return lax.psum(model(x), "model")

    np.testing.assert_allclose(apply(model, x), expected, rtol=1e-5)
    assert shapes[0] == ((4, 4), (4, 4))
    assert int(model.count) == 1
    assert model.wide.shape == (4, 8)
    with pytest.raises(nnx.AliasingError, match="have different prefixes"):
        nnx.shard_map(lambda a, b: None, mesh=mesh, in_specs=(parts, P()), out_specs=P())(
            model, model
        )
    with pytest.raises(ValueError, match="in_specs of shard_map has 1 entries for 2 positional"):
        nnx.shard_map(lambda a, b: None, mesh=mesh, in_specs=(parts,), out_specs=P())(model, x)


def test_wrong_numbers_of_shardings_are_refused():
    with pytest.raises(ValueError, match="in_shardings of jit has 1 entries for 2 positional"):
        nnx.jit(lambda model, x: x, in_shardings=(None,))(Dense(nnx.Rngs(0)), np.ones(2))


@pytest.mark.graph
def test_programs_on_four_devices():
    if importlib.util.find_spec("jaxlib") is None:
        pytest.skip("needs a compiler")
    code = "import test_sharding; test_sharding.check_devices()"
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=here, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]


def test_a_sharding_without_a_mesh_is_refused():
    with pytest.raises(ValueError, match=r"Param: out_sharding=\('a',\) .* none is set\. Make"):
        nnx.Param(np.ones(2), out_sharding=("a",))
    with nnx.use_eager_sharding(False):
        abstract = nnx.eval_shape(lambda: {"w": nnx.Param(np.ones(2), out_sharding=("a",))})
    with pytest.raises(ValueError, match=r"as_abstract: w has out_sharding=\('a',\), but no mesh"):
        nnx.as_abstract(abstract)
    types = (bindax.sharding.AxisType.Auto, bindax.sharding.AxisType.Explicit)
    mesh = bindax.make_mesh((1, 1), ("a", "b"), types)
    with pytest.raises(ValueError, match=r"Param: the axes of the mesh .* all be Explicit, but"):
        nnx.Param(np.ones(2), out_sharding=("a",), mesh=mesh)
    with (
        nnx.logical_axis_rules([("in", "a")]),
        pytest.raises(ValueError, match=r"say 'b' for 'in', but the rules in force say 'a'"),
    ):
        nnx.Param(np.ones(2), out_sharding=("in",), sharding_rules=(("in", "b"),), mesh=mesh)
    with pytest.raises(ValueError, match="pairs of a logical name and the name of a mesh axis"):
        nnx.logical_axis_rules([("a", "b", "c")]).__enter__()


def test_names_are_kept_under_the_older_name_without_a_mesh():
    w = nnx.Param(jnp.ones((2, 2)), sharding=("a", None))
    assert w.sharding == w.out_sharding == nnx.Param(w).sharding == ("a", None)
    mesh = bindax.make_mesh((1,), ("a",))
    with bindax.set_mesh(mesh):
        w = nnx.Param(jnp.ones((2, 2)), sharding=("a", None))
    assert w.out_sharding == ("a", None)
    if importlib.util.find_spec("jaxlib"):  # evaluation lays nothing out
        assert isinstance(w.sharding, NamedSharding)


def test_types_that_lie_on_an_empty_mesh_get_a_sharding():
    """As those of programs that are written for JAX do."""
    nowhere = NamedSharding(AbstractMesh((), ()), P(None))
    type_of = bindax.ShapeDtypeStruct((2,), "float32", sharding=nowhere)
    w = nnx.Param(type_of, out_sharding=("a",), eager_sharding=False)
    with bindax.set_mesh(bindax.make_mesh((1,), ("a",))):
        assert nnx.as_abstract(w).value.sharding.spec == P("a")


def test_rules_translate_names_of_axes():
    with nnx.use_eager_sharding(False):
        w = nnx.Param(np.ones((2, 2)), sharding=("in", ("out", "z")), sharding_rules=(("in", "x"),))
    assert w.eager_sharding is False
    assert w.get_metadata("sharding") == w.sharding_names == w.out_sharding
    assert nnx.get_partition_spec(w).raw_value == P("x", ("out", "z"))
    nnx.set_logical_axis_rules([("out", "y")])
    try:
        assert nnx.get_logical_axis_rules() == (("out", "y"),)
        assert nnx.get_partition_spec(w).raw_value == P("x", ("y", "z"))
    finally:
        nnx.set_logical_axis_rules(())


def check_new_variables():
    """Make variables that are divided over four devices."""
    mesh = bindax.make_mesh((2, 2), ("row", "col"))
    whole = NamedSharding(mesh, P("row", "col"))
    value = jnp.ones((4, 2))
    assert nnx.Param(value, out_sharding=("row", "col"), mesh=mesh).sharding == whole
    assert nnx.Param(value, out_sharding=whole).sharding == whole

    def make():
        rules = {"sharding_rules": (("in", "row"),)}
        init = nnx.with_partitioning(nnx.initializers.ones, ("in", "col"), **rules)
        return nnx.LinearGeneral(4, (2,), kernel_init=init, rngs=nnx.Rngs(0))

    with bindax.set_mesh(mesh):
        for model in (make(), nnx.jit(make)()):
            assert model.kernel.sharding == whole
        abstract = nnx.as_abstract(nnx.eval_shape(make))
        stacked = nnx.vmap(lambda x: nnx.Param(x, out_sharding=("col",)))(value)
        optimizer = nnx.Optimizer(make(), bindax.optimizers.adam(0.1))
    assert abstract.kernel.sharding == whole
    assert stacked.shape == (4, 2)
    assert optimizer.opt_state[0].mu["kernel"].sharding == whole
    assert jnp.zeros_like(model.kernel.value).sharding == whole
    graphdef, state = nnx.get_abstract_model(make, mesh)
    assert state["kernel"].value.sharding == whole
    assert nnx.merge(graphdef, state).bias.value.sharding == NamedSharding(mesh, P())


def check_arguments():
    """Find arguments where the functions needed them, though these change nothing."""
    mesh = bindax.make_mesh((4,), ("x",))
    wide, x = NamedSharding(mesh, P(None, "x")), np.ones((2, 4), "f4")
    spec = nnx.StateSharding({nnx.PathContains("kernel"): P(None, "x"), ...: P()})
    model = nnx.Linear(4, 8, rngs=nnx.Rngs(0))
    seen = nnx.shard_map(lambda m: None, mesh=mesh, in_specs=(spec,), out_specs=None)
    assert seen(model) is None
    assert model.kernel.sharding == wide
    shardings = nnx.StateSharding({nnx.PathContains("kernel"): wide, ...: None})
    compiled = nnx.jit(lambda m, n, x: None, in_shardings=(shardings, None), static_argnames="n")
    for other in (nnx.Linear(4, 8, rngs=nnx.Rngs(0)) for _ in range(2)):
        assert compiled(other, 2, x) is None
        assert other.kernel.sharding == wide
    rows = nnx.StateSharding({nnx.PathContains("kernel"): P("x"), ...: P()})
    partial = nnx.Linear(4, 8, use_bias=False, rngs=nnx.Rngs(0))
    summed = nnx.shard_map(
        lambda m, x: lax.psum(m(x), "x"), mesh=mesh, in_specs=(rows, P(None, "x")), out_specs=P()
    )
    expected = partial(x)
    np.testing.assert_allclose(summed(partial, x), expected, rtol=1e-5)


def check_devices():
    """Train a model whose parameters are divided over four devices."""
    bindax.config.num_cpu_devices = 4
    check_new_variables()
    check_arguments()
    mesh = bindax.make_mesh((2, 2), ("data", "model"))

    @nnx.jit
    def create():
        model = Dense(nnx.Rngs(0))
        state = nnx.state(model)
        nnx.update(model, lax.with_sharding_constraint(state, nnx.get_partition_spec(state)))
        return model

    with bindax.set_mesh(mesh):
        model = create()
    wide = NamedSharding(mesh, P(None, "model"))
    assert model.wide.value.sharding == wide
    whole = Dense(nnx.Rngs(0))
    np.testing.assert_allclose(model.wide.value, whole.wide.value)

    shardings = nnx.StateSharding(nnx.get_named_sharding(model, mesh))
    batch = NamedSharding(mesh, P("data"))

    def step(model, x):
        loss, grads = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
        for name in ("wide", "narrow"):
            variable = getattr(model, name)
            variable.value = variable.value - 0.1 * getattr(grads, name).value
        return loss, model(x)

    x = np.arange(16, dtype="f4").reshape(4, 4)
    divided = nnx.jit(step, in_shardings=(shardings, batch), out_shardings=(None, batch))
    for _ in range(2):
        loss, out = divided(model, x)
        expected = step(whole, x)
        np.testing.assert_allclose(loss, expected[0], rtol=1e-5)
        np.testing.assert_allclose(out, expected[1], rtol=1e-4, atol=1e-5)
    assert out.sharding == batch
    assert model.wide.value.sharding == wide
    assert divided.cache_info() == (1, 1)
    np.testing.assert_allclose(model.narrow.value, whole.narrow.value, rtol=1e-4, atol=1e-6)

    # An undivided model comes in as the shardings say.
    other = Dense(nnx.Rngs(0))
    divided(other, x)
    assert other.wide.value.sharding == wide


def test_a_format_lays_a_variable_out():
    pytest.importorskip("jaxlib", reason="a compiler lays arrays out")
    mesh = bindax.make_mesh((1,), ("rows",), axis_types=(bindax.sharding.AxisType.Auto,))
    whole = NamedSharding(mesh, P("rows", None))
    layout = Format(Layout((1, 0)), whole)
    variable = nnx.Param(jnp.ones((2, 3)), out_sharding=layout)
    assert variable.value.format.layout == layout.layout
    assert variable.sharding.is_equivalent_to(whole, 2)
    assert nnx.get_partition_spec({"w": variable})["w"].raw_value == P("rows", None)
    traced = bindax.jit(lambda x: nnx.Param(x, out_sharding=layout).value)(jnp.ones((2, 3)))
    assert traced.format.layout == layout.layout
    for wrong in ("rows", 3):
        with pytest.raises(
            TypeError, match=r"out_sharding of a variable must be .* or a Format, but"
        ):
            nnx.Param(jnp.ones((2, 3)), out_sharding=wrong)


def test_metadata_have_what_all_variables_have():
    variable = nnx.Param(1.0, role="scale")
    usual = {"eager_sharding": True, "hijax": False, "ref": False}
    assert variable.get_metadata() == {**usual, "role": "scale"}
    assert nnx.Param(1.0, ref=True).get_metadata() == {**usual, "ref": True}
    assert variable.get_metadata("ref") is False


def test_a_variable_is_divided_along_explicit_axes():
    pytest.importorskip("jaxlib", reason="a compiler lays arrays out")
    mesh = bindax.make_mesh((1,), ("rows",), axis_types=(bindax.sharding.AxisType.Explicit,))
    with bindax.set_mesh(mesh):
        variable = nnx.Param(jnp.ones((2, 3)), out_sharding=P("rows"))
        made = bindax.jit(lambda x: nnx.Param(x, out_sharding=P("rows")).value)(jnp.ones((2, 3)))
    for value in (variable.value, made):
        assert bindax.typeof(value).str_short() == "float32[2@rows,3]"
