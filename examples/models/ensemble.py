"""Eight networks learn a curve at once; where they disagree they do not know."""

import numpy as np

import bindax.numpy as jnp
from bindax import nnx, optimizers

MEMBERS = 8


class Network(nnx.Module):
    """Two layers."""

    def __init__(self, rngs):
        self.hidden = nnx.Linear(1, 32, rngs=rngs)
        self.out = nnx.Linear(32, 1, rngs=rngs)

    def __call__(self, x):
        """Give a value for each number."""
        return self.out(nnx.tanh(self.hidden(x)))


@nnx.split_rngs(splits=MEMBERS)
@nnx.vmap
def make(rngs):
    """One network and its optimizer for each key."""
    model = Network(rngs)
    return model, nnx.Optimizer(model, optimizers.adam(1e-2))


@nnx.jit
@nnx.vmap(in_axes=(0, 0, None, None))
def train_step(model, optimizer, x, y):
    """Change each network so that it fits better; gives the losses."""
    value, gradients = nnx.value_and_grad(lambda model: ((model(x) - y) ** 2).mean())(model)
    optimizer.update(model, gradients)
    return value


@nnx.jit
@nnx.vmap(in_axes=(0, None))
def values(model, x):
    """The answers of all networks."""
    return model(x)


def main(steps=300):
    """Train, and give how far the networks differ near the data, and away from them."""
    x = np.linspace(-1, 1, 64, dtype="f4")[:, None]
    model, optimizer = make(nnx.Rngs(0))
    for step in range(1, steps + 1):
        losses = train_step(model, optimizer, x, np.sin(3 * x))
        if step % 100 == 0:
            print(step, np.round(np.asarray(losses), 4))
    said = values(model, np.array([[0.0], [4.0]], "f4"))
    near, far = jnp.std(said, axis=0)[:, 0]
    return float(near), float(far)


if __name__ == "__main__":
    print("deviation near the data, and away from them:", main())
