"""``jax.config``: JAX's settings by their names, those that bindax has and the others."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from itertools import count
from typing import Any

from bindax_core import config as settings
from bindax_core.errors import BackendError
from bindax_core.extend import Setting

_SAME = {
    "jax_debug_nans": "debug_nans",
    "jax_debug_infs": "debug_infs",
    "jax_disable_jit": "disable_jit",
    "jax_log_compiles": "log_compiles",
    "jax_enable_checks": "check_jaxprs",
    "jax_explain_cache_misses": "explain_cache_misses",
    "jax_export_calling_convention_version": "export_calling_convention_version",
    "jax_default_matmul_precision": "default_matmul_precision",
    "jax_numpy_rank_promotion": "numpy_rank_promotion",
    "jax_numpy_dtype_promotion": "numpy_dtype_promotion",
    "jax_compilation_cache_dir": "compilation_cache_dir",
    "jax_check_tracer_leaks": "check_tracer_leaks",
    "jax_debug_key_reuse": "debug_key_reuse",
    "jax_default_prng_impl": "default_prng_impl",
    "jax_threefry_partitionable": "threefry_partitionable",
    "jax_random_seed_offset": "random_seed_offset",
    "jax_legacy_prng_key": "legacy_prng_key",
    "jax_check_static_indices": "check_static_indices",
    "jax_remove_size_one_mesh_axis_from_type": "remove_size_one_mesh_axis_from_type",
    "jax_transfer_guard_host_to_device": "transfer_guard_host_to_device",
    "jax_transfer_guard_device_to_host": "transfer_guard_device_to_host",
    "jax_num_cpu_devices": "num_cpu_devices",
}
"""Settings of JAX that bindax has under another name."""

_WITHOUT_EFFECT: dict[str, Any] = {
    "jax_enable_custom_prng": False,
    "jax_traceback_filtering": "auto",
    "jax_include_full_tracebacks_in_locations": True,
    "jax_platforms": None,
    "jax_platform_name": "",
    "jax_default_device": None,
    "jax_softmax_custom_jvp": True,
    "jax_use_shardy_partitioner": True,
    "jax_experimental_unsafe_xla_runtime_errors": False,
    "jax_array": True,
    "jax_xla_backend": "",
    "jax_cpu_enable_async_dispatch": True,
    "jax_persistent_cache_min_compile_time_secs": 1.0,
    "jax_persistent_cache_min_entry_size_bytes": 0,
    "jax_enable_compilation_cache": True,
    "jax_transfer_guard": "allow",
    "jax_custom_vjp_disable_shape_check": False,
    "jax_disable_bwd_checks": False,
    "jax_array_garbage_collection_guard": "allow",
    "jax_allow_f16_reductions": True,
    "jax_mutable_array_checks": True,
    "jax_vjp3": True,
    "jax_scan3": False,
    "jax_remat3": False,
    "jax_custom_vjp3": False,
    "jax_exec_time_optimization_effort": 0.0,
    "jax_memory_fitting_effort": 0.0,
    "jax_pmap_shmap_merge": True,
    "jax_bcoo_cusparse_lowering": False,
    "jax_host_callback_legacy": False,
}
"""Settings of JAX that are kept and read back, with JAX's defaults, and change nothing here."""


_numbers = count(1)


class UserContext(Setting):
    """A value of a program on which traced functions depend; called, it is set in a block."""

    @property
    def value(self) -> Any:
        """The value here."""
        return getattr(settings, self.name)

    get_local = get_global = lambda self: self.value

    def set_global(self, value: Any) -> None:
        """Change the value for the whole process."""
        setattr(settings, self.name, value)


def make_user_context(default_value: Any = None) -> UserContext:
    """A hashable value that counts as an argument of traced functions: they are traced for each.

    Args:
        default_value: the value outside of blocks.

    >>> mode = make_user_context("train")
    >>> with mode("test"):
    ...     mode.value
    'test'
    """
    help = "a value of a program"
    return UserContext(
        f"user_context_{next(_numbers)}", default_value, help, traced=True, variables=()
    )


def follow_environment() -> None:
    """Have as many CPU devices as the program said in the environment before it imported JAX."""
    count = os.environ.get("JAX_NUM_CPU_DEVICES", "")
    flag = r"--xla_force_host_platform_device_count=(\d+)"
    counts = [*re.findall(flag, os.environ.get("XLA_FLAGS", "")), *re.findall(r"^\d+$", count)]
    if counts and getattr(settings, "num_cpu_devices", 0) == 1:
        with suppress(BackendError):  # devices are in use already; JAX keeps them, too
            settings.num_cpu_devices = int(counts[-1])


class JaxConfig:
    """JAX's settings: as attributes, by ``update`` and by ``read``."""

    def __init__(self) -> None:
        self._kept = dict(_WITHOUT_EFFECT)

    def read(self, name: str) -> Any:
        """The value of a setting.

        Raises:
            AttributeError: when JAX has no such setting that the alias knows.
        """
        if name in _SAME:
            return getattr(settings, _SAME[name])
        if name == "jax_enable_x64":
            return self.x64_enabled
        if name in self._kept:
            return self._kept[name]
        raise AttributeError(f"Unrecognized config option: {name}")

    def update(self, name: str, value: Any) -> None:
        """Change a setting for the whole process.

        Raises:
            AttributeError: when JAX has no such setting that the alias knows.
        """
        if name in _SAME:
            setattr(settings, _SAME[name], value)
        elif name == "jax_enable_x64":
            settings.enable_x64 = bool(value)
        elif name in self._kept or name.startswith("jax_"):
            self._kept[name] = value
        else:
            raise AttributeError(f"Unrecognized config option: {name}")

    @contextmanager
    def override(self, name: str, value: Any) -> Iterator[None]:
        """Change a setting inside a ``with`` block; one that bindax has, for its thread alone."""
        known = _SAME | {"jax_enable_x64": "enable_x64"}
        if name in known:
            with settings.override(**{known[name]: value}):
                yield
            return
        before = self.read(name)
        self.update(name, value)
        try:
            yield
        finally:
            self.update(name, before)

    @property
    def x64_enabled(self) -> bool:
        """True if arrays have 64 bits by default."""
        return settings.enable_x64 is True

    @property
    def values(self) -> dict[str, Any]:
        """All settings, by name."""
        return {name: self.read(name) for name in (*_SAME, *self._kept, "jax_enable_x64")}

    def parse_flags_with_absl(self) -> None:
        """Let absl parse the flags of programs; settings are not read from the command line."""
        flags = import_module("absl.flags").FLAGS
        if not flags.is_parsed():
            flags(sys.argv, known_only=True)

    def config_with_absl(self) -> None:
        """Do nothing: settings are no flags."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("jax_"):
            return self.read(name)
        raise AttributeError(f"the settings of JAX have no {name!r}.")
