"""A pendulum in MJX: steps, and a derivative through them."""

import jax
import jax.numpy as jnp
import mujoco
from mujoco import mjx

MODEL = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body pos="0 0 1">
      <joint name="hinge" type="hinge" axis="0 1 0" damping="0.1"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.5 0 0"/>
    </body>
  </worldbody>
  <actuator><motor joint="hinge" gear="1"/></actuator>
</mujoco>
"""


def main():
    model = mjx.put_model(mujoco.MjModel.from_xml_string(MODEL))
    data = mjx.make_data(model)

    @jax.jit
    def rollout(force):
        def step(data, _):
            data = mjx.step(model, data.replace(ctrl=jnp.array([force])))
            return data, data.qpos

        return jax.lax.scan(step, data, length=5)[1]

    slope = jax.jvp(rollout, (0.5,), (1.0,))[1]
    return rollout(0.5), slope, jax.vmap(rollout)(jnp.array([0.0, 1.0]))[:, -1]
