"""Sample inputs of every primitive: what tests, the conformance suite and documentation run on.

A sample names a function of the package, the types and ranges of its operands, and its other
arguments. Operands are made from a seed, away from points where a derivative does not exist.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bindax_lax_basic import dtypes

Shape = tuple[int, ...]
FLOATS = ("float32", "float64", "float16", "bfloat16")
COMPLEX = ("complex64", "complex128")
INTEGERS = ("int32", "int8", "uint8", "int64")
SHAPES: tuple[Shape, ...] = ((), (4,), (2, 0))


class Operand(NamedTuple):
    """The type of an operand, and the range that its values are drawn from."""

    shape: Shape
    dtype: str
    low: float = -2.0
    high: float = 2.0


class Sample(NamedTuple):
    """One call of a function with this name, on operands that are ``packed`` in one sequence."""

    name: str
    operands: tuple[Operand, ...]
    arguments: Mapping[str, Any] = {}
    packed: bool = False

    @property
    def label(self) -> str:
        """A short unique name, such as ``add-float32[2,3]-float32[]``."""
        types = [f"{o.dtype}[{','.join(map(str, o.shape))}]" for o in self.operands]
        extra = [
            f"{k}={v.fields if type(v) is Numbers else v}".replace(" ", "")
            for k, v in self.arguments.items()
        ]
        return "-".join([self.name, *types, *extra])

    def make(self, salt: int = 0) -> list[np.ndarray[Any, Any]]:
        """The operands as NumPy arrays, the same ones each time."""
        rng = np.random.default_rng(zlib.crc32(self.label.encode()) + salt)
        return [_make(rng, operand) for operand in self.operands]

    def call(self, module: Any, *operands: Any) -> Any:
        """Call the function of this name in a module on operands."""
        function = getattr(module, self.name)
        arguments = {
            name: getattr(module, value.kind)(*value.fields) if type(value) is Numbers else value
            for name, value in self.arguments.items()
        }
        if self.packed:
            return function(list(operands), **arguments)
        return function(*operands, **arguments)


def _make(rng: np.random.Generator, operand: Operand) -> np.ndarray[Any, Any]:
    dtype = dtypes.canonical_dtype(operand.dtype)
    low, high = operand.low, operand.high
    kind = dtypes.kind_of(dtype)
    if kind == "bool":
        return rng.integers(0, 2, operand.shape).astype(dtype)
    if kind == "unsigned integer":
        return rng.integers(max(0, int(low)), int(high) + 6, operand.shape).astype(dtype)
    if kind == "signed integer":
        return rng.integers(int(low) - 3, int(high) + 4, operand.shape).astype(dtype)
    # Distinct values, so that maxima and sorts have no ties by accident.
    count = int(np.prod(operand.shape))
    grid = low + (high - low) * (rng.permutation(count) + 0.5 * rng.random(count) + 0.25) / (
        count or 1
    )
    values = grid.reshape(operand.shape)
    if kind == "complex":
        return np.asarray(values + 1j * rng.permutation(grid).reshape(operand.shape), dtype)
    return np.asarray(values).astype(dtype)


def _unary(
    name: str, low: float, high: float, kinds: Sequence[str], **extra: Any
) -> Iterator[Sample]:
    for dtype in kinds:
        yield Sample(name, (Operand((2, 3), dtype, low, high),), extra)
    for shape in SHAPES:
        yield Sample(name, (Operand(shape, kinds[0], low, high),), extra)


_INEXACT = (*FLOATS, *COMPLEX)
_NUMBERS = (*_INEXACT, *INTEGERS)
_ORDERED = (*FLOATS, *INTEGERS, "bool")
_BITS = ("bool", *INTEGERS)
_UNARY: tuple[tuple[str, float, float, tuple[str, ...]], ...] = (
    ("neg one_minus_square sign square", -2, 2, _NUMBERS),
    ("abs", -2, 2, (*_INEXACT, "int32", "int8")),
    ("exp expm1 tanh logistic sinh cosh asinh", -2, 2, _INEXACT),
    ("sin cos", -3, 3, _INEXACT),
    ("tan", -1, 1, _INEXACT),
    ("asin acos atan atanh", -0.8, 0.8, _INEXACT),
    ("log log2 sqrt rsqrt", 0.2, 3, _INEXACT),
    ("log1p", -0.7, 3, _INEXACT),
    ("acosh", 1.2, 3, _INEXACT),
    ("floor ceil round exp2 is_finite", -2, 2, FLOATS),
    ("cbrt", 0.2, 3, FLOATS),
    ("bitwise_not", -2, 2, _BITS),
    ("real imag", -2, 2, COMPLEX),
    ("conj", -2, 2, ("complex64", "complex128", "float32", "float64")),
    ("copy", -2, 2, ("float32", "bool")),
    ("stop_gradient", -2, 2, ("float32", "complex64")),
)
_BINARY: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("add sub mul div", _NUMBERS),
    ("rem", (*FLOATS, *INTEGERS)),
    ("max min eq ne", (*_NUMBERS, "bool")),
    ("lt le gt ge", _ORDERED),
    ("atan2", _INEXACT),
    ("nextafter complex", ("float32", "float64")),
    ("bitwise_and bitwise_or bitwise_xor", _BITS),
)


def _elementwise() -> Iterator[Sample]:
    for names, low, high, kinds in _UNARY:
        for name in names.split():
            yield from _unary(name, low, high, kinds)
    for names, kinds in _BINARY:
        for name in names.split():
            for dtype in kinds:
                yield Sample(name, (Operand((2, 3), dtype), Operand((2, 3), dtype)))
            for left, right in (((), ()), ((2, 3), ()), ((), (4,)), ((2, 0), (2, 0))):
                yield Sample(name, (Operand(left, kinds[0]), Operand(right, kinds[0])))
    for dtype in _INEXACT:
        yield Sample("pow", (Operand((2, 3), dtype, 0.2, 3), Operand((2, 3), dtype)))
    yield Sample("pow", (Operand((2, 3), "float32", 0.2, 3), Operand((), "float32")))
    yield Sample("pow", (Operand((2, 3), "float32", 0.2, 3), Operand((2, 3), "int32")))
    for y in (-2, -1, 0, 1, 2, 3, 7):
        yield Sample("integer_pow", (Operand((2, 3), "float32", 0.5, 2),), {"y": y})
    for dtype in (*COMPLEX, "bfloat16", "int32"):
        yield Sample("integer_pow", (Operand((2, 3), dtype),), {"y": 3})
    yield from _unary("round", -2.0, 2.0, ("float32", "float64"), rounding_method=1)
    for dtype in ("float32", "float64", "int32"):
        bounds = Operand((), dtype, -1.1, -0.9), Operand((), dtype, 0.9, 1.1)
        yield Sample("clamp", (bounds[0], Operand((2, 3), dtype), bounds[1]))
        full = Operand((2, 3), dtype, -1.1, -0.9), Operand((2, 3), dtype, 0.9, 1.1)
        yield Sample("clamp", (full[0], Operand((2, 3), dtype), full[1]))
    case = Operand((2, 3), "float32")
    yield Sample("select_n", (Operand((2, 3), "bool"), case, case))
    yield Sample("select_n", (Operand((), "bool"), case, case))
    yield Sample("select_n", (Operand((2, 3), "int32", 3, -2), case, case, case))
    for source in ("float32", "float64", "bfloat16", "int32", "uint8", "bool", "complex64"):
        for target in ("float32", "float16", "int32", "int8", "uint8", "bool", "complex128"):
            arguments = {"new_dtype": target}
            yield Sample("convert_element_type", (Operand((2, 3), source),), arguments)


_FUNCTIONS: tuple[tuple[str, int, float, tuple[str, ...]], ...] = (
    ("erf erfc", 1, 2.0, ("float64", "float32", "float16", "bfloat16")),
    ("erf_inv", 1, 0.9, ("float64", "float32", "float16", "bfloat16")),
    ("clz population_count", 1, 2.0, ("int32", "int8", "uint64")),
    ("mulhi shift_left", 2, 2.0, ("int32", "int8", "uint64")),
    ("shift_right_arithmetic shift_right_logical", 2, 2.0, ("int32", "int8", "uint64")),
)
_BITCASTS: tuple[tuple[Shape, str, str], ...] = (
    ((2, 3), "float32", "int32"),
    ((2, 3), "float32", "uint8"),
    ((2, 2), "int32", "float64"),
    ((2, 4), "uint8", "int32"),
    ((2, 3), "int8", "int4"),
    ((2, 2), "uint4", "int8"),
    ((3,), "bfloat16", "uint16"),
    ((0, 2), "int8", "int4"),
)
_ROUNDINGS = (("float32", 5, 2), ("float64", 8, 7), ("float16", 4, 3), ("bfloat16", 8, 3))


def _functions() -> Iterator[Sample]:
    """Special functions, operations on bits, and rounding."""
    for names, count, high, kinds in _FUNCTIONS:
        for name in names.split():
            for dtype in kinds:
                yield Sample(name, (Operand((2, 3), dtype, -high, high),) * count)
            yield Sample(name, (Operand((), kinds[0], -high, high),) * count)
    for shape, dtype, target in _BITCASTS:
        yield Sample("bitcast_convert_type", (Operand(shape, dtype),), {"new_dtype": target})
    for dtype, exponent, mantissa in _ROUNDINGS:
        arguments = {"exponent_bits": exponent, "mantissa_bits": mantissa}
        yield Sample("reduce_precision", (Operand((2, 3), dtype),), arguments)


def _shapes() -> Iterator[Sample]:
    x, v = Operand((2, 3, 4), "float32"), Operand((5,), "float32")
    for dtype in ("float32", "bfloat16", "int32", "bool", "complex64"):
        operand = (Operand((2, 3, 4), dtype),)
        yield Sample("transpose", operand, {"permutation": (2, 0, 1)})
        yield Sample("reshape", operand, {"new_sizes": (4, 6)})
        yield Sample("broadcast_in_dim", operand, _broadcast((2, 5, 3, 4), (0, 2, 3)))
        yield Sample("rev", operand, {"dimensions": (0, 2)})
        box = {"start_indices": (0, 1, 0), "limit_indices": (2, 3, 4)}
        yield Sample("slice", operand, {**box, "strides": (1, 2, 3)})
        config = {"padding_config": ((1, 0, 0), (-1, 2, 1), (0, -1, 2))}
        yield Sample("pad", (*operand, Operand((), dtype)), config)
        yield Sample("concatenate", operand * 3, {"dimension": 1}, packed=True)
    yield Sample("transpose", (Operand((), "float32"),), {"permutation": ()})
    yield Sample("reshape", (x,), {"new_sizes": (3, 8), "dimensions": (2, 0, 1)})
    yield Sample("broadcast_in_dim", (Operand((2, 1), "float32"),), _broadcast((2, 3, 4), (0, 2)))
    yield Sample("broadcast_in_dim", (Operand((), "float32"),), _broadcast((2, 3), ()))
    yield Sample("squeeze", (Operand((1, 3, 1), "float32"),), {"dimensions": (0, 2)})
    yield Sample("squeeze", (Operand((1, 3, 1), "int32"),), {"dimensions": (-1,)})
    yield Sample("expand_dims", (v,), {"dimensions": (0, 2)})
    yield Sample("slice", (v,), {"start_indices": (1,), "limit_indices": (1,)})
    yield Sample("pad", (v, Operand((), "float32")), {"padding_config": ((-2, -1, 0),)})
    yield Sample("pad", (v, Operand((), "float32")), {"padding_config": ((-3, 2, 2),)})
    parts = (v, Operand((2,), "float32"), Operand((0,), "float32"))
    yield Sample("concatenate", parts, {"dimension": 0}, packed=True)
    yield Sample("collapse", (x,), {"start_dimension": 1, "stop_dimension": 3})
    for dtype in ("int32", "float32", "bfloat16", "complex64"):
        arguments = {"dtype": dtype, "shape": (2, 3), "dimension": 1}
        yield Sample("broadcasted_iota", (), arguments)


def _broadcast(shape: Shape, dims: Shape) -> dict[str, Any]:
    return {"shape": shape, "broadcast_dimensions": dims}


def _reductions() -> Iterator[Sample]:
    all_axes: tuple[Shape, ...] = ((0,), (1, 2), (0, 1, 2), ())
    for name, kinds in (
        ("reduce_sum", _NUMBERS),
        ("reduce_prod", _NUMBERS),
        ("reduce_max", _ORDERED),
        ("reduce_min", _ORDERED),
        ("reduce_and", ("bool", "int32", "uint8")),
        ("reduce_or", ("bool", "int32", "uint8")),
    ):
        for dtype in kinds:
            yield Sample(name, (Operand((2, 3, 2), dtype),), {"axes": (0, 2)})
        for axes in all_axes:
            yield Sample(name, (Operand((2, 3, 5), kinds[0]),), {"axes": axes})
        yield Sample(name, (Operand((2, 0), kinds[0]),), {"axes": (1,)})
    for name in ("argmax", "argmin"):
        for dtype in _ORDERED:
            arguments = {"axis": 1, "index_dtype": np.dtype(np.int32)}
            yield Sample(name, (Operand((2, 5), dtype),), arguments)
    for reverse in (False, True):
        for dtype in ("float32", "complex64", "int32", "bfloat16"):
            yield Sample("cumsum", (Operand((2, 5), dtype),), {"axis": 1, "reverse": reverse})


def _contractions() -> Iterator[Sample]:
    plain = {"dimension_numbers": (((1,), (0,)), ((), ()))}
    for dtype in (*_INEXACT, "int32", "bool"):
        yield Sample("dot_general", (Operand((2, 3), dtype), Operand((3, 4), dtype)), plain)
    cases: tuple[tuple[Shape, Shape, Any], ...] = (
        ((3,), (3,), (((0,), (0,)), ((), ()))),
        ((2, 3), (3,), (((1,), (0,)), ((), ()))),
        ((3, 2), (3, 4), (((0,), (0,)), ((), ()))),
        ((5, 2, 3), (5, 3, 4), (((2,), (1,)), ((0,), (0,)))),
        ((2, 5, 3), (3, 4, 5, 2), (((2,), (0,)), ((1, 0), (2, 3)))),
        ((2, 3, 4), (4, 5, 3), (((2, 1), (0, 2)), ((), ()))),
        ((2,), (3,), (((), ()), ((), ()))),
        ((2, 0), (0, 3), (((1,), (0,)), ((), ()))),
    )
    for left, right, numbers in cases:
        operands = (Operand(left, "float32"), Operand(right, "float32"))
        yield Sample("dot_general", operands, {"dimension_numbers": numbers})
    narrow = (Operand((2, 3), "int8"), Operand((3, 4), "int8"))
    yield Sample("dot_general", narrow, {**plain, "preferred_element_type": np.dtype(np.int32)})
    half = (Operand((2, 3), "bfloat16"), Operand((3, 4), "bfloat16"))
    yield Sample("dot_general", half, {**plain, "preferred_element_type": np.dtype(np.float32)})


class Numbers(NamedTuple):
    """Dimension numbers, to be made with a module's own class."""

    kind: str
    fields: tuple[Any, ...]


SCATTERS = ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max")


def _windows() -> Iterator[Sample]:
    cases: tuple[tuple[Shape, Shape, tuple[Shape, ...], Shape], ...] = (
        ((5,), (3, 1), ((), (0,), (0,)), (1,)),
        ((5, 4), (4, 1), ((1,), (0,), (0,)), (1, 4)),
        ((5, 4), (2, 3, 2), ((2,), (1,), (1, 0)), (2, 1)),
        ((3, 5, 4), (3, 2, 1), ((2,), (1,), (1,), (0,), (0,)), (1, 1, 4)),
    )
    for shape, index_shape, fields, sizes in cases:
        for mode in ("clip", "fill"):
            operands = Operand(shape, "float32"), Operand(index_shape, "int32", 1, 2)
            numbers = Numbers("GatherDimensionNumbers", fields)
            arguments = {"dimension_numbers": numbers, "slice_sizes": sizes, "mode": mode}
            yield Sample("gather", operands, arguments)
            updates = _gathered_shape(index_shape, fields, sizes)
            numbers = Numbers("ScatterDimensionNumbers", fields)
            arguments = {"dimension_numbers": numbers, "mode": mode}
            for name in SCATTERS:
                yield Sample(name, (*operands, Operand(updates, "float32")), arguments)
    numbers = Numbers("ScatterDimensionNumbers", ((), (0,), (0,)))
    for name in SCATTERS:
        for dtype in ("int8", "uint8", "bfloat16", "complex64", "bool"):
            if dtype == "bool" and name in ("scatter_add", "scatter_sub", "scatter_mul"):
                continue
            some = Operand((5,), dtype), Operand((2, 1), "int32", 1, 2), Operand((2,), dtype)
            yield Sample(name, some, {"dimension_numbers": numbers})
    index = Operand((), "int32", 0, 3)
    for dtype in ("float32", "int32", "bool", "bfloat16"):
        yield Sample("dynamic_slice_in_dim", (Operand((5, 3), dtype), index), {"slice_size": 2})
        pair = Operand((5, 3), dtype), Operand((2, 3), dtype)
        yield Sample("dynamic_update_slice_in_dim", (*pair, index), {"axis": 0})
    yield Sample("dynamic_index_in_dim", (Operand((5, 3), "float32"), index), {"axis": 1})


def _gathered_shape(index_shape: Shape, fields: tuple[Shape, ...], sizes: Shape) -> Shape:
    gone = (*fields[1], *(fields[3] if len(fields) > 3 else ()))
    window = iter([size for axis, size in enumerate(sizes) if axis not in gone])
    batch = iter(index_shape[:-1])
    rank = len(index_shape) - 1 + len(fields[0])
    return tuple(next(window) if axis in fields[0] else next(batch) for axis in range(rank))


SAMPLES: tuple[Sample, ...] = (
    *_elementwise(),
    *_functions(),
    *_shapes(),
    *_reductions(),
    *_contractions(),
    *_windows(),
)
