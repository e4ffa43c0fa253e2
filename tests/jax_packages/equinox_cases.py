"""Cases of equinox, a small one for each part."""

import io

import equinox as eqx
import equinox.internal as eqxi
import jax
import jax.numpy as jnp
import jax.random as jr

KEY = jr.PRNGKey(3)


def case_layers():
    keys = jr.split(KEY, 4)
    x = jnp.linspace(-1, 1, 12).reshape(3, 4)
    return (
        eqx.nn.Linear(4, 2, key=keys[0])(x[0]),
        eqx.nn.Conv1d(3, 2, 3, padding=1, key=keys[1])(x),
        eqx.nn.LayerNorm(4)(x[1]),
        eqx.nn.GroupNorm(1, 3)(x),
        eqx.nn.Embedding(5, 3, key=keys[2])(jnp.array(2)),
        eqx.nn.AvgPool1d(2, 2)(x),
        eqx.nn.MLP(4, 2, 5, 2, activation=jax.nn.tanh, key=keys[3])(x[2]),
    )


def case_attention_and_dropout():
    x = jnp.linspace(-1, 1, 12).reshape(3, 4)
    attention = eqx.nn.MultiheadAttention(2, 4, key=KEY)
    dropped = eqx.nn.Dropout(0.5)(x, key=KEY)
    return attention(x, x, x), dropped, eqx.nn.Dropout(0.5, inference=True)(x)


def case_recurrent_cells():
    cell = eqx.nn.LSTMCell(2, 3, key=KEY)
    gru = eqx.nn.GRUCell(2, 3, key=KEY)
    xs = jnp.linspace(0, 1, 8).reshape(4, 2)
    state, _ = jax.lax.scan(lambda s, x: (cell(x, s), None), (jnp.zeros(3), jnp.zeros(3)), xs)
    return state, gru(xs[0], jnp.ones(3))


def case_batch_norm_keeps_state():
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(3, axis_name="batch", mode="batch")
    x = jnp.arange(12.0).reshape(4, 3) ** 2
    batched = jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))
    y, state = batched(x, state)
    y, state = batched(y, state)
    return y, jax.vmap(eqx.nn.inference_mode(norm), in_axes=(0, None))(x, state)[0]


def case_filtered_transformations():
    model = eqx.nn.MLP(2, 2, 4, 1, key=KEY)
    x = jnp.array([[0.5, -1.0], [1.0, 2.0]])

    @eqx.filter_jit
    @eqx.filter_value_and_grad(has_aux=True)
    def loss(model, x, name):
        y = eqx.filter_vmap(model)(x)
        return jnp.sum(y**2), (y, name)

    (value, (y, name)), grads = loss(model, x, "text")
    several = eqx.filter_vmap(lambda k: eqx.nn.Linear(2, 1, key=k))(jr.split(KEY, 3))
    ensemble = eqx.filter_vmap(lambda m, x: m(x), in_axes=(eqx.if_array(0), None))(several, x[0])
    _, tangent = eqx.filter_jvp(lambda m: m(x[0]), (model,), (grads,))
    return value, y, name, eqx.filter(grads, eqx.is_array), ensemble, tangent


def case_trees():
    model = eqx.nn.Linear(2, 2, key=KEY)
    model = eqx.tree_at(lambda m: m.weight, model, jnp.eye(2))
    model = eqx.tree_at(lambda m: m.bias, model, replace_fn=lambda b: b * 0 + 1)
    file = io.BytesIO()
    eqx.tree_serialise_leaves(file, model)
    file.seek(0)
    read = eqx.tree_deserialise_leaves(file, eqx.nn.Linear(2, 2, key=jr.PRNGKey(0)))
    arrays, rest = eqx.partition(read, eqx.is_array)
    same = eqx.tree_equal(model, eqx.combine(arrays, rest))
    return read(jnp.array([1.0, 2.0])), jnp.asarray(same), eqx.tree_pformat(arrays)


def case_custom_derivatives():
    @eqx.filter_custom_vjp
    def scaled(x, factor):
        return x["a"] * factor

    @scaled.def_fwd
    def forward(perturbed, x, factor):
        return x["a"] * factor, factor

    @scaled.def_bwd
    def backward(factor, grad, perturbed, x, given):
        return {"a": grad * factor * 10}

    @eqx.filter_custom_jvp
    def square(x):
        return x**2

    @square.def_jvp
    def rule(primals, tangents):
        return primals[0] ** 2, tangents[0] * 7

    return (
        eqx.filter_grad(lambda x: scaled(x, 2.0))({"a": jnp.array(3.0)}),
        eqx.filter_jvp(square, (jnp.array(2.0),), (jnp.array(1.0),)),
    )


def case_loops():
    def steps(x, kind):
        return eqxi.while_loop(
            lambda c: c[0] < 5,
            lambda c: (c[0] + 1, jnp.sin(c[1]) * 1.5),
            (0, x),
            max_steps=16,
            kind=kind,
        )[1]

    x = jnp.array(0.7)
    slopes = [jax.grad(lambda x, k=kind: steps(x, k))(x) for kind in ("bounded", "checkpointed")]
    scanned = eqxi.scan(lambda c, y: (c * y, c), x, jnp.arange(1.0, 4.0), kind="checkpointed")
    return steps(x, "lax"), slopes, scanned


def case_errors():
    @eqx.filter_jit
    def root(x):
        x = eqx.error_if(x, x < 0, "a negative number")
        return jnp.sqrt(x)

    try:
        root(jnp.array(-1.0)).block_until_ready()
        said = "nothing"
    except Exception as error:
        said = "a negative number" if "a negative number" in str(error) else "another error"
    return root(jnp.array(4.0)), said


def case_jaxprs_and_shapes():
    model = eqx.nn.MLP(2, 1, 4, 1, key=KEY)
    shape = eqx.filter_eval_shape(model, jnp.ones(2))
    closed = eqx.filter_closure_convert(lambda x: model(x) * 2, jnp.ones(2))
    remembered = eqx.filter_checkpoint(lambda m, x: m(x).sum())
    return str(shape), closed(jnp.ones(2)), eqx.filter_grad(remembered)(model, jnp.ones(2))


def case_modules():
    class Polynomial(eqx.Module):
        weights: jax.Array
        degree: int = eqx.field(static=True)
        scale: float = 2.0

        def __check_init__(self):
            if self.degree != self.weights.size - 1:
                raise ValueError("degree")

        def __call__(self, x):
            return self.scale * jnp.polyval(self.weights, x)

    model = Polynomial(jnp.array([1.0, 2.0, 3.0]), 2)
    try:
        model.degree = 3
        said = "nothing"
    except AttributeError:
        said = "frozen"
    try:
        Polynomial(jnp.ones(2), 4)
    except ValueError as error:
        said += f" {error}"
    updated = eqx.apply_updates(model, eqx.filter_grad(lambda m: m(2.0))(model))
    return (
        jax.jit(lambda m, x: m(x))(model, 3.0),
        said,
        updated,
        eqx.nn.Sequential([eqx.nn.Lambda(model)])(1.0),
    )
