"""Each mistake in each transformation: the message has the path, and no object has changed."""

import re

import numpy as np
import pytest

import bindax
import bindax.numpy as jnp
from bindax import nnx
from bindax.errors import UnexpectedTracerError

X = np.ones((4, 2), "f4")
KEPT = []


class Inner(nnx.Module):
    def __init__(self, rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.norm = nnx.BatchNorm(3, rngs=rngs)
        self.rngs = nnx.Rngs(params=3)
        self.count = nnx.Variable(jnp.array(0))


class Outer(nnx.Module):
    def __init__(self):
        rngs = nnx.Rngs(0)
        self.blocks = nnx.List([Inner(rngs), Inner(rngs)])


def in_while_loop(f):
    def step(model):
        f(model)
        return model

    return lambda model: nnx.while_loop(lambda model: True, step, model)


TRANSFORMED = {
    "jit": nnx.jit,
    "vmap": lambda f: nnx.vmap(f, in_axes=(None,), axis_size=2, out_axes=None),
    "scan": lambda f: nnx.scan(
        lambda model: (model, f(model)), in_axes=nnx.Carry, out_axes=(nnx.Carry, 0), length=2
    ),
    "grad": lambda f: nnx.grad(lambda model: (f(model), jnp.float32(0.0))[1], allow_int=True),
    "cond": lambda f: lambda model: nnx.cond(True, f, f, model),
    "while_loop": in_while_loop,
    "remat": nnx.remat,
    "eval_shape": lambda f: lambda model: nnx.eval_shape(f, model),
    "vjp": lambda f: lambda model: nnx.vjp(f, model),
}
LOOPS = ("scan", "while_loop")
FIRST = ("jit", "vmap", "scan", "grad", "cond")


def closure_value(outer, model):
    outer.blocks[0].linear.kernel += 1


def closure_attribute(outer, model):
    outer.blocks[0].linear.mark = 1


def closure_metadata(outer, model):
    outer.blocks[0].linear.kernel.sharding = ("data",)


def closure_deleted(outer, model):
    del outer.blocks[0].linear.bias


def closure_popped(outer, model):
    nnx.pop(outer, nnx.Param)


def closure_updated(outer, model):
    nnx.update(outer, nnx.state(model, nnx.Param))


def added(outer, model):
    model.blocks[0].linear.extra = nnx.Param(jnp.zeros(2))


def deleted(outer, model):
    del model.blocks[0].linear.bias


def switched(outer, model):
    model.blocks[0].linear.use_bias = 7


def exchanged(outer, model):
    linear = model.blocks[0].linear
    linear.kernel, linear.bias = linear.bias, linear.kernel


def widened(outer, model):
    model.blocks[0].linear.kernel = nnx.Param(jnp.zeros((5, 5)))


def reshaped(outer, model):
    model.blocks[0].linear.kernel.value = jnp.zeros((5, 5))


def not_hashable(outer, model):
    model.blocks[0].linear.table = {1}


def no_array(outer, model):
    model.blocks[0].linear.kernel.value = "text"


def missing_stream(outer, model):
    model.blocks[0].rngs.noise()


def wrong_features(outer, model):
    model.blocks[0].norm(model.blocks[0].linear(X[:, :1]))


CASES = {
    closure_value: (r"Outer\.blocks\.0\.linear\.kernel was changed inside \w+ of", TRANSFORMED),
    closure_attribute: (r"Outer\.blocks\.0\.linear\.mark was changed inside \w+ of", FIRST),
    closure_metadata: (r"Outer\.blocks\.0\.linear\.kernel was changed inside \w+ of", FIRST),
    closure_deleted: (r"Outer\.blocks\.0\.linear\.bias was changed inside \w+ of", FIRST),
    closure_popped: (r"Outer\.blocks\.0\.linear\.kernel was changed inside \w+ of", FIRST),
    closure_updated: (r"Outer\.blocks\.0\.linear\.bias was changed inside \w+ of", FIRST),
    added: (r"carries changes .* Outer\.blocks\.0\.linear\.extra was added", LOOPS),
    deleted: (r"carries changes .* Outer\.blocks\.0\.linear\.bias was deleted", LOOPS),
    switched: (r"carries changes .* Outer\.blocks\.0\.linear\.use_bias was changed", LOOPS),
    exchanged: (r"the structure of what \w+ carries changes", LOOPS),
    reshaped: (
        r"Outer\.blocks\.0\.linear\.kernel comes in as float32\[2,3\] and goes out as float32\[5",
        LOOPS,
    ),
    not_hashable: (r"Outer\.blocks\.0\.linear\.table is static, .* cannot be hashed", FIRST),
    no_array: (r"Outer\.blocks\.0\.linear\.kernel was given 'text', of type str", TRANSFORMED),
    missing_stream: (r"Rngs at Outer\.blocks\.0\.rngs has no stream 'noise'", TRANSFORMED),
    wrong_features: (
        r"Linear at Outer\.blocks\.0\.linear was made for inputs with 2 features",
        TRANSFORMED,
    ),
}


def signature(model):
    graphdef, state = nnx.split(model)
    flat = state.flat_state()
    values = [x.raw_value for x in flat.values()]
    arrays = [
        np.asarray(bindax.random.key_data(x) if isinstance(variable, nnx.RngKey) else x)
        for x, variable in zip(values, flat.values(), strict=True)
    ]
    own = [id(x) for _, x in nnx.iter_graph(model) if isinstance(x, (nnx.Object, nnx.Variable))]
    return graphdef, own, arrays


def assert_same(found, expected):
    assert found[:2] == expected[:2]
    for x, y in zip(found[2], expected[2], strict=True):
        np.testing.assert_array_equal(x, y)


# What a function sets in the objects that it is given is looked at where it comes out.
MARKED = [pytest.param(x, marks=pytest.mark.graph) if x is not_hashable else x for x in CASES]


@pytest.mark.parametrize("mistake", MARKED, ids=lambda f: f.__name__)
def test_mistakes_in_all_transformations(mistake):
    message, names = CASES[mistake]
    model = Outer()
    before = signature(model)

    def fun(given):
        mistake(model, given)
        return jnp.float32(0.0)

    for name in names:
        with pytest.raises((ValueError, TypeError, AttributeError)) as info:
            TRANSFORMED[name](fun)(model)
        assert re.search(message, str(info.value), re.DOTALL), (name, str(info.value))
        assert "call.py" not in str(info.value)  # the user's function is named, and no other
        assert_same(signature(model), before)


def kept_module(model, x):
    KEPT[:] = [model]
    model.blocks[0].count.value = model.blocks[0].count + 1
    return x.sum()


def kept_value(model, x):
    KEPT[:] = [model.blocks[0].linear.kernel * x.sum()]
    return x.sum()


LEAKING = {
    "jit": lambda f, model: nnx.jit(f)(model, X),
    "grad": lambda f, model: nnx.grad(f, allow_int=True)(model, X),
    "scan": lambda f, model: nnx.scan(lambda model, x: (model, f(model, x)))(model, X),
    "vmap": lambda f, model: nnx.vmap(f, in_axes=(None, 0))(model, X),
    "cond": lambda f, model: nnx.cond(True, f, f, model, X),
}


@pytest.mark.parametrize("name", LEAKING)
def test_traced_values_that_stay_in_modules(name, tmp_path):
    model, other = Outer(), Outer()
    LEAKING[name](kept_value, other)
    (value,) = KEPT
    before = signature(model)
    kernel = model.blocks[0].linear.kernel
    place = r"Outer\.blocks\.0\.linear\.kernel holds a traced value float32\[2,3\], made in \w+ of"
    for store in (
        lambda: setattr(kernel, "value", value),
        lambda: nnx.update(model, {"blocks": {0: {"linear": {"kernel": value}}}}),
    ):
        with pytest.raises(UnexpectedTracerError, match=place):
            store()
        assert_same(signature(model), before)
    model.blocks[0].linear.kernel = nnx.Param(value)
    for use in (
        lambda: model.blocks[0].linear(X),
        lambda: nnx.jit(lambda model: 0)(model),
        lambda: nnx.remat(lambda model: 0)(model),
        lambda: nnx.save(tmp_path / "saved", model),
    ):
        with pytest.raises(UnexpectedTracerError, match=place):
            use()
    assert not (tmp_path / "saved").exists()


@pytest.mark.parametrize("name", ["jit", "grad", "scan", "cond"])
def test_modules_that_stay_after_their_trace(name):
    LEAKING[name](kept_module, Outer())
    (model,) = KEPT
    with pytest.raises(UnexpectedTracerError, match=r"Outer\.blocks\.0\.linear\.kernel holds"):
        model.blocks[0].linear.kernel * 2
    with pytest.raises(UnexpectedTracerError, match=r"Outer\.blocks\.\d.* holds a traced value"):
        nnx.jit(lambda model: 0)(model)


def test_a_shared_variable_that_depends_on_the_element():
    model = Outer()
    before = signature(model)

    def fun(model, x):
        model.blocks[1].count.value = x.sum()

    with pytest.raises(ValueError, match=r"Outer\.blocks\.1\.count is the same for all elements"):
        nnx.vmap(fun, in_axes=(None, 0))(model, X)
    with pytest.warns(UserWarning, match=r"changed Outer\.blocks\.1\.count, which all steps share"):
        nnx.compat.scan(fun, in_axes=(None, 0), out_axes=0)(model, X)
    assert_same(signature(model), before)


class Holder(nnx.Module):
    def __init__(self, layer):
        self.blocks = nnx.List([layer])


ONE = nnx.Rngs(0)
LAYERS = {
    "linear": (lambda: nnx.Linear(2, 3, rngs=ONE), (4, 5)),
    "linear_general": (lambda: nnx.LinearGeneral((2, 3), 4, axis=(-2, -1), rngs=ONE), (4, 5, 3)),
    "einsum": (lambda: nnx.Einsum("ab,bc->ac", (2, 3), rngs=ONE), (4, 5)),
    "embed": (lambda: nnx.Embed(2, 3, rngs=ONE), (2,)),
    "conv": (lambda: nnx.Conv(2, 3, (3, 3), rngs=ONE), (1, 8, 8, 5)),
    "conv without axes": (lambda: nnx.Conv(2, 3, (3, 3), rngs=ONE), (2,)),
    "conv_transpose": (lambda: nnx.ConvTranspose(2, 3, (3, 3), rngs=ONE), (1, 8, 8, 5)),
    "batch_norm": (lambda: nnx.BatchNorm(2, rngs=ONE), (4, 5)),
    "layer_norm": (lambda: nnx.LayerNorm(2, rngs=ONE), (4, 5)),
    "rms_norm": (lambda: nnx.RMSNorm(2, rngs=ONE), (4, 5)),
    "group_norm": (lambda: nnx.GroupNorm(4, num_groups=2, rngs=ONE), (4, 5)),
    "instance_norm": (lambda: nnx.InstanceNorm(4, rngs=ONE), (4, 3, 5)),
    "attention": (lambda: nnx.MultiHeadAttention(2, 4, rngs=ONE), (4, 3, 5)),
    "lora": (lambda: nnx.LoRALinear(2, 3, lora_rank=2, rngs=ONE), (4, 5)),
    "rnn": (lambda: nnx.RNN(nnx.LSTMCell(2, 3, rngs=ONE)), (1, 4, 5)),
    "weight_norm": (lambda: nnx.WeightNorm(nnx.Linear(2, 3, rngs=ONE), rngs=ONE), (4, 5)),
    "view": (lambda: nnx.eval_mode(nnx.Linear(2, 3, rngs=ONE)), (4, 5)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_wrong_sizes_are_said_of_the_layer_at_its_place(name):
    make, shape = LAYERS[name]
    model = Holder(make())
    with pytest.raises((ValueError, TypeError), match=r"at Holder\.blocks\.0"):
        model.blocks[0](np.ones(shape, "f4"))


def test_a_layer_that_finds_no_stream_is_named():
    needs = r"^{} needs random numbers, but Rngs has no stream '{}' .*\['other'\]; pass {}=seed"
    for make, name, stream in (
        (lambda r: nnx.Linear(1, 1, rngs=r), r"Linear\.kernel", "params"),
        (lambda r: nnx.LSTMCell(1, 1, rngs=r), r"Linear\.kernel", "params"),
        (lambda r: nnx.LoRA(1, 1, 1, rngs=r), r"LoRA\.lora_a", "params"),
        (lambda r: nnx.BatchNorm(1, rngs=r), r"BatchNorm\.scale", "params"),
        (lambda r: nnx.Dropout(0.5, rngs=r), "Dropout", "dropout"),
        (lambda r: nnx.RNN(nnx.GRUCell(1, 1, rngs=ONE), rngs=r), "RNN", "carry"),
    ):
        with pytest.raises(AttributeError, match=needs.format(name, stream, stream)):
            make(nnx.Rngs(other=0))
    model = Holder(nnx.Dropout(0.5))
    with pytest.raises(AttributeError, match=r"^Dropout at Holder\.blocks\.0 needs random numbers"):
        model.blocks[0](X, rngs=nnx.Rngs(other=0))
