"""A small call of every function, made for operands of any dtype."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bindax_lax_basic.dtypes import (
    canonical_dtype,
    integer_limits,
    is_inexact,
    kind_of,
    largest,
    smallest,
)

NARROW_INTEGERS = ("int2", "int4", "uint2", "uint4")
NARROW_FLOATS = (
    *("float4_e2m1fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn"),
    *("float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)
UNSIGNED_FLOATS = ("float8_e8m0fnu",)
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
DTYPES = ("bool", *NARROW_INTEGERS, *INTEGERS, *NARROW_FLOATS, *FLOATS, *COMPLEX)

I32 = np.int32
DOT = (((1,), (1,)), ((), ()))


UNARY = """
abs acos acosh asin asinh atan atanh bessel_i0e bessel_i1e bitwise_not cbrt ceil clz conj copy cos
cosh digamma erf erf_inv erfc exp exp2 expm1 floor imag is_finite lgamma log log1p logistic neg
optimization_barrier population_count real reciprocal round rsqrt sign sin sinh sqrt square
stop_gradient tan tanh
"""
BINARY = """
add atan2 bitwise_and bitwise_or bitwise_xor complex div eq ge gt igamma igamma_grad_a igammac le lt
max min mul mulhi ne nextafter polygamma pow random_gamma_grad rem shift_left
shift_right_arithmetic shift_right_logical sub zeta
"""


class Case(NamedTuple):
    """A call: of how many operands of shape (2, 3), and the function of a module and them."""

    count: int
    call: Callable[..., Any]


def operand(dtype: str, number: int) -> np.ndarray:
    """An array of shape (2, 3): different for each number, within the range of the dtype."""
    found = canonical_dtype(dtype)
    kind = kind_of(found)
    if kind == "bool":
        return np.array([[1, 0, 1], [0, 0, 1]], bool) ^ bool(number % 2)
    if "integer" in kind:
        values = np.roll([1, 0, 2, 3, -1, -2], number)
        return np.clip(values, *integer_limits(found)).reshape(2, 3).astype(found)
    floats = np.roll([0.5, 1.0, -1.5, 2.0, -0.25, 3.0], number).reshape(2, 3)
    if dtype in UNSIGNED_FLOATS:
        floats = np.abs(floats)
    return (floats + 1j * np.roll(floats, 1) if kind == "complex" else floats).astype(found)


def _scalar(m: Any, x: Any) -> Any:
    return m.reshape(m.slice(x, (0, 0), (1, 1)), ())


def _row(m: Any, x: Any) -> Any:
    return m.reshape(m.slice(x, (0, 0), (1, 3)), (3,))


def _zero(x: Any) -> Any:
    return np.zeros((), x.dtype)


def _bound(value: Callable[[Any], Any], x: Any) -> Any:
    return np.asarray(value(x.dtype), x.dtype)


def _latest(m: Any) -> Callable[[Any, Any], Any]:
    """The maximum, as an associative function that is no primitive."""
    return lambda a, b: m.max(m.max(a, b), b)


def _named(count: int, names: str) -> dict[str, Case]:
    return {
        name: Case(count, lambda m, *xs, name=name: getattr(m, name)(*xs)) for name in names.split()
    }


def _elementwise() -> dict[str, Case]:
    return {
        **_named(1, UNARY),
        **_named(2, BINARY),
        **_named(3, "betainc clamp"),
        "integer_pow": Case(1, lambda m, x: m.integer_pow(x, 3)),
        "integer_pow_negative": Case(1, lambda m, x: m.integer_pow(x, -2)),
        "pow_integer": Case(1, lambda m, x: m.pow(x, np.array([[0, 1, 2], [3, 2, 1]], I32))),
        "select_n": Case(2, lambda m, x, y: m.select_n(np.array([[True, False, True]] * 2), x, y)),
        "select_n_which": Case(
            1, lambda m, x: m.select_n(x, *[np.full((2, 3), v, np.float32) for v in (0, 1)])
        ),
        "reduce_precision": Case(1, lambda m, x: m.reduce_precision(x, 3, 2)),
        "bitcast_to_bytes": Case(1, lambda m, x: m.bitcast_convert_type(x, np.uint8)),
        "bitcast_to_itself": Case(1, lambda m, x: m.bitcast_convert_type(x, x.dtype)),
        **{
            f"to_{name}": Case(
                1, lambda m, x, name=name: m.convert_element_type(x, canonical_dtype(name))
            )
            for name in DTYPES
        },
    }


def _shapes() -> dict[str, Case]:
    return {
        "broadcast_in_dim": Case(1, lambda m, x: m.broadcast_in_dim(x, (2, 2, 3), (0, 2))),
        "concatenate": Case(2, lambda m, x, y: m.concatenate([x, y], 0)),
        "stack": Case(2, lambda m, x, y: m.stack([x, y])),
        "pad": Case(1, lambda m, x: m.pad(x, _scalar(m, x), ((1, 0, 1), (-1, 1, 0)))),
        "reshape": Case(1, lambda m, x: m.reshape(x, (3, 2))),
        "rev": Case(1, lambda m, x: m.rev(x, (0, 1))),
        "slice": Case(1, lambda m, x: m.slice(x, (0, 1), (2, 3))),
        "split": Case(1, lambda m, x: m.split(x, (1, 2), axis=1)),
        "squeeze": Case(1, lambda m, x: m.squeeze(m.slice(x, (0, 1), (1, 3)), (0,))),
        "tile": Case(1, lambda m, x: m.tile(x, (2, 1))),
        "transpose": Case(1, lambda m, x: m.transpose(x, (1, 0))),
        "full": Case(1, lambda m, x: m.full((2,), 1, x.dtype)),
        "full_like": Case(1, lambda m, x: m.full_like(x, 1)),
        "iota": Case(1, lambda m, x: m.broadcasted_iota(x.dtype, (2, 2), 1)),
    }


def _reductions() -> dict[str, Case]:
    scans = "cumlogsumexp cummax cummin cumprod cumsum"
    folds = "reduce_and reduce_max reduce_min reduce_or reduce_prod reduce_sum reduce_xor"
    window = (1, 2), (1, 1)
    return {
        **{n: Case(1, lambda m, x, n=n: getattr(m, n)(x, axis=1)) for n in scans.split()},
        **{n: Case(1, lambda m, x, n=n: getattr(m, n)(x, axes=(1,))) for n in folds.split()},
        "argmax": Case(1, lambda m, x: m.argmax(x, 1, I32)),
        "argmin": Case(1, lambda m, x: m.argmin(x, 1, I32)),
        "argmax_index": Case(1, lambda m, x: m.argmax(np.ones((2, 3), np.float32), 1, x.dtype)),
        "reduce": Case(1, lambda m, x: m.reduce(x, _zero(x), _latest(m), (1,))),
        "reduce_window": Case(
            1, lambda m, x: m.reduce_window(x, _zero(x), _latest(m), *window, "VALID")
        ),
        "reduce_window_sum": Case(
            1, lambda m, x: m.reduce_window(x, _zero(x), m.add, *window, "SAME")
        ),
        "reduce_window_max": Case(
            1, lambda m, x: m.reduce_window(x, _bound(smallest, x), m.max, *window, "SAME")
        ),
        "reduce_window_min": Case(
            1, lambda m, x: m.reduce_window(x, _bound(largest, x), m.min, *window, "SAME")
        ),
        "select_and_scatter_add": Case(
            1,
            lambda m, x: m.select_and_scatter_add(
                m.slice(x, (0, 0), (2, 2)), x, m.ge_p, *window, "VALID"
            ),
        ),
        "select_and_gather_add": Case(
            2, lambda m, x, y: m.select_and_gather_add(x, y, m.ge_p, *window, "VALID")
        ),
        "select_and_scatter": Case(
            1,
            lambda m, x: m.select_and_scatter(
                x, m.ge, *window, "VALID", m.slice(x, (0, 0), (2, 2)), _zero(x), m.max
            ),
        ),
        "sort": Case(1, lambda m, x: m.sort(x)),
        "sort_key_val": Case(2, lambda m, x, y: m.sort_key_val(x, y)),
        "top_k": Case(1, lambda m, x: m.top_k(x, 2)),
    }


def _products() -> dict[str, Case]:
    def image(m: Any, x: Any, y: Any) -> tuple[Any, Any]:
        return m.reshape(x, (1, 1, 6)), m.reshape(m.slice(y, (0, 0), (2, 1)), (1, 1, 2))

    def fft(kind: str, size: int) -> Case:
        return Case(1, lambda m, x: m.fft(x, getattr(m.FftType, kind), (size,)))

    def product(preferred: Any) -> Case:
        return Case(2, lambda m, x, y: m.dot_general(x, y, DOT, preferred_element_type=preferred))

    return {
        "dot_general": product(None),
        "dot_general_float32": product(np.float32),
        "dot_general_int32": product(np.int32),
        "dot": Case(2, lambda m, x, y: m.dot(_row(m, x), _row(m, y))),
        "batch_matmul": Case(
            2, lambda m, x, y: m.batch_matmul(m.reshape(x, (1, 2, 3)), m.reshape(y, (1, 3, 2)))
        ),
        "conv": Case(2, lambda m, x, y: m.conv(*image(m, x, y), (1,), "VALID")),
        "conv_transpose": Case(
            2,
            lambda m, x, y: m.conv_transpose(
                *image(m, x, y), (2,), "VALID", dimension_numbers=("NCH", "OIH", "NCH")
            ),
        ),
        "fft": fft("FFT", 3),
        "rfft": fft("RFFT", 3),
        "irfft": fft("IRFFT", 4),
        "rng_bit_generator": Case(
            1, lambda m, x: m.rng_bit_generator(np.arange(4, dtype=np.uint32), (5,), x.dtype)
        ),
        "rng_key": Case(
            1,
            lambda m, x: m.rng_bit_generator(
                m.reshape(m.slice(x, (0, 0), (2, 2)), (4,)), (5,), np.uint32
            ),
        ),
    }


def _indexing() -> dict[str, Case]:
    places = np.array([[1], [0], [3]], I32)
    scatters = "scatter_add scatter_sub scatter_mul scatter_min scatter_max"

    def rows(m: Any, mode: str) -> Callable[[Any], Any]:
        numbers = m.GatherDimensionNumbers((1,), (0,), (0,))
        return lambda x: m.gather(x, places, numbers, (1, 3), mode=mode)

    def elements(m: Any, x: Any) -> Any:
        numbers = m.GatherDimensionNumbers((), (0,), (0,))
        return m.gather(np.arange(6.0), m.reshape(x, (6, 1)), numbers, (1,), mode="clip")

    def scattered(name: str) -> Callable[..., Any]:
        def call(m: Any, x: Any, y: Any) -> Any:
            updates = m.broadcast_in_dim(_row(m, y), (3, 3), (1,))
            numbers = m.ScatterDimensionNumbers((1,), (0,), (0,))
            where = np.array([[1], [1], [3]], I32)
            return getattr(m, name)(x, where, updates, numbers)

        return call

    return {
        "dynamic_slice": Case(1, lambda m, x: m.dynamic_slice(x, (I32(1), I32(1)), (1, 2))),
        "dynamic_slice_index": Case(
            1, lambda m, x: m.dynamic_slice(np.arange(6.0), (_scalar(m, x),), (2,))
        ),
        "dynamic_update_slice": Case(
            2,
            lambda m, x, y: m.dynamic_update_slice(x, m.slice(y, (0, 0), (1, 2)), (I32(1), I32(0))),
        ),
        "gather_clip": Case(1, lambda m, x: rows(m, "clip")(x)),
        "gather_fill": Case(1, lambda m, x: rows(m, "fill")(x)),
        "gather_index": Case(1, elements),
        **{name: Case(2, scattered(name)) for name in scatters.split()},
        "scatter": Case(
            2,
            lambda m, x, y: m.scatter(
                x, np.array([[1], [3]], I32), y, m.ScatterDimensionNumbers((1,), (0,), (0,))
            ),
        ),
    }


def _linear_algebra() -> dict[str, Case]:
    def matrix(m: Any, x: Any) -> Any:
        """Square, with a heavy diagonal of different elements."""
        square = m.concatenate([x, m.slice(x, (0, 0), (1, 3))], 0)
        # Sums of two integers of 4 bits must not overflow.
        diagonal = np.diag([7, 9, 12] if is_inexact(x.dtype) else [3, 2, 3]).astype(x.dtype)
        return m.select_n(np.eye(3, dtype=bool), square, diagonal)

    def of_matrix(call: Callable[..., Any]) -> Case:
        return Case(1, lambda m, x: call(m.linalg, matrix(m, x)))

    values = {"compute_left_eigenvectors": False, "compute_right_eigenvectors": False}
    pivots = np.array([0, 2, 2])
    return {
        "cholesky": of_matrix(lambda m, a: m.cholesky(a)),
        "lu": of_matrix(lambda m, a: m.lu(a)),
        "qr": of_matrix(lambda m, a: m.qr(a)),
        "svd": of_matrix(lambda m, a: m.svd(a, compute_uv=False)),
        "eig": of_matrix(lambda m, a: m.eig(a, **values)),
        "eigh": of_matrix(lambda m, a: m.eigh(a)[1]),
        "schur": of_matrix(lambda m, a: m.schur(a, compute_schur_vectors=False)),
        "hessenberg": of_matrix(lambda m, a: m.hessenberg(a)),
        "tridiagonal": of_matrix(lambda m, a: m.tridiagonal(a)),
        "triangular_solve": of_matrix(lambda m, a: m.triangular_solve(a, a)),
        "householder_product": Case(
            1, lambda m, x: m.linalg.householder_product(matrix(m, x), _row(m, x))
        ),
        "tridiagonal_solve": Case(
            1, lambda m, x: m.linalg.tridiagonal_solve(*[_row(m, x)] * 3, m.transpose(x, (1, 0)))
        ),
        "lu_pivots_to_permutation": Case(
            1, lambda m, x: m.linalg.lu_pivots_to_permutation(pivots.astype(x.dtype), 4)
        ),
    }


CASES: dict[str, Case] = {
    **_elementwise(),
    **_shapes(),
    **_reductions(),
    **_products(),
    **_indexing(),
    **_linear_algebra(),
}
