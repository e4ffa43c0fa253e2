"""Starting the library of a PJRT plugin."""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

from bindax_xla_backend._jaxlib import xla_client


def make_plugin_client(platform: str, library: str) -> Any:
    """A client of a PJRT plugin; of CUDA with the kernels that its own package has.

    Raises:
        Exception: whatever is wrong with the plugin or with the devices.
    """
    if not xla_client.pjrt_plugin_loaded(platform):
        api = xla_client.load_pjrt_plugin_dynamically(platform, library)
        if platform == "cuda":
            _register_cuda_kernels(api, library)
    if not xla_client.pjrt_plugin_initialized(platform):
        xla_client.initialize_pjrt_plugin(platform)
    # The memory settings are variables that XLA's own function reads.
    options = xla_client.generate_pjrt_gpu_plugin_options() if platform == "cuda" else {}
    return xla_client.make_c_api_client(platform, options, None)


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
