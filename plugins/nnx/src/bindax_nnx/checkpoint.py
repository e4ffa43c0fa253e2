"""Saving and loading of trees and of the state of objects.

A checkpoint is a safetensors file, or a directory with one. Its metadata have a format version and,
for each array, what safetensors does not know: the kind of a variable, the generator of keys.
Nothing in it is executed when it is read, and it appears complete or not at all.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bindax_random as random
from bindax_core.extend import (
    Array,
    is_extended,
    is_value,
    keystr,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
)
from bindax_nnx.errors import CheckpointError
from bindax_nnx.functional import update
from bindax_nnx.graph import iter_variables
from bindax_nnx.object import Object
from bindax_nnx.safetensors import decode, encode, write_atomically
from bindax_nnx.state import State
from bindax_nnx.variables import Variable

VERSION = 1
_FILE = "arrays.safetensors"


def save(
    path: str | os.PathLike[str],
    value: Any,
    *,
    directory: bool = False,
    overwrite: bool = False,
) -> None:
    """Save a tree of arrays, or the variables of an object.

    Args:
        path: the file, or the directory.
        value: an object, or a tree of arrays, numbers and variables.
        directory: whether to make a directory with a readable index, and not one file.
        overwrite: whether to replace what is there.

    Raises:
        CheckpointError: there is something already, or a leaf is no array.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/point", {"w": np.ones(2)})
    ...     load(f"{folder}/point")
    {"['w']": Array([1., 1.], dtype=float64)}
    """
    target = Path(path)
    if target.exists() and not overwrite:
        raise CheckpointError(f"{target} exists; pass overwrite=True to replace it.")
    arrays, notes = {}, {}
    for name, leaf in _named(value):
        arrays[name], notes[name] = _stored(name, leaf)
    about = {"format": "bindax_nnx", "version": str(VERSION), "leaves": json.dumps(notes)}
    content = encode(arrays, about)
    if directory:
        _write_directory(target, content, notes)
    elif target.is_dir():
        raise CheckpointError(f"{target} is a directory; pass directory=True to replace it.")
    else:
        write_atomically(target, content)


def _write_directory(target: Path, content: bytes, notes: dict[str, Any]) -> None:
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        write_atomically(temporary / _FILE, content)
        index = {"format": "bindax_nnx", "version": VERSION, "leaves": notes}
        write_atomically(temporary / "index.json", json.dumps(index, indent=1).encode())
        former = temporary / "former"
        if target.exists():
            os.replace(target, former)
        moved = temporary.with_name(temporary.name + ".new")
        moved.mkdir()
        for name in (_FILE, "index.json"):
            os.replace(temporary / name, moved / name)
        os.replace(moved, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _named(value: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of a tree, or the variables of an object, by name."""
    if isinstance(value, Object):
        for path, variable in iter_variables(value):
            yield "/".join(map(str, path)), variable
        return
    pairs, _ = tree_flatten_with_path(value, is_leaf=lambda x: isinstance(x, (Variable, Object)))
    for keys, leaf in pairs:
        name = keystr(keys)
        if isinstance(leaf, Object):
            for path, variable in iter_variables(leaf):
                yield f"{name}/{'/'.join(map(str, path))}", variable
        else:
            yield name, leaf


def _stored(name: str, leaf: Any) -> tuple[Any, dict[str, Any]]:
    """The array to write for a leaf, and what is noted of it."""
    note: dict[str, Any] = {}
    if isinstance(leaf, Variable):
        note["kind"] = _kind(leaf)
        if names := leaf.get_metadata().get("sharding"):
            note["sharding"] = list(names)
        leaf = leaf.raw_value
    if not is_value(leaf):
        raise CheckpointError(
            f"{name or 'the value'} cannot be saved: it is a {type(leaf).__name__}, not an array."
        )
    dtype = typeof(leaf).dtype
    if is_extended(dtype):
        note["key"] = random.key_impl(leaf)
        leaf = random.key_data(leaf)
    array = np.asarray(leaf)
    note["dtype"] = array.dtype.name
    if array.dtype == np.complex128:
        array = np.stack([array.real, array.imag], axis=-1)
    elif array.dtype.name in ("int4", "uint4", "int2", "uint2"):
        array = array.astype(np.int8)
    elif array.dtype.name.startswith("float") and array.dtype.kind == "V":
        array = array.view(np.uint8)
    return array, note


def _kind(variable: Variable[Any]) -> str:
    return f"{type(variable).__module__}.{type(variable).__qualname__}"


def _restored(array: Array, note: dict[str, Any]) -> Any:
    """The inverse of ``_stored``, the variable aside."""
    host = array.numpy()
    dtype = _dtype(note["dtype"])
    if dtype == np.complex128 and host.dtype == np.float64:
        host = np.ascontiguousarray(host).view(np.complex128)[..., 0]
    elif host.dtype != dtype:
        is_bits = host.dtype == np.uint8 and dtype.kind == "V" and dtype.itemsize == 1
        host = host.view(dtype) if is_bits else host.astype(dtype)
    out: Any = Array.from_numpy(host.copy())
    return random.wrap_key_data(out, impl=note["key"]) if "key" in note else out


def _dtype(name: str) -> np.dtype[Any]:
    import ml_dtypes

    found = getattr(ml_dtypes, name, None)
    try:
        return np.dtype(found if found is not None else name)
    except TypeError:
        raise CheckpointError(
            f"the checkpoint has an array of the unknown dtype {name!r}."
        ) from None


def load(path: str | os.PathLike[str], like: Any = None) -> Any:
    """Load a checkpoint.

    Args:
        path: the file or directory.
        like: an object, whose variables are changed in place, or a tree, whose structure the
            result has. Both must have the names, kinds, shapes and dtypes of the checkpoint.

    Returns:
        The object; a tree; or the arrays by name where nothing is given.

    Raises:
        CheckpointError: the file cannot be read, or does not fit; the message names each
            difference, and nothing is changed.
    """
    arrays, notes = _read(Path(path))
    if like is None:
        return {name: _restored(x, notes[name]) for name, x in arrays.items()}
    expected = list(_named(like))
    _check(Path(path), expected, arrays, notes)
    values = {name: _restored(arrays[name], notes[name]) for name, _ in expected}
    if isinstance(like, Object):
        flat = {path: values["/".join(map(str, path))] for path, _ in iter_variables(like)}
        update(like, State.from_flat_path(flat))
        return like
    return _tree(like, values)


def _tree(like: Any, values: dict[str, Any]) -> Any:
    pairs, structure = tree_flatten_with_path(
        like, is_leaf=lambda x: isinstance(x, (Variable, Object))
    )
    leaves: list[Any] = []
    for keys, leaf in pairs:
        name = keystr(keys)
        if isinstance(leaf, Object):
            for path, variable in iter_variables(leaf):
                variable.value = values[f"{name}/{'/'.join(map(str, path))}"]
            leaves.append(leaf)
        elif isinstance(leaf, Variable):
            leaves.append(leaf.replace(values[name]))
        else:
            leaves.append(values[name])
    return tree_unflatten(structure, leaves)


def _read(path: Path) -> tuple[dict[str, Array], dict[str, Any]]:
    file = path / _FILE if path.is_dir() else path
    if not file.exists():
        raise CheckpointError(f"there is no checkpoint at {path}.")
    arrays, about = decode(file.read_bytes(), str(file))
    if about.get("format") != "bindax_nnx":
        return arrays, {name: {"dtype": x.dtype.name} for name, x in arrays.items()}
    if not about.get("version", "").isdigit() or int(about["version"]) > VERSION:
        raise CheckpointError(
            f"{file} has the format version {about.get('version')!r}, but this version of "
            f"bindax_nnx reads up to {VERSION}; install a newer one."
        )
    try:
        notes = json.loads(about["leaves"])
        complete = set(notes) == set(arrays) and all("dtype" in note for note in notes.values())
    except (KeyError, TypeError, ValueError):
        complete = False
    if not complete:
        raise CheckpointError(f"the index of {file} is damaged.")
    return arrays, notes


def _check(
    path: Path, expected: list[tuple[str, Any]], arrays: dict[str, Array], notes: dict[str, Any]
) -> None:
    names = {name for name, _ in expected}
    wrong = [f"there is no {name!r}" for name in sorted(names - arrays.keys())]
    wrong += [f"there is {name!r}, which is not expected" for name in sorted(arrays.keys() - names)]
    for name, leaf in expected:
        if name not in arrays:
            continue
        value = leaf.raw_value if isinstance(leaf, Variable) else leaf
        aval, note = typeof(value), notes[name]
        found = typeof(_restored(arrays[name], note))
        if (found.shape, found.dtype) != (aval.shape, aval.dtype):
            wrong.append(f"{name!r} is {found.str_short()}, but {aval.str_short()} is expected")
        kind = note.get("kind")
        if kind and isinstance(leaf, Variable) and kind != _kind(leaf):
            wrong.append(f"{name!r} is a {kind}, but a {_kind(leaf)} is expected")
        sharding = leaf.get_metadata().get("sharding") if isinstance(leaf, Variable) else None
        if "sharding" in note and sharding and note["sharding"] != list(sharding):
            wrong.append(
                f"{name!r} has the sharding {note['sharding']}, but {list(sharding)} is expected"
            )
    if wrong:
        more = f"; and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        raise CheckpointError(f"{path} does not fit: {'; '.join(wrong[:8])}{more}.")
