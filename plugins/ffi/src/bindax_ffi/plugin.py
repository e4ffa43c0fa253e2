"""Offer the package to the registry."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bindax_core.extend import Primitive, hookimpl
from bindax_ffi.ffi_call import ffi_call_p


@hookimpl
def bindax_primitives() -> Iterable[Primitive]:
    """Offer the primitive."""
    return (ffi_call_p,)


@hookimpl
def bindax_samples() -> Iterable[Any]:
    """Give the conformance kit calls of targets that NumPy computes."""
    from bindax_ffi.samples import conformance_samples

    return conformance_samples()
