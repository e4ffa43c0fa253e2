"""Poses of jaxlie: products, logarithms, and a gradient on the manifold."""

import jax
import jax.numpy as jnp
import jaxlie


def main():
    pose = jaxlie.SE3.exp(jnp.array([0.1, -0.2, 0.3, 0.4, 0.0, -0.5]))
    turn = jaxlie.SO3.from_rpy_radians(0.1, 0.2, -0.3)
    moved = jaxlie.SE3.from_rotation(turn) @ pose
    points = jnp.linspace(-1, 1, 6).reshape(2, 3)

    def loss(pose):
        return jnp.sum((pose @ points[0] - points[1]) ** 2)

    gradient = jax.jit(jaxlie.manifold.grad(loss))(moved)
    batch = jax.vmap(jaxlie.SO2.exp)(jnp.array([[0.1], [0.7]]))
    return moved.log(), turn.as_matrix(), gradient, pose.inverse().apply(points[1]), batch.log()
