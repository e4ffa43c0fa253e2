"""Data types: which exist, which is the default, and what two of them promote to.

The result of a promotion is the least upper bound of its operands in JAX's lattice. Functions of
``lax`` never promote; operators on arrays do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Final, Literal, NamedTuple

import ml_dtypes
import numpy as np

from bindax_core.errors import TypePromotionError
from bindax_core.extend import (
    ShapedArray,
    canonicalize_dtype,
    config,
    derived_setting,
    dtype_name,
    float0,
    is_extended,
    is_value,
    typeof,
    user_source_info,
    warn_user,
)
from bindax_lax_basic.dtype_promotion import (
    BOUNDS,
    COMPLEX_DTYPES,
    FLOAT_DTYPES,
    NARROW_FLOAT_DTYPES,
    NARROW_SIGNED_DTYPES,
    NARROW_UNSIGNED_DTYPES,
    SIGNED_DTYPES,
    UNSIGNED_DTYPES,
    require_one_dtype,
)
from bindax_lax_basic.dtype_promotion import DType as DType
from bindax_lax_basic.dtype_promotion import bfloat16 as bfloat16
from bindax_lax_basic.dtype_promotion import bool_ as bool_
from bindax_lax_basic.dtype_promotion import float32 as float32

__all__ = ["promote_types", "result_type"]


BOOL: Final = frozenset({"bool"})
SIGNED: Final = frozenset({"signed integer"})
INTEGER: Final = frozenset({"signed integer", "unsigned integer"})
FLOAT: Final = frozenset({"float"})
COMPLEX: Final = frozenset({"complex"})
INEXACT: Final = FLOAT | COMPLEX
NUMBER: Final = INTEGER | INEXACT
SIGNED_NUMBER: Final = SIGNED | INEXACT
ORDERED: Final = BOOL | INTEGER | FLOAT
BITS: Final = BOOL | INTEGER
ANY: Final = BOOL | NUMBER
EXTENDED: Final = frozenset({"extended"})

_KINDS: Final[dict[DType, str]] = {
    bool_: "bool",
    **dict.fromkeys((*SIGNED_DTYPES, *NARROW_SIGNED_DTYPES), "signed integer"),
    **dict.fromkeys((*UNSIGNED_DTYPES, *NARROW_UNSIGNED_DTYPES), "unsigned integer"),
    **dict.fromkeys((*FLOAT_DTYPES, *NARROW_FLOAT_DTYPES), "float"),
    **dict.fromkeys(COMPLEX_DTYPES, "complex"),
    float0: "float0",
}


def kind_of(dtype: DType) -> str:
    """The kind of a dtype, such as ``"float"``; ``"extended"`` for those that plugins define.

    >>> kind_of(np.dtype("uint8")), kind_of(np.dtype("complex64"))
    ('unsigned integer', 'complex')
    """
    return _KINDS.get(dtype) or ("extended" if is_extended(dtype) else "unsupported")


@cache
def integer_limits(dtype: DType) -> tuple[int, int]:
    """The least and greatest value of an integer dtype.

    >>> integer_limits(np.dtype("int8"))
    (-128, 127)
    """
    info: Any = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    return int(info.min), int(info.max)


def is_inexact(dtype: DType) -> bool:
    """Test for real or complex floats, the dtypes that have derivatives.

    >>> is_inexact(np.dtype("complex64")), is_inexact(np.dtype("int32"))
    (True, False)
    """
    return _KINDS.get(dtype) in INEXACT


def is_complex(dtype: DType) -> bool:
    """Test for complex dtypes.

    >>> is_complex(np.dtype("complex64")), is_complex(np.dtype("float32"))
    (True, False)
    """
    return dtype.kind == "c"


def is_integer(dtype: DType) -> bool:
    """Test for signed or unsigned integers (booleans are none).

    >>> is_integer(np.dtype("uint8")), is_integer(np.dtype("bool"))
    (True, False)
    """
    return _KINDS.get(dtype) in INTEGER


def real_dtype(dtype: DType) -> DType:
    """The dtype of the real part of values of a dtype.

    >>> real_dtype(np.dtype("complex64")), real_dtype(np.dtype("int8"))
    (dtype('float32'), dtype('int8'))
    """
    return _REAL_OF.get(dtype, dtype)


def complex_dtype(dtype: DType) -> DType:
    """The complex dtype whose parts have a real dtype."""
    return COMPLEX_DTYPES[1] if dtype == np.float64 else COMPLEX_DTYPES[0]


def inexact_dtype(dtype: DType) -> DType:
    """The float dtype in which values of a dtype are divided: 64-bit integers need 64 bits.

    >>> inexact_dtype(np.dtype("int8")), inexact_dtype(np.dtype("int64"))
    (dtype('float32'), dtype('float64'))
    """
    if is_inexact(dtype):
        return dtype
    return np.dtype(np.float64) if dtype.itemsize == 8 else float32


def summed_dtype(dtype: DType) -> DType:
    """The dtype in which arrays of a dtype are summed: at least the default for integers.

    >>> summed_dtype(np.dtype("bool")), summed_dtype(np.dtype("int64"))
    (dtype('int32'), dtype('int64'))
    """
    if dtype == bool_:
        return default_dtype("int")
    if not is_integer(dtype):
        return dtype
    wide = default_dtype("int")
    if _KINDS[dtype] == "unsigned integer":
        wide = UNSIGNED_DTYPES[3] if config.dtype_bits == 64 else UNSIGNED_DTYPES[2]
    return max(dtype, wide, key=lambda d: d.itemsize)


_REAL_OF: Final[dict[DType, DType]] = dict(zip(COMPLEX_DTYPES, FLOAT_DTYPES[2:], strict=True))

_ACCUMULATOR: Final[dict[DType, DType]] = {
    **dict.fromkeys((bfloat16, np.dtype(np.float16), *NARROW_FLOAT_DTYPES), float32),
    **dict.fromkeys((*NARROW_SIGNED_DTYPES, *NARROW_UNSIGNED_DTYPES), np.dtype(np.int32)),
}

_BYTE: Final[dict[DType, DType]] = {
    **dict.fromkeys(NARROW_SIGNED_DTYPES, SIGNED_DTYPES[0]),
    **dict.fromkeys(NARROW_UNSIGNED_DTYPES, UNSIGNED_DTYPES[0]),
    np.dtype(ml_dtypes.float4_e2m1fn): float32,
}


def accumulator_dtype(dtype: DType) -> DType:
    """The dtype in which sums of narrow values are formed before they are rounded once."""
    return _ACCUMULATOR.get(dtype, dtype)


def summing_dtype(dtype: DType) -> DType:
    """The dtype of compiled sums and products: XLA rounds floats of 16 bits within them."""
    return accumulator_dtype(dtype) if is_inexact(dtype) else dtype


def byte_dtype(dtype: DType) -> DType:
    """The dtype of at least a byte that has all values of a dtype: int8 for int2 and int4."""
    return _BYTE.get(dtype, dtype)


def smallest(dtype: DType) -> Any:
    """The least value of an ordered dtype: minus infinity, the least integer, or False.

    >>> smallest(np.dtype("int8")), smallest(np.dtype("bool"))
    (-128, False)
    """
    return _extreme(dtype, 0)


def largest(dtype: DType) -> Any:
    """The greatest value of an ordered dtype: infinity, the greatest integer, or True."""
    return _extreme(dtype, 1)


def _extreme(dtype: DType, end: int) -> Any:
    if dtype == bool_:
        return bool(end)
    if is_integer(dtype):
        return integer_limits(dtype)[end]
    info: Any = ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]
    infinity = np.array((-np.inf, np.inf)[end]).astype(dtype)
    return infinity[()] if np.isinf(infinity.astype(np.float64)) else (info.min, info.max)[end]


_DEFAULTS: Final[dict[tuple[str, int], DType]] = {
    ("int", 32): np.dtype(np.int32),
    ("int", 64): np.dtype(np.int64),
    ("float", 32): np.dtype(np.float32),
    ("float", 64): np.dtype(np.float64),
    ("complex", 32): np.dtype(np.complex64),
    ("complex", 64): np.dtype(np.complex128),
}


def _family(dtype: DType) -> str:
    return "int" if is_integer(dtype) else kind_of(dtype)


def default_dtype(family: str) -> DType:
    """The dtype of created arrays of a family when none is named.

    Args:
        family: ``"bool"``, ``"int"``, ``"float"`` or ``"complex"``.

    The width is ``config.dtype_bits``; complex numbers have two parts of that width.

    >>> default_dtype("float")
    dtype('float32')
    """
    return bool_ if family == "bool" else _DEFAULTS[family, config.dtype_bits]


def canonical_dtype(dtype: Any) -> DType:
    """The NumPy dtype that a dtype argument names.

    Python's ``bool``, ``int``, ``float`` and ``complex`` mean the default dtype of their family;
    whatever names a width is honoured as it is, unless ``config.enable_x64`` is False: then 64 bits
    become 32, with a warning.

    Raises:
        TypeError: when the argument names no dtype that arrays can have.

    >>> canonical_dtype(float), canonical_dtype("float64")
    (dtype('float32'), dtype('float64'))
    """
    found = named_dtype(dtype)
    admitted = canonicalize_dtype(found) if config.enable_x64 is False else found
    if admitted is not found:
        warn_user(
            f"{dtype_name(found)} is asked for, but config.enable_x64 is False, so that the "
            f"dtype is {admitted.name}; set it to True or 'explicit' for 64 bits. This is at "
            f"{user_source_info(1)}.",
            UserWarning,
        )
    return admitted


def named_dtype(dtype: Any) -> DType:
    """The NumPy dtype that a dtype argument names, whether arrays can have it now or not.

    >>> named_dtype("bfloat16"), named_dtype(complex)
    (dtype(bfloat16), dtype('complex64'))
    """
    if isinstance(dtype, np.dtype):
        found: DType = dtype
    elif dtype in (bool, int, float, complex):
        return default_dtype(dtype.__name__)
    elif dtype is None:  # which NumPy takes for float64
        raise TypeError("None does not name a dtype; give for example float or 'float32'.")
    else:
        try:
            known = isinstance(dtype, str) and dtype in _BY_NAME
            found = _BY_NAME[dtype] if known else np.dtype(dtype)
        except (KeyError, TypeError) as error:
            raise TypeError(
                f"{dtype!r} does not name a dtype of arrays; give for example 'float32', "
                f"'bfloat16', numpy.int32 or bool."
            ) from error
    if found not in _KINDS and not is_extended(found):
        raise TypeError(
            f"arrays cannot have the dtype {found}; legal are booleans, integers, floats and "
            f"complex numbers."
        )
    return found


_BY_NAME: Final = {dtype.name: dtype for dtype in _KINDS if dtype != float0}
"""NumPy knows those of ml_dtypes only once it is asked for their types."""


_WEAK_NODE: Final = {"int": "int*", "float": "float*", "complex": "complex*"}


class Promotion(NamedTuple):
    """The default width and the two settings that the promotion of dtypes depends on.

    >>> from bindax_core import config
    >>> config.promotion
    Promotion(bits=..., enable_x64=..., numpy_dtype_promotion='standard')
    """

    bits: int
    enable_x64: Literal["explicit"] | bool
    numpy_dtype_promotion: str


_interned = lru_cache(maxsize=4096)(Promotion)  # so that keys compare by identity first


@derived_setting
def promotion(values: Mapping[str, Any]) -> Promotion:
    """The settings that the promotion of dtypes depends on, for the keys of caches."""
    names = ("dtype_bits", "enable_x64", "numpy_dtype_promotion")
    return _interned(*[values[name] for name in names])


def promote_avals(operands: tuple[tuple[DType, bool], ...], mode: Promotion) -> tuple[DType, bool]:
    """The dtype and weak type to which operands promote together, where 64 bits may be disabled.

    Args:
        operands: the dtype and weak type of each.
        mode: ``config.promotion``.

    >>> integers, python_float = (np.dtype("int8"), False), (np.dtype("float64"), True)
    >>> promote_avals((integers, python_float), config.promotion)
    (dtype('float32'), True)
    """
    dtype, weak = least_upper_bound(operands, mode)
    return (canonicalize_dtype(dtype) if _are_admitted(operands) else dtype), weak


def _are_admitted(operands: Iterable[tuple[DType, bool]]) -> bool:
    return all(canonicalize_dtype(dtype) == dtype for dtype, _ in operands)


@lru_cache(maxsize=4096)
def least_upper_bound(
    operands: tuple[tuple[DType, bool], ...], mode: Promotion
) -> tuple[DType, bool]:
    """The dtype and weak type to which operands promote; ``mode`` is ``config.promotion``.

    A result that is weak without an operand of its family and width takes the default dtype. Weak
    64-bit operands are Python scalars; where weak operands of both widths meet, the narrower wins,
    so that a Python scalar gives the same dtype traced and untraced.
    """
    if len(set(operands)) == 1:
        return operands[0]
    if mode.numpy_dtype_promotion == "strict":
        require_one_dtype(operands, kind_of)
    bits = mode.bits
    nodes = {_WEAK_NODE.get(_family(d), d) if weak else d for d, weak in operands}
    common = frozenset.intersection(*(BOUNDS.get(node, frozenset()) for node in nodes))
    least = [node for node in common if common <= BOUNDS[node]]
    if not least:
        names = ", ".join(dtype_name(dtype) for dtype, _ in operands)
        raise TypePromotionError(
            f"the dtypes {names} have no implicit promotion to a common dtype; convert the "
            f"operands explicitly with .astype(dtype) or lax.convert_element_type(x, dtype)."
        )
    node = least[0]
    if not isinstance(node, str):
        return node, False
    if all(weak for _, weak in operands):
        # Only the scalars' own width is at stake: 64 among Python scalars, else the arrays'.
        bits = 64 if all(real_dtype(d).itemsize == 8 for d, _ in operands) else 32
        family = node[:-1]
        narrow = [d for d, _ in operands if _family(d) == family]
        if narrow and bits == 32:
            return min(narrow, key=lambda d: d.itemsize), True
    return _DEFAULTS[node[:-1], bits], True


def promote_types(a: Any, b: Any) -> DType:
    """The dtype to which values of two dtypes promote.

    Args:
        a: a dtype or what names one; Python's numbers are weak, None is the default float.
        b: likewise.

    Raises:
        TypeError: when the two have no common dtype (the narrow floats and integers).

    >>> promote_types("int32", "bfloat16"), promote_types("uint8", "int8")
    (dtype(bfloat16), dtype('int16'))
    """
    pair = (_dtype_operand(a), _dtype_operand(b))
    mode = config.promotion
    return promote_avals(pair, mode if _are_admitted(pair) else mode._replace(bits=64))[0]


def result_type(*operands: Any) -> DType:
    """The dtype that an operation on arrays, scalars and dtypes promotes to.

    Args:
        *operands: at least one array, scalar, or what ``promote_types`` takes.

    Raises:
        TypeError: when there is no common dtype.

    >>> result_type(np.zeros(3, np.float16), 2.0), result_type(np.int32(1), 2.0)
    (dtype('float16'), dtype('float32'))
    """
    if not operands:
        raise TypeError("result_type needs at least one array, scalar or dtype.")
    named = [_dtype_operand(x) for x in operands]
    pairs = tuple([(canonicalize_dtype(dtype), weak) for dtype, weak in named])
    dtype, weak = promote_avals(pairs, config.promotion)
    return default_dtype(_family(dtype)) if weak else dtype


def joined_dtype(*found: DType) -> DType:
    """The dtype to which dtypes promote whatever the settings: for what a function computes inside.

    >>> joined_dtype(np.dtype("float32"), np.dtype("int64"))
    dtype('float32')
    """
    mode = config.promotion._replace(numpy_dtype_promotion="standard")
    return promote_avals(tuple([(dtype, False) for dtype in found]), mode)[0]


def _dtype_operand(x: Any) -> tuple[DType, bool]:
    if x is None or isinstance(x, (str, np.dtype)):
        return named_dtype(float if x is None else x), False
    if isinstance(x, type):
        return named_dtype(x), x in (int, float, complex)
    aval = typeof(x) if is_value(x) or not hasattr(x, "dtype") else x
    return aval.dtype, getattr(aval, "weak_type", False)


def settled_dtype(aval: ShapedArray) -> DType:
    """The dtype that a value has in an array: the default one for a weak number without axes."""
    if not aval.weak_type or aval.shape:
        return aval.dtype
    wanted = default_dtype(_family(aval.dtype))
    return wanted if wanted.itemsize < aval.dtype.itemsize else aval.dtype


def promotes_within_kind(aval: ShapedArray, dtype: DType) -> bool:
    """Test whether a weak operand may adopt a dtype within its family (float to float)."""
    return aval.weak_type and _family(aval.dtype) == _family(dtype)
