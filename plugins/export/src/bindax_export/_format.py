"""The file format of exported programs, which is that of ``jax.export``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.extend import ShapedArray, float0
from bindax_export._checks import DisabledSafetyCheck
from bindax_export._containers import container_table, read_container
from bindax_export._errors import ExportError, FormatError
from bindax_export._export import (
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from bindax_export._exported import Exported
from bindax_export._flatbuffers import Number, Numbers, Reader, write
from bindax_export._parse import symbolic_shape
from bindax_export._scope import SymbolicScope

_WRITTEN_VERSION = 3
_NEWEST_VERSION = 11

_DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float0", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn",
)  # fmt: skip
"""The names of dtypes by their number in files; keys of random numbers have the next ones."""

_DEVICE_MEMORY = 1
_PLATFORM_CHECK, _CUSTOM_CALL_CHECK = 0, 1

# The numbers of the fields of a program's table.
_VERSION, _NAME, _IN_TREE, _IN_AVALS, _OUT_TREE, _OUT_AVALS, _FEW_DEVICES = range(7)
_IN_SHARDINGS, _OUT_SHARDINGS, _PLATFORMS, _ORDERED, _UNORDERED, _CHECKS, _MODULE = range(7, 14)
_CONVENTION, _KEPT, _USES_CONSTANTS, _VJP, _DEVICES, _TYPES, _MESHES, _NAMED = range(14, 22)
_IN_TYPES, _OUT_TYPES, _IN_PLACES, _OUT_PLACES = range(22, 26)


def serialize(exported: Exported, vjp_order: int) -> bytearray:
    """The bytes of a program; see ``Exported.serialize``."""
    return write(_program_table(exported, vjp_order))


def _program_table(exported: Exported, vjp_order: int) -> dict[int, Any]:
    if vjp_order > 0 and not exported.has_vjp():
        raise ExportError(
            f"{exported.fun_name} has no reverse derivative of the order that "
            f"serialize(vjp_order=...) asks for; export the function anew."
        )
    inputs, outputs = exported.in_avals, exported.out_avals
    types = list(dict.fromkeys([*inputs, *outputs]))
    table: dict[int, Any] = {
        _VERSION: Number("H", _WRITTEN_VERSION),
        _NAME: exported.fun_name,
        _IN_TREE: container_table(exported.in_tree),
        _IN_AVALS: [_type_table(aval) for aval in inputs],
        _OUT_TREE: container_table(exported.out_tree),
        _OUT_AVALS: [_type_table(aval) for aval in outputs],
        # A table without fields is a sharding that is not specified.
        _IN_SHARDINGS: [{} for _ in inputs],
        _OUT_SHARDINGS: [{} for _ in outputs],
        _PLATFORMS: list(exported.platforms),
        _ORDERED: [],
        _UNORDERED: [],
        _CHECKS: [_check_table(check) for check in exported.disabled_safety_checks],
        _MODULE: exported.mlir_module_serialized,
        _CONVENTION: Number("H", exported.calling_convention_version),
        _KEPT: Numbers("H", exported.module_kept_var_idx),
        _USES_CONSTANTS: Number("?", exported.uses_global_constants),
        _DEVICES: Number("I", exported.nr_devices),
        _TYPES: [_type_table(aval) for aval in types],
        _MESHES: [],
        _NAMED: [],
        _IN_TYPES: Numbers("I", [types.index(aval) for aval in inputs]),
        _OUT_TYPES: Numbers("I", [types.index(aval) for aval in outputs]),
        _IN_PLACES: Numbers("I", [0] * len(inputs)),
        _OUT_PLACES: Numbers("I", [0] * len(outputs)),
    }
    if vjp_order > 0:
        table[_VJP] = _program_table(exported.vjp(), vjp_order - 1)
    return table


def _type_table(aval: ShapedArray) -> dict[int, Any]:
    name = "float0" if aval.dtype == float0 else aval.dtype.name
    if name not in _DTYPES:
        raise ExportError(f"files cannot hold the type {aval.str_short()}; convert the array.")
    return {
        0: Number("b", 0),
        1: [str(size) for size in aval.shape],
        2: Number("b", _DTYPES.index(name)),
        3: Number("b", _DEVICE_MEMORY),
    }


def _check_table(check: DisabledSafetyCheck) -> dict[int, Any]:
    target = check.is_custom_call()
    if target is None:
        return {0: Number("b", _PLATFORM_CHECK)}
    return {0: Number("b", _CUSTOM_CALL_CHECK), 1: target}


def deserialize(blob: bytes | bytearray) -> Exported:
    """Read a program that ``Exported.serialize`` wrote, bindax's or JAX's.

    Args:
        blob: the bytes. They are a program: read only what you would run.

    Raises:
        FormatError: when the bytes hold no exported program, are damaged, or were written by a
            version whose programs cannot be called here.
        ExportError: when a container type of the arguments or results is not registered.

    >>> from bindax_export import deserialize
    >>> deserialize(b"something else")
    Traceback (most recent call last):
    ...
    bindax_export._errors.FormatError: the bytes hold no exported program ...
    """
    if not isinstance(blob, bytes | bytearray | memoryview):
        raise TypeError(f"deserialize takes bytes, but got {type(blob).__name__}.")
    data = bytes(blob)
    try:
        reader = Reader.root(data)
        if not reader.raw(_MODULE) or not reader.text(_NAME):
            raise FormatError("it has no program")
        return _read(reader)
    except FormatError as error:
        raise FormatError(
            f"the bytes hold no exported program that can be read: {error}. They are damaged, or "
            f"were not written by Exported.serialize of bindax or JAX, or by a newer version."
        ) from None


def _read(reader: Reader) -> Exported:
    version, convention = reader.number(_VERSION, "H"), reader.number(_CONVENTION, "H")
    if not 1 <= version <= _NEWEST_VERSION:
        raise FormatError(
            f"its format has version {version}, but versions 1 to {_NEWEST_VERSION} are read"
        )
    low = minimum_supported_calling_convention_version
    high = maximum_supported_calling_convention_version
    if not low <= convention <= high:
        raise FormatError(
            f"its calling convention has version {convention}, but {low} to {high} are supported"
        )
    devices = reader.number(_DEVICES, "I") or reader.number(_FEW_DEVICES, "h") or 1
    name = reader.text(_NAME)
    if devices > 1:
        raise ExportError(f"{name} runs on {devices} devices; programs for one device are called.")
    if reader.tables(_ORDERED) or reader.tables(_UNORDERED):
        raise ExportError(f"{name} has effects; programs that only compute results are called.")
    scope = SymbolicScope()
    in_avals = _read_types(reader, _IN_TYPES, _IN_AVALS, scope)
    out_avals = _read_types(reader, _OUT_TYPES, _OUT_AVALS, scope)
    kept = tuple(reader.numbers(_KEPT, "H"))
    if any(i >= len(in_avals) for i in kept) or not reader.texts(_PLATFORMS):
        raise FormatError("its program takes arguments that it does not have, or has no platform")
    derivative = reader.table(_VJP)
    return Exported(
        fun_name=name,
        in_tree=read_container(reader.table(_IN_TREE), in_avals),
        in_avals=in_avals,
        out_tree=read_container(reader.table(_OUT_TREE), out_avals),
        out_avals=out_avals,
        platforms=tuple(reader.texts(_PLATFORMS)),
        mlir_module_serialized=reader.raw(_MODULE),
        calling_convention_version=convention,
        module_kept_var_idx=kept,
        disabled_safety_checks=tuple(_read_check(table) for table in reader.tables(_CHECKS)),
        uses_global_constants=bool(reader.number(_USES_CONSTANTS, "?")),
        get_vjp=None if derivative is None else lambda _: _read(derivative),
    )


def _read_types(
    reader: Reader, indices: int, listed: int, scope: SymbolicScope
) -> tuple[ShapedArray, ...]:
    numbers = reader.numbers(indices, "I")
    tables: Sequence[Reader] = reader.tables(listed)
    if numbers:
        types = reader.tables(_TYPES)
        if max(numbers) >= len(types):
            raise FormatError("a type in it is missing")
        tables = [types[i] for i in numbers]
    return tuple(_read_type(table, scope) for table in tables)


def _read_type(table: Reader, scope: SymbolicScope) -> ShapedArray:
    number = table.number(2, "b")
    if not 0 <= number < len(_DTYPES):
        raise ExportError(
            "the program takes or gives keys of random numbers, or a dtype that is not known here; "
            "export it for the arrays that represent them."
        )
    name = _DTYPES[number]
    dtype: Any = float0 if name == "float0" else _dtype(name)
    try:
        shape = symbolic_shape(",".join(table.texts(1)), scope=scope)
    except ValueError as error:
        raise FormatError(f"a shape in it is damaged: {error}") from None
    return ShapedArray(shape, dtype)


def _dtype(name: str) -> Any:
    try:
        return np.dtype(name)
    except TypeError:  # NumPy learns the names of these when the package is imported
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _read_check(table: Reader) -> DisabledSafetyCheck:
    if table.number(0, "b") == _CUSTOM_CALL_CHECK:
        return DisabledSafetyCheck.custom_call(table.text(1))
    return DisabledSafetyCheck.platform()
