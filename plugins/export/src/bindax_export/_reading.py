"""Reading exported programs, which may be damaged or of other versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import ShapedArray, as_extended, float0
from bindax_export._checks import DisabledSafetyCheck
from bindax_export._checksum import require_whole
from bindax_export._containers import read_container
from bindax_export._errors import ExportError, FormatError
from bindax_export._exported import Exported
from bindax_export._flatbuffers import Reader
from bindax_export._format import (
    CUSTOM_CALL_CHECK,
    DTYPES,
    KEY_WORDS,
    NEWEST_VERSION,
    Field,
    maximum_supported_calling_convention_version,
    minimum_supported_calling_convention_version,
)
from bindax_export._parse import symbolic_shape
from bindax_export._places import Places, read_places
from bindax_export._scope import SymbolicScope


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
        require_whole(data)
        reader = Reader.root(data)
        if not reader.raw(Field.MODULE) or not reader.text(Field.NAME):
            raise FormatError("it has no program")
        return _read(reader)
    except FormatError as error:
        raise FormatError(
            f"the bytes hold no exported program that can be read: {clause(error)}. They are "
            f"damaged, or were not written by Exported.serialize of bindax or JAX, or by a newer "
            f"version."
        ) from None


def _read(reader: Reader) -> Exported:
    version, convention = reader.number(Field.VERSION, "H"), reader.number(Field.CONVENTION, "H")
    if not 1 <= version <= NEWEST_VERSION:
        raise FormatError(
            f"its format has version {version}, but versions 1 to {NEWEST_VERSION} are read"
        )
    low = minimum_supported_calling_convention_version
    high = maximum_supported_calling_convention_version
    if not low <= convention <= high:
        raise FormatError(
            f"its calling convention has version {convention}, but {low} to {high} are supported"
        )
    devices = reader.number(Field.DEVICES, "I") or reader.number(Field.FEW_DEVICES, "h") or 1
    name = reader.text(Field.NAME)
    if reader.tables(Field.ORDERED) or reader.tables(Field.UNORDERED):
        raise ExportError(f"{name} has effects; programs that only compute results are called.")
    scope = SymbolicScope()
    places = read_places(reader, Field.IN_PLACES, Field.IN_SHARDINGS)
    in_avals, inputs = _read_types(reader, Field.IN_TYPES, Field.IN_AVALS, scope, places)
    places = read_places(reader, Field.OUT_PLACES, Field.OUT_SHARDINGS)
    out_avals, outputs = _read_types(reader, Field.OUT_TYPES, Field.OUT_AVALS, scope, places)
    kept = tuple(reader.numbers(Field.KEPT, "H"))
    if any(i >= len(in_avals) for i in kept) or not reader.texts(Field.PLATFORMS):
        raise FormatError("its program takes arguments that it does not have, or has no platform")
    derivative = reader.table(Field.VJP)
    return Exported(
        fun_name=name,
        in_tree=read_container(reader.table(Field.IN_TREE), in_avals),
        in_avals=in_avals,
        out_tree=read_container(reader.table(Field.OUT_TREE), out_avals),
        out_avals=out_avals,
        platforms=tuple(reader.texts(Field.PLATFORMS)),
        mlir_module_serialized=reader.raw(Field.MODULE),
        calling_convention_version=convention,
        module_kept_var_idx=kept,
        nr_devices=devices,
        in_shardings=inputs,
        out_shardings=outputs,
        disabled_safety_checks=tuple(_read_check(table) for table in reader.tables(Field.CHECKS)),
        uses_global_constants=bool(reader.number(Field.USES_CONSTANTS, "?")),
        get_vjp=None if derivative is None else lambda _: _read(derivative),
    )


def _read_types(
    reader: Reader, indices: int, listed: int, scope: SymbolicScope, places: Places
) -> tuple[tuple[ShapedArray, ...], Places]:
    """The types of arguments or results, and where they lie, which types say of explicit axes."""
    numbers = reader.numbers(indices, "I")
    tables: Sequence[Reader] = reader.tables(listed)
    if numbers:
        types = reader.tables(Field.TYPES)
        if max(numbers) >= len(types):
            raise FormatError("a type in it is missing")
        tables = [types[i] for i in numbers]
    places = places if len(places) == len(tables) else (None,) * len(tables)
    avals = [_read_type(table, scope) for table in tables]
    try:
        typed = [aval.lying(place) for aval, place in zip(avals, places, strict=True)]
    except ValueError as error:
        raise FormatError(f"a sharding in it is damaged: {error}") from None
    return tuple(typed), places


def _read_type(table: Reader, scope: SymbolicScope) -> ShapedArray:
    number = table.number(2, "b")
    if not 0 <= number < len(DTYPES):
        raise ExportError(
            "the program takes or gives arrays of a dtype that is not known here; export it for "
            "arrays of another one."
        )
    name = DTYPES[number]
    dtype: Any = float0 if name == "float0" else _dtype(name)
    try:
        shape = symbolic_shape(",".join(table.texts(1)), scope=scope)
    except ValueError as error:
        raise FormatError(f"a shape in it is damaged: {error}") from None
    return ShapedArray(shape, dtype)


def _dtype(name: str) -> Any:
    if name in KEY_WORDS:
        return as_extended(np.dtype([(name, np.uint32, (KEY_WORDS[name],))])).dtype
    try:
        return np.dtype(name)
    except TypeError:  # NumPy learns the names of these when the package is imported
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, name))


def _read_check(table: Reader) -> DisabledSafetyCheck:
    if table.number(0, "b") == CUSTOM_CALL_CHECK:
        return DisabledSafetyCheck.custom_call(table.text(1))
    return DisabledSafetyCheck.platform()
