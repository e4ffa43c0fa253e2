"""Optimizers written once for bindax and for optax, and thirty steps of each."""

from __future__ import annotations

from typing import Any

import numpy as np

GRADIENTS = np.random.default_rng(0).normal(size=(30, 4, 3)).astype("f4")
START = {"w": np.linspace(-1, 1, 12, dtype="f4").reshape(4, 3), "b": np.ones(3, "f4")}
MASK = {"w": True, "b": False}
LABELS = {"w": "fast", "b": "still"}


def decay(step: Any) -> Any:
    return 0.1 / (step + 1)


def is_odd(step: Any, **extra: Any) -> Any:
    return step % 2 == 1


def norms(o: Any) -> Any:
    return lambda updates: o.global_norm(updates)


OPTIMIZERS = {
    "sgd": lambda o: o.sgd(0.1),
    "sgd, momentum": lambda o: o.sgd(0.1, 0.9, accumulator_dtype="float32"),
    "sgd, nesterov": lambda o: o.sgd(decay, 0.9, nesterov=True),
    "adam": lambda o: o.adam(0.1),
    "adam, nesterov": lambda o: o.adam(0.1, eps_root=1e-6, mu_dtype="float32", nesterov=True),
    "adamw": lambda o: o.adamw(0.1, weight_decay=0.01, mask=MASK),
    "adamw, schedules": lambda o: o.adamw(decay, weight_decay=decay),
    "nadam": lambda o: o.nadam(0.1),
    "nadamw": lambda o: o.nadamw(0.1, weight_decay=0.01),
    "amsgrad": lambda o: o.amsgrad(0.1),
    "amsgrad, biased": lambda o: o.amsgrad(0.1, 0.9, 0.99, 1e-8, 1e-6, "float32", False, False),
    "adamax": lambda o: o.adamax(0.1),
    "adamaxw": lambda o: o.adamaxw(0.1, weight_decay=0.01),
    "adabelief": lambda o: o.adabelief(0.1),
    "adabelief, nesterov": lambda o: o.adabelief(0.1, nesterov=True),
    "radam": lambda o: o.radam(0.1),
    "radam, nesterov": lambda o: o.radam(0.1, nesterov=True),
    "radam, threshold": lambda o: o.radam(0.1, b2=0.9, threshold=4.5),
    "yogi": lambda o: o.yogi(0.1),
    "adan": lambda o: o.adan(0.1, weight_decay=0.01),
    "novograd": lambda o: o.novograd(0.1, weight_decay=0.01),
    "lamb": lambda o: o.lamb(0.1, weight_decay=0.01),
    "lion": lambda o: o.lion(0.1, mu_dtype="float32"),
    "lion, smooth": lambda o: o.chain(
        o.scale_by_lion(mode="smooth", smooth_beta=0.5), o.scale(-0.1)
    ),
    "lion, refined": lambda o: o.chain(o.scale_by_lion(mode="refined"), o.scale(-0.1)),
    "optimistic_adam_v2": lambda o: o.optimistic_adam_v2(0.1, alpha=0.5, beta=2.0),
    "rmsprop": lambda o: o.rmsprop(0.1),
    "rmsprop, centered": lambda o: o.rmsprop(
        0.1, centered=True, momentum=0.9, bias_correction=True
    ),
    "rmsprop, outside": lambda o: o.rmsprop(0.1, eps_in_sqrt=False, bias_correction=True),
    "adagrad": lambda o: o.adagrad(0.1),
    "adadelta": lambda o: o.adadelta(0.1, weight_decay=0.01, weight_decay_mask=MASK),
    "adafactor": lambda o: o.adafactor(0.1, min_dim_size_to_factor=2),
    "adafactor, all": lambda o: o.adafactor(
        decay, 128, 0.7, 0, False, None, 0.9, "float32", 0.01, 1e-20, False, MASK
    ),
    "adafactor, no rate": lambda o: o.adafactor(min_dim_size_to_factor=3),
    "sm3": lambda o: o.sm3(0.1),
    "rprop": lambda o: o.rprop(0.1),
    "lars": lambda o: o.lars(0.1, weight_decay=0.01, trust_coefficient=0.1),
    "lars, masks": lambda o: o.lars(0.1, 0.01, MASK, 0.1, trust_ratio_mask=MASK),
    "fromage": lambda o: o.fromage(0.1),
    "fromage, schedule": lambda o: o.fromage(decay),
    "sign_sgd": lambda o: o.sign_sgd(0.1),
    "signum": lambda o: o.signum(0.1),
    "optimistic_gradient_descent": lambda o: o.optimistic_gradient_descent(0.1, 0.5, 2.0),
    "noisy_sgd": lambda o: o.noisy_sgd(0.1, key=3),
    "polyak_sgd": lambda o: o.polyak_sgd(f_min=0.1, variant="sps+"),
    "muon": lambda o: o.contrib.muon(0.1, weight_decay=0.01),
    "muon, dion": lambda o: o.contrib.muon(
        0.1,
        "dion",
        adaptive=True,
        preconditioning="aol",
        consistent_rms=0.2,
        adam_learning_rate=0.2,
    ),
    "muon, axes": lambda o: o.contrib.muon(
        0.1,
        preconditioning="schatten",
        nesterov=False,
        muon_weight_dimension_numbers={"w": o.contrib.MuonDimensionNumbers(1, 0), "b": None},
    ),
    "muon, spectral": lambda o: o.contrib.muon(0.1, preconditioning="spectral"),
    "schedule_free": lambda o: o.contrib.schedule_free(o.sgd(0.1), decay),
    "schedule_free_sgd": lambda o: o.contrib.schedule_free_sgd(0.1, 5, weight_decay=0.01),
    "schedule_free_adamw": lambda o: o.contrib.schedule_free_adamw(0.1, 5, weight_decay=0.01),
    "masked": lambda o: o.masked(o.adam(0.1), MASK),
    "masked, function": lambda o: o.masked(o.adam(0.1), lambda tree: MASK),
    "partition": lambda o: o.partition({"fast": o.adam(0.1), "still": o.set_to_zero()}, LABELS),
    "freeze": lambda o: o.chain(o.freeze(MASK), o.sgd(0.1)),
    "selective_transform": lambda o: o.selective_transform(o.sgd(0.1), freeze_mask=MASK),
    "flatten": lambda o: o.flatten(o.adam(0.1)),
    "named_chain": lambda o: o.named_chain(("first", o.clip(0.5)), ("second", o.adam(0.1))),
    "scale_by_schedule": lambda o: o.chain(o.scale_by_schedule(decay), o.sgd(0.1)),
    "ema": lambda o: o.chain(o.ema(0.9), o.sgd(0.1)),
    "ema, biased": lambda o: o.chain(o.ema(0.9, debias=False), o.sgd(0.1)),
    "trust ratio": lambda o: o.chain(o.scale_by_trust_ratio(0.5, 0.1, 1e-3), o.sgd(0.1)),
    "apply_every": lambda o: o.chain(o.apply_every(3), o.sgd(0.1)),
    "MultiSteps": lambda o: o.MultiSteps(o.adam(0.1), 4).gradient_transformation(),
    "MultiSteps, schedule": lambda o: o.MultiSteps(
        o.adam(0.1), lambda step: step + 2, use_grad_mean=False
    ),
    "MultiSteps, skip": lambda o: o.MultiSteps(
        o.adam(0.1),
        3,
        should_skip_update_fn=lambda *args: o.skip_large_updates(*args, max_squared_norm=15.0),
    ),
    "inject_hyperparams": lambda o: o.inject_hyperparams(o.adamw)(decay, weight_decay=0.01),
    "apply_if_finite": lambda o: o.apply_if_finite(o.adam(0.1), 2),
    "conditionally_mask": lambda o: o.conditionally_mask(o.adam(0.1), is_odd, True),
    "conditionally_transform": lambda o: o.conditionally_transform(o.sgd(0.1), is_odd),
    "clip": lambda o: o.chain(o.clip(0.5), o.sgd(0.1)),
    "clip_by_block_rms": lambda o: o.chain(o.clip_by_block_rms(0.5), o.sgd(0.1)),
    "clip_by_global_norm": lambda o: o.chain(o.clip_by_global_norm(0.5), o.sgd(0.1)),
    "adaptive_grad_clip": lambda o: o.chain(o.adaptive_grad_clip(0.5), o.sgd(0.1)),
    "centralize": lambda o: o.chain(o.centralize(), o.sgd(0.1)),
    "normalize_by_update_norm": lambda o: o.chain(o.normalize_by_update_norm(2.0), o.sgd(0.1)),
    "scale_by_param_block_norm": lambda o: o.chain(o.scale_by_param_block_norm(), o.sgd(0.1)),
    "scale_by_distance_over_gradients": lambda o: o.chain(
        o.scale_by_distance_over_gradients(reps_rel=0.1), o.sgd(0.1)
    ),
    "keep_params_nonnegative": lambda o: o.chain(o.sgd(0.1), o.keep_params_nonnegative()),
    "zero_nans": lambda o: o.chain(o.zero_nans(), o.sgd(0.1)),
    "add_noise": lambda o: o.chain(o.add_noise(0.1, 0.5, key=0), o.sgd(0.1)),
    "snapshot": lambda o: o.chain(o.snapshot("norm", o.global_norm), o.sgd(0.1)),
    "monitor": lambda o: o.chain(
        o.monitor({"norm": o.global_norm, "mean": o.measure_with_ema(o.global_norm, 0.9)}),
        o.sgd(0.1),
    ),
    "lookahead": lambda o: o.lookahead(o.adam(0.1), 4, 0.5),
    "lookahead, reset": lambda o: o.lookahead(o.adam(0.1), 4, 0.5, reset_state=True),
}


def steps(
    o: Any, jit: Any, name: str, gradients: Any = GRADIENTS, start: Any = START
) -> tuple[Any, Any]:
    """The parameters and the state after compiled steps with one of the packages."""
    optimizer = OPTIMIZERS[name](o)
    params = o.LookaheadParams.init_synced(start) if name.startswith("lookahead") else start
    state = optimizer.init(params)
    extra = {"value": np.float32(0.5)} if name.startswith("polyak") else {}
    update = jit(optimizer.update)
    for g in gradients:
        updates, state = update({"w": g, "b": g[0]}, state, params, **extra)
        params = o.apply_updates(params, updates)
    return params, state
