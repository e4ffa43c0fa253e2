"""Calls of all layers with each of their options, written once for bindax and for Flax.

A case is a layer with one option that is not the usual one, called with one input of one dtype. The
answers of Flax are in sweep.npz; a call that Flax refuses is no case.
"""

import json

import ml_dtypes
import numpy as np

DTYPES = {
    "f4": np.dtype(np.float32),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f2": np.dtype(np.float16),
    "i4": np.dtype(np.int32),
}
HALF = (DTYPES["bf16"], DTYPES["f2"])
MASK = np.arange(24).reshape(2, 3, 4) % 5 != 0

# The usual options of parameters and of computing, and other values of them.
BIAS = {"use_bias": [False]}
DTYPED = {"dtype": HALF, "param_dtype": HALF}


def initial(nnx, **changes):
    """Initial values that are not all the same, for what is zeros or ones without."""
    return {name: nnx.initializers.normal(0.5) for name in changes}


def layers(nnx):
    """For each layer a function that makes it, its inputs, and other values of its options.

    Options of calls are those whose names begin with ``call_``.
    """
    rows = {
        "Linear": (lambda r, **o: nnx.Linear(4, 3, rngs=r, **o), [(4,), (2, 4), (0, 4), (2, 3, 4)]),
        "LinearGeneral": (
            lambda r, *, ins=4, outs=(2, 3), **o: nnx.LinearGeneral(ins, outs, rngs=r, **o),
            [(4,), (2, 4), (2, 3, 4)],
        ),
        "Einsum": (
            lambda r, *, text="...d,dh->...h", kernel=(4, 3), bias=(3,), **o: nnx.Einsum(
                text, kernel, bias, rngs=r, **o
            ),
            [(4,), (2, 4), (2, 3, 4)],
        ),
        "Embed": (lambda r, **o: nnx.Embed(5, 3, rngs=r, **o), [(), (2,), (0, 3), (2, 3)]),
        "Conv": (
            lambda r, *, size=(3,), **o: nnx.Conv(4, 6, size, rngs=r, **o),
            [(5, 4), (2, 5, 4), (0, 5, 4), (2, 3, 5, 4)],
        ),
        "ConvTranspose": (
            lambda r, *, size=(3,), **o: nnx.ConvTranspose(4, 6, size, rngs=r, **o),
            [(5, 4), (2, 5, 4), (2, 3, 5, 4)],
        ),
        "BatchNorm": (
            lambda r, *, features=4, **o: nnx.BatchNorm(features, rngs=r, **o),
            [(3, 4), (2, 3, 4)],
        ),
        "LayerNorm": (
            lambda r, *, features=4, **o: nnx.LayerNorm(features, rngs=r, **o),
            [(4,), (2, 3, 4)],
        ),
        "RMSNorm": (lambda r, **o: nnx.RMSNorm(4, rngs=r, **o), [(4,), (2, 3, 4)]),
        "GroupNorm": (
            lambda r, *, groups=2, **o: nnx.GroupNorm(4, groups, rngs=r, **o),
            [(2, 3, 4), (2, 3, 5, 4)],
        ),
        "InstanceNorm": (
            lambda r, *, features=4, **o: nnx.InstanceNorm(features, rngs=r, **o),
            [(2, 3, 4)],
        ),
        "WeightNorm": (
            lambda r, *, inner="Linear", **o: nnx.WeightNorm(inside(nnx, inner, r), rngs=r, **o),
            [(2, 5, 4)],
        ),
        "SpectralNorm": (
            lambda r, *, inner="Linear", **o: nnx.SpectralNorm(inside(nnx, inner, r), rngs=r, **o),
            [(2, 5, 4)],
        ),
        "Dropout": (lambda r, *, rate=0.4, **o: nnx.Dropout(rate, rngs=r, **o), [(4,), (2, 3, 4)]),
        "MultiHeadAttention": (
            lambda r, *, heads=2, **o: nnx.MultiHeadAttention(heads, 4, rngs=r, **o),
            [(2, 3, 4), (2, 1, 3, 4)],
        ),
        "PReLU": (lambda r, **o: nnx.PReLU(**o), [(), (2, 3, 4)]),
        "LoRA": (lambda r, **o: nnx.LoRA(4, 2, 3, rngs=r, **o), [(2, 4)]),
        "LoRALinear": (lambda r, **o: nnx.LoRALinear(4, 3, lora_rank=2, rngs=r, **o), [(2, 4)]),
    }
    for cell in ("SimpleCell", "LSTMCell", "OptimizedLSTMCell", "GRUCell"):
        rows[cell] = (
            lambda r, cell=cell, **o: nnx.RNN(
                getattr(nnx, cell)(4, 3, rngs=r, **{k: o.pop(k) for k in list(o) if k in OF_CELLS}),
                **o,
            ),
            [(2, 2, 3, 4), (2, 3, 4)],
        )
    for name in ("max_pool", "min_pool", "avg_pool"):
        rows[name] = (
            lambda r, *, window=(2,), strides=None, padding="VALID", name=name, **o: (
                lambda x: getattr(nnx, name)(x, window, strides, padding, **o)
            ),
            [(5, 4), (2, 5, 4), (2, 3, 5, 4)],
        )
    return rows


OF_CELLS = ("dtype", "param_dtype", "residual", "gate_fn", "activation_fn", "bias_init")


def inside(nnx, name, r):
    """The layer in one that normalizes weights."""
    return {
        "Linear": lambda: nnx.Linear(4, 3, rngs=r),
        "LinearGeneral": lambda: nnx.LinearGeneral(4, (2, 3), rngs=r),
        "Conv": lambda: nnx.Conv(4, 3, (3,), rngs=r),
        "LoRALinear": lambda: nnx.LoRALinear(4, 3, lora_rank=2, rngs=r),
        "Sequential": lambda: nnx.Sequential(nnx.Linear(4, 4, rngs=r), nnx.BatchNorm(4, rngs=r)),
        "MultiHeadAttention": lambda: nnx.MultiHeadAttention(2, 4, decode=False, rngs=r),
    }[name]()


CONVOLUTION = {
    "padding": ["VALID", "CIRCULAR", "REFLECT", "CAUSAL", 1, [(1, 2)], [2]],
    "strides": [None, 2, (3,)],
    "kernel_dilation": [2],
    "size": [3, 1, (2,), (4,), (3, 2), (2, 2)],
    **BIAS,
    **DTYPED,
}
NORM = {
    "use_bias": [False],
    "use_scale": [False],
    "epsilon": [0.1],
    "use_fast_variance": [False],
    "call_mask": [MASK],
    **DTYPED,
}
CELL = {
    **DTYPED,
    "time_major": [True],
    "return_carry": [True],
    "reverse": [True],
    "keep_order": [True],
    "unroll": [2],
    "call_seq_lengths": [np.array([1, 3])],
    "call_reverse": [True],
    "call_return_carry": [True],
}
POOL = {
    "padding": ["SAME", [(1, 1)], [(0, 2)]],
    "strides": [(2,), (3,)],
    "window": [(1,), (3,), (2, 2)],
}
OPTIONS = {
    "Linear": {**BIAS, **DTYPED},
    "LinearGeneral": {
        "ins": [(3, 4), (4, 3)],
        "outs": [5],
        "axis": [(-2, -1), (-1, 1), (0, -1), 1, -2],
        "batch_axis": [{0: 2}, {1: 3}],
        **BIAS,
        **DTYPED,
    },
    "Einsum": {
        "text": [
            "...d,dh->h...",
            "...d, hd -> ...h",
            "a...d,dh->...ha",
            "abd,dh->abh",
        ],
        "kernel": [(3, 4)],
        "bias": [None],
        **DTYPED,
    },
    "Embed": {**DTYPED},
    "Conv": {**CONVOLUTION, "input_dilation": [2], "feature_group_count": [2], "mask": [(3, 4, 6)]},
    "ConvTranspose": {**CONVOLUTION, "transpose_kernel": [True], "mask": [(3, 4, 6)]},
    "BatchNorm": {
        **NORM,
        "features": [3],
        "momentum": [0.5],
        "use_running_average": [True],
        "call_use_running_average": [True],
    },
    "LayerNorm": {
        **NORM,
        "reduction_axes": [1, -2, (-2, -1), (0, 1, 2), (2, 1)],
    },
    "RMSNorm": {
        **{k: v for k, v in NORM.items() if k != "use_bias"},
        "reduction_axes": [1, -2, (-2, -1)],
    },
    # Of other reduction_axes Flax repeats the statistics along the wrong axis.
    "GroupNorm": {
        **NORM,
        "groups": [1, 4],
        "reduction_axes": [(1, 2, 3)],
        "call_mask": [np.arange(120).reshape(2, 3, 5, 4) % 7 != 0],
    },
    "InstanceNorm": {**NORM, "feature_axes": [2]},
    "WeightNorm": {
        "inner": ["LinearGeneral", "Conv", "LoRALinear", "Sequential", "MultiHeadAttention"],
        "feature_axes": [None, 0, (0, 1), -2],
        "use_scale": [False],
        "epsilon": [0.5],
        "dtype": HALF,
    },
    "SpectralNorm": {
        "inner": ["LinearGeneral", "Conv", "LoRALinear", "Sequential", "MultiHeadAttention"],
        "n_steps": [0, 3],
        "epsilon": [0.5],
        "update_stats": [False],
        "call_update_stats": [False, True],
        **DTYPED,
    },
    "Dropout": {
        "rate": [0.0, 1.0],
        "broadcast_dims": [(0,), (-1,), (1, -1)],
        "deterministic": [True],
        "call_deterministic": [True],
    },
    "MultiHeadAttention": {
        "heads": [1, 4],
        "qkv_features": [8],
        "out_features": [3],
        "num_kv_heads": [1],
        "normalize_qk": [True],
        "dropout_rate": [0.5],
        "broadcast_dropout": [False],
        **BIAS,
        **DTYPED,
        "call_mask": [np.tri(3) > 0],
        "call_is_causal": [True],
        "call_sow_weights": [True],
        "call_decode": [True],
    },
    "PReLU": {**DTYPED, "negative_slope_init": [0.3]},
    "LoRA": {**DTYPED},
    "LoRALinear": {**BIAS, **DTYPED, "lora_dtype": HALF, "lora_param_dtype": HALF},
    "SimpleCell": {**DTYPED, "residual": [True]},
    "LSTMCell": {**DTYPED, "return_carry": [True]},
    "OptimizedLSTMCell": {**DTYPED, "return_carry": [True]},
    "GRUCell": CELL,
    "max_pool": POOL,
    "min_pool": POOL,
    "avg_pool": {**POOL, "count_include_pad": [False]},
}
# What is set together with an option, since it has no effect, or none fits, alone.
WITH = {
    "text=...d, hd -> ...h": {"kernel": (3, 4)},
    "ins=(3, 4)": {"axis": (-2, -1)},
    "ins=(4, 3)": {"axis": (-1, -2)},
    "axis=(-2, -1)": {"ins": (3, 4)},
    "axis=(-1, 1)": {"ins": (4, 3)},
    "axis=(0, -1)": {"ins": (2, 4)},
    "axis=1": {"ins": 3},
    "axis=-2": {"ins": 3},
    "features=3": {"axis": -2},
    "keep_order=True": {"reverse": True},
    "call_seq_lengths": {"return_carry": True, "reverse": True},
    "broadcast_dropout=False": {"dropout_rate": 0.5},
    "dropout_rate=0.5": {"normalize_qk": True},
}


def cases():
    """The name of each case, with its layer, input, dtype and options."""
    for layer, options in OPTIONS.items():
        changes = [{}]
        for name, values in options.items():
            for value in values:
                named = f"{name}={value}" if not isinstance(value, np.ndarray) else name
                extra = WITH.get(named, {})
                if not set(extra) <= {*OPTIONS[layer], "axis"}:
                    extra = {}
                changes.append({name: value, **extra})
        shapes = layers(_Names())[layer][1]
        for change in changes:
            shown = ",".join(f"{k}={_text(v)}" for k, v in change.items())
            inputs = [(shapes[-1], "i4" if layer == "Embed" else "f4")]
            if not change:
                inputs += [(shape, "f4") for shape in shapes[:-1]]
                inputs += [(shapes[-1], dtype) for dtype in ("bf16", "f2", "i4")]
            for shape, dtype in inputs:
                yield f"{layer}({shown})({dtype}{list(shape)})", (layer, shape, dtype, change)


class _Names:
    """Stands for a package where only shapes are asked for."""

    def __getattr__(self, name):
        return name


def _text(value):
    return "array" if isinstance(value, np.ndarray) else str(value).replace(" ", "")


def run(nnx, jnp, case):
    """The result of a case: named arrays, the result and the state after it."""
    layer, shape, dtype, change = case
    options = {k: v for k, v in change.items() if not k.startswith("call_")}
    calls = {k[5:]: v for k, v in change.items() if k.startswith("call_")}
    if "mask" in options:
        options["mask"] = np.arange(np.prod(options["mask"])).reshape(options["mask"]) % 3 != 0
    if layer == "MultiHeadAttention":
        calls = {"decode": False, **calls}
        if options.get("dropout_rate"):
            calls["deterministic"] = False
    call = layers(nnx)[layer][0](nnx.Rngs(0), **options)
    if calls.get("decode"):
        call.init_cache(shape, DTYPES[dtype] if dtype != "i4" else np.float32)
    random = np.random.default_rng(len(shape))
    numbers = random.normal(size=shape) * 2
    if dtype == "i4":
        numbers = random.integers(0, 5, shape)
    x = jnp.asarray(np.asarray(numbers, DTYPES[dtype]))
    if calls.get("decode"):
        outs = [call(x[..., i : i + 1, :], **calls) for i in range(x.shape[-2])]
    else:
        outs = call(x, **{k: jnp.asarray(v) if _is_array(v) else v for k, v in calls.items()})
    found = {f"out{i}": out for i, out in enumerate(_flat(outs))}
    if not layer.endswith("pool"):
        state = nnx.state(call, nnx.Not(nnx.RngState))
        for path, leaf in nnx.to_flat_state(state):
            if path == ("mask",):
                continue  # a constant here, an array of the state in Flax
            value = leaf[...] if isinstance(leaf, nnx.Variable) else leaf
            values = _flat(value)
            for i, one in enumerate(values):
                found["/".join(map(str, (*path, *[i] * (len(values) > 1))))] = one
    return found


def _is_array(x):
    return isinstance(x, np.ndarray)


def _flat(outs):
    """The arrays of nested tuples and lists."""
    if isinstance(outs, (tuple, list)):
        return [x for out in outs for x in _flat(out)]
    return [outs]


def write(path, answers):
    """Store the answers of all cases in one file: what they are as text, their numbers in a row."""
    about, numbers = {}, []
    for name, found in answers.items():
        rows = []
        for key, x in found.items():
            x = np.asarray(x)
            keep = not key.startswith("layer_instance")  # which Flax replaces
            rows.append([key, x.dtype.name, list(x.shape), keep])
            if keep:
                numbers.append(np.asarray(x, np.float32).ravel())
        about[name] = rows
    text = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez_compressed(path, about=text, numbers=np.concatenate(numbers))


def read(path):
    """The answers by case: pairs of type and numbers by name."""
    with np.load(path) as file:
        about, numbers = json.loads(file["about"].tobytes()), file["numbers"]
    position, answers = 0, {}
    for name, rows in about.items():
        found = {}
        for key, dtype, shape, keep in rows:
            values = None
            if keep:
                size = int(np.prod(shape))
                values = numbers[position : position + size].reshape(shape)
                position += size
            found[key] = dtype, tuple(shape), values
        answers[name] = found
    return answers
