"""Checkpoints of arrays that are spread over processes: each process writes the parts it holds.

Such a checkpoint is a directory with a safetensors file of each process and an index. It appears
complete or not at all. What is read is put on other devices than it was written from, if need be.
"""

from __future__ import annotations

import json
import math
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from bindax_core.extend import Array
from bindax_nnx.errors import CheckpointError
from bindax_nnx.safetensors import encode, map_file, write_atomically
from bindax_parallel import make_array_from_callback, process_count, process_index

VERSION = 1
"""The version of the formats of checkpoints."""

_INDEX = "index.json"


def encodable(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of a dtype that safetensors has, with the bits of one that it may not have."""
    if array.dtype == np.complex128:
        return np.stack([array.real, array.imag], axis=-1)
    if array.dtype.name in ("int4", "uint4", "int2", "uint2"):
        return array.astype(np.int8)
    if array.dtype.name.startswith("float") and array.dtype.kind == "V":
        return array.view(np.uint8)
    return array


def decoded(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The inverse of ``encodable``, given the name of the dtype."""
    dtype = dtype_of(name)
    if dtype == np.complex128 and array.dtype == np.float64:
        return np.ascontiguousarray(array).view(np.complex128)[..., 0]
    if array.dtype == dtype:
        return array
    is_bits = array.dtype == np.uint8 and dtype.kind == "V" and dtype.itemsize == 1
    return array.view(dtype) if is_bits else array.astype(dtype)


def dtype_of(name: str) -> np.dtype[Any]:
    """The dtype of a name, NumPy's or one of ``ml_dtypes``."""
    import ml_dtypes

    found = getattr(ml_dtypes, name, None)
    try:
        return np.dtype(found if found is not None else name)
    except TypeError:
        raise CheckpointError(
            f"the checkpoint has an array of the unknown dtype {name!r}."
        ) from None


def write_index(directory: Path, notes: Mapping[str, Any], **more: Any) -> None:
    """Write what a directory holds, for people to read too."""
    index = {"format": "bindax_nnx", "version": VERSION, **more, "leaves": notes}
    write_atomically(directory / _INDEX, json.dumps(index, indent=1).encode())


def put_directory(made: Path, target: Path, former: Path) -> None:
    """Put a complete directory in the place of another, which goes to ``former``."""
    if target.exists():
        os.replace(target, former)
    os.replace(made, target)


# ------------------------------------------------------------------------------------- writing


def save_shards(
    target: Path, values: Mapping[str, tuple[Any, dict[str, Any]]], overwrite: bool
) -> None:
    """Write a checkpoint together with the other processes.

    The values are arrays, with what is noted of them, by names that are the same in all processes.
    """
    is_first = process_index() == 0
    made = target.with_name(f".{target.name}.new")
    former = target.with_name(f".{target.name}.former")
    with _Together(f"{target} cannot be written") as together:
        if is_first:
            if target.exists() and not overwrite:
                raise CheckpointError(f"{target} exists; pass overwrite=True to replace it.")
            shutil.rmtree(made, ignore_errors=True)
            made.mkdir()
    together.check()
    with together:
        write_atomically(made / _part_name(process_index(), process_count()), _part(values))
    together.check()
    with together:
        if is_first:
            notes = {name: {**note, "shape": np.shape(x)} for name, (x, note) in values.items()}
            write_index(made, notes, parts=process_count())
            shutil.rmtree(former, ignore_errors=True)
            put_directory(made, target, former)
            shutil.rmtree(former, ignore_errors=True)
    together.check()


class _Together:
    """Work of all processes that succeeds in all of them or raises in all of them."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._failure: BaseException | None = None

    def __enter__(self) -> _Together:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        self._failure = error
        return isinstance(error, Exception)

    def check(self) -> None:
        """Raise what this process or another one failed with."""
        from bindax_parallel import multihost_utils

        failed = np.flatnonzero(
            multihost_utils.process_allgather(np.array(self._failure is not None))
        )
        if self._failure is not None:
            raise self._failure
        if len(failed):
            raise CheckpointError(
                f"{self._what}: process {failed[0]} failed; its own error says why."
            )


def _part_name(index: int, count: int) -> str:
    return f"shards-{index:05}-of-{count:05}.safetensors"


def _part(values: Mapping[str, tuple[Any, dict[str, Any]]]) -> bytes:
    """The file of this process."""
    arrays, places = {}, {}
    for name, (value, _) in values.items():
        for start, data in _own_parts(value):
            key = f"{name}@{','.join(map(str, start))}"
            arrays[key] = encodable(np.asarray(data))
            places[key] = [name, start]
    return encode(arrays, {"format": "bindax_nnx.sharded_checkpoint", "places": json.dumps(places)})


def _own_parts(value: Any) -> list[tuple[list[int], Any]]:
    """The parts of a value that this process writes, each with where it begins."""
    if not isinstance(value, Array) or value.is_fully_addressable:
        return [([0] * np.ndim(value), value)] if process_index() == 0 else []
    return [
        ([part.start or 0 for part in shard.index], shard.data)
        for shard in value.addressable_shards
        if shard.replica_id == 0
    ]


# ------------------------------------------------------------------------------------- reading


@attrs.frozen
class StoredArray:
    """An array whose parts are in files: where each begins, and the part as it was encoded."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: Sequence[tuple[Sequence[int], np.ndarray[Any, Any]]]

    def read(self, sharding: Any = None) -> Array:
        """The array, on the devices of a sharding or on the host alone."""
        if sharding is None:
            return Array.from_numpy(self._region((slice(None),) * len(self.shape)))
        return make_array_from_callback(self.shape, sharding, self._region, self.dtype)

    def _region(self, index: Sequence[slice]) -> np.ndarray[Any, Any]:
        wanted = [s.indices(n)[:2] for s, n in zip(index, self.shape, strict=True)]
        region = np.empty([stop - start for start, stop in wanted], self.dtype)
        found = 0
        for start, part in self.parts:
            sizes = part.shape[: len(self.shape)]
            common = [
                (max(low, begin), min(high, begin + size))
                for (low, high), begin, size in zip(wanted, start, sizes, strict=True)
            ]
            if any(low >= high for low, high in common):
                continue
            source = tuple(slice(a - s, b - s) for (a, b), s in zip(common, start, strict=True))
            target = tuple(
                slice(a - w, b - w) for (a, b), (w, _) in zip(common, wanted, strict=True)
            )
            region[target] = decoded(part[source], self.dtype.name)
            found += math.prod([high - low for low, high in common])
        if found != region.size:
            raise CheckpointError(
                f"{self.name!r} is incomplete in the checkpoint: {found} of {region.size} elements "
                f"of a part are there."
            )
        return region


def read_shards(path: Path) -> tuple[dict[str, StoredArray], dict[str, Any]] | None:
    """The arrays of a checkpoint of several processes, and their notes; None for another one."""
    try:
        index = json.loads((path / _INDEX).read_text(encoding="utf-8"))
        if "parts" not in index:
            return None
        version, count, notes = index["version"], int(index["parts"]), index["leaves"]
    except (OSError, NotADirectoryError):
        return None
    except (KeyError, TypeError, ValueError):
        raise CheckpointError(f"the index of {path} is damaged.") from None
    if not isinstance(version, int) or version > VERSION:
        raise CheckpointError(
            f"{path} has the format version {version!r}, but this version of bindax_nnx reads up "
            f"to {VERSION}; install a newer one."
        )
    parts: dict[str, list[Any]] = {name: [] for name in notes}
    for i in range(count):
        file = path / _part_name(i, count)
        if not file.exists():
            raise CheckpointError(f"{file} is missing; the checkpoint has {count} such files.")
        arrays, about = map_file(file)
        try:
            for key, (name, start) in json.loads(about["places"]).items():
                parts[name].append((start, arrays[key]))
        except (KeyError, TypeError, ValueError):
            raise CheckpointError(f"the index of {file} is damaged.") from None
    found = {
        name: StoredArray(name, tuple(note["shape"]), dtype_of(note["dtype"]), parts[name])
        for name, note in notes.items()
    }
    return found, notes
