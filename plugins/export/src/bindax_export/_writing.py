"""Writing exported programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bindax_core.extend import ShapedArray, float0, is_extended
from bindax_export._checks import DisabledSafetyCheck
from bindax_export._checksum import sealed
from bindax_export._containers import container_table
from bindax_export._errors import ExportError
from bindax_export._flatbuffers import Number, Numbers, write
from bindax_export._format import (
    CUSTOM_CALL_CHECK,
    DEVICE_MEMORY,
    DTYPES,
    PLATFORM_CHECK,
    WRITTEN_VERSION,
    Field,
)
from bindax_export._places import place_fields

if TYPE_CHECKING:
    from bindax_export._exported import Exported


def serialize(exported: Exported, vjp_order: int) -> bytearray:
    """The bytes of a program; see ``Exported.serialize``."""
    return sealed(write(program_table(exported, vjp_order)))


def program_table(exported: Exported, vjp_order: int) -> dict[int, Any]:
    """The table of a program."""
    if vjp_order > 0 and not exported.has_vjp():
        raise ExportError(
            f"{exported.fun_name} has no reverse derivative of the order that "
            f"serialize(vjp_order=...) asks for; export the function anew."
        )
    inputs, outputs = exported.in_avals, exported.out_avals
    types = list(dict.fromkeys([*inputs, *outputs]))
    table: dict[int, Any] = {
        Field.VERSION: Number("H", WRITTEN_VERSION),
        Field.NAME: exported.fun_name,
        Field.IN_TREE: container_table(exported.in_tree),
        Field.IN_AVALS: [_type_table(aval) for aval in inputs],
        Field.OUT_TREE: container_table(exported.out_tree),
        Field.OUT_AVALS: [_type_table(aval) for aval in outputs],
        Field.PLATFORMS: list(exported.platforms),
        Field.ORDERED: [],
        Field.UNORDERED: [],
        Field.CHECKS: [_check_table(check) for check in exported.disabled_safety_checks],
        Field.MODULE: exported.mlir_module_serialized,
        Field.CONVENTION: Number("H", exported.calling_convention_version),
        Field.KEPT: Numbers("H", exported.module_kept_var_idx),
        Field.USES_CONSTANTS: Number("?", exported.uses_global_constants),
        Field.DEVICES: Number("I", exported.nr_devices),
        Field.TYPES: [_type_table(aval) for aval in types],
        Field.IN_TYPES: Numbers("I", [types.index(aval) for aval in inputs]),
        Field.OUT_TYPES: Numbers("I", [types.index(aval) for aval in outputs]),
        **place_fields(exported.in_shardings, exported.out_shardings),
    }
    if vjp_order > 0:
        table[Field.VJP] = program_table(exported.vjp(), vjp_order - 1)
    return table


def _type_table(aval: ShapedArray) -> dict[int, Any]:
    names = aval.dtype.names if is_extended(aval.dtype) else None
    name = "float0" if aval.dtype == float0 else names[0] if names else aval.dtype.name
    if name not in DTYPES:
        raise ExportError(f"files cannot hold the type {aval.str_short()}; convert the array.")
    return {
        0: Number("b", 0),
        1: [str(size) for size in aval.shape],
        2: Number("b", DTYPES.index(name)),
        3: Number("b", DEVICE_MEMORY),
    }


def _check_table(check: DisabledSafetyCheck) -> dict[int, Any]:
    target = check.is_custom_call()
    if target is None:
        return {0: Number("b", PLATFORM_CHECK)}
    return {0: Number("b", CUSTOM_CALL_CHECK), 1: target}
