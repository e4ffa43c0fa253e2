"""Kernels of other languages: what XLA knows of them, by name and platform."""

from __future__ import annotations

from typing import Any

from bindax_core.errors import clause
from bindax_core.extend import BackendError
from bindax_xla_backend import _jaxlib
from bindax_xla_backend._errors import excerpt
from bindax_xla_backend._jaxlib import xla_client

_PLATFORMS = {"cuda": "CUDA", "rocm": "ROCM"}
"""The names of platforms in the registries of XLA, where they differ."""


def register_target(name: str, function: Any, platform: str, api_version: int) -> None:
    """Give a kernel, a capsule or a dict of them by stage, its name for the life of the process."""
    known_as = _PLATFORMS.get(platform, platform)
    try:
        xla_client.register_custom_call_target(
            name, function, platform=known_as, api_version=api_version
        )
    except _jaxlib.RuntimeFailure as error:
        raise BackendError(
            f"XLA refuses the kernel {name!r} for {platform!r}: {clause(excerpt(str(error)))}. It "
            f"must be compiled with the headers in include_dir() of bindax.ffi, and api_version "
            f"must be that of its interface."
        ) from error


def register_type(name: str, registration: Any, platform: str) -> None:
    """Register a type of state that a kernel keeps."""
    known_as = _PLATFORMS.get(platform, platform)
    try:
        xla_client.register_custom_type(name, registration, platform=known_as)
    except _jaxlib.RuntimeFailure as error:
        raise BackendError(
            f"XLA refuses the type {name!r} of register_ffi_type for {platform!r}: "
            f"{clause(excerpt(str(error)))}."
        ) from error


def batch_partitionable(name: str) -> None:
    """Let the partitioner split calls of a kernel along leading axes."""
    xla_client.register_custom_call_as_batch_partitionable(name)


def has_target(name: str, platform: str) -> bool:
    """Tell whether XLA knows a kernel, whoever registered it."""
    if platform != "cpu":
        return True  # a plugin keeps its own list, and shows it to nobody
    if name.startswith("lapack_"):
        _jaxlib.enable_lapack()
    return name in xla_client.custom_call_targets(xla_client.xla_platform_names[platform])


def include_dir() -> str:
    """The directory of the headers for kernels."""
    return _jaxlib.INCLUDE_DIRECTORY
