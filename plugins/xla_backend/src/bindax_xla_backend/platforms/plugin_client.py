"""Starting the library of a PJRT plugin."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import importlib
import importlib.machinery
import os
from pathlib import Path
from typing import Any

from bindax_xla_backend._jaxlib import load_profiler, xla_client

_NVIDIA_LIBRARIES = (
    "cudart",
    "nvrtc",
    "nvJitLink",
    "cublasLt",
    "cublas",
    "nccl",
    "cupti",
    "cusparse",
    "cusolver",
    "cufft",
    "nvshmem_host",
    "cudnn",
)


def make_plugin_client(platform: str, library: str) -> Any:
    """A client of a PJRT plugin; of CUDA with the libraries and kernels of its own packages."""
    # XLA loads a plugin once under a name, and JAX, in the same process, uses the plain one.
    name = f"bindax_{platform}"
    if not xla_client.pjrt_plugin_loaded(name):
        if platform == "cuda":
            _load_nvidia_libraries()
        api = xla_client.load_pjrt_plugin_dynamically(name, library)
        load_profiler()[0].register_plugin_profiler(api)
        if platform == "cuda":
            _register_cuda_kernels(api, library)
    if not xla_client.pjrt_plugin_initialized(name):
        xla_client.initialize_pjrt_plugin(name)
    # The memory settings are variables that XLA's own function reads.
    options = xla_client.generate_pjrt_gpu_plugin_options() if platform == "cuda" else {}
    return xla_client.make_c_api_client(name, options, None)


def _load_nvidia_libraries() -> None:
    """Load what the plugin for CUDA links, where packages of NVIDIA have it; else it looks itself.

    A library that needs others comes after them.
    """
    spec = importlib.machinery.PathFinder.find_spec("nvidia")
    folders = [Path(one) for one in (spec.submodule_search_locations if spec else None) or ()]
    for name in _NVIDIA_LIBRARIES:
        files = [file for one in folders for file in sorted(one.glob(f"*/lib/lib{name}.so.*"))]
        for file in files[:1]:
            with contextlib.suppress(OSError):  # what is missing is missed by the plugin
                ctypes.CDLL(str(file))


def _register_cuda_kernels(api: Any, library: str) -> None:
    # jax-cuda12-plugin has the kernels for the library of jax-cuda12-pjrt.
    package = os.path.basename(os.path.dirname(library)).replace("xla_", "jax_") + "_plugin"
    extension = importlib.import_module(f"{package}.cuda_plugin_extension")
    xla_client.register_custom_type_handler(
        "CUDA", functools.partial(extension.register_custom_type, api)
    )
    xla_client.register_custom_call_handler(
        "CUDA", functools.partial(extension.register_custom_call_target, api)
    )
    for name, kind in extension.ffi_types().items():
        xla_client.register_custom_type(name, kind, platform="CUDA")
    for name, function in extension.ffi_handlers().items():
        xla_client.register_custom_call_target(name, function, platform="CUDA", api_version=1)
