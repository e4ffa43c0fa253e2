"""The calls of `bindax.nn` that are compared with JAX."""

import numpy as np
from _calls import Table, operand

KINKS = np.array([-6.0, -3.0, -1.0, 0.0, 0.5, 1.0, 3.0, 6.0, 8.0, -8.0], np.float32)
OPERANDS = {
    "A": KINKS,
    "B": operand((2, 3), "float32", 1),
    "I": operand((3, 4), "int32", 2, -3, 4),
    "H": operand((3, 4), "float16", 3),
    "W": operand((3, 4), "float32", 4),
    "K": operand((3, 4), "bool", 5),
    "P": operand((5,), "float32", 6, 0.1, 3.0),
    "Z": operand((3, 4), "complex64", 7),
    "N": np.array([[np.inf, 1.0, -np.inf], [-np.inf] * 3, [np.nan, 0.0, 1.0]], np.float32),
}
ACTIVATIONS = [
    "identity",
    "relu",
    "relu6",
    "squareplus",
    "softplus",
    "sparse_plus",
    "soft_sign",
    "sigmoid",
    "sparse_sigmoid",
    "silu",
    "mish",
    "log_sigmoid",
    "elu",
    "celu",
    "selu",
    "leaky_relu",
    "hard_tanh",
    "hard_sigmoid",
    "hard_silu",
    "gelu",
    "tanh",
]
FLOATS_ALONE = "sigmoidI", "siluI"
activations = Table(
    "nn",
    OPERANDS,
    " ".join(
        [
            *(f"{f}({x})" for f in ACTIVATIONS for x in "AHI" if f + x not in FLOATS_ALONE),
            "glu(W) glu(W, 1) glu(W[:2], 0) log1mexp(P) gelu(A, False) gelu(H, approximate=False)",
            "elu(A, 2.0) celu(A, 0.5) leaky_relu(A, 0.3) leaky_relu(I, 2) squareplus(A, 0.5)",
            "elu(A, B[0, 0]) squareplus(I, 1) celu(W, W[0]) swish(W) hard_swish(W) relu(N)",
            "relu6(N) sigmoid(N) softplus(N) relu(I[0]) tanh(Z)",
        ]
    ),
    " ".join(
        [
            *(f"{f}(A)" for f in ACTIVATIONS),
            "gelu(A, False) elu(A, 2.0) celu(A, 0.5) leaky_relu(A, 0.3) squareplus(A, 0.5)",
            "glu(A) log1mexp(A * A + 0.1)",
        ]
    ),
)
normalization = Table(
    "nn",
    {**OPERANDS, "A": OPERANDS["W"]},
    """
    softmax(A) softmax(A, 0) softmax(A, None) softmax(A, (0, 1)) softmax(A, where=K) softmax(H)
    softmax(N) softmax(A[0], where=K[0]) log_softmax(A) log_softmax(A, 0) log_softmax(N)
    log_softmax(A, where=K) log_softmax(H) logsumexp(A) logsumexp(A, 0) logsumexp(N, 1)
    logsumexp(A, 1, keepdims=True) logsumexp(A, b=W) logsumexp(A, 1, b=W, return_sign=True)
    logsumexp(A, where=K) logsumexp(I) logsumexp(Z) logsumexp(Z, 0, return_sign=True)
    logsumexp(A, 0, b=I) logsumexp(A, (0, 1), return_sign=True) logmeanexp(A) logmeanexp(A, 0)
    logmeanexp(A, 1, where=K) logmeanexp(A, 1, keepdims=True) standardize(A) standardize(A, 0)
    standardize(A, algorithm='stable') standardize(A, where=K) standardize(A, None)
    standardize(A, mean=1.0) standardize(A, mean=A[:, :1], variance=2.0, epsilon=0.1)
    standardize(I) standardize(H) one_hot(I, 3) one_hot(I, 4, axis=0) one_hot(I, 4, axis=1)
    one_hot(I, 2, dtype='int32') one_hot(I[0, 0], 3) one_hot(I, 0) one_hot([0, 2], 3)
    one_hot(I, 3, axis=-2)
    """,
    """
    softmax(A) softmax(A, 0) softmax(A, where=K) log_softmax(A) log_softmax(A, 0, where=K)
    logsumexp(A) logsumexp(A, 1, b=W) logsumexp(A, 0, where=K) logsumexp(A, return_sign=True)
    logmeanexp(A, 1) standardize(A) standardize(A, algorithm='stable') standardize(A, 0, where=K)
    """,
)
attention = Table(
    "nn",
    {
        "A": operand((2, 5, 4, 3), "float32", 11),
        "K": operand((2, 6, 2, 3), "float32", 12),
        "V": operand((2, 6, 2, 3), "float32", 13),
        "B": operand((1, 4, 5, 6), "float32", 14),
        "C": operand((2, 1, 1, 6), "float32", 15),
        "M": operand((2, 1, 5, 6), "bool", 16),
        "O": operand((1, 4, 1, 6), "bool", 17),
        "H": operand((2, 5, 4, 3), "float16", 18),
        "Q": np.array([3, 5], np.int16),
        "L": np.array([6, 2], np.int16),
    },
    """
    dot_product_attention(A, K, V) dot_product_attention(A, K, V, B)
    dot_product_attention(A, K, V, C, M) dot_product_attention(A, K, V, mask=O)
    dot_product_attention(A, K, V, is_causal=True) dot_product_attention(A, K, V, scale=2.0)
    dot_product_attention(A, K, V, local_window_size=1, implementation='xla')
    dot_product_attention(A, K, V, local_window_size=(2, 0))
    dot_product_attention(A, K, V, query_seq_lengths=Q.astype('int32'))
    dot_product_attention(A, K, V, key_value_seq_lengths=L.astype('int32'), is_causal=True)
    dot_product_attention(A, K, V, M, O, return_residual=True)
    dot_product_attention(A[0], K[0], V[0]) dot_product_attention(A, A, A, return_residual=True)
    dot_product_attention(H, H, H) dot_product_attention(A[0], K[0], V[0], return_residual=True)
    """,
    """
    dot_product_attention(A, K, V, B, M, is_causal=True) dot_product_attention(A, A, A)
    dot_product_attention(A, K, V, return_residual=True)
    """,
    # JAX cannot compile its product of 16-bit floats for a CPU, and evaluates another one.
    eager="dot_product_attention(H, H, H)",
    # JAX computes the softmax of float64 in float32.
    tolerances={8: 1e-5},
)
SIZES = "(random.key(0), (3, 4))", "(random.key(1), (2, 3, 4), 'float32')"
SCALED = [
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "kaiming_normal",
    "kaiming_uniform",
    "lecun_normal",
    "lecun_uniform",
    "xavier_normal",
    "xavier_uniform",
]
initializers = Table(
    "nn.initializers random",
    {"A": np.ones((2,), np.float32)},
    " ".join(
        [
            *(f"initializers.{f}{args}" for f in ("zeros", "ones") for args in SIZES),
            *(f"initializers.{f}(){args}" for f in SCALED for args in SIZES[1:]),
            *(f"initializers.{f}(){SIZES[0]}" for f in ("normal", "uniform", "truncated_normal")),
            "initializers.constant(7)(None, (2,)) initializers.normal(2.0)(random.key(3), (5,))",
            "initializers.uniform(3)(random.key(3), (5,))",
            "initializers.he_normal(0, (1, 2))(random.key(5), (2, 3, 4))",
            "initializers.lecun_uniform(batch_axis=0)(random.key(5), (2, 3, 4))",
            "initializers.truncated_normal(2.0, None, -1.0, 0.5)(random.key(3), (5,))",
            *(
                f"initializers.variance_scaling(1.5, '{mode}', '{kind}')(random.key(7), (3, 4))"
                for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
                for kind in ("truncated_normal", "normal", "uniform")
            ),
            *(
                f"initializers.variance_scaling(1.5, 'fan_in', '{kind}')(random.key(7), (3, 4), "
                "'complex64')"
                for kind in ("truncated_normal", "normal", "uniform")
            ),
            "initializers.orthogonal()(random.key(1), (3, 4))",
            "initializers.orthogonal(2.0, 0)(random.key(1), (4, 2, 3))",
            "initializers.delta_orthogonal()(random.key(2), (3, 2, 4))",
            "initializers.delta_orthogonal(0.5)(random.key(2), (3, 2, 2, 4))",
        ]
    ),
)
TABLES = {
    "initializers": initializers,
    "activations": activations,
    "normalization": normalization,
    "attention": attention,
}
