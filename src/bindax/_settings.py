"""The types of the settings of ``bindax.config``, for type checkers and editors alone."""

from __future__ import annotations

from typing import Any, Literal

from bindax_core.extend import Config

TransferGuard = Literal["allow", "log", "disallow", "log_explicit", "disallow_explicit"]


class Settings(Config):
    """The settings of the packages that ``bindax`` installs, and of ``bindax-xla-backend``."""

    abstract_mesh: Any
    backend: str | None
    check_jaxprs: bool
    check_rules: bool
    check_static_indices: bool
    check_tracer_leaks: bool
    compilation_cache_bytes: int
    compilation_cache_dir: Any
    compiled_programs: int
    conventions: Literal["bindax", "jax"]
    debug_infs: bool
    debug_key_reuse: bool
    debug_nans: bool
    default_device: Any
    default_dtype_bits: Literal[32, 64]
    default_matmul_precision: Any
    default_prng_impl: str
    derived_rules: Literal["notice", "error", "silent"]
    disable_jit: bool
    dtype_bits: Literal[32, 64]
    eager: Literal["numpy", "compile"]
    enable_x64: bool | Literal["explicit"]
    explain_cache_misses: bool
    export_calling_convention_version: int
    iree_driver: str
    iree_flags: str
    jax_release: str
    legacy_prng_key: Literal["allow", "warn", "error"]
    log_compiles: bool
    mesh: Any
    nnx_eager_sharding: bool
    nnx_graph_mode: bool
    nnx_graph_updates: bool
    nnx_logical_axis_rules: tuple[tuple[str, Any], ...]
    nnx_sow_capture_noop: bool
    nnx_variable_ref: bool
    no_collectives: Any
    no_execution: bool
    no_tracing: bool
    num_cpu_devices: int
    numpy_dtype_promotion: Literal["standard", "strict"]
    numpy_rank_promotion: Literal["allow", "warn", "raise"]
    open_sums: Any
    platforms: Any
    random_seed_offset: int
    remove_size_one_mesh_axis_from_type: bool
    threefry_partitionable: bool
    traceback: Literal["filtered", "full"]
    transfer_guard_device_to_host: TransferGuard
    transfer_guard_host_to_device: TransferGuard


config: Settings
