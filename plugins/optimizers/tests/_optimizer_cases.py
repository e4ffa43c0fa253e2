"""Optimizers, schedules and losses, written once for bindax and for optax."""

import numpy as np

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


LOGITS = np.random.default_rng(1).normal(size=(3, 4, 5)).astype("f4") * 3
LABELS = np.arange(12).reshape(3, 4) % 5
LABELS_0 = np.arange(20).reshape(4, 5) % 3
LOSSES = {
    "squared_error": lambda o: o.squared_error(LOGITS, LOGITS[::-1]),
    "l2_loss": lambda o: o.l2_loss(LOGITS),
    "huber_loss": lambda o: o.huber_loss(LOGITS, LOGITS[::-1], delta=0.5),
    "cross_entropy": lambda o: o.softmax_cross_entropy(LOGITS * 20, abs(LOGITS)),
    "labels": lambda o: o.softmax_cross_entropy_with_integer_labels(LOGITS * 20, LABELS),
    "labels_axis": lambda o: o.softmax_cross_entropy_with_integer_labels(LOGITS, LABELS_0, axis=0),
    "binary": lambda o: o.sigmoid_binary_cross_entropy(LOGITS * 20, abs(LOGITS)),
}
