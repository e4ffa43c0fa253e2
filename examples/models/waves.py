"""An LSTM learns to foresee the next value of waves of unknown frequency and phase."""

import numpy as np

from bindax import nnx, optimizers


class Forecast(nnx.Module):
    """A recurrent layer, and a linear one that reads its outputs."""

    def __init__(self, rngs):
        self.memory = nnx.RNN(nnx.OptimizedLSTMCell(1, 24, rngs=rngs))
        self.out = nnx.Linear(24, 1, rngs=rngs)

    def __call__(self, x):
        """Give what comes next at each time."""
        return self.out(self.memory(x))


def waves(count, random):
    """Sequences of 41 values, of the shape ``(count, 41, 1)``."""
    frequency, phase = random.uniform(0.2, 0.6, (count, 1)), random.uniform(0, 6.3, (count, 1))
    return np.sin(frequency * np.arange(41) + phase)[..., None].astype("f4")


@nnx.jit
def train_step(model, optimizer, x):
    """Change the model so that it foresees better; gives the mean squared error."""

    def loss(model):
        return ((model(x[:, :-1]) - x[:, 1:])[:, 5:] ** 2).mean()

    value, gradients = nnx.value_and_grad(loss)(model)
    optimizer.update(model, gradients)
    return value


def main(steps=150):
    """Train, and give the last mean squared error."""
    random = np.random.default_rng(0)
    model = Forecast(nnx.Rngs(0))
    clipped = optimizers.chain(optimizers.clip_by_global_norm(1.0), optimizers.adam(1e-2))
    optimizer = nnx.Optimizer(model, clipped)
    error = float("inf")
    for step in range(1, steps + 1):
        error = float(train_step(model, optimizer, waves(32, random)))
        if step % 50 == 0:
            print(step, round(error, 4))
    return error


if __name__ == "__main__":
    main()
