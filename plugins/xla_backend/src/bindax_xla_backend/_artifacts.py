"""Programs in other forms: portable artifacts, sizes computed, the language of XLA."""

from __future__ import annotations

from typing import Any

from bindax_xla_backend._jaxlib import _jax, _stablehlo


def serialize_artifact(module: Any, *, with_meshes: bool = False) -> bytes:
    """A module as a portable artifact; ``with_meshes`` keeps attributes of Shardy as they are."""
    weeks = _stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = _stablehlo.get_version_from_compatibility_requirement(weeks)
    return bytes(_jax.mlir.serialize_portable_artifact(module, version, with_meshes))


def deserialize_artifact(artifact: bytes, context: Any) -> Any:
    """The module of a portable artifact."""
    return _jax.mlir.deserialize_portable_artifact(artifact, context)


def refine_shapes(bytecode: bytes) -> bytes:
    """A module whose sizes are computed, given that those of the parameters of main are known."""
    return bytes(_jax.mlir.refine_polymorphic_shapes(bytecode, True, True))


def to_computation(bytecode: bytes) -> Any:
    """A StableHLO module in the language of XLA."""
    return _jax.mlir.mlir_module_to_xla_computation(
        bytecode, use_tuple_args=False, return_tuple=False
    )
