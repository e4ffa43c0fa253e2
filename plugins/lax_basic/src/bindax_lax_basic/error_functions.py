"""The error function, its complement and its inverse."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

from bindax_core.extend import Array, Primitive, primitive, rules
from bindax_lax_basic import dtypes
from bindax_lax_basic._derivatives import derivative
from bindax_lax_basic._elementwise import elementwise
from bindax_lax_basic._lowering import operation
from bindax_lax_basic._operands import constant
from bindax_lax_basic._special import evaluation
from bindax_lax_basic._wider_lowering import in_wider
from bindax_lax_basic.arithmetic import mul_p, neg_p
from bindax_lax_basic.dtypes import FLOAT
from bindax_lax_basic.exponential import exp, square

_TWO_OVER_SQRT_PI = 2.0 / math.sqrt(math.pi)


def _scaled_gaussian(factor: float, x: Any) -> Any:
    return mul_p.bind(constant(factor, x), exp(neg_p.bind(square(x))))


def erf(x: Any) -> Array:
    """Elementwise error function of an array of real floats.

    Evaluated by the rational approximations of W. J. Cody, Mathematics of Computation 23 (1969).

    >>> import numpy as np
    >>> erf(np.array([0.0, 1.0]))
    Array([0.        , 0.84270079], dtype=float64)
    """
    return erf_p.bind(x)


erf_p: Primitive = primitive(
    "erf",
    *elementwise("erf", erf, evaluation.erf, FLOAT, slow=True),
    derivative(erf, lambda x, y: _scaled_gaussian(_TWO_OVER_SQRT_PI, x)),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](operation("chlo.erf")),
)


def erfc(x: Any) -> Array:
    """Elementwise complement of the error function, ``1 - erf(x)``, precise where it is small.

    >>> import numpy as np
    >>> erfc(np.array([0.0, 10.0]))
    Array([1.00000000e+00, 2.08848758e-45], dtype=float64)
    """
    return erfc_p.bind(x)


erfc_p: Primitive = primitive(
    "erfc",
    *elementwise("erfc", erfc, evaluation.erfc, FLOAT, slow=True),
    derivative(erfc, lambda x, y: _scaled_gaussian(-_TWO_OVER_SQRT_PI, x)),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](
        in_wider(lambda: erfc_p, operation("chlo.erfc"), dtypes.accumulator_dtype)
    ),
)


def erf_inv(x: Any) -> Array:
    """Elementwise inverse of the error function; infinite at -1 and 1, nan beyond.

    Evaluated by Halley's method from an approximation of S. Winitzki (2008).

    >>> import numpy as np
    >>> erf_inv(np.array([0.0, 0.5, 1.0]))
    Array([0.        , 0.47693628,        inf], dtype=float64)
    """
    return erf_inv_p.bind(x)


erf_inv_p: Primitive = primitive(
    "erf_inv",
    *elementwise("erf_inv", erf_inv, evaluation.erf_inv, FLOAT, slow=True),
    derivative(
        erf_inv, lambda x, y: mul_p.bind(constant(1.0 / _TWO_OVER_SQRT_PI, x), exp(square(y)))
    ),
    rules.transpose.absent("not linear"),
    rules.lowering["stablehlo"](operation("chlo.erf_inv")),
)
