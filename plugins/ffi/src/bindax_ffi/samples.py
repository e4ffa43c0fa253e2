"""Samples for the conformance suite: calls of targets that NumPy computes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bindax_core import ShapeDtypeStruct
from bindax_ffi.ffi_call import ffi_call
from bindax_ffi.targets import numpy_rule, register_ffi_target
from bindax_testing import EquivalentMutant, HostFunctions, Sample, array, host_functions, sample

_NO_DERIVATIVE = {"vmap of others": "a foreign kernel has no derivative"}


def _scaled_difference(x: Any, y: Any, *, scale: float) -> Any:
    return np.asarray((x - y) * scale, x.dtype)


def _call(method: str) -> Any:
    def computed(x: Any, y: Any) -> Any:
        kind = ShapeDtypeStruct(x.shape, x.dtype)
        return ffi_call("bindax.samples.difference", kind, vmap_method=method)(x, y, scale=2)

    computed.__name__ = method
    return computed


def conformance_samples() -> Iterator[Sample | EquivalentMutant]:
    """Calls with each method of ``vmap``."""
    register_ffi_target("bindax.samples.difference", numpy=_scaled_difference)
    for method in ("sequential", "sequential_unrolled", "expand_dims", "broadcast_all"):
        for dtype in ("int32", "float64"):
            operand = array((2, 3), dtype)
            skip = _NO_DERIVATIVE if dtype == "float64" else {}
            yield sample(_call(method), operand, operand, skip=skip)


def _numpy_function(params: Mapping[str, Any]) -> Mapping[str, Callable[..., Any]]:
    """The function that stands for a kernel, where there is one."""
    name = params["target_name"]
    function = numpy_rule(name)
    return {} if function is None else {f"NumPy function of {name!r}": function}


def functions_called() -> Iterator[HostFunctions]:
    """The functions of users that stand for kernels."""
    yield host_functions("ffi_call", _numpy_function)
