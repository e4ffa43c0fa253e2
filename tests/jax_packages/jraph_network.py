"""A graph network on two padded graphs."""

import jax
import jax.numpy as jnp
import jraph


def main():
    graph = jraph.GraphsTuple(
        nodes=jnp.arange(6.0).reshape(3, 2),
        edges=jnp.ones((2, 1)),
        senders=jnp.array([0, 1]),
        receivers=jnp.array([2, 2]),
        n_node=jnp.array([3]),
        n_edge=jnp.array([2]),
        globals=jnp.zeros((1, 1)),
    )
    graph = jraph.pad_with_graphs(graph, 5, 4)
    net = jraph.GraphNetwork(
        update_edge_fn=lambda e, s, r, g: e + s[:, :1],
        update_node_fn=lambda n, s, r, g: n + jnp.tanh(r),
    )
    out = jax.jit(net)(graph)
    return out.nodes, out.edges
