"""The modules that stand for a module of JAX.

By default it is the one of bindax with the same path. Where JAX has names that bindax spells
another way, a module of ``shims`` has them, and comes first.
"""

from __future__ import annotations

_SHIMS = "bindax_jax_names.shims"

_SPECIAL: dict[str, tuple[str, ...]] = {
    "jax": (f"{_SHIMS}.top", "bindax", f"{_SHIMS}.single_device"),
    "jax.core": (f"{_SHIMS}.core", f"{_SHIMS}.extend_core"),
    "jax.errors": (f"{_SHIMS}.errors", "bindax.errors"),
    "jax.api_util": (f"{_SHIMS}.api_util",),
    "jax.dtypes": (f"{_SHIMS}.dtypes", "bindax.dtypes"),
    "jax.typing": (f"{_SHIMS}.typing", "bindax.typing"),
    "jax.extend.backend": (f"{_SHIMS}.extend_backend",),
    "jax.extend.core": (f"{_SHIMS}.extend_core",),
    "jax.extend.core.primitives": (f"{_SHIMS}.extend_primitives",),
    "jax.extend.ifrt_programs": (f"{_SHIMS}.ifrt_programs",),
    "jax.extend.linear_util": (f"{_SHIMS}.linear_util",),
    "jax.extend.random": (f"{_SHIMS}.extend_random",),
    "jax.extend.source_info_util": (f"{_SHIMS}.source_info_util",),
    "jax.interpreters.ad": (f"{_SHIMS}.ad",),
    "jax.interpreters.batching": (f"{_SHIMS}.batching",),
    "jax.interpreters.mlir": (f"{_SHIMS}.mlir",),
    "jax.interpreters.partial_eval": (f"{_SHIMS}.partial_eval",),
    "jax.interpreters.xla": (f"{_SHIMS}.xla",),
    "jax.lib.xla_bridge": (f"{_SHIMS}.extend_backend",),
    "jax.monitoring": (f"{_SHIMS}.monitoring",),
    "jax.ref": ("bindax.ref", f"{_SHIMS}.ref"),
    "jax.sharding": ("bindax.sharding", f"{_SHIMS}.sharding"),
    "jax.stages": (f"{_SHIMS}.stages", "bindax_transforms.compilation.ahead_of_time"),
    "jax.lax": (f"{_SHIMS}.lax", "bindax.lax"),
    "jax.numpy": (f"{_SHIMS}.numpy", "bindax.numpy"),
    "jax.random": (f"{_SHIMS}.random", "bindax.random"),
    "jax.nn": (f"{_SHIMS}.nn", "bindax.nn"),
    "jax.nn.initializers": (f"{_SHIMS}.initializers", "bindax.nn.initializers"),
    "jax.ad_checkpoint": (f"{_SHIMS}.ad_checkpoint", "bindax.ad_checkpoint"),
    "jax.checkpoint_policies": ("bindax.checkpoint_policies",),
    "jax.experimental.overlap": (f"{_SHIMS}.overlap",),
    "jax.experimental.xla_metadata": (f"{_SHIMS}.xla_metadata",),
    "jax.ffi": (f"{_SHIMS}.ffi", "bindax.ffi"),
    "jax.profiler": (f"{_SHIMS}.profiler", "bindax.profiler"),
    "jax.ops": ("bindax.ops",),
    "jax.numpy.linalg": ("bindax.numpy.linalg",),
    "jax.custom_derivatives": (f"{_SHIMS}.custom_derivatives", "bindax.custom_derivatives"),
    "jax.tree_util": ("bindax.tree_util", f"{_SHIMS}.tree_util"),
    "jax.test_util": (f"{_SHIMS}.test_util",),
    "jax.example_libraries.optimizers": (f"{_SHIMS}.example_optimizers",),
    "jax.example_libraries.stax": (f"{_SHIMS}.stax",),
    "jax.experimental.shard_map": ("bindax",),
    "jax.experimental.sparse": ("bindax.experimental.sparse",),
    "jax.experimental.sparse.linalg": ("bindax_experimental.sparse.linalg",),
    "jax.experimental.colocated_python.serialization": (f"{_SHIMS}.colocated",),
    "jax.experimental.hijax": (f"{_SHIMS}.hijax",),
    "jax.experimental.layout": ("bindax.experimental.layout", f"{_SHIMS}.layout"),
    "jax.experimental.mesh_utils": ("bindax.experimental.mesh_utils",),
    "jax.experimental.multihost_utils": (
        "bindax.experimental.multihost_utils",
        f"{_SHIMS}.multihost_utils",
    ),
    "jax.distributed": ("bindax.distributed", f"{_SHIMS}.distributed"),
}


def provider_names(path: str) -> tuple[str, ...]:
    """The modules to look a name of a JAX module up in, in order.

    >>> provider_names("jax.image")
    ('bindax.image',)
    """
    return _SPECIAL.get(path, (f"bindax{path[3:]}",))
