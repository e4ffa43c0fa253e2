"""The file format of exported programs, which is that of ``jax.export``: numbers and names."""

from __future__ import annotations

from enum import IntEnum, auto

minimum_supported_calling_convention_version = 9
"""The oldest calling convention of programs that can be called."""

maximum_supported_calling_convention_version = 10
"""The newest calling convention of programs that can be called; the one that is written."""

WRITTEN_VERSION = 3
"""The version of the format that is written; readers of all later versions read it."""

NEWEST_VERSION = 12
"""The newest version that is read."""

KEY_WORDS = {"key<fry>": 2, "key<rbg>": 4, "key<urbg>": 4}
"""The dtypes of keys of random numbers, and how many words of 32 bits represent one."""

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16", "int4", "uint4",
    "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz",
    "float0", "float8_e4m3", "float8_e3m4", "float8_e8m0fnu", "float4_e2m1fn", *KEY_WORDS,
)  # fmt: skip
"""The names of dtypes by their number in files."""

DEVICE_MEMORY = 1
PLATFORM_CHECK = 0
CUSTOM_CALL_CHECK = 1


class Field(IntEnum):
    """The fields of the table of a program."""

    VERSION = 0
    NAME = auto()
    IN_TREE = auto()
    IN_AVALS = auto()
    OUT_TREE = auto()
    OUT_AVALS = auto()
    FEW_DEVICES = auto()
    IN_SHARDINGS = auto()
    OUT_SHARDINGS = auto()
    PLATFORMS = auto()
    ORDERED = auto()
    UNORDERED = auto()
    CHECKS = auto()
    MODULE = auto()
    CONVENTION = auto()
    KEPT = auto()
    USES_CONSTANTS = auto()
    VJP = auto()
    DEVICES = auto()
    TYPES = auto()
    MESHES = auto()
    NAMED = auto()
    IN_TYPES = auto()
    OUT_TYPES = auto()
    IN_PLACES = auto()
    OUT_PLACES = auto()
