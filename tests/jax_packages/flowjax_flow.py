"""A flow of flowjax that is fitted to points of a ring."""

import jax.numpy as jnp
import jax.random as jr
from flowjax.bijections import RationalQuadraticSpline
from flowjax.distributions import Normal
from flowjax.flows import coupling_flow
from flowjax.train import fit_to_data


def main():
    angle = jr.uniform(jr.key(0), (60,), maxval=2 * jnp.pi)
    x = jnp.stack([jnp.cos(angle), jnp.sin(angle)], 1)
    flow = coupling_flow(
        jr.key(1),
        base_dist=Normal(jnp.zeros(2)),
        transformer=RationalQuadraticSpline(knots=3, interval=3),
        flow_layers=2,
        nn_width=6,
    )
    before = flow.log_prob(x[:3])
    flow, losses = fit_to_data(
        jr.key(2), flow, x, learning_rate=1e-2, max_epochs=2, batch_size=20, show_progress=False
    )
    return before, losses, flow.log_prob(x[:3]), flow.sample(jr.key(3), (2,))
