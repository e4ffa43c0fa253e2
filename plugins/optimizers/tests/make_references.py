"""Write references.npz: what optax computes. Run with the group `reference`; needs optax."""

from pathlib import Path

import numpy as np
import optax
from _optimizer_cases import LOSSES, OPTIMIZERS, SCHEDULES

GRADIENTS = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
START = np.array([1.0, -2.0, 0.5], "f4")


def main() -> None:
    found = {"gradients": GRADIENTS, "start": START}
    for name, make in OPTIMIZERS.items():
        optimizer = make(optax)
        params, rows = START, []
        state = optimizer.init(params)
        for gradient in GRADIENTS:
            updates, state = optimizer.update(gradient, state, params)
            params = optax.apply_updates(params, updates)
            rows.append(np.asarray(params))
        found[name] = np.stack(rows)
    for name, make in SCHEDULES.items():
        schedule = make(optax)
        found[name] = np.array([float(schedule(i)) for i in range(15)])
    for name, loss in LOSSES.items():
        found[name] = np.asarray(loss(optax))
    np.savez(Path(__file__).with_name("references.npz"), **found)


if __name__ == "__main__":
    main()
