"""A quantum circuit of pennylane with JAX's interface, and its gradient."""

import jax
import jax.numpy as jnp
import pennylane as qml

device = qml.device("default.qubit", wires=2)


@qml.qnode(device, interface="jax")
def circuit(angles):
    qml.RX(angles[0], wires=0)
    qml.RY(angles[1], wires=1)
    qml.CNOT(wires=[0, 1])
    qml.RZ(angles[2], wires=1)
    qml.Hadamard(wires=1)
    return qml.expval(qml.PauliZ(0) @ qml.PauliX(1)), qml.probs(wires=[0, 1])


def main():
    angles = jnp.array([0.4, -0.3, 1.1])
    plain = circuit(angles)
    gradient = jax.grad(lambda a: circuit(a)[0])(angles)
    compiled = jax.jit(circuit)(angles)
    batched = jax.vmap(circuit)(jnp.stack([angles, 2 * angles]))
    return plain, gradient, compiled, batched
