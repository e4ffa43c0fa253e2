"""Named axes and layers of penzai, selected and changed."""

import jax
import jax.numpy as jnp
import treescope
from penzai import pz
from penzai.models import simple_mlp


def main():
    model = simple_mlp.MLP.from_config(
        name="mlp", init_base_rng=jax.random.key(2), feature_sizes=[3, 5, 2]
    )
    x = pz.nx.wrap(jnp.linspace(-1, 1, 12).reshape(4, 3), "batch", "features")
    y = model(x)
    doubled = (
        pz.select(model)
        .at_instances_of(pz.nn.Elementwise)
        .apply(lambda layer: pz.nn.Sequential([layer, layer]))
    )
    _, parameters = pz.unbind_params(model)

    @jax.jit
    def loss(parameters, x):
        bound = pz.bind_variables(pz.unbind_params(model)[0], parameters)
        return pz.nx.nmap(jnp.sum)(bound(x).untag("batch", "features") ** 2).unwrap()

    frozen = jax.tree.map(lambda v: v, [p.freeze() for p in parameters])
    gradient = jax.grad(loss)(frozen, x)
    values = [g.value.data_array for g in gradient]
    summary = treescope.render_to_text(y.named_shape)
    return y.unwrap("batch", "features"), doubled(x).unwrap("batch", "features"), values, summary
