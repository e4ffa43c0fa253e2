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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bindax_random as random
from bindax_core.extend import (
    Array,
    ShapedArray,
    is_extended,
    is_value,
    keystr,
    tree_flatten_with_path,
    tree_unflatten,
    typeof,
)
from bindax_nnx.errors import CheckpointError
from bindax_nnx.graph import iter_variables
from bindax_nnx.object import Object
from bindax_nnx.safetensors import decode, encode, read_file, write_atomically
from bindax_nnx.sharded_checkpoint import (
    VERSION,
    StoredArray,
    decoded,
    encodable,
    put_directory,
    read_shards,
    save_shards,
    write_index,
)
from bindax_nnx.split_merge import update
from bindax_nnx.state import State
from bindax_nnx.variables import Variable

_FILE = "arrays.safetensors"


def save(
    path: str | os.PathLike[str],
    value: Any,
    *,
    directory: bool = False,
    overwrite: bool = False,
    sharded: bool = False,
) -> None:
    """Save a tree of arrays, or the variables of an object.

    Args:
        path: the file, or the directory.
        value: an object, or a tree of arrays, numbers and variables.
        directory: whether to make a directory with a readable index, and not one file.
        overwrite: whether to replace what is there.
        sharded: whether to make a directory to which each process writes the parts of arrays that
            are on its devices. All processes call it then, and see the same files. Of arrays that
            are not spread over processes those of process 0 are saved.

    Raises:
        CheckpointError: there is something already, or a leaf is no array.

    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(f"{folder}/point", {"w": np.ones(2)})
    ...     load(f"{folder}/point")
    {"['w']": Array([1., 1.], dtype=float64)}
    """
    target = Path(path)
    if sharded:
        save_shards(target, {name: _plain(name, leaf) for name, leaf in _named(value)}, overwrite)
        return
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
    """Write a directory that appears complete, or replace what it holds in one step."""
    if (target / _FILE).is_file():
        write_atomically(target / _FILE, content)
        write_index(target, notes)  # for people; nothing reads it
        return
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}."))
    try:
        made = temporary / "new"
        made.mkdir()
        write_atomically(made / _FILE, content)
        write_index(made, notes)
        try:
            put_directory(made, target, temporary / "former")
        except OSError:  # another process made it meanwhile
            if not (target / _FILE).is_file():
                raise
            _write_directory(target, content, notes)
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


def _plain(name: str, leaf: Any) -> tuple[Any, dict[str, Any]]:
    """The value of a leaf, which is no key, and what is noted of it."""
    note: dict[str, Any] = {}
    if isinstance(leaf, Variable):
        note["kind"] = _kind(leaf)
        if names := leaf.get_metadata("out_sharding", None):
            note["sharding"] = list(names)
        leaf._require_live(leaf.raw_value)
        leaf = leaf.raw_value
    if not is_value(leaf):
        raise CheckpointError(
            f"{name or 'the value'} cannot be saved: it is a {type(leaf).__name__}, not an array."
        )
    dtype = typeof(leaf).dtype
    if is_extended(dtype):
        note["key"] = random.key_impl(leaf)
        leaf = random.key_data(leaf)
    note["dtype"] = typeof(leaf).dtype.name
    return leaf, note


def _stored(name: str, leaf: Any) -> tuple[Any, dict[str, Any]]:
    """The array to write for a leaf, and what is noted of it."""
    value, note = _plain(name, leaf)
    if isinstance(value, Array) and not value.is_fully_addressable:
        raise CheckpointError(
            f"{name or 'the value'} cannot be saved by one process: parts of it are on devices of "
            f"others. Pass sharded=True, in all processes."
        )
    return encodable(np.asarray(value)), note


def _kind(variable: Variable[Any]) -> str:
    return f"{type(variable).__module__}.{type(variable).__qualname__}"


def _restored(array: Array | StoredArray, note: dict[str, Any], like: Any = None) -> Any:
    """The inverse of ``_stored``, the variable aside, on the devices of another value."""
    if isinstance(array, StoredArray):
        given = like.raw_value if isinstance(like, Variable) else like
        is_bound = isinstance(given, Array) and given.committed
        value = array.read(given.sharding if is_bound else None)
    else:
        value = Array.from_numpy(decoded(array.numpy(), note["dtype"]).copy())
    return random.wrap_key_data(value, impl=note["key"]) if "key" in note else value


def load(path: str | os.PathLike[str], like: Any = None) -> Any:
    """Load a checkpoint.

    Args:
        path: the file or directory.
        like: an object, whose variables are changed in place, or a tree, whose structure the
            result has. Both must have the names, kinds, shapes and dtypes of the checkpoint. From
            a sharded checkpoint, arrays are put on the devices of those that are given.

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
    values = {name: _restored(arrays[name], notes[name], leaf) for name, leaf in expected}
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


def _read(path: Path) -> tuple[Mapping[str, Array | StoredArray], dict[str, Any]]:
    if (found := read_shards(path)) is not None:
        return found
    file = path / _FILE if path.is_dir() else path
    if not file.exists():
        raise CheckpointError(f"there is no checkpoint at {path}.")
    arrays, about = decode(read_file(file), str(file))
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


def _type(array: Array | StoredArray, note: dict[str, Any]) -> Any:
    if isinstance(array, StoredArray) and "key" not in note:
        return ShapedArray(array.shape, array.dtype)
    return typeof(_restored(array, note))


def _check(
    path: Path,
    expected: list[tuple[str, Any]],
    arrays: Mapping[str, Array | StoredArray],
    notes: dict[str, Any],
) -> None:
    names = {name for name, _ in expected}
    wrong = [f"there is no {name!r}" for name in sorted(names - arrays.keys())]
    wrong += [f"there is {name!r}, which is not expected" for name in sorted(arrays.keys() - names)]
    for name, leaf in expected:
        if name not in arrays:
            continue
        value = leaf.raw_value if isinstance(leaf, Variable) else leaf
        aval, note = typeof(value), notes[name]
        found = _type(arrays[name], note)
        if (found.shape, found.dtype) != (aval.shape, aval.dtype):
            wrong.append(f"{name!r} is {found.str_short()}, but {aval.str_short()} is expected")
        kind = note.get("kind")
        if kind and isinstance(leaf, Variable) and kind != _kind(leaf):
            wrong.append(f"{name!r} is a {kind}, but a {_kind(leaf)} is expected")
        sharding = leaf.get_metadata("out_sharding", None) if isinstance(leaf, Variable) else None
        if "sharding" in note and sharding and note["sharding"] != list(sharding):
            wrong.append(
                f"{name!r} has the sharding {note['sharding']}, but {list(sharding)} is expected"
            )
    if wrong:
        more = f"; and {len(wrong) - 8} more" if len(wrong) > 8 else ""
        raise CheckpointError(f"{path} does not fit: {'; '.join(wrong[:8])}{more}.")
