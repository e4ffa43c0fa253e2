"""A neuron of jaxley: its voltage, and a gradient with respect to a conductance."""

import jax
import jax.numpy as jnp
import jaxley as jx
from jaxley.channels import HH


def main():
    branch = jx.Branch(jx.Compartment(), ncomp=2)
    cell = jx.Cell(branch, parents=[-1, 0])
    cell.insert(HH())
    current = jx.step_current(i_delay=0.5, i_dur=1.0, i_amp=0.1, delta_t=0.025, t_max=2.0)
    cell.branch(0).loc(0.0).stimulate(current, verbose=False)
    cell.branch(1).loc(1.0).record("v", verbose=False)
    cell.make_trainable("HH_gNa", verbose=False)
    parameters = cell.get_parameters()
    voltage = jx.integrate(cell, params=parameters)
    slope = jax.grad(lambda p: jnp.mean(jx.integrate(cell, params=p)))(parameters)
    return voltage, slope
