"""Write references.npz: what optax computes. Run with the group `reference`; needs optax."""

from pathlib import Path

import numpy as np
import optax

GRADIENTS = np.random.default_rng(0).normal(size=(4, 3)).astype("f4")
START = np.array([1.0, -2.0, 0.5], "f4")

OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "momentum": lambda o: o.sgd(0.1, 0.9),
    "nesterov": lambda o: o.sgd(0.1, 0.9, True),
    "adam": lambda o: o.adam(0.1),
    "adamw": lambda o: o.adamw(0.1, weight_decay=0.01),
    "lion": lambda o: o.lion(0.1),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "centered": lambda o: o.rmsprop(0.1, centered=True, momentum=0.9),
    "adagrad": lambda o: o.adagrad(0.1),
    "clipped": lambda o: o.chain(o.clip_by_global_norm(0.5), o.sgd(0.1)),
    "scheduled": lambda o: o.sgd(o.linear_schedule(0.1, 0.01, 3)),
}
SCHEDULES = {
    "linear": lambda o: o.linear_schedule(1.0, 0.1, 10, 2),
    "polynomial": lambda o: o.polynomial_schedule(1.0, 0.1, 2, 10),
    "exponential": lambda o: o.exponential_decay(1.0, 5, 0.5, 2, end_value=0.2),
    "staircase": lambda o: o.exponential_decay(1.0, 5, 0.5, staircase=True),
    "cosine": lambda o: o.cosine_decay_schedule(1.0, 10, 0.1),
    "warmup": lambda o: o.warmup_cosine_decay_schedule(0.0, 1.0, 4, 12, 0.1),
    "piecewise": lambda o: o.piecewise_constant_schedule(1.0, {3: 0.5, 7: 0.1}),
}


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
    np.savez(Path(__file__).with_name("references.npz"), **found)


if __name__ == "__main__":
    main()
