"""Sample inputs of reductions, windows, scans, sorts and splits; see ``samples``.

Many of these take functions or several arrays, so a sample here is a function itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from bindax_lax_basic.dtypes import canonical_dtype
from bindax_lax_basic.samples.calls import COMPLEX, FLOATS, INTEGERS, Operand, Sample, Shape
from bindax_lax_basic.window.geometry import geometry

_NUMBERS = (*FLOATS, *COMPLEX, *INTEGERS)
_ORDERED = (*FLOATS, *INTEGERS, "bool")
_FEW = ("float32", "bfloat16", "int32")


class Call(NamedTuple):
    """One call of one function."""

    name: str
    operands: tuple[Operand, ...]
    function: Callable[..., Any]  # of a module with the names of bindax_lax_basic, and operands
    note: str = ""  # what tells it from other calls of the function on such operands

    @property
    def label(self) -> str:
        """A short name."""
        return Sample(self.name, self.operands).label + (f"-{self.note}" if self.note else "")

    def make(self, salt: int = 0) -> list[np.ndarray[Any, Any]]:
        """The operands as NumPy arrays, the same ones each time."""
        return Sample(self.label, self.operands).make(salt)

    def call(self, module: Any, *operands: Any) -> Any:
        """Call the function with the functions of a module."""
        return self.function(module, *operands)


def _plain(name: str, *operands: Operand, note: str = "", **arguments: Any) -> Call:
    """A call of a function of arrays and constants."""

    def function(m: Any, *xs: Any) -> Any:
        return getattr(m, name)(*xs, **arguments)

    return Call(name, operands, function, note)


def _matrix(dtype: str = "float32", shape: Shape = (2, 5)) -> Operand:
    return Operand(shape, dtype)


def _joined(m: Any) -> Any:
    """An associative function that is no primitive."""
    return lambda a, b: m.add(m.add(a, b), m.mul(a, b))


def _larger(m: Any) -> Any:
    """The pair with the larger first element."""

    def choose(a: Any, b: Any) -> Any:
        keep = m.ge(a[0], b[0])
        return tuple(m.select_n(keep, y, x) for x, y in zip(a, b, strict=True))

    return choose


def _scans() -> Iterator[Call]:
    def scan(name: str, operand: Operand, axis: int, reverse: bool) -> Call:
        return _plain(name, operand, note=f"{axis}{'r' * reverse}", axis=axis, reverse=reverse)

    for name in ("cumprod", "cummax", "cummin", "cumlogsumexp"):
        kinds = (*FLOATS, *COMPLEX) if name == "cumlogsumexp" else _NUMBERS
        for dtype in kinds:
            yield scan(name, _matrix(dtype), 1, dtype == "float64")
        yield scan(name, Operand((3, 2), "float32"), 0, True)
        for size in (0, 1, 2, 7):
            yield scan(name, Operand((size,), "float32"), 0, False)


def _reductions() -> Iterator[Call]:
    for dtype in ("bool", "int32", "uint8"):
        yield _plain("reduce_xor", _matrix(dtype), axes=(1,))
    yield _plain("reduce_xor", Operand((2, 0), "int32"), axes=(1,))
    for dtype in COMPLEX:
        yield _plain("reduce_max", _matrix(dtype), axes=(1,))
        yield _plain("reduce_min", _matrix(dtype), axes=(0,))

    def joined(operand: Operand, axes: Shape, note: str) -> Call:
        def function(m: Any, x: Any) -> Any:
            return m.reduce(x, np.zeros((), operand.dtype), _joined(m), axes)

        return Call("reduce", (operand,), function, note)

    for dtype in ("float32", "float64", "int32", "complex64"):
        for axes in ((1,), (0, 2), ()):
            yield joined(Operand((2, 3, 5), dtype), axes, str(axes))
    yield Call(
        "reduce",
        (_matrix(), Operand((), "float32", 0, 0)),
        lambda m, x, a: m.reduce(x, a, _joined(m), (0,)),
        "initial",
    )
    pair = (_matrix("float32", (3, 4)), _matrix("int32", (3, 4)))
    for axes in ((0,), (0, 1)):
        yield Call(
            "reduce",
            pair,
            lambda m, x, y, axes=axes: m.reduce(
                (x, y), (np.float32(-9), np.int32(0)), _larger(m), axes
            ),
            f"pairs{axes}",
        )
    for size in (0, 1):
        yield joined(Operand((2, size), "float32"), (1,), "")
    for name in ("add", "mul", "max", "bitwise_xor"):
        dtype = "int32" if name == "bitwise_xor" else "float32"
        yield Call(
            "reduce",
            (_matrix(dtype), Operand((), dtype)),
            lambda m, x, a, name=name: m.reduce(x, a, getattr(m, name), (1,)),
            name,
        )


_WINDOWS: tuple[tuple[Shape, tuple[Any, ...]], ...] = (
    ((7,), ((3,), (2,), "VALID")),
    ((5,), ((2,), (1,), "SAME")),
    ((3, 6), ((2, 3), (1, 2), ((1, 0), (2, 1)))),
    ((3, 6), ((2, 2), (2, 1), ((0, 1), (-1, -2)))),
    ((2, 5), ((1, 2), (1, 2), "SAME_LOWER", (1, 2), (1, 1))),
    ((4, 5), ((2, 3), (1, 1), ((1, 1), (0, 2)), (1, 1), (2, 2))),
    ((4, 5), ((2, 2), (2, 3), ((1, -1), (3, 4)), (2, 3), (3, 2))),
)
_DENSE = [case for case in _WINDOWS if len(case[1]) == 3]


def _windows() -> Iterator[Call]:
    def window(name: str, init: Any, operand: Operand, arguments: Any, note: str) -> Call:
        def function(m: Any, x: Any) -> Any:
            computation = _joined(m) if name == "joined" else getattr(m, name)
            return m.reduce_window(x, init, computation, *arguments)

        return Call("reduce_window", (operand,), function, f"{name}{note}")

    for number, (shape, arguments) in enumerate(_WINDOWS):
        operand = Operand(shape, "float32")
        for name, init in (("add", 0), ("max", -np.inf), ("min", np.inf), ("joined", 0)):
            yield window(name, np.float32(init), operand, arguments, str(number))
    box = ((2, 2), (1, 2), "SAME")
    for dtype in ("float64", "bfloat16", "int32", "uint8", "complex64"):
        zero = np.zeros((), canonical_dtype(dtype))
        yield window("add", zero, _matrix(dtype), box, dtype)
    yield window("max", np.int32(-(2**31)), _matrix("int32"), box, "int32")
    yield window("add", np.float32(0), Operand((2, 0), "float32"), box, "empty")
    yield window("joined", np.float32(0), Operand((2, 0), "float32"), box, "empty")
    yield window("add", np.float32(0), Operand((), "float32"), ((), (), ()), "scalar")
    yield Call(
        "reduce_window",
        (_matrix(), _matrix("int32")),
        lambda m, x, y: m.reduce_window(
            (x, y), (np.float32(-9), np.int32(0)), _larger(m), (2, 2), (1, 1), "SAME"
        ),
        "pairs",
    )


def _selections() -> Iterator[Call]:
    def selection(
        name: str, which: str, operands: tuple[Operand, ...], arguments: Any, note: str
    ) -> Call:
        def function(m: Any, a: Any, x: Any) -> Any:
            return getattr(m, name)(a, x, getattr(m, f"{which}_p"), *arguments)

        return Call(name, operands, function, note)

    for number, (shape, arguments) in enumerate(_WINDOWS):
        operands: tuple[Operand, ...] = (Operand(shape, "float32"),) * 2
        for name in ("ge", "le"):
            yield selection("select_and_gather_add", name, operands, arguments, f"{name}{number}")
    for number, (shape, (window, strides, padding)) in enumerate(_DENSE):
        counts = geometry("samples", shape, window, strides, padding).out_shape(shape)
        arguments = (window, strides, padding)
        operands = (Operand(counts, "float32"), Operand(shape, "float32"))
        yield selection("select_and_scatter_add", "ge", operands, arguments, str(number))
        yield Call(
            "select_and_scatter",
            (*operands, Operand((), "float32")),
            lambda m, s, x, a, arguments=arguments: m.select_and_scatter(
                x, m.ge, *arguments, s, a, _joined(m)
            ),
            str(number),
        )


def _sorts() -> Iterator[Call]:
    for dtype in (*_NUMBERS, "bool"):
        yield _plain("sort", _matrix(dtype))
    yield _plain("sort", _matrix(), note="0", dimension=0)
    yield _plain("sort", Operand((2, 0), "float32"))
    keys = (_matrix("int8"), _matrix("complex64"), _matrix("float32"))
    for count in (1, 2, 3):
        yield Call("sort", keys, lambda m, *xs, n=count: m.sort(xs, num_keys=n), f"{count}keys")
    yield _plain("sort_key_val", _matrix(), _matrix())
    for dtype in _ORDERED:
        yield _plain("top_k", _matrix(dtype), k=3)
    for axis in (0, 1):
        yield _plain("top_k", Operand((3, 4, 2), "float32"), note=f"axis{axis}", k=2, axis=axis)
    yield _plain("top_k", _matrix(), note="none", k=0)
    for dtype in FLOATS:
        yield _plain("approx_max_k", _matrix(dtype), k=3)
        yield _plain("approx_min_k", _matrix(dtype), k=1, reduction_dimension=0)


def _applications() -> Iterator[Call]:
    for dtype in ("int32", "uint8", "bool"):
        for shape, indices, fields, update in (
            ((4,), (5, 1), ((), (0,), (0,)), (5,)),
            ((4, 3), (2, 1), ((1,), (0,), (0,)), (2, 3)),
            ((4,), (0, 1), ((), (0,), (0,)), (0,)),
        ):
            yield Call(
                "scatter_apply",
                (Operand(shape, dtype), Operand(indices, "int32", 2, 1)),
                lambda m, x, i, fields=fields, update=update: m.scatter_apply(
                    x, i, _changed, m.ScatterDimensionNumbers(*fields), update_shape=update
                ),
            )


def _changed(x: Any) -> Any:
    """A function of integers that tells how often it was applied."""
    return ~x if x.dtype == np.bool_ else 3 * x + 1


def _pieces() -> Iterator[Call]:
    for dtype in (*_FEW, "bool", "complex64"):
        yield _plain("split", _matrix(dtype), sizes=(1, 0, 4), axis=1)
        yield _plain("tile", _matrix(dtype), reps=(3, 2))
        yield Call("stack", (_matrix(dtype),) * 2, lambda m, x, y: m.stack([x, y], axis=1))
        yield _plain("optimization_barrier", _matrix(dtype))
    yield _plain("split", _matrix(), note="whole", sizes=(2,))
    yield _plain("tile", _matrix(), note="nothing", reps=(0, 1))
    yield _plain("tile", Operand((), "float32"), reps=())
    yield _plain("unstack", _matrix(), axis=1)
    yield _plain("broadcast_to_rank", _matrix(), rank=4)
    yield Call(
        "optimization_barrier",
        (_matrix(), _matrix("int32")),
        lambda m, x, y: m.optimization_barrier({"a": x, "b": (y, x)}),
        "tree",
    )


def _bits() -> Iterator[Call]:
    for algorithm in (1, 2):
        for dtype in ("uint8", "uint32", "uint64"):
            for shape in ((), (5,), (3, 4), (0,)):
                key, note = Operand((4,), "uint32", 0, 9), f"{algorithm}{dtype}{shape}"
                wanted = {"shape": shape, "dtype": dtype, "algorithm": algorithm}
                yield _plain("rng_bit_generator", key, note=note, **wanted)
    yield _plain("rng_bit_generator", Operand((2,), "uint64", 0, 9), shape=(3, 3))


REDUCTION_SAMPLES: tuple[Call, ...] = (
    *_scans(),
    *_reductions(),
    *_windows(),
    *_selections(),
    *_sorts(),
    *_applications(),
    *_pieces(),
    *_bits(),
)
