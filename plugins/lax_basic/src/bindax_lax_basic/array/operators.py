"""The operators and methods of arrays and tracers. They promote dtypes and broadcast shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from ml_dtypes import finfo

from bindax_core.errors import ShapeError
from bindax_core.extend import (
    Array,
    Primitive,
    config,
    hide_internal_frames,
    is_masked,
    is_value,
    typeof,
    unknown_type_error,
)
from bindax_lax_basic import dtypes
from bindax_lax_basic.array import comparisons
from bindax_lax_basic.array.indexing import getitem, iterate
from bindax_lax_basic.contract.dot_general import PLAIN, dot_general, dot_general_p
from bindax_lax_basic.dtypes import DType
from bindax_lax_basic.elementwise.arithmetic import add_p, mul_p, neg_p, sub_p
from bindax_lax_basic.elementwise.bits import (
    shift_left_p,
    shift_right_arithmetic_p,
    shift_right_logical_p,
)
from bindax_lax_basic.elementwise.comparison import (
    and_p,
    eq_p,
    ge_p,
    lt_p,
    ne_p,
    not_p,
    or_p,
    xor_p,
)
from bindax_lax_basic.elementwise.complex_numbers import complex_p, imag_p, real_p
from bindax_lax_basic.elementwise.conversion import convert
from bindax_lax_basic.elementwise.division import div_p
from bindax_lax_basic.elementwise.powers import integer_pow_p, pow_p
from bindax_lax_basic.elementwise.remainder import rem_p
from bindax_lax_basic.elementwise.rounding import RoundingMethod, round_p
from bindax_lax_basic.elementwise.selection import kept_where, select_scalars
from bindax_lax_basic.elementwise.sign import abs_p, sign_p
from bindax_lax_basic.rules.operands import (
    broadcast_arrays,
    broadcast_shapes,
    convert_operand,
    operator_operands,
    promote_dtypes,
    promote_inexact,
    promoted_type,
    scalar_array,
)
from bindax_lax_basic.rules.types import static_int
from bindax_lax_basic.shape.broadcast_and_reduce_sum import broadcast_to

Operator = Callable[[Any, Any], Any]


def _refused(x: Any, other: Any, name: str) -> Any:
    """The answer of an operator to what is no operand; to a list it is an error, as in JAX.

    Python would repeat it, or tell that it equals no array. Masked arrays would take over.
    """
    if is_masked(other):
        raise unknown_type_error(other, f"__{name}__: ")
    if type(other) not in (list, tuple, set, dict):
        return NotImplemented
    kind = type(other).__name__
    raise TypeError(
        f"unsupported operand types for __{name}__: {type(x).__name__} and {kind}; make an array "
        f"of the {kind} first, as with bindax.numpy.asarray."
    )


def _binary(name: str, function: Operator) -> dict[str, Any]:
    """The operator of a name without underscores, and its reflection."""

    # Each is an api_boundary written out, which costs nothing where nothing is raised.
    def forward(self: Any, other: Any) -> Any:
        try:
            if not is_value(other):
                return _refused(self, other, name)
            return function(self, other)
        except Exception as error:
            hide_internal_frames(error)
            raise

    def reflected(self: Any, other: Any) -> Any:
        try:
            if not is_value(other):
                return _refused(self, other, f"r{name}")
            return function(other, self)
        except Exception as error:
            hide_internal_frames(error)
            raise

    forward.__name__, reflected.__name__ = f"__{name}__", f"__r{name}__"
    return {f"__{name}__": forward, f"__r{name}__": reflected}


def _unary(name: str, function: Callable[[Any], Any]) -> dict[str, Any]:
    def operator(self: Any) -> Any:
        try:
            return function(self)
        except Exception as error:
            hide_internal_frames(error)
            raise

    operator.__name__ = f"__{name}__"
    return {f"__{name}__": operator}


# --------------------------------------------------------------------------------- arithmetic


def add(x: Any, y: Any) -> Any:
    """``x + y``; of booleans, whether either holds."""
    x, y, dtype = operator_operands(x, y)
    return (or_p if dtype.kind == "b" else add_p).bind(x, y)


def subtract(x: Any, y: Any) -> Any:
    """``x - y``."""
    x, y, _ = operator_operands(x, y)
    return sub_p.bind(x, y)


def multiply(x: Any, y: Any) -> Any:
    """``x * y``; of booleans, whether both hold; False times infinity is 0."""
    left, right, dtype = operator_operands(x, y)
    if dtype.kind == "b":
        return and_p.bind(left, right)
    # A mask beside numbers was converted.
    if left is not x and type(x) is not float and _is_mask(x, dtype):
        return kept_where(x, right)
    if right is not y and type(y) is not float and _is_mask(y, dtype):
        return kept_where(y, left)
    return mul_p.bind(left, right)


def _is_mask(x: Any, dtype: DType) -> bool:
    """Tell whether an operand is of booleans, beside one of a dtype that has infinity."""
    return typeof(x).dtype.kind == "b" and dtypes.is_inexact(dtype)


def true_divide(x: Any, y: Any) -> Any:
    """``x / y``, a float also for integers."""
    x, y = broadcast_arrays(*promote_inexact(x, y))
    return div_p.bind(x, y)


def _is_zero(x: Any) -> Any:
    return eq_p.bind(x, scalar_array(0, typeof(x).dtype))


def _is_negative(x: Any) -> Any:
    return lt_p.bind(x, scalar_array(0, typeof(x).dtype))


def _numbers(x: Any, y: Any) -> tuple[Any, Any, DType]:
    """``operator_operands``, and booleans as integers."""
    x, y, dtype = operator_operands(x, y)
    if dtype.kind != "b":
        return x, y, dtype
    dtype = dtypes.default_dtype("int")
    x, y = (convert_operand(v, typeof(v), dtype, False) for v in (x, y))
    return x, y, dtype


def floor_divide(x: Any, y: Any) -> Any:
    """``x // y``, rounded towards minus infinity."""
    x, y, dtype = _numbers(x, y)
    kind = dtypes.kind_of(dtype)
    if kind == "unsigned integer":
        return div_p.bind(x, y)
    if kind == "complex":
        raise TypeError(f"x // y is not defined for complex numbers, here {dtype.name}.")
    if kind == "float":
        # From the remainder, which is exact, as the quotient of the rest is.
        remainder = rem_p.bind(x, y)
        quotient = _rounded(div_p.bind(sub_p.bind(x, remainder), y))
        less = sub_p.bind(quotient, scalar_array(1, dtype))
        quotient = select_scalars(_signs_differ(remainder, y), quotient, less)
        # By zero there is no remainder; the quotient is infinite, or not a number.
        by_zero = broadcast_to(_is_zero(y), typeof(quotient).shape)
        return select_scalars(by_zero, quotient, _rounded(div_p.bind(x, y)))
    quotient, remainder = div_p.bind(x, y), rem_p.bind(x, y)
    less = sub_p.bind(quotient, scalar_array(1, dtype))
    # By zero, where the sign of the divisor is none, as in JAX.
    inexact = and_p.bind(not_p.bind(_is_zero(remainder)), ne_p.bind(sign_p.bind(x), sign_p.bind(y)))
    return select_scalars(inexact, quotient, less)


def _rounded(x: Any) -> Any:
    return round_p.bind(x, rounding_method=RoundingMethod.AWAY_FROM_ZERO)


def _signs_differ(remainder: Any, divisor: Any) -> Any:
    nonzero = not_p.bind(_is_zero(remainder))
    return and_p.bind(nonzero, ne_p.bind(_is_negative(remainder), _is_negative(divisor)))


def remainder(x: Any, y: Any) -> Any:
    """``x % y``, with the sign of ``y``."""
    x, y, dtype = _numbers(x, y)
    if dtypes.is_complex(dtype):
        raise TypeError("x % y is not defined for complex numbers.")
    rest = truncated_remainder(x, y)
    if dtypes.kind_of(dtype) == "unsigned integer":
        return rest
    return select_scalars(_signs_differ(rest, y), rest, add_p.bind(rest, y))


def truncated_remainder(x: Any, y: Any) -> Any:
    """The remainder with the sign of ``x``; of integers by zero it is zero."""
    dtype = typeof(x).dtype
    if not dtypes.is_integer(dtype):
        return rem_p.bind(x, y)
    return rem_p.bind(x, select_scalars(_is_zero(y), y, scalar_array(1, dtype)))


def divide_with_remainder(x: Any, y: Any) -> tuple[Any, Any]:
    """``divmod(x, y)``."""
    return floor_divide(x, y), remainder(x, y)


def power(x: Any, y: Any) -> Any:
    """``x ** y``; an integer whose value is known is a fixed exponent, with exact derivatives."""
    if isinstance(y, np.integer):
        y = int(y)
    base = typeof(x)
    is_number = base.dtype.kind != "b"
    if is_number and type(y) is int:
        return _fixed_power(x, y)
    exponent = typeof(y)
    if is_number and isinstance(y, (Array, np.ndarray)) and _is_known_integer(y):
        dtype, _ = promoted_type(config.promotion, base, exponent)
        weak = base.weak_type and (exponent.weak_type or dtypes.is_inexact(dtype))
        return _fixed_power(convert(x, dtype, weak), int(y))
    integral = dtypes.is_integer(exponent.dtype) and not exponent.weak_type
    if integral and dtypes.is_inexact(base.dtype):
        # The exponent decides how wide a Python number is, and never that the result is strong.
        dtype, _ = promoted_type(config.promotion, base, exponent)
        x = convert_operand(x, base, dtype, base.weak_type)
        return pow_p.bind(*broadcast_arrays(x, convert(y, exponent.dtype, base.weak_type)))
    x, y, dtype = _numbers(x, y)
    if dtypes.is_inexact(dtype):
        return pow_p.bind(x, y)
    return _integer_power(x, y, base.weak_type and exponent.weak_type)


def _is_known_integer(y: Any) -> bool:
    """Tell whether ``y`` is an integer without axes that this process can read."""
    if y.shape or not dtypes.is_integer(y.dtype):
        return False
    return type(y) is not Array or y.is_fully_addressable


def _fixed_power(x: Any, y: int) -> Any:
    if y < 0 and not dtypes.is_inexact(typeof(x).dtype):
        raise TypeError(
            f"integers cannot be raised to the negative power {y}; convert the array with "
            f".astype('float32') first."
        )
    return integer_pow_p.bind(x, y=y)


def _integer_power(x: Any, y: Any, weak: bool) -> Any:
    """Integers to integer powers by squaring, for as many bits as an exponent can use.

    A negative power is the reciprocal without its fraction: 1 or -1 for those bases, otherwise 0.
    """
    shape = broadcast_shapes(typeof(x).shape, typeof(y).shape)
    x, y = broadcast_to(x, shape), broadcast_to(y, shape)
    dtype = typeof(x).dtype
    zero, one, two = (scalar_array(n, dtype) for n in (0, 1, 2))
    if dtypes.kind_of(dtype) == "signed integer":
        unit = or_p.bind(eq_p.bind(x, one), eq_p.bind(x, scalar_array(-1, dtype)))
        x = select_scalars(or_p.bind(unit, ge_p.bind(y, zero)), zero, x)
    result = broadcast_to(one, shape)
    # Exponents of 64 and more overflow for every base but -1, 0 and 1, whose powers repeat.
    for _ in range(dtype.itemsize * 8):
        odd = not_p.bind(_is_zero(rem_p.bind(y, two)))
        result = select_scalars(odd, result, mul_p.bind(result, x))
        x = mul_p.bind(x, x)
        y = div_p.bind(y, two)
    return convert(result, dtype, weak)


def matmul(x: Any, y: Any) -> Any:
    """``x @ y``: the matrix product, over stacks of matrices where there are more axes."""
    x, y = promote_dtypes(x, y)
    a, b = typeof(x).shape, typeof(y).shape
    if not a or not b:
        raise ShapeError("x @ y takes vectors, matrices and stacks of them; for scalars use x * y.")
    contract = ((len(a) - 1,), (max(0, len(b) - 2),))
    if a[-1] != b[contract[1][0]]:
        raise TypeError(
            f"x @ y: the last axis of {typeof(x).str_short()} and the "
            f"{'only' if len(b) == 1 else 'second last'} axis of {typeof(y).str_short()} must have "
            f"equal sizes, but they are {a[-1]} and {b[contract[1][0]]}."
        )
    if len(a) <= 2 and len(b) <= 2:
        return _dot(x, y, PLAIN[len(a)])
    return _stacked_matmul(x, y, a, b)


def _dot(x: Any, y: Any, numbers: Any) -> Any:
    if config.default_matmul_precision is not None:
        return dot_general(x, y, numbers)
    return dot_general_p.bind(
        x, y, dimension_numbers=numbers, precision=None, preferred_element_type=None
    )


def _stacked_matmul(x: Any, y: Any, a: tuple[int, ...], b: tuple[int, ...]) -> Any:
    stack = broadcast_shapes(a[:-2], b[:-2])
    n = len(stack)
    if len(a) > 1:
        x = broadcast_to(x, (*stack, *a[-2:]))
    if len(b) > 1:
        y = broadcast_to(y, (*stack, *b[-2:]))
    batch = tuple(range(n))
    if len(a) == 1:
        # (k) @ (*stack, k, m): contract with the stack's axes left in the result.
        return _dot(x, y, (((0,), (n,)), ((), ())))
    if len(b) == 1:
        return _dot(x, y, (((n + 1,), (0,)), ((), ())))
    return _dot(x, y, (((n + 1,), (n,)), (batch, batch)))


# -------------------------------------------------------------------- comparison, bits, unary


def _same(primitive: Primitive) -> Operator:
    return lambda x, y: primitive.bind(*operator_operands(x, y)[:2])


def left_shift(x: Any, y: Any) -> Any:
    """``x << y``; booleans are shifted as integers."""
    return shift_left_p.bind(*_numbers(x, y)[:2])


def right_shift(x: Any, y: Any) -> Any:
    """``x >> y``, which keeps the sign of signed integers."""
    x, y, dtype = _numbers(x, y)
    unsigned = dtypes.kind_of(dtype) == "unsigned integer"
    return (shift_right_logical_p if unsigned else shift_right_arithmetic_p).bind(x, y)


def _comparison(name: str, function: Operator) -> dict[str, Any]:
    """A comparison; Python reflects it by itself."""
    forward = _binary(name, function)[f"__{name}__"]
    return {f"__{name}__": forward}


def absolute(x: Any) -> Any:
    """``abs(x)``; of what has no sign it is the operand itself."""
    unsigned = dtypes.kind_of(typeof(x).dtype) in ("bool", "unsigned integer")
    return x if unsigned else abs_p.bind(x)


def rounded(x: Any, ndigits: int | None = None) -> Any:
    """``round(x, ndigits)``: halves to the even digit; negative digits are before the point."""
    digits = static_int("round", "ndigits", ndigits or 0)
    own = typeof(x)
    if dtypes.is_complex(own.dtype):
        return complex_p.bind(*(rounded(part.bind(x), digits) for part in (real_p, imag_p)))
    if not dtypes.is_inexact(own.dtype):
        if digits >= 0:
            return x
        raise TypeError(
            f"round: integers, here {own.str_short()}, are not rounded to negative digits; convert "
            f"them to floats first."
        )
    if not digits:
        return round_p.bind(x, rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    # A narrow dtype would overflow at the scaled numbers.
    wide = convert(x, dtypes.float32, own.weak_type) if own.dtype.itemsize < 4 else x
    if abs(digits) > math.log10(float(finfo(typeof(wide).dtype).max)):  # type: ignore[no-untyped-call]
        return x if digits > 0 else mul_p.bind(x, scalar_array(0, own.dtype))
    factor = scalar_array(10.0 ** abs(digits), typeof(wide).dtype)
    up, down = (mul_p, div_p) if digits > 0 else (div_p, mul_p)
    whole = round_p.bind(up.bind(wide, factor), rounding_method=RoundingMethod.TO_NEAREST_EVEN)
    return convert(down.bind(whole, factor), own.dtype, own.weak_type)


def _round(x: Any, ndigits: int | None = None) -> Any:
    """``round(x, ndigits)``, and integers for real numbers without ``ndigits``, as in Python."""
    found = rounded(x, ndigits)
    dtype = typeof(x).dtype
    if ndigits is None and dtypes.is_inexact(dtype) and not dtypes.is_complex(dtype):
        return convert(found, dtypes.default_dtype("int"), False)
    return found


OPERATORS: Mapping[str, Any] = {
    **_binary("add", add),
    **_binary("sub", subtract),
    **_binary("mul", multiply),
    **_binary("truediv", true_divide),
    **_binary("floordiv", floor_divide),
    **_binary("mod", remainder),
    **_binary("divmod", divide_with_remainder),
    **_binary("pow", power),
    **_binary("matmul", matmul),
    **_binary("and", _same(and_p)),
    **_binary("or", _same(or_p)),
    **_binary("xor", _same(xor_p)),
    **_binary("lshift", left_shift),
    **_binary("rshift", right_shift),
    **_comparison("lt", comparisons.less),
    **_comparison("le", comparisons.less_equal),
    **_comparison("gt", comparisons.greater),
    **_comparison("ge", comparisons.greater_equal),
    **_comparison("eq", comparisons.equal),
    **_comparison("ne", comparisons.not_equal),
    **_unary("neg", neg_p.bind),
    **_unary("pos", lambda x: x),
    **_unary("abs", absolute),
    **_unary("invert", not_p.bind),
    "__round__": _round,
    "__getitem__": getitem,
    "__iter__": iterate,
}
