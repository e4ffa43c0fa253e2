"""A transport plan between two clouds of points with ott, and its gradient."""

import jax
import jax.numpy as jnp
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers import linear
from ott.solvers.linear import sinkhorn


def main():
    keys = jax.random.split(jax.random.key(4), 2)
    x, y = jax.random.uniform(keys[0], (6, 2)), jax.random.uniform(keys[1], (9, 2))
    geometry = pointcloud.PointCloud(x, y, epsilon=0.1)
    out = jax.jit(linear.solve)(geometry, jnp.ones(6) / 6, jnp.ones(9) / 9)

    def cost(x):
        problem = linear_problem.LinearProblem(pointcloud.PointCloud(x, y, epsilon=0.1))
        return sinkhorn.Sinkhorn()(problem).reg_ot_cost

    return out.matrix, out.reg_ot_cost, out.converged, jax.grad(cost)(x)
