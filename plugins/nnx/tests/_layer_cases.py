"""Layers with inputs, written once for bindax and for Flax."""

import numpy as np

RANDOM = np.random.default_rng(0)


def numbers(*shape):
    return RANDOM.normal(size=shape).astype("f4")


X = {
    "vectors": numbers(4, 6),
    "sequence": numbers(2, 5, 6),
    "image": numbers(2, 7, 8, 6),
    "heads": numbers(3, 2, 3),
    "ids": np.array([[1, 4], [0, 2]], "i4"),
}

# name: (the input, how to make the layer, how to call it)
CASES = {
    "linear": ("vectors", lambda nnx, r: nnx.Linear(6, 3, rngs=r)),
    "linear_general": (
        "heads",
        lambda nnx, r: nnx.LinearGeneral((2, 3), (4, 5), axis=(-2, -1), rngs=r),
    ),
    "linear_batched": (
        "heads",
        lambda nnx, r: nnx.LinearGeneral(3, 5, axis=-1, batch_axis={0: 3}, rngs=r),
    ),
    "einsum": ("sequence", lambda nnx, r: nnx.Einsum("nta,ahb->nthb", (6, 2, 4), (2, 4), rngs=r)),
    "embed": ("ids", lambda nnx, r: nnx.Embed(5, 3, rngs=r)),
    "conv_same": ("image", lambda nnx, r: nnx.Conv(6, 4, (3, 3), strides=2, rngs=r)),
    "conv_groups": (
        "image",
        lambda nnx, r: nnx.Conv(
            6, 4, (3, 2), padding="VALID", feature_group_count=2, kernel_dilation=2, rngs=r
        ),
    ),
    "conv_circular": ("image", lambda nnx, r: nnx.Conv(6, 4, (3, 4), padding="CIRCULAR", rngs=r)),
    "conv_causal": ("sequence", lambda nnx, r: nnx.Conv(6, 4, (3,), padding="CAUSAL", rngs=r)),
    "conv_transpose": (
        "image",
        lambda nnx, r: nnx.ConvTranspose(6, 4, (3, 3), strides=(2, 2), rngs=r),
    ),
    "conv_transposed_kernel": (
        "image",
        lambda nnx, r: nnx.ConvTranspose(
            6, 4, (3, 3), strides=(2, 1), padding="VALID", transpose_kernel=True, rngs=r
        ),
    ),
    "batch_norm": ("image", lambda nnx, r: nnx.BatchNorm(6, rngs=r)),
    "batch_norm_slow": (
        "image",
        lambda nnx, r: nnx.BatchNorm(6, use_fast_variance=False, momentum=0.5, rngs=r),
    ),
    "batch_norm_gathered": (
        "image",
        lambda nnx, r: nnx.BatchNorm(6, use_running_average=True, rngs=r),
    ),
    "layer_norm": ("image", lambda nnx, r: nnx.LayerNorm(6, rngs=r)),
    "layer_norm_axes": (
        "image",
        lambda nnx, r: nnx.LayerNorm(
            6, reduction_axes=(1, 2, 3), use_bias=False, epsilon=1e-3, rngs=r
        ),
    ),
    "rms_norm": ("image", lambda nnx, r: nnx.RMSNorm(6, rngs=r)),
    "group_norm": ("image", lambda nnx, r: nnx.GroupNorm(6, num_groups=3, rngs=r)),
    "group_norm_size": (
        "image",
        lambda nnx, r: nnx.GroupNorm(6, num_groups=None, group_size=2, rngs=r),
    ),
    "instance_norm": ("image", lambda nnx, r: nnx.InstanceNorm(6, rngs=r)),
    "weight_norm": ("vectors", lambda nnx, r: nnx.WeightNorm(nnx.Linear(6, 3, rngs=r), rngs=r)),
    "spectral_norm": (
        "vectors",
        lambda nnx, r: nnx.SpectralNorm(nnx.Linear(6, 3, rngs=r), n_steps=2, rngs=r),
    ),
    "dropout": ("image", lambda nnx, r: nnx.Dropout(0.4)),
    "dropout_broadcast": ("image", lambda nnx, r: nnx.Dropout(0.4, broadcast_dims=(1, 2))),
    "attention": ("sequence", lambda nnx, r: nnx.MultiHeadAttention(2, 6, 4, rngs=r)),
    "attention_normalized": (
        "sequence",
        lambda nnx, r: nnx.MultiHeadAttention(1, 6, normalize_qk=True, rngs=r),
    ),
    "attention_dropout": (
        "sequence",
        lambda nnx, r: nnx.MultiHeadAttention(2, 6, dropout_rate=0.3, deterministic=False, rngs=r),
    ),
    "simple_cell": ("sequence", lambda nnx, r: nnx.RNN(nnx.SimpleCell(6, 3, rngs=r))),
    "lstm_cell": ("sequence", lambda nnx, r: nnx.RNN(nnx.LSTMCell(6, 3, rngs=r))),
    "optimized_lstm_cell": (
        "sequence",
        lambda nnx, r: nnx.RNN(nnx.OptimizedLSTMCell(6, 3, rngs=r), reverse=True),
    ),
    "gru_cell": (
        "sequence",
        lambda nnx, r: nnx.RNN(nnx.GRUCell(6, 3, rngs=r), reverse=True, keep_order=True),
    ),
    "bidirectional": (
        "sequence",
        lambda nnx, r: nnx.Bidirectional(
            nnx.RNN(nnx.SimpleCell(6, 3, rngs=r)), nnx.RNN(nnx.GRUCell(6, 2, rngs=r))
        ),
    ),
    "lora": (
        "vectors",
        lambda nnx, r: nnx.LoRA(6, 2, 3, b_initializer=nnx.initializers.ones, rngs=r),
    ),
    "lora_linear": ("vectors", lambda nnx, r: nnx.LoRALinear(6, 3, lora_rank=2, rngs=r)),
    "prelu": ("vectors", lambda nnx, r: nnx.PReLU()),
}
NEED_CALL_RNGS = ("dropout", "dropout_broadcast", "attention_dropout")


def call(nnx, name, layer, x):
    """Apply a layer; randomness comes from streams given in the call."""
    options = {}
    if name in NEED_CALL_RNGS:
        options["rngs"] = nnx.Rngs(dropout=3)
    if name.startswith("attention"):
        options["decode"] = False
    return layer(x, **options)
