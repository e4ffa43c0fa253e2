"""The dtypes by families, and the lattice by which they promote: JAX's.

Its nodes are the dtypes and three weak types ``int*``, ``float*`` and ``complex*``, which stand for
values that came from Python scalars.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import ml_dtypes
import numpy as np

from bindax_core.errors import TypePromotionError
from bindax_core.extend import dtype_name

DType = np.dtype[Any]

bool_: Final = np.dtype(np.bool_)
float32: Final = np.dtype(np.float32)
bfloat16: Final = np.dtype(ml_dtypes.bfloat16)

SIGNED_DTYPES: Final = tuple(np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64))
UNSIGNED_DTYPES: Final = tuple(np.dtype(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64))
FLOAT_DTYPES: Final = (bfloat16, *(np.dtype(t) for t in (np.float16, np.float32, np.float64)))
COMPLEX_DTYPES: Final = (np.dtype(np.complex64), np.dtype(np.complex128))
NARROW_SIGNED_DTYPES: Final = tuple(np.dtype(t) for t in (ml_dtypes.int2, ml_dtypes.int4))
NARROW_UNSIGNED_DTYPES: Final = tuple(np.dtype(t) for t in (ml_dtypes.uint2, ml_dtypes.uint4))
NARROW_FLOAT_DTYPES: Final = tuple(
    np.dtype(t)
    for t in (
        ml_dtypes.float4_e2m1fn,
        ml_dtypes.float8_e3m4,
        ml_dtypes.float8_e4m3,
        ml_dtypes.float8_e4m3b11fnuz,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e4m3fnuz,
        ml_dtypes.float8_e5m2,
        ml_dtypes.float8_e5m2fnuz,
        ml_dtypes.float8_e8m0fnu,
    )
)

Node = DType | str


def _lattice() -> dict[Node, tuple[Node, ...]]:
    """For each node the nodes directly above it."""
    i8, i16, i32, i64 = SIGNED_DTYPES
    u8, u16, u32, u64 = UNSIGNED_DTYPES
    bf16, f16, f32, f64 = FLOAT_DTYPES
    c64, c128 = COMPLEX_DTYPES
    return {
        bool_: ("int*",),
        "int*": (u8, i8, *NARROW_SIGNED_DTYPES, *NARROW_UNSIGNED_DTYPES),
        u8: (i16, u16),
        u16: (i32, u32),
        u32: (i64, u64),
        u64: ("float*",),
        i8: (i16,),
        i16: (i32,),
        i32: (i64,),
        i64: ("float*",),
        "float*": (bf16, f16, *NARROW_FLOAT_DTYPES, "complex*"),
        bf16: (f32,),
        f16: (f32,),
        f32: (f64, c64),
        f64: (c128,),
        "complex*": (c64,),
        c64: (c128,),
        c128: (),
        # The narrow types are storage formats: nothing but Python scalars, and for the floats
        # integers, promotes to them, and they promote to nothing.
        **dict.fromkeys((*NARROW_SIGNED_DTYPES, *NARROW_UNSIGNED_DTYPES, *NARROW_FLOAT_DTYPES), ()),
    }


def _upper_bounds() -> dict[Node, frozenset[Node]]:
    above = _lattice()
    bounds: dict[Node, frozenset[Node]] = {}

    def visit(node: Node) -> frozenset[Node]:
        if node not in bounds:
            bounds[node] = frozenset({node}).union(*(visit(n) for n in above[node]))
        return bounds[node]

    for node in above:
        visit(node)
    return bounds


BOUNDS: Final = _upper_bounds()
"""For each node those that it promotes to, itself included."""

_BREADTH = {"bool": 0, "signed integer": 1, "unsigned integer": 1, "float": 2, "complex": 3}


def require_one_dtype(operands: Sequence[tuple[Any, bool]], kind_of: Callable[[Any], str]) -> None:
    """Raise unless arrays have one dtype to which all scalars go, as strict promotion asks.

    Each operand is given by its dtype and weak type; ``kind_of`` names the kind of a dtype. Scalars
    go to dtypes of their own kind and of wider ones.
    """
    strong = {dtype for dtype, weak in operands if not weak}
    if not strong:
        return
    breadth = _BREADTH.get(kind_of(next(iter(strong))), 0)
    scalars = [_BREADTH.get(kind_of(dtype), 0) for dtype, weak in operands if weak]
    if len(strong) == 1 and all(0 < one <= breadth for one in scalars):
        return
    names = ", ".join(dtype_name(d) + (" (a scalar)" if weak else "") for d, weak in operands)
    raise TypePromotionError(
        f"the dtypes {names} are different, and config.numpy_dtype_promotion is 'strict'; "
        f"convert the operands explicitly with .astype(dtype)."
    )
