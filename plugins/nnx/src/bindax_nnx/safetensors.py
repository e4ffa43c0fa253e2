"""The safetensors format: named arrays in one file, without code.

The file is the length of a header as 8 bytes, the header as JSON, and the bytes of the arrays. What
is read is checked: a file can hold wrong numbers, but nothing that is executed or reads elsewhere.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from bindax_core.errors import clause
from bindax_core.extend import Array
from bindax_nnx.errors import CheckpointError

_DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype(np.bool_),
    **{f"U{n}": np.dtype(f"uint{n}") for n in (8, 16, 32, 64)},
    **{f"I{n}": np.dtype(f"int{n}") for n in (8, 16, 32, 64)},
    **{f"F{n}": np.dtype(f"float{n}") for n in (16, 32, 64)},
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "C64": np.dtype(np.complex64),
    "F8_E4M3": np.dtype(ml_dtypes.float8_e4m3fn),
    "F8_E5M2": np.dtype(ml_dtypes.float8_e5m2),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_LARGEST_HEADER = 100_000_000
_REMEDY = "nnx.save(path, model) saves objects and trees, in this format as well."


def save_safetensors(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write named arrays to a file, which appears complete or not at all.

    Args:
        path: the file; one that is there is replaced.
        arrays: the arrays by name.
        metadata: strings by name.

    Raises:
        CheckpointError: the format has no such dtype.
        TypeError: the path is no path, or the arrays are no arrays by name.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_safetensors(f"{folder}/x.safetensors", {"x": np.arange(2)})
    ...     load_safetensors(f"{folder}/x.safetensors")
    {'x': Array([0, 1], dtype=int64)}
    """
    _check_arguments(path, arrays)
    write_atomically(Path(path), encode(arrays, metadata))


def _check_arguments(path: Any, arrays: Any) -> None:
    """Raise unless there are a path and arrays by name, in this order."""
    if not isinstance(path, (str, os.PathLike)):
        swapped = isinstance(arrays, (str, os.PathLike))
        raise TypeError(
            f"save_safetensors: path must be a text or a path, but it is a {type(path).__name__}."
            f"{' The path comes first, then the arrays.' if swapped else ''}"
        )
    if not isinstance(arrays, Mapping):
        raise TypeError(
            f"save_safetensors: arrays must be a dictionary of arrays by name, but it is a "
            f"{type(arrays).__name__}. {_REMEDY}"
        )
    for name, value in arrays.items():
        if not isinstance(name, str) or isinstance(value, Mapping):
            raise TypeError(
                f"save_safetensors: arrays must be a dictionary of arrays by name, but it holds a "
                f"{type(value).__name__} under {name!r:.60}. {_REMEDY}"
            )


def encode(arrays: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a file."""
    header: dict[str, Any] = {}
    if metadata:
        header["__metadata__"] = dict(metadata)
    parts, position = [], 0
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        if array.dtype not in _NAMES:
            raise CheckpointError(
                f"safetensors has no dtype for {name!r}, an array of {array.dtype.name}; convert "
                f"it first."
            )
        content = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [position, position + len(content)],
        }
        parts.append(content)
        position += len(content)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([len(text).to_bytes(8, "little"), text, *parts])


def write_atomically(path: Path, content: bytes) -> None:
    """Write a file that appears complete or not at all."""
    number, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def load_safetensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a file by name.

    Raises:
        CheckpointError: the file is none of this format, or was cut off.
    """
    return decode(read_file(Path(path)), str(path))[0]


def read_file(path: Path) -> bytes:
    """The bytes of a regular file."""
    _require_file(path)
    return path.read_bytes()


def _require_file(path: Path) -> None:
    """Raise for pipes and devices, whose reading may never end."""
    if path.exists() and not path.is_file():
        raise CheckpointError(f"{path} is no regular file.")


def decode(content: bytes, name: str) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays and the metadata in the bytes of a file; arguments as for ``views``."""
    arrays, metadata = views(content, name)
    # Copies, so that one array does not keep the whole file in memory.
    return {key: Array.from_numpy(array.copy()) for key, array in arrays.items()}, metadata


def map_file(path: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """The arrays of a file and its metadata; what nobody looks at is not read."""
    _require_file(path)
    with path.open("rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise CheckpointError(f"{path} is no safetensors file: it is empty.")
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return views(content, str(path))


def views(
    content: bytes | mmap.mmap, name: str
) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, str]]:
    """The arrays and the metadata in the bytes of a file, which the arrays share."""
    size = int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 2 <= size <= min(_LARGEST_HEADER, len(content) - 8):
        raise CheckpointError(f"{name} is no safetensors file, or was cut off in its header.")
    try:
        header = json.loads(content[8 : 8 + size], object_pairs_hook=_without_duplicates)
    except ValueError as error:
        raise CheckpointError(f"the header of {name} is no valid JSON: {clause(error)}.") from None
    if not isinstance(header, dict):
        raise CheckpointError(f"the header of {name} is no JSON object.")
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise CheckpointError(f"the metadata of {name} are not strings by name.")
    data = memoryview(content)[8 + size :]
    arrays = {key: _array(name, key, entry, data) for key, entry in header.items()}
    used = sorted(entry["data_offsets"] for entry in header.values())
    if any(a[1] > b[0] for a, b in pairwise(used)):
        raise CheckpointError(f"arrays of {name} overlap.")
    return arrays, metadata


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name appears twice")
    return found


def _array(name: str, key: str, entry: Any, data: memoryview) -> np.ndarray[Any, Any]:
    try:
        dtype, shape, (start, stop) = _DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
        valid = all(type(n) is int and n >= 0 for n in (*shape, start, stop))
        count = math.prod(shape)
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(
            f"the entry {key!r} of {name} is not valid: {entry!r:.200}."
        ) from None
    if not valid or stop - start != count * dtype.itemsize or stop > len(data):
        raise CheckpointError(
            f"the entry {key!r} of {name} does not fit the file, which may be cut off: {entry!r}."
        )
    return np.frombuffer(data[start:stop], dtype).reshape(shape)
