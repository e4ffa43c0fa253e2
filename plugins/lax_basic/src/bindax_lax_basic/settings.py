"""The settings of operations: how operands are promoted, and how exact products are."""

from __future__ import annotations

from typing import Any

from bindax_core.extend import Setting


def _precision(value: Any) -> Any:
    from bindax_lax_basic.contract.precision import precision_name

    return precision_name(value)


default_matmul_precision: Setting = Setting(
    "default_matmul_precision",
    None,
    """the precision of products that name none, as their argument ``precision`` takes it by name;
    None for that of the backend""",
    check=_precision,
    traced=True,
)
check_static_indices: Setting = Setting(
    "check_static_indices",
    False,
    """an index that is known while tracing and out of bounds is an error, also under the name
    ``jax``, where it is taken to the nearest end otherwise, and in ``x.at[index]``""",
    traced=True,
)
numpy_rank_promotion: Setting = Setting(
    "numpy_rank_promotion",
    "allow",
    """``"allow"`` broadcasts arrays of different ranks in operators and NumPy functions,
    ``"warn"`` warns, ``"raise"`` raises""",
    choices=("allow", "warn", "raise"),
    traced=True,
)
numpy_dtype_promotion: Setting = Setting(
    "numpy_dtype_promotion",
    "standard",
    """``"standard"`` promotes arrays of different dtypes, ``"strict"`` raises unless all but Python
    scalars have one dtype""",
    choices=("standard", "strict"),
    traced=True,
)
