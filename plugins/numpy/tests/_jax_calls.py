"""Calls that `test_against_jax.py` compares with JAX, and their operands."""

import numpy as np
from jax_calls import split_calls as calls


def operand(shape, dtype, seed, low=-2.0, high=2.0):
    made = np.random.default_rng(seed).uniform(low, high, shape)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return made > 0
    if kind == "c":
        made = made + 1j * np.random.default_rng(seed + 1).uniform(low, high, shape)
    if kind == "u":
        made = abs(made)
    return np.asarray(made * (3 if kind in "iu" else 1)).astype(dtype)


# -------------------------------------------------------------------------------------- operands

REAL = ("bool", "int8", "int32", "uint8", "int64", "float16", "float32", "float64")
FLOATS = ("bool", "int8", "int32", "int64", "float16", "float32", "float64")
NUMBERS = (*REAL[1:], "complex64")
EVERY = (*REAL, "complex64")
SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], np.float32)
OPERANDS = {
    "A": operand((2, 3), "float32", 5),
    "B": operand((2, 3), "float32", 6),
    "I": operand((3, 4), "int32", 7),
    "V": operand((3,), "float32", 8),
    "M": operand((3, 3), "float32", 9),
    "Q": operand((2, 3, 4), "float32", 10),
    "Z": operand((2, 3), "complex64", 11),
    "H": operand((2, 3), "float16", 12),
    "E": np.zeros((0, 3), np.float32),
    "N": np.array([1.0, np.nan, np.inf, -np.inf], np.float32),
    "K": operand((2, 3), "bool", 13),
    "S": SPECIAL,
    "T": SPECIAL[:, None],
}
for dtype in EVERY:
    OPERANDS[f"x_{dtype}"] = operand((2, 1), dtype, 1, -0.95, 0.95)
    OPERANDS[f"y_{dtype}"] = operand((3,), dtype, 2)
    # Positive, for what divides or has no result elsewhere.
    OPERANDS[f"p_{dtype}"] = abs(operand((2, 1), dtype, 3)) + np.ones((), dtype)
    OPERANDS[f"q_{dtype}"] = abs(operand((3,), dtype, 4)) + np.ones((), dtype)

# ----------------------------------------------------------------------------------------- calls

UNARY = {
    "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan sinh cosh tanh arcsin arccos arctan "
    "arcsinh arctanh": FLOATS,
    "cbrt deg2rad rad2deg": ("int32", "float32", "float64"),
    "floor ceil trunc": ("int8", "int32", "float16", "float32", "float64"),
    "rint round": ("float32", "float64", "complex64"),
    "square abs absolute positive isnan isinf isfinite logical_not real imag conj": EVERY,
    "nan_to_num": EVERY,
    "negative sign": ("int32", "uint8", "float32", "complex64"),
    "isposinf isneginf": ("int32", "float32"),
    "angle exp sin sqrt": ("float32", "complex64"),
    "bitwise_not invert": ("bool", "int8", "uint8", "int64"),
}
POSITIVE = "arccosh", "reciprocal"
BINARY = {
    "add multiply maximum minimum equal not_equal logical_and logical_or logical_xor": EVERY,
    "subtract divide true_divide": NUMBERS,
    "less less_equal greater greater_equal": REAL,
    "bitwise_and bitwise_or bitwise_xor": ("bool", "int8", "uint8", "int64"),
    "arctan2 hypot logaddexp heaviside": ("bool", "int32", "float16", "float32", "float64"),
}
DIVIDING = "floor_divide", "mod", "remainder", "fmod", "power"
COMPILED = ("int32", "uint8", "float32", "complex64")
SPECIALLY = "add divide remainder maximum minimum arctan2 hypot logaddexp heaviside isclose"
ELEMENTWISE = [
    *(f"{f}(x_{d})" for names, dtypes in UNARY.items() for f in names.split() for d in dtypes),
    *(f"{f}(p_{d})" for f in POSITIVE for d in ("float32", "float64")),
    *(
        f"{f}(x_{d}, y_{d})"
        for names, dtypes in BINARY.items()
        for f in names.split()
        for d in dtypes
    ),
    *(f"{f}(p_{d}, q_{d})" for f in DIVIDING for d in ("int8", "uint8", "int32", "float32")),
    *(f"{f}(S, T)" for f in SPECIALLY.split()),
]
PROMOTION = [
    f"{f}(p_{first}, {second})"
    for f in ("add", "multiply", "power")
    for first in ("int8", "uint8", "float16", "float32", "complex64")
    for second in ("q_int32", "q_uint8", "q_float16", "q_float32", "q_bool", "2")
    if (f, second) != ("power", "q_bool")
]
CALLS = """
array(A) array(A, 'int32') array(1.5, 'float16') array([[1, 2], [3, 4]], 'int8') array(A, ndmin=4)
asarray([1.5, 2], 'float32') array([V, V]) array([A[0, 0], 2.5], 'float32')
array([[], []], 'int32') zeros((2, 3), 'int8') ones(3, 'bool') full((2,), 3, 'float32')
full((2, 3), V) zeros_like(A) ones_like(I) full_like(A, 2.5) full_like(I, 2.5, 'float64')
zeros_like(A, shape=(2,)) empty_like(E) arange(3, dtype='int32') arange(2, 10, 3, dtype='int32')
arange(5, 0, -2, dtype='int8') arange(0, 1, 0.25, dtype='float32') arange(3.5, dtype='float32')
arange(0, dtype='int32') linspace(0, 1, 5, dtype='float32')
linspace(0, 1, 4, endpoint=False, dtype='float32') linspace(0, 10, 4, dtype='int32')
linspace(V, 1, 3) linspace(V, V * 2, 3, axis=-1) linspace(V, 1, 1) linspace(V, 1, 0)
linspace(V, 1, 3, retstep=True) eye(3, dtype='float32') eye(2, 4, 1, 'int32')
eye(3, k=-1, dtype='bool') identity(2, 'float32') tri(3, dtype='float32') tri(2, 3, -1, 'int32')
tril(M) triu(M, 1) tril(Q, -1) meshgrid(V, I[0]) meshgrid(V, I[0], indexing='ij')
meshgrid(V, V, sparse=True) clip(A, -0.5, 0.5) clip(I, 1, 3) clip(A, None, 0) clip(A, V, None)
nan_to_num(N) nan_to_num(N, nan=2.0, posinf=7.0) round(A, 1) round(H, 2) round(I, 2) divmod(I, 3)
where(K, A, B) where(K, A, 0) where(A, 1, I[0, 0]) where(True, A, B) isclose(A, A + 1e-7)
isclose(N, N, equal_nan=True) isclose(I, I + 1) isclose(A, 0.0, atol=1.0) allclose(A, A)
allclose(A, B) array_equal(A, A) array_equal(A, V) array_equal(N, N)
array_equal(N, N, equal_nan=True) sum(A) sum(A, 0) sum(A, (0, 1)) sum(A, -1, keepdims=True)
sum(A, dtype='float64') sum(H) sum(Z, 1) sum(E, 0) sum(A, where=K) sum(A, initial=2) sum(A, ())
prod(A, 1) prod(A, where=K) prod(E) max(A) max(I, 1) max(A, (0, 1), keepdims=True) min(A, 0)
max(K) max(N) max(A, initial=9.0) min(A, 1, initial=1.0, where=K) amax(A) amin(A) ptp(A, 0) any(K)
any(A, 1) all(K, 0) all(E) all(A, keepdims=True) any(K, where=K) mean(A) mean(A, 0) mean(I, 1)
mean(H) mean(A, (0, 1), keepdims=True) mean(Z) mean(A, where=K) mean(I, dtype='float16') mean(K)
var(A) var(A, 0, ddof=1) var(Z, 1) var(I) var(A, 1, where=K) std(A) std(H, 0)
std(A, 1, keepdims=True) var(A, correction=1) average(A) average(A, 0, V[:2])
average(A, weights=B) average(A, 1, V, returned=True) average(I) average(A, 0, returned=True)
cumsum(A, 0, 'float32') cumsum(A) cumsum(I[:, 0], dtype='int8') ptp(I) reshape(A, (3, 2))
reshape(A, -1) reshape(A, (3, -1), order='F') ravel(A) ravel(A, 'F') transpose(A)
transpose(Q, (2, 0, 1)) permute_dims(Q, (1, 0, 2)) matrix_transpose(Q) swapaxes(Q, 0, -1)
moveaxis(Q, 0, -1) moveaxis(Q, (0, 1), (-1, 0)) squeeze(A[None, :, :, None]) squeeze(A[None], 0)
expand_dims(A, (0, -1)) expand_dims(A, 1) broadcast_to(V, (2, 3)) broadcast_arrays(A[:, :1], V)
atleast_1d(A[0, 0], V) atleast_2d(V) atleast_3d(V) atleast_3d(A) concatenate([A, B])
concatenate([A, I[:2, :3]], 1) concatenate([A, H], axis=None) concatenate(Q)
concatenate([A, B], dtype='float16') stack([A, B]) stack([A, B], -1) stack([V, I[0, :3]])
vstack([V, V]) hstack([V, V]) hstack([A, B]) dstack([A, B]) column_stack([V, V, M]) stack(Q)
split(A, 3, 1) split(I, [1, 2]) array_split(I, 3, 1) array_split(V, 2) tile(V, 2) tile(A, (2, 1))
tile(A, (2, 1, 3)) tile(Q, 2) tile(A[0, 0], 3) repeat(V, 2) repeat(A, 2, 1)
repeat(A, np.array([1, 0, 2]), 1) repeat(A, np.array([1, 2]), 0, total_repeat_length=5)
repeat(A, 0, 0) flip(A) flip(A, 1) flipud(A) fliplr(A) flip(Q, (0, 2)) roll(A, 1) roll(A, -1, 1)
roll(A, (1, 2), (0, 1)) roll(V, 7) rot90(M) rot90(Q, 3) rot90(M, 2) rot90(Q, 1, (1, 2))
rot90(A, -1) pad(A, 1) pad(A, (1, 2)) pad(A, ((1, 2), (0, 1)), constant_values=3)
pad(V, 1, constant_values=(5, 6)) pad(A, 1, constant_values=((1, 2), (3, 4)))
pad(I, ((0, 0), (2, 1)), constant_values=1) pad(V, (0, 0)) dot(V, V) dot(A, V) dot(A, M) dot(V, 2)
dot(A, Q[0]) dot(Q, Q[0].T) dot(M, np.float32(2)) dot(I, I.T) dot(A, H.T) matmul(A, M)
matmul(V, M) matmul(M, V) matmul(Q, Q[0].T) matmul(Q[:, None], Q[0].T) matmul(V, Q)
matmul(Q, I[0]) matmul(Q, Q.swapaxes(1, 2)) matmul(Z, M) vdot(A, B) vdot(Z, Z) inner(A, B)
inner(A, V) inner(V, 2) outer(V, V) outer(A, I[0]) tensordot(A, M, 1) tensordot(A, B)
tensordot(A, B, 0) tensordot(Q, A, ((0, 1), (0, 1))) tensordot(Q, Q, ([2, 0, 1], [2, 0, 1]))
tensordot(A, A, [[0], [0]]) einsum('ij,jk->ik', A, M) einsum('ij,jk', A, M) einsum('ij->ji', A)
einsum('ij->', A) einsum('ii', M) einsum('ii->i', M) einsum('ij->j', A) einsum('i,j->ij', V, V)
einsum('bij,bij->b', Q, Q) einsum('...ij,jk->...ik', Q, Q[0].T) einsum('...i->...', Q)
einsum('ij,ij->', A, B) einsum('ij,ji->', A, B.T) einsum('i...,i...->...', A, B)
einsum('ij,jk,kl->il', A, M, M) einsum('ba', A) einsum('bij,kj->bik', Q, I)
einsum('i,i,i', V, V, V) einsum('...,...', A, V) einsum('iij->j', Q[:1, :1])
einsum('ij,j->i', I[:, :3], V) einsum('bhi,bhj->bij', Q, Q) einsum('ij,kl->ijkl', A, A)
linalg.norm(A) linalg.norm(V, 1) linalg.norm(V, np.inf) linalg.norm(V, 3) linalg.norm(V, 0)
linalg.norm(A, axis=1) linalg.norm(A, 'fro') linalg.norm(M, 1)
linalg.norm(M, -np.inf, keepdims=True) linalg.norm(Q, axis=(0, 2)) linalg.norm(Q, np.inf, (2, 0))
linalg.norm(Z) linalg.norm(I) linalg.norm(Q) linalg.norm(V, -np.inf)
linalg.norm(A, 2, axis=0, keepdims=True) linalg.norm(Q, 1, (0, 1), True)
"""
# The reference has 64-bit defaults here, as dtypes of 64 bits need; they do not show in a value.
WIDER = """
sum(I) sum(K) prod(I, 0) argmax(A) argmax(A, 1) argmin(A, 0, keepdims=True)
argmin(A, keepdims=True) argmax(N) count_nonzero(A) count_nonzero(I, 1, keepdims=True)
cumsum(K, 1) arange(3) arange(0, 1, 0.25) zeros(3) ones(2) eye(2) linspace(0, 1, 3) array([1, 2])
array([1.5, 2]) asarray(1.5) asarray(2) full((2,), 1.5) full((2,), 1) zeros_like(1.0)
stack([1.0, 2.0]) tile(1.0, 3) where(K, 1.0, 0) mean(1.0) sum(1.0) reshape(1.0, (1,))
expand_dims(1, 0) atleast_1d(2.0) array([True, 2]) array(range(3)) arange(5.0)
concatenate([V.astype('int32'), V])[:0] rint(I) tri(3) max(2) argmax(K)
"""


FAMILIES = {
    "elementwise": ELEMENTWISE,
    "promotion": PROMOTION,
    "calls": calls(CALLS),
    "defaults": calls(WIDER),
}


def evaluate(call, module, operands):
    return eval("module." + call, {"module": module, "np": np, **operands})


def make(chosen, module, operands):
    """The results of several calls."""
    return [evaluate(call, module, operands) for call in chosen]


def values_compared(name):
    if name == "elementwise":
        dtypes = tuple(f"_{dtype})" for dtype in COMPILED)
        return [c for c in ELEMENTWISE if c.endswith((*dtypes, "T)"))]
    return FAMILIES[name] if name == "calls" else []


# ----------------------------------------------------------------------------------- derivatives

GRADIENTS = calls("""
exp(A) log1p(abs(A)) tanh(A) hypot(A,B) logaddexp(A,B) arctan2(A,B) power(abs(A),1.5) square(A)
sqrt(abs(A)) maximum(A,B) clip(A,-0.5,0.5) where(K,A,B) nan_to_num(A) mean(A,0) var(A,1) std(A)
prod(A,1) max(A,0) average(A,1,V) cumsum(A,0) ptp(A) linspace(A,B,3) tile(A,2) repeat(A,2,1)
roll(A,1,1) pad(A,1) flip(A) rot90(A) split(A,3,1)[1] stack([A,B],1) concatenate([A,B],1) dot(A,M)
matmul(A,M) tensordot(A,B) einsum('ij,kj->ik',A,B) einsum('ij,ij->',A,B) outer(A,V) inner(A,B)
linalg.norm(A) linalg.norm(A,1,1) array([A,B]) reciprocal(A) log2(abs(A)) triu(A) moveaxis(A,0,1)
remainder(A,1.5) heaviside(A,1.0) linalg.norm(A,3,0) sum(A,where=K) min(A,1,initial=0.0)
broadcast_to(A,(4,2,3)) einsum('ij->j',A) vdot(A,B)
""")


def loss(call, module):
    def function(A, B):
        out = evaluate(call, module, {**OPERANDS, "A": A, "B": B})
        return module.sum(out**2)

    return function
