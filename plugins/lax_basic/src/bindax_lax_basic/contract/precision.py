"""Precision of products: dtypes of operands, and whole algorithms."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from bindax_core.extend import config, typeof
from bindax_lax_basic import dtypes
from bindax_lax_basic.dtypes import ANY, DType
from bindax_lax_basic.elementwise.bit_patterns import reduce_precision
from bindax_lax_basic.elementwise.conversion import convert

__all__ = ["DotAlgorithm", "DotAlgorithmPreset", "Precision", "PrecisionLike"]


class Precision(enum.Enum):
    """Precision with which a backend multiplies floats where it has a choice.

    >>> from bindax_lax_basic import dot
    >>> dot(np.ones((1, 2)), np.ones((2, 1)), precision=Precision.HIGHEST)
    Array([[2.]], dtype=float64)
    """

    DEFAULT = 0
    HIGH = 1
    HIGHEST = 2


class DotAlgorithm(NamedTuple):
    """An algorithm for products: what operands are rounded to, and what sums are formed in.

    Attributes:
        lhs_precision_type: the dtype that the left operand is rounded to, or ``"tf32"``, the
            format with the exponent of float32 and 10 bits of mantissa.
        rhs_precision_type: the same for the right operand.
        accumulation_type: the dtype that sums are formed in.
        lhs_component_count: into how many parts the left operand is split.
        rhs_component_count: the same for the right operand.
        num_primitive_operations: how many products of parts are summed. With more than one,
            operands are not rounded: the parts together are as precise as what they are parts of,
            up to what the compiler omits.
        allow_imprecise_accumulation: whether some sums may be formed in a narrower dtype.

    >>> DotAlgorithm("bfloat16", "bfloat16", np.float32).num_primitive_operations
    1
    """

    lhs_precision_type: Any
    rhs_precision_type: Any
    accumulation_type: Any
    lhs_component_count: int = 1
    rhs_component_count: int = 1
    num_primitive_operations: int = 1
    allow_imprecise_accumulation: bool = False


class DotAlgorithmPreset(enum.Enum):
    """Algorithms for products by name: the types of operands, and that of sums.

    ``ANY`` as the last word means that sums have the dtype of the result; ``X3`` that as many
    products of parts of the operands are summed; ``FAST_ACCUM`` that sums may be imprecise.

    >>> from bindax_lax_basic import dot
    >>> x = np.ones((2, 2), np.float32)
    >>> dot(x, x, precision=DotAlgorithmPreset.F32_F32_F32)[0]
    Array([2., 2.], dtype=float32)
    """

    DEFAULT = enum.auto()
    ANY_F8_ANY_F8_F32 = enum.auto()
    ANY_F8_ANY_F8_F32_FAST_ACCUM = enum.auto()
    ANY_F8_ANY_F8_ANY = enum.auto()
    ANY_F8_ANY_F8_ANY_FAST_ACCUM = enum.auto()
    F16_F16_F16 = enum.auto()
    F16_F16_F32 = enum.auto()
    BF16_BF16_BF16 = enum.auto()
    BF16_BF16_F32 = enum.auto()
    BF16_BF16_F32_X3 = enum.auto()
    BF16_BF16_F32_X6 = enum.auto()
    BF16_BF16_F32_X9 = enum.auto()
    TF32_TF32_F32 = enum.auto()
    TF32_TF32_F32_X3 = enum.auto()
    F32_F32_F32 = enum.auto()
    F64_F64_F64 = enum.auto()


PrecisionPair = tuple[Precision, Precision] | None
ProductPrecision = PrecisionPair | DotAlgorithm
"""The parameter ``precision`` of ``dot_general_p``."""
PrecisionLike = (
    str
    | Precision
    | tuple[str, str]
    | tuple[Precision, Precision]
    | DotAlgorithm
    | DotAlgorithmPreset
    | None
)
"""Legal arguments ``precision``."""

_PRECISIONS = {
    "default": Precision.DEFAULT,
    "bfloat16": Precision.DEFAULT,
    "fastest": Precision.DEFAULT,
    "high": Precision.HIGH,
    "bfloat16_3x": Precision.HIGH,
    "tensorfloat32": Precision.HIGH,
    "highest": Precision.HIGHEST,
    "float32": Precision.HIGHEST,
}
_TF32 = "tf32"
_FORMATS = {"F16": "float16", "BF16": "bfloat16", "TF32": _TF32, "F32": "float32", "F64": "float64"}
_NAMES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
}
"""The dtypes that products are computed in, with their names in StableHLO."""


def precision_argument(value: Any) -> PrecisionPair:
    """The precision of either operand, from what users write: a ``Precision``, a name, or two."""
    if value is None:
        value = config.default_matmul_precision
        if value is None or value in DotAlgorithmPreset.__members__:  # those are of dot products
            return None
    pair = value if isinstance(value, (tuple, list)) else (value, value)
    try:
        first, second = (
            p if isinstance(p, Precision) else _PRECISIONS[str(p).lower()] for p in pair
        )
    except (KeyError, ValueError):
        raise ValueError(
            f"precision must be None, a Precision, one of {list(_PRECISIONS)}, or a pair of "
            f"them, or for products of arrays a DotAlgorithm, a DotAlgorithmPreset or its name, "
            f"but got {value!r}."
        ) from None
    return first, second


def precision_name(value: Any) -> str | None:
    """Check the value of ``config.default_matmul_precision``."""
    known = (*_PRECISIONS, *DotAlgorithmPreset.__members__)
    if value is None or (isinstance(value, str) and (value in known or value.lower() in known)):
        return value
    raise ValueError(f"None or one of {', '.join(map(repr, known))}")


def product_precision(value: Any, lhs: DType, rhs: DType, result: DType) -> ProductPrecision:
    """Interpret ``precision`` of a product for operands and a result of these dtypes."""
    value = config.default_matmul_precision if value is None else value
    if isinstance(value, str) and value in DotAlgorithmPreset.__members__:
        value = DotAlgorithmPreset[value]
    if value is DotAlgorithmPreset.DEFAULT:
        return None
    if isinstance(value, DotAlgorithmPreset):
        return _algorithm_of_preset(value, lhs, rhs, result)
    if not isinstance(value, DotAlgorithm):
        return precision_argument(value)
    left, right, accumulation = map(_format, value[:3])
    if accumulation == _TF32:
        raise ValueError("DotAlgorithm: accumulation_type must be a dtype, but it is 'tf32'.")
    return DotAlgorithm(left, right, accumulation, *value[3:])


def _format(value: Any) -> Any:
    """A dtype of floats, or ``tf32``."""
    if isinstance(value, str) and value == _TF32:
        return _TF32
    dtype = dtypes.canonical_dtype(value)
    if dtype.name not in _NAMES:
        raise ValueError(
            f"DotAlgorithm takes 'tf32' or one of the dtypes {', '.join(_NAMES)}, but got "
            f"{dtype.name}."
        )
    return dtype


def _algorithm_of_preset(
    preset: DotAlgorithmPreset, lhs: DType, rhs: DType, result: DType
) -> DotAlgorithm:
    imprecise = preset.name.endswith("_FAST_ACCUM")
    words = preset.name.removesuffix("_FAST_ACCUM").split("_")
    if words[0] == "ANY":
        if not (lhs.name.startswith("float8") and rhs.name.startswith("float8")):
            raise ValueError(
                f"the precision {preset.name} takes operands of float8 dtypes, but they are "
                f"{lhs.name} and {rhs.name}."
            )
        wide = words[-1] == "ANY" and result.name in ("float16", "bfloat16", "float64")
        accumulation = result if wide else np.dtype(np.float32)
        return DotAlgorithm(lhs, rhs, accumulation, allow_imprecise_accumulation=imprecise)
    operations = int(words.pop()[1:]) if words[-1].startswith("X") else 1
    left, right, accumulation = (_format(_FORMATS[word]) for word in words)
    return DotAlgorithm(left, right, accumulation, num_primitive_operations=operations)


def rounded(lhs: Any, rhs: Any, algorithm: DotAlgorithm) -> list[Any]:
    """Operands as an algorithm takes them; in the dtype of sums where it takes two formats."""
    forms = [algorithm.lhs_precision_type, algorithm.rhs_precision_type]
    if algorithm.num_primitive_operations > 1:
        forms = [algorithm.accumulation_type] * 2
    operands = [_rounded_to(form, x) for x, form in zip((lhs, rhs), forms, strict=True)]
    if typeof(operands[0]).dtype == typeof(operands[1]).dtype:
        return operands
    wide = algorithm.accumulation_type
    return [convert(x, wide, typeof(x).weak_type) for x in operands]


def _rounded_to(form: Any, x: Any) -> Any:
    weak = typeof(x).weak_type
    if form != _TF32:
        return convert(x, form, weak)
    return reduce_precision(convert(x, np.dtype(np.float32), weak), 8, 10)


def swapped(precision: ProductPrecision) -> ProductPrecision:
    """The precision of a product whose operands change places."""
    if not isinstance(precision, DotAlgorithm):
        return None if precision is None else (precision[1], precision[0])
    lhs, rhs, accumulation, lhs_count, rhs_count = precision[:5]
    return DotAlgorithm(rhs, lhs, accumulation, rhs_count, lhs_count, *precision[5:])


def precision_attributes(precision: ProductPrecision) -> dict[str, str]:
    """The attributes of StableHLO's products that say how they are computed."""
    if not isinstance(precision, DotAlgorithm):
        return {"precision_config": precision_attribute(precision)}
    types = [form if form == _TF32 else _NAMES[form.name] for form in precision[:3]]
    imprecise = str(precision.allow_imprecise_accumulation).lower()
    pairs = zip(DotAlgorithm._fields, [*types, *precision[3:6], imprecise], strict=True)
    fields = ", ".join(f"{name} = {value}" for name, value in pairs)
    return {
        "precision_config": precision_attribute(None),
        "algorithm": f"#stablehlo.dot_algorithm<{fields}>",
    }


def precision_attribute(precision: PrecisionPair) -> str:
    """The text of the attribute ``precision_config``."""
    names = precision or (Precision.DEFAULT, Precision.DEFAULT)
    return f"[{', '.join(f'#stablehlo<precision {p.name}>' for p in names)}]"


def element_type_argument(value: Any) -> DType | None:
    """The dtype of a result, from what users write; None for that of the operands."""
    return None if value is None else dtypes.canonical_dtype(value)


def of_one_dtype(lhs: Any, rhs: Any, wanted: DType | None) -> tuple[Any, Any]:
    """Operands in the dtype of the result, or in the wider one of their own."""
    own = typeof(lhs).dtype, typeof(rhs).dtype
    if own[0] == own[1] or not all(dtypes.kind_of(dtype) in ANY for dtype in own):
        return lhs, rhs
    wider = max(own, key=_breadth)
    if wanted is not None and (dtypes.is_complex(wanted) or not dtypes.is_complex(wider)):
        wider = wanted
    first, second = (convert(x, wider, typeof(x).weak_type) for x in (lhs, rhs))
    return first, second


def _breadth(dtype: DType) -> tuple[Any, ...]:
    """By which products order dtypes: complex ones, floats by range and precision, integers."""
    if dtypes.is_inexact(dtype):
        part = dtypes.real_dtype(dtype)
        info: Any = ml_dtypes.finfo(part)  # type: ignore[no-untyped-call]
        return dtypes.is_complex(dtype), info.maxexp, info.nmant, info.bits, True
    if dtype == dtypes.bool_:
        return False, -1, -1, 1, True
    low, high = dtypes.integer_limits(dtype)
    return False, -1, -1, (high - low).bit_length(), low < 0
