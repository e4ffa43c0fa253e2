"""Names of ``jax`` itself: the transformations with JAX's arguments for several devices."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import Enum
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from types import SimpleNamespace
from typing import Any, Final

import numpy as np

import bindax
import bindax.sharding
from bindax_jax_names._table import jax_release
from bindax_jax_names.shims._arguments import ignoring
from bindax_jax_names.shims.config import JaxConfig, follow_environment, make_user_context
from bindax_jax_names.shims.ref import AbstractRef
from bindax_jax_names.shims.sharding import get_abstract_mesh, use_abstract_mesh
from bindax_jax_names.shims.some_arguments import fwd_and_bwd, linearize, vjp
from bindax_jax_names.shims.staging import make_jaxpr
from bindax_transforms.extend import DidntWant, DontWant, GradRef, GradValue

__all__ = [
    "CompilerEffortLevel",
    "Inline",
    "ad",
    "allow_f16_reductions",
    "array_garbage_collection_guard",
    "checking_leaks",
    "checkpoint",
    "config",
    "copy_to_host_async",
    "default_backend",
    "default_device",
    "device_put",
    "devices",
    "enable_checks",
    "enable_custom_prng",
    "fwd_and_bwd",
    "get_abstract_mesh",
    "get_mesh",
    "grad",
    "jit",
    "legacy_prng_key",
    "linear_transpose",
    "linearize",
    "make_jaxpr",
    "make_mesh",
    "make_user_context",
    "pmap",
    "print_environment_info",
    "remat",
    "softmax_custom_jvp",
    "typeof",
    "use_abstract_mesh",
    "value_and_grad",
    "vjp",
    "vmap",
]

follow_environment()
config: Final = JaxConfig()
_PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu")


def _within(name: str) -> Callable[..., AbstractContextManager[None]]:
    """The function that changes a setting inside a ``with`` block."""

    def within(new_val: Any = True) -> AbstractContextManager[None]:
        return config.override(name, new_val)

    return within


ad: Final = SimpleNamespace(
    DontWant=DontWant, DidntWant=DidntWant, GradRef=GradRef, GradValue=GradValue
)
allow_f16_reductions: Final = _within("jax_allow_f16_reductions")  # they are made in 32 bits
array_garbage_collection_guard: Final = _within("jax_array_garbage_collection_guard")
checking_leaks: Final = _within("jax_check_tracer_leaks")
enable_checks: Final = _within("jax_enable_checks")
enable_custom_prng: Final = _within("jax_enable_custom_prng")
legacy_prng_key: Final = _within("jax_legacy_prng_key")
softmax_custom_jvp: Final = _within("jax_softmax_custom_jvp")


def typeof(x: Any) -> Any:
    """The type of an operand; a ``ShapeDtypeStruct`` is one itself."""
    if isinstance(x, bindax.Ref):
        return AbstractRef(x.aval)
    return x if isinstance(x, bindax.ShapeDtypeStruct) else bindax.typeof(x)


def jit(fun: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """``bindax.jit``, where the backend may be named by the platform of its devices."""
    if fun is None:
        return partial(jit, **options)
    if options.get("backend") in _PLATFORMS:
        del options["backend"]
    if "inline" in options:
        options["inline"] = _inlines(options["inline"])
    return bindax.jit(fun, **options)


class Inline(Enum):
    """Choices of when a call inside another traced function is dissolved into it.

    Tracing dissolves it, or leaves it to the compiler.
    """

    JAX_EARLY = 1
    JAX_LATE = 2
    XLA_EARLY = 3
    XLA_LATE = 4
    AUTO = 5


def _inlines(inline: Any) -> bool:
    if isinstance(inline, bool | Inline):
        return inline is True or inline in (Inline.JAX_EARLY, Inline.JAX_LATE)
    raise ValueError(f"jit: inline must be a bool or a jax.Inline, but it is {inline!r}.")


class CompilerEffortLevel(Enum):
    """The effort that a compiler makes, for its options; the one here has one level."""

    UNKNOWN = 0
    O0 = 9
    O1 = 19
    O2 = 29
    O3 = 39


def get_mesh() -> Any:
    """The mesh at work; one without axes when there is none."""
    mesh = bindax.sharding.get_mesh()
    return get_abstract_mesh() if mesh is None else mesh


def make_mesh(
    axis_sizes: Any = None,
    axis_names: Any = None,
    axis_types: Any = None,
    *,
    devices: Any = None,
    axis_shapes: Any = None,
) -> Any:
    """A mesh of devices; releases before 0.12 call its sizes ``axis_shapes``.

    Raises:
        TypeError: when sizes or names are missing, or sizes are given twice.
    """
    if (axis_sizes is None) == (axis_shapes is None) or axis_names is None:
        raise TypeError("make_mesh takes axis_sizes and axis_names.")
    sizes = axis_shapes if axis_sizes is None else axis_sizes
    return bindax.make_mesh(sizes, axis_names, axis_types, devices=devices)


def pmap(fun: Callable[..., Any], axis_name: Any = None, **options: Any) -> Any:
    """``bindax.pmap``, where the backend may be named by the platform of its devices."""
    if options.pop("global_arg_shapes", None) is not None:
        raise ValueError("pmap: global_arg_shapes is not there; JAX has no use of it any more.")
    backend = options.pop("backend", None)
    if backend is not None and options.get("devices") is None:
        options["devices"] = devices(backend)
    return bindax.pmap(fun, axis_name, **options)


def devices(backend: str | None = None) -> list[Any]:
    """The devices; a platform that they are of may be named."""
    found = bindax.devices(None if backend in _PLATFORMS else backend)
    if backend in _PLATFORMS and not any(platform_of(d) == backend for d in found):
        raise RuntimeError(
            f"Unknown backend {backend}: the devices here are "
            f"{sorted({platform_of(d) for d in found})}."
        )
    return found


def platform_of(device: Any) -> str:
    """The platform of a device as JAX names it; the host's own memory counts as ``"cpu"``."""
    return str(getattr(device, "platform", "cpu"))


def default_device(device: Any) -> AbstractContextManager[None]:
    """``bindax.default_device``, which takes the name of a platform for its first device."""
    return bindax.default_device(devices(device)[0] if isinstance(device, str) else device)


def device_put(x: Any, device: Any = None, **options: Any) -> Any:
    """``bindax.device_put``, which takes a ``Format`` that names no layout for its sharding."""

    def placed(where: Any) -> Any:
        return where.sharding if _is_plain_format(where) else where

    def is_leaf(where: Any) -> bool:
        return where is None or _is_plain_format(where)

    if device is not None:
        device = bindax.tree.map(placed, device, is_leaf=is_leaf)
    return bindax.device_put(x, device, **options)


def _is_plain_format(where: Any) -> bool:
    return hasattr(where, "sharding") and getattr(where, "layout", where) is None


def copy_to_host_async(tree: Any) -> Any:
    """The tree, for whose arrays a copy to the host has begun."""
    for leaf in bindax.tree.leaves(tree):
        if hasattr(leaf, "copy_to_host_async"):
            leaf.copy_to_host_async()
    return tree


def default_backend() -> str:
    """The platform of the first device, as JAX names it."""
    return platform_of(bindax.devices()[0])


def _jaxlib_release() -> str:
    try:
        return version("jaxlib")
    except PackageNotFoundError:
        return "none is installed, so that programs are interpreted"


def print_environment_info(return_string: bool = False) -> str | None:
    """Print what reports of mistakes are asked for: versions, devices and the platform.

    Args:
        return_string: True to return the text instead.
    """
    release, devices = jax_release(), bindax.devices()
    text = "\n".join(
        (
            f"jax:    {release} (the name; bindax {bindax.__version__})",
            f"jaxlib: {_jaxlib_release()}",
            f"numpy:  {np.__version__}",
            f"python: {sys.version}",
            f"device info: {len(devices)} of {platform_of(devices[0])}",
            f"platform: {platform.uname()}",
        )
    )
    if return_string:
        return text
    sys.stdout.write(f"{text}\n")
    return None


vmap: Final = ignoring(bindax.vmap, "sum_match")
grad: Final = ignoring(bindax.grad, "reduce_axes")
value_and_grad: Final = ignoring(bindax.value_and_grad, "reduce_axes")
linear_transpose: Final = ignoring(bindax.linear_transpose, "reduce_axes")
checkpoint: Final = ignoring(bindax.checkpoint, "concrete")
remat = checkpoint
