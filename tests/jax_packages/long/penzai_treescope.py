"""A transformer of penzai that is looked at, patched and trained, as treescope writes it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import treescope
from penzai import pz
from penzai.models.transformer.variants import llamalike_common
from penzai.toolshed import basic_training, jit_wrapper, lora, save_intermediates

VOCABULARY, LENGTH = 12, 8


@pz.pytree_dataclass
class Louder(pz.nn.Layer):
    """Multiplies what passes by a parameter."""

    factor: pz.Parameter[pz.nx.NamedArray]

    def __call__(self, x, **side_inputs):
        return x * self.factor.value


def show(title, tree):
    """Print a tree as treescope writes it."""
    print(f"--- {title}")
    print(treescope.render_to_text(tree, ignore_exceptions=False))


def show_open(title, tree):
    """Print all of a tree that treescope shows, with summaries of its arrays."""
    print(f"--- {title}")
    with treescope.using_expansion_strategy(max_height=60):
        print(treescope.render_to_text(tree, ignore_exceptions=False))


def named_axes():
    """Arrays with named axes: what is done with them, and how they are shown."""
    x = pz.nx.wrap(jnp.arange(24.0).reshape(2, 3, 4), "batch", "seq", "features")
    show("named array", x)
    show("some axes are named", x.untag("seq"))
    mean = pz.nx.nmap(jnp.mean)(x.untag("features"))
    show("mean", mean)
    print("shape", mean.named_shape, "positions", x.untag("seq", "features").positional_shape)
    scaled = (x - mean) / pz.nx.nmap(jnp.std)(x.untag("features"))
    print("scaled", scaled.order_as("features", "seq", "batch").data_array.shape)
    show("indexed", x[{"seq": 1, "features": pz.slice[1:3]}])
    show("concatenated", pz.nx.concatenate([x, 2 * x], "seq").named_shape)
    print(repr(pz.nx.random_split(jax.random.key(0), {"batch": 2}).named_shape))
    print(x.untag("features").tag("channels").named_shape, pz.nx.is_namedarray(x), x.dtype)
    try:
        x + pz.nx.wrap(jnp.ones(5), "seq")
    except ValueError as error:
        print(type(error).__name__, str(error).splitlines()[0])
    show(
        "plain values", {"n": 3, "x": jnp.eye(2), "key": jax.random.key(1), "f": jnp.bfloat16(0.5)}
    )
    show("shapes", jax.eval_shape(lambda: x))
    picture = treescope.render_array(x, truncate=True)
    print("picture", type(picture).__name__)
    page = treescope.render_to_html({"x": x}, compressed=False)
    print("page", page.count("class=") > 50, "treescope" in page)


def build():
    config = llamalike_common.LlamalikeTransformerConfig(
        num_kv_heads=1,
        query_head_multiplier=2,
        embedding_dim=16,
        projection_dim=8,
        mlp_hidden_dim=24,
        num_decoder_blocks=2,
        vocab_size=VOCABULARY,
        mlp_variant="swiglu",
        tie_embedder_and_logits=False,
    )
    return llamalike_common.build_llamalike_transformer(
        config, init_base_rng=jax.random.key(0), name="lm"
    )


def batch_of(key):
    """Sequences that count up by one of three steps, from anywhere."""
    start, step = jax.random.split(key)
    start = jax.random.randint(start, (16, 1), 0, VOCABULARY)
    step = jax.random.randint(step, (16, 1), 1, 4)
    tokens = (start + step * jnp.arange(LENGTH + 1)) % VOCABULARY
    return pz.nx.wrap(tokens, "batch", "seq")


def loss(model, rng, state, tokens):
    logits = model(tokens[{"seq": pz.slice[:-1]}])
    chances = pz.nx.nmap(jax.nn.log_softmax)(logits.untag("vocabulary")).tag("vocabulary")
    wanted = tokens[{"seq": pz.slice[1:]}]
    chosen = pz.nx.nmap(lambda c, t: c[t])(chances.untag("vocabulary"), wanted)
    value = -pz.nx.nmap(jnp.mean)(chosen.untag("batch", "seq")).unwrap()
    right = pz.nx.nmap(jnp.argmax)(logits.untag("vocabulary")) == wanted
    right = pz.nx.nmap(jnp.mean)(right.untag("batch", "seq")).unwrap()
    return value, state, {"loss": value, "right": right}


def train(model, steps, rate):
    trainer = basic_training.StatefulTrainer.build(
        root_rng=jax.random.key(7),
        model=model,
        optimizer_def=optax.adam(rate),
        loss_fn=loss,
    )
    for step in range(steps):
        found = trainer.step(tokens=batch_of(jax.random.fold_in(jax.random.key(8), step)))
        print(f"step {step}: loss {found['loss']:.5f} right {found['right']:.4f}")
    print("trainer counts", trainer.state.value.step)
    return trainer


def main():
    named_axes()
    model = build()
    show_open("model", model)
    tokens = batch_of(jax.random.key(1))[{"batch": pz.slice[:2], "seq": pz.slice[:LENGTH]}]
    show("tokens", tokens)
    show("logits", model(tokens))

    linears = pz.select(model).at_instances_of(pz.nn.Linear)
    print("linear layers", linears.count(), "parameters", len(pz.unbind_params(model)[1]))
    for path, layer in list(linears.get_by_path().items())[:4]:
        print(pz.pretty_keystr(path, model), layer.input_axes, layer.output_axes)
    show("chosen", pz.select(model).at_instances_of(pz.nn.RMSLayerNorm).pick_nth_selected(0))

    watched = save_intermediates.saving_all_intermediates(model)
    unbound, variables = pz.unbind_state_vars(watched)
    print("intermediate values", len(variables))
    pz.bind_variables(unbound, variables)(tokens)
    for variable in variables[:6]:
        values = variable.value
        print(variable.label, dict(values.named_shape), f"{abs(values.data_array).mean():.5f}")

    factor = pz.Parameter(value=pz.nx.wrap(jnp.array(1.5)), label="louder")
    patched = pz.select(model).at_instances_of(pz.nn.Softmax).insert_after(Louder(factor))
    attention = pz.select(patched).at_instances_of(pz.nn.Attention).get_sequence()[0]
    show_open("patched attention", attention)
    change = (patched(tokens) - model(tokens)).untag("batch", "seq", "vocabulary")
    print("changed by", f"{pz.nx.nmap(jnp.max)(abs(change)).unwrap():.6f}")

    trainer = train(jit_wrapper.Jitted(patched), 30, 1e-2)
    show("state of the trainer", trainer.state.value.opt_state[0].count)
    unbound, parameters = pz.unbind_params(patched)
    frozen = pz.bind_variables(unbound, pz.freeze_params(parameters))
    adapted = lora.loraify_linears_in_selection(
        pz.select(frozen).at_instances_of(pz.nn.Attention), 2, jax.random.key(3)
    )
    adapter = pz.select(adapted).at_instances_of(lora.LowRankAdapter).get_sequence()[0]
    show_open("low-rank adapter", adapter)
    train(jit_wrapper.Jitted(adapted), 5, 1e-2)
    show("logits after training", patched(tokens))
    for variable in pz.unbind_params(patched)[1]:
        value = variable.value
        norm = np.linalg.norm(np.asarray(value.data_array))
        print(f"{variable.label} {dict(value.named_shape)} norm {norm:.5f}")


if __name__ == "__main__":
    main()
