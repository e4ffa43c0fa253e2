"""Samples for the conformance suite: host functions that NumPy computes or that only look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import bindax_lax_basic as lax
from bindax_callbacks import debug
from bindax_callbacks.host_function import Callback
from bindax_callbacks.io_callback import io_callback
from bindax_callbacks.pure_callback import pure_callback
from bindax_callbacks.shardings import inspect_array_sharding
from bindax_core import ShapeDtypeStruct
from bindax_testing import (
    EquivalentMutant,
    HostFunctions,
    Sample,
    TransformationProgram,
    array,
    host_functions,
    sample,
    transformation_program,
)

_NO_DERIVATIVE = {"vmap of others": "what a Python function computes has no derivative"}


def _ignore(*args: Any, **kwargs: Any) -> None:
    """Take everything, and do nothing."""


def _watched(x: Any) -> Any:
    debug.callback(_ignore, x, label="x")
    return lax.mul(lax.sin(x), x)


def _looked_at(x: Any) -> Any:
    inspect_array_sharding(x, callback=_ignore)
    return lax.mul(lax.sin(x), x)


def _pure(method: str) -> Any:
    def computed(x: Any, y: Any) -> Any:
        kind = ShapeDtypeStruct(x.shape, x.dtype)
        return pure_callback(lambda x, y: np.subtract(x, y), kind, x, y, vmap_method=method)

    computed.__name__ = method
    return computed


def _summed(x: Any) -> Any:
    """A function of one array at a time."""
    kind = ShapeDtypeStruct((), x.dtype)
    return pure_callback(lambda x: np.sum(x), kind, x, vmap_method="sequential")


def _scalar(x: Any) -> Any:
    """A function that gives a scalar of Python, of more digits than are announced."""
    kind = ShapeDtypeStruct((), x.dtype)
    return pure_callback(lambda x: float(np.sum(x)), kind, x, vmap_method="sequential")


def _io(x: Any) -> Any:
    kind = ShapeDtypeStruct(x.shape, x.dtype)
    return io_callback(lambda x: np.negative(x), kind, x)


def _equivalent_mutants() -> Iterator[EquivalentMutant]:
    """The mistakes in rules that change nothing that a check can notice."""
    for name in ("debug_callback", "io_callback"):
        yield EquivalentMutant(
            name, "impl", "flipped ordered", "eager calls are in order, whatever they ask for"
        )
        for kind in ("jvp", "vmap", "lowering.stablehlo"):
            yield EquivalentMutant(
                name, kind, "flipped ordered", "one call alone has no order to keep among several"
            )
    unseen = "it has no result; tests of the functions look at what the host function is given"
    for kind, damage in (
        ("jvp", "tangent in place of the primal"),
        ("vmap", "forgotten batch of operand 0"),
    ):
        yield EquivalentMutant("debug_callback", kind, damage, unseen)
        yield EquivalentMutant("inspect_sharding", kind, damage, unseen)


def conformance_samples() -> Iterator[Sample | EquivalentMutant]:
    """Calls of the functions of this package, and the mistakes that change nothing."""
    yield from _equivalent_mutants()
    for dtype in ("float64", "float32", "complex128"):
        yield sample(_watched, array((2, 3), dtype))
        yield sample(_looked_at, array((2, 3), dtype))
    for method in ("sequential", "expand_dims", "broadcast_all"):
        for dtype in ("int32", "float64"):
            operand = array((2, 3), dtype)
            skip = _NO_DERIVATIVE if dtype == "float64" else {}
            yield sample(_pure(method), operand, operand, skip=skip)
    yield sample(_summed, array((3,), "float64"), skip=_NO_DERIVATIVE)
    yield sample(_scalar, array((3,), "float32"), skip=_NO_DERIVATIVE)
    yield sample(_io, array((3,), "int32"))
    yield sample(_io, array((), "float32"), skip=_NO_DERIVATIVE)


def _user_function(params: Mapping[str, Any]) -> Mapping[str, Callable[..., Any]]:
    """The function that a user gave, by what it is to the caller."""
    callback = params["callback"]
    while not isinstance(callback, Callback):
        callback = callback.function
    return {f"callback of {callback.caller}": callback.function}


def functions_called() -> Iterator[HostFunctions]:
    """The functions of users that the primitives call."""
    for name in ("pure_callback", "io_callback", "debug_callback"):
        yield host_functions(name, _user_function)


def programs_with_effects() -> Iterator[TransformationProgram]:
    """Functions whose calls of Python have an order, for checks of transformations.

    One is given numbers that no operand reaches, the other one what is computed.
    """
    seen: list[Any] = []

    def note(*numbers: Any) -> None:
        seen.append(tuple(float(x) for x in numbers))

    def constants(x: Any) -> list[Any]:
        debug.callback(note, 1.0, ordered=True)
        y = lax.mul(x, x)
        debug.callback(note, 2.0, ordered=True)
        z = lax.add(y, x)
        debug.callback(note, 3.0, ordered=True)
        return [z]

    def computed(x: Any) -> list[Any]:
        y = lax.mul(x, x)
        debug.callback(note, y, x, ordered=True)
        z = lax.add(y, x)
        debug.callback(note, z, y, ordered=True)
        return [lax.mul(z, x)]

    yield transformation_program("effects of constants", constants, 1.5, log=seen)
    yield transformation_program("effects of what is computed", computed, 1.5, log=seen)
