"""Functions of other dtypes: types agree, and so do values as far as rounding lets them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import float0, is_differentiable, is_extended, typeof
from bindax_testing._cases import replaced
from bindax_testing._compare import Mismatch, NotApplicable, host, real_size, tolerance, wide
from bindax_testing._functions._call import FunctionCall
from bindax_testing._functions._checks._base import check


@attrs.frozen
class Family:
    """Dtypes that stand for each other.

    Attributes:
        kinds: the letters that NumPy has for them.
        dtypes: their names.
        wider: the one that values are compared with, and the unit of rounding, by dtype.
    """

    kinds: str
    dtypes: tuple[str, ...]
    wider: Mapping[str, tuple[str, float]] = attrs.field(factory=dict)

    def contains(self, dtype: np.dtype[Any]) -> bool:
        """Tell whether a dtype is one of the family."""
        return not is_extended(dtype) and dtype != float0 and dtype.kind in self.kinds


FAMILIES = (
    Family(
        "fV",
        ("float64", "float32", "float16", "bfloat16"),
        {
            "float32": ("float64", 2.0**-23),
            "float16": ("float32", 2.0**-10),
            "bfloat16": ("float32", 2.0**-7),
        },
    ),
    Family("c", ("complex128", "complex64"), {"complex64": ("complex128", 2.0**-23)}),
    Family("iu", ("int64", "int32", "int16", "int8", "uint8", "uint32")),
)
"""Integers are compared in the types of results alone, as small ones wrap around."""


@check("dtypes", rank=2, as_given=True)
def _dtypes(call: FunctionCall) -> None:
    families = [(f, [i for i, x in enumerate(call.avals) if f.contains(x.dtype)]) for f in FAMILIES]
    found = [_of_family(call, family, positions) for family, positions in families if positions]
    if not found:
        raise NotApplicable("no argument is a number")
    if not any(taken for taken, _ in found):
        refused = [name for _, names in found for name in names]
        raise NotApplicable(f"it takes no other dtypes: {', '.join(refused)}")


def _of_family(
    call: FunctionCall, family: Family, positions: Sequence[int]
) -> tuple[list[str], list[str]]:
    """Compare each dtype of a family with the next wider one; those taken, and those refused."""
    taken, refused = [], []
    given = [typeof(x).shape for x in call.call(*call.operands)]
    for name in family.dtypes:
        try:
            cast = _cast(call, positions, name)
            outs = cast.call(*cast.operands)
        except Exception as error:
            refused.append(f"{name} ({type(error).__name__})")
            continue
        taken.append(name)
        for i, (out, aval) in enumerate(zip(outs, cast.out_avals(), strict=True)):
            if typeof(out) != aval:
                raise Mismatch(
                    f"result {i} for {name} is {typeof(out)!r} eagerly, but {aval!r} staged."
                )
        shapes = [typeof(out).shape for out in outs]
        if shapes != given:
            raise Mismatch(f"results for {name} have the shapes {shapes}, and not {given}.")
        if name in family.wider:
            _require_accurate(cast, positions, outs, name, *family.wider[name])
    return taken, refused


def _cast(call: FunctionCall, positions: Sequence[int], dtype: str) -> FunctionCall:
    row = list(call.operands)
    for i in positions:
        row[i] = np.asarray(row[i]).astype(dtype)
        if row[i].dtype.kind in "iu" and not np.array_equal(row[i], np.asarray(call.operands[i])):
            raise OverflowError(f"{dtype} does not hold the values of operand {i}")
    return replaced(call, [row])


def _require_accurate(
    call: FunctionCall,
    positions: Sequence[int],
    outs: Sequence[Any],
    name: str,
    wider: str,
    unit: float,
) -> None:
    """Raise when results are further from those of a wider dtype than rounding explains."""
    try:
        exact = _cast(call, positions, wider)
        wanted = exact.call(*exact.operands)
        nearby = [exact.call(*row) for row in _rounded_otherwise(exact, positions, unit)]
    except Exception:
        return
    for i, (out, one) in enumerate(zip(outs, wanted, strict=True)):
        dtype = typeof(out).dtype
        a, b = host(out), host(one)
        if not is_differentiable(dtype) or a.shape != b.shape or not a.size:
            continue
        a, b = wide(a), wide(b)
        spread = np.max([np.abs(wide(host(row[i])) - b) for row in nearby], axis=0)
        size = np.max(np.abs(b), where=np.isfinite(b), initial=0.0)
        allowed = tolerance(dtype) * max(float(size), 1e-3) + 50 * spread
        wrong = np.isfinite(b) & ~(np.abs(a - b) <= allowed) & np.isfinite(spread)
        if real_size(dtype) < 4:
            wrong &= np.isfinite(a)  # what is between may be too large for half precision
        if np.any(wrong):
            at = tuple(int(k) for k in np.argwhere(np.atleast_1d(wrong))[0])[: a.ndim]
            raise Mismatch(
                f"result {i} for {name} should be {b[at]!r} at {at}, as for {wider}, but is "
                f"{a[at]!r}, which rounded arguments do not explain."
            )


def _rounded_otherwise(
    call: FunctionCall, positions: Sequence[int], unit: float
) -> Iterator[list[Any]]:
    rng = call.rng()
    for _ in range(3):
        row = list(call.operands)
        for i in positions:
            x = np.asarray(row[i])
            row[i] = (x * (1.0 + unit * rng.uniform(-1, 1, x.shape))).astype(x.dtype)
        yield row
