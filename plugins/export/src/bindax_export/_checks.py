"""Checks that keep programs runnable elsewhere and later, and the names that pass them."""

from __future__ import annotations

import attrs

STABLE_TARGETS = frozenset(
    [
        f"lapack_{letter}{routine}_ffi"
        for routine in (
            "geev", "geqrf", "gesdd", "getrf", "potrf", "gees", "gehrd", "sytrd", "trsm", "gtsv"
        )
        for letter in "sdcz"
    ]
    + [f"lapack_{letter}{routine}_ffi" for routine in ("syevd", "orgqr") for letter in "sd"]
    + [f"lapack_{letter}{name}_ffi" for name in ("heevd", "ungqr", "hetrd") for letter in "cz"]
    + ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "ApproxTopK"]
    + ["annotate_device_placement", "cu_threefry2x32_ffi", "shape_assertion"]
    + ["stablehlo.dynamic_reduce_window", "stablehlo.dynamic_rng_bit_generator"]
    + ["stablehlo.dynamic_top_k", "stablehlo.dynamic_approx_top_k"]
)  # fmt: skip
"""Functions outside of XLA that programs may call: jaxlib promises to keep them."""


@attrs.frozen
class DisabledSafetyCheck:
    """A check to leave out when a program is exported or called.

    >>> DisabledSafetyCheck.custom_call("my_kernel")
    DisabledSafetyCheck.custom_call('my_kernel')
    """

    _kind: str
    _target: str | None = None

    @classmethod
    def platform(cls) -> DisabledSafetyCheck:
        """Allow calls on another platform than the one that the program is for."""
        return cls("platform")

    @classmethod
    def custom_call(cls, target_name: str) -> DisabledSafetyCheck:
        """Allow a call of this function outside of XLA; you keep it working."""
        return cls("custom_call", target_name)

    def is_custom_call(self) -> str | None:
        """The name of the function that this allows, or None."""
        return self._target

    def __str__(self) -> str:
        argument = "" if self._target is None else repr(self._target)
        return f"DisabledSafetyCheck.{self._kind}({argument})"

    __repr__ = __str__
