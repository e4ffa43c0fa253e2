"""Names of ``jax`` itself: the transformations with JAX's arguments for several devices."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

import bindax
from bindax_jax_names.shims._arguments import ignoring
from bindax_jax_names.shims.config import JaxConfig, follow_environment
from bindax_jax_names.shims.staging import make_jaxpr

__all__ = [
    "checkpoint",
    "config",
    "default_backend",
    "devices",
    "enable_custom_prng",
    "grad",
    "jit",
    "linear_transpose",
    "make_jaxpr",
    "pmap",
    "remat",
    "typeof",
    "value_and_grad",
    "vjp",
    "vmap",
]

follow_environment()
config = JaxConfig()
_PLATFORMS = ("cpu", "gpu", "cuda", "rocm", "tpu")


def enable_custom_prng(new_val: bool = True) -> AbstractContextManager[None]:
    """Have ``PRNGKey`` make keys with a dtype of their own inside a ``with`` block."""
    return config.override("jax_enable_custom_prng", new_val)


def typeof(x: Any) -> Any:
    """The type of an operand; a ``ShapeDtypeStruct`` is one itself."""
    return x if isinstance(x, bindax.ShapeDtypeStruct) else bindax.typeof(x)


def jit(fun: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """``bindax.jit``, where the backend may be named by the platform of its devices."""
    if fun is None:
        return partial(jit, **options)
    if options.get("backend") in _PLATFORMS:
        del options["backend"]
    return bindax.jit(fun, **options)


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


def default_backend() -> str:
    """The platform of the first device, as JAX names it."""
    return platform_of(bindax.devices()[0])


vmap = ignoring(bindax.vmap, "sum_match")
grad = ignoring(bindax.grad, "reduce_axes")
value_and_grad = ignoring(bindax.value_and_grad, "reduce_axes")
linear_transpose = ignoring(bindax.linear_transpose, "reduce_axes")
vjp = ignoring(bindax.vjp, "reduce_axes")
checkpoint = ignoring(bindax.checkpoint, "concrete")
remat = checkpoint
