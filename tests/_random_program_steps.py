"""The steps that random programs are made of, written against the names of ``lax``.

Each maps matrices of three rows and columns to another one whose elements stay of moderate size, so
that errors do not grow. What repeats elements or makes them equal multiplies by `WEIGHTS`, because
the derivative of a maximum of equals depends on the last digit of how they were computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

N = 3
WEIGHTS = 1.0 + 0.1 * np.sin(np.arange(1.0, 10.0)).reshape(N, N)
SHIFTS = 0.3 * np.cos(np.arange(1.0, 10.0)).reshape(N, N)
ROWS = np.array([[2], [0], [2]], np.int32)


def _counted(ops: Any, x: Any) -> Any:
    """Add a tenth of the bits that are set in the nearest multiple of 1/16."""
    steps = ops.convert_element_type(x * 16.0, np.int32)
    kept = ops.bitwise_xor(ops.bitwise_and(steps, np.int32(29)), np.int32(6))
    moved = ops.shift_right_logical(ops.shift_left(kept, np.int32(2)), np.int32(1))
    return x + ops.convert_element_type(ops.population_count(moved), np.float64) * 0.1


def _gathered(ops: Any, x: Any) -> Any:
    numbers = ops.GatherDimensionNumbers((1,), (0,), (0,))
    return ops.gather(x, ROWS, numbers, (1, N), mode="clip") * WEIGHTS


def _scattered(name: str) -> Callable[[Any, Any, Any], Any]:
    def step(ops: Any, x: Any, y: Any) -> Any:
        numbers = ops.ScatterDimensionNumbers((1,), (0,), (0,))
        return getattr(ops, name)(x, ROWS[:2], y[:2] * 0.5, numbers, mode="clip")

    return step


def _windows(name: str, start: float) -> Callable[[Any, Any], Any]:
    def step(ops: Any, x: Any) -> Any:
        spread = x * WEIGHTS + SHIFTS
        out = ops.reduce_window(spread, start, getattr(ops, name), (2, 2), (1, 1), "SAME")
        return ops.tanh(out) * WEIGHTS

    return step


def _convolved(ops: Any, x: Any, y: Any) -> Any:
    image, kernel = (ops.reshape(z, (1, 1, N, N)) for z in (x, ops.tanh(y)))
    out = ops.conv_general_dilated(image, kernel, (1, 1), "SAME")
    return ops.tanh(ops.reshape(out, (N, N)) * 0.3)


def _transformed(ops: Any, x: Any, y: Any) -> Any:
    out = ops.fft(ops.complex(x, y), "FFT", (N,))
    return ops.tanh(ops.real(out) * 0.3) - ops.tanh(ops.imag(out) * 0.2)


def _split(ops: Any, x: Any) -> Any:
    top, bottom = ops.split(x, (1, 2), axis=0)
    return ops.concatenate([bottom, top * 0.9], 0)


def _definite(ops: Any, x: Any) -> Any:
    y = ops.tanh(x)
    return ops.linalg.cholesky(y @ y.T * 0.2 + 2.0 * np.eye(N), symmetrize_input=True)


def _solved(ops: Any, x: Any, y: Any) -> Any:
    matrix = ops.tanh(x) * 0.3 + 2.0 * np.eye(N)
    return ops.linalg.triangular_solve(matrix, y, left_side=True, lower=True)


def _updated(ops: Any, x: Any, y: Any) -> Any:
    piece = ops.dynamic_slice(y, (np.int32(1), np.int32(0)), (2, 2))
    return ops.dynamic_update_slice(x, piece * 0.7, (np.int32(0), np.int32(1)))


def _sorted_pair(ops: Any, x: Any, y: Any) -> Any:
    keys, values = ops.sort_key_val(x * WEIGHTS + SHIFTS, y, dimension=1)
    return keys * 0.5 + values * 0.5


def _dotted(ops: Any, x: Any, y: Any) -> Any:
    return ops.tanh(ops.dot_general(x, y, (((0,), (1,)), ((), ()))) * 0.5)


UNARY: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda ops, x: ops.sin(x),
    "tanh": lambda ops, x: ops.tanh(x),
    "logistic": lambda ops, x: ops.logistic(x),
    "exp(-x²)": lambda ops, x: ops.exp(-x * x),
    "sqrt(1+x²)": lambda ops, x: ops.tanh(ops.sqrt(x * x + 1.0)),
    "log(2+x²)": lambda ops, x: ops.log(x * x + 2.0),
    "integer_pow": lambda ops, x: ops.integer_pow(ops.tanh(x), 3),
    "abs": lambda ops, x: abs(x - 0.3),
    "reverse": lambda ops, x: ops.rev(x, (0,)),
    "transpose": lambda ops, x: ops.transpose(x, (1, 0)),
    "slice": lambda ops, x: ops.concatenate([x[1:], x[:1]], 0),
    "sum": lambda ops, x: x - x.sum(0) * 0.1,
    "max": lambda ops, x: x - (x * WEIGHTS + SHIFTS).max(),
    "scale": lambda ops, x: x * 0.5 - 1.0,
    "erf": lambda ops, x: ops.erf(x),
    "erf_inv": lambda ops, x: ops.erf_inv(ops.tanh(x) * 0.5),
    "lgamma": lambda ops, x: ops.tanh(ops.lgamma(x * x + 1.5) * 0.2),
    "digamma": lambda ops, x: ops.tanh(ops.digamma(x * x + 1.5)),
    "bessel_i0e": lambda ops, x: ops.bessel_i0e(x * x + 0.2),
    "bits": _counted,
    "floor": lambda ops, x: x - ops.floor(x * 4.0) * 0.2,
    "reduce_precision": lambda ops, x: ops.reduce_precision(x, 11, 52) * 0.9,
    "cumsum": lambda ops, x: ops.tanh(ops.cumsum(x, axis=0)),
    "cumprod": lambda ops, x: ops.cumprod(ops.tanh(x) + SHIFTS, axis=1),
    "cummax": lambda ops, x: ops.cummax(x * WEIGHTS + SHIFTS, axis=1) * WEIGHTS,
    "cumlogsumexp": lambda ops, x: ops.cumlogsumexp(x, axis=0, reverse=True) * 0.5,
    "sort": lambda ops, x: ops.sort(x * WEIGHTS + SHIFTS, dimension=0),
    "top_k": lambda ops, x: ops.top_k(x * WEIGHTS + SHIFTS, N)[0],
    "argmax": lambda ops, x: (
        x - ops.convert_element_type(ops.argmax(x, 1, np.int32), x.dtype) * 0.2
    ),
    "windows": _windows("add", 0.0),
    "greatest of windows": _windows("max", -np.inf),
    "gather": _gathered,
    "split": _split,
    "pad": lambda ops, x: ops.pad(x, 0.5, ((1, -1, 0), (-1, 1, 0))) * WEIGHTS,
    "reduce_prod": lambda ops, x: x * ops.reduce_prod(ops.tanh(x) + SHIFTS, (0,)),
    "cholesky": _definite,
    "square": lambda ops, x: ops.square(ops.tanh(x)),
    "cbrt": lambda ops, x: ops.cbrt(x * x + 1.0),
    "expm1": lambda ops, x: ops.expm1(-x * x),
    "asinh": lambda ops, x: ops.asinh(x),
    "while": lambda ops, x: ops.fori_loop(0, 3, lambda i, y: ops.sin(y) + 0.1, x),
}
BINARY: dict[str, Callable[[Any, Any, Any], Any]] = {
    "add": lambda ops, x, y: (x + y) * 0.5,
    "sub": lambda ops, x, y: x - y * 0.5,
    "mul": lambda ops, x, y: ops.tanh(x * y),
    "div": lambda ops, x, y: x / (y * y + 1.0),
    "max": lambda ops, x, y: ops.max(x, y * WEIGHTS + SHIFTS),
    "select": lambda ops, x, y: ops.select(x > y, x, y * 0.9),
    "matmul": lambda ops, x, y: ops.tanh(x @ y),
    "cond": lambda ops, x, y: ops.cond(x[0, 0] > y[0, 0], lambda a, b: a, lambda a, b: b, x, y),
    "atan2": lambda ops, x, y: ops.atan2(x, y * y + 1.0),
    "pow": lambda ops, x, y: ops.tanh(ops.pow(x * x + 0.5, ops.tanh(y))),
    "clamp": lambda ops, x, y: ops.clamp(x - 1.0, y, x + 1.0),
    "dot_general": _dotted,
    "conv": _convolved,
    "fft": _transformed,
    "triangular_solve": _solved,
    "dynamic slices": _updated,
    "scatter": _scattered("scatter"),
    "scatter_add": _scattered("scatter_add"),
    "sort_key_val": _sorted_pair,
}
