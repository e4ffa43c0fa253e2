"""Checkpoints and safetensors: round trips, and what is refused."""

import json
import os
import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest

import bindax_random as random
from bindax import nnx, optimizers


def model(seed=0, features=3):
    class Model(nnx.Module):
        def __init__(self, rngs):
            self.linear = nnx.Linear(4, features, rngs=rngs)
            self.norm = nnx.BatchNorm(features, rngs=rngs)
            self.rngs = rngs

    return Model(nnx.Rngs(seed))


TREE = {
    "numbers": [np.ones(3, t) for t in ("i1", "u2", "i4", "f2", "f4", "f8", "?")],
    "complex": (np.array([1 + 2j], "c16"), np.array([3j], "c8")),
    "narrow": [np.array([1, 2], t) for t in (ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn)],
    "more": [np.array([1, 2], t) for t in (ml_dtypes.float8_e4m3b11fnuz, ml_dtypes.int4)],
    "empty": np.zeros((0, 2), "f4"),
    "scalar": 3,
}


@pytest.mark.parametrize("directory", [False, True])
def test_trees_come_back_as_they_were(tmp_path, directory):
    tree = {**TREE, "key": random.key(3)}
    nnx.save(tmp_path / "point", tree, directory=directory)
    found = nnx.load(tmp_path / "point", like=tree)
    assert found["complex"][0].dtype == np.complex128
    for name in TREE:
        for x, y in zip(*map(np.ravel, map(flat, (found[name], tree[name]))), strict=True):
            assert np.asarray(x).dtype == np.asarray(y).dtype
            np.testing.assert_array_equal(np.asarray(x), np.asarray(y))
    np.testing.assert_array_equal(random.key_data(found["key"]), random.key_data(tree["key"]))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["point"]
    assert "['scalar']" in nnx.load(tmp_path / "point")


def flat(x):
    out = np.empty(len(x) if isinstance(x, (list, tuple)) else 1, object)
    out[:] = list(x) if isinstance(x, (list, tuple)) else [x]
    return out


def test_objects_are_restored_in_place(tmp_path):
    one, other = model(0), model(1)
    optimizer = nnx.Optimizer(one, optimizers.adam(0.1))
    one.rngs.params()
    nnx.save(tmp_path / "model.safetensors", one)
    kernel = other.linear.kernel
    assert nnx.load(tmp_path / "model.safetensors", like=other) is other
    assert other.linear.kernel is kernel
    np.testing.assert_array_equal(kernel.value, one.linear.kernel.value)
    np.testing.assert_array_equal(
        random.key_data(other.rngs.params()), random.key_data(one.rngs.params())
    )
    nnx.save(tmp_path / "both", {"model": one, "optimizer": optimizer}, directory=True)
    nnx.load(tmp_path / "both", like={"model": other, "optimizer": optimizer})
    index = json.loads((tmp_path / "both" / "index.json").read_text(encoding="utf-8"))
    assert index["version"] == 1


def test_what_does_not_fit_is_named_and_nothing_is_changed(tmp_path):
    nnx.save(tmp_path / "model", model())
    other = model(1, features=5)
    before = np.asarray(other.linear.kernel.value)
    text = r"'linear/kernel' is float32\[4,3\], but float32\[4,5\] is expected"
    with pytest.raises(nnx.CheckpointError, match=text):
        nnx.load(tmp_path / "model", like=other)
    np.testing.assert_array_equal(other.linear.kernel.value, before)
    other = model()
    del other.linear.bias
    other.linear.scale = nnx.BatchStat(np.zeros(3, "f4"))
    other.linear.kernel = nnx.BatchStat(other.linear.kernel.value)
    with pytest.raises(nnx.CheckpointError) as info:
        nnx.load(tmp_path / "model", like=other)
    for part in ("no 'linear/scale'", "'linear/bias', which is not", "bindax_nnx.variables.Param"):
        assert part in str(info.value)
    with pytest.raises(nnx.CheckpointError, match="exists; pass overwrite=True"):
        nnx.save(tmp_path / "model", model())
    nnx.save(tmp_path / "model", model(), overwrite=True)
    with pytest.raises(nnx.CheckpointError, match=r"\['a'\] cannot be saved: it is a str"):
        nnx.save(tmp_path / "bad", {"a": "text"})
    with pytest.raises(nnx.CheckpointError, match="no checkpoint at"):
        nnx.load(tmp_path / "nowhere")


def damaged(content, size, header):
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "x.safetensors"
    nnx.save_safetensors(path, {"a": np.arange(3), "b": np.ones(2)}, {"note": "text"})
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    cases = {
        "cut off in its header": content[:20],
        "no safetensors file": b"",
        "no valid JSON": content[:8] + b"x" * size + content[8 + size :],
        "does not fit the file": content[:-8],
        "is not valid": damaged(content, size, {**header, "a": {"dtype": "F32"}}),
        "overlap": damaged(content, size, {**header, "b": header["a"]}),
        "not strings": damaged(content, size, {**header, "__metadata__": {"x": 1}}),
    }
    for message, damage in cases.items():
        path.write_bytes(damage)
        with pytest.raises(nnx.CheckpointError, match=message):
            nnx.load_safetensors(path)
    later = {**header, "__metadata__": {"format": "bindax_nnx", "version": "9", "leaves": "{}"}}
    path.write_bytes(damaged(content, size, later))
    with pytest.raises(nnx.CheckpointError, match="format version '9'"):
        nnx.load(path)
    later["__metadata__"]["version"] = "1"
    path.write_bytes(damaged(content, size, later))
    with pytest.raises(nnx.CheckpointError, match=r"index of .* is damaged"):
        nnx.load(path)


def test_files_are_those_of_the_reference_implementation(tmp_path):
    safetensors = pytest.importorskip("safetensors.numpy")
    arrays = {"a": np.arange(6, dtype="i4").reshape(2, 3), "b": np.ones((), "f8")}
    nnx.save_safetensors(tmp_path / "ours", arrays)
    for name, x in safetensors.load_file(tmp_path / "ours").items():
        np.testing.assert_array_equal(x, arrays[name])
    safetensors.save_file(arrays, tmp_path / "theirs")
    for name, x in nnx.load_safetensors(tmp_path / "theirs").items():
        np.testing.assert_array_equal(x, arrays[name])
    assert set(nnx.load(tmp_path / "theirs")) == {"a", "b"}


def test_pipes_are_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for read in (nnx.load, nnx.load_safetensors):
        with pytest.raises(nnx.CheckpointError, match="pipe is no regular file"):
            read(pipe)


def test_a_failed_write_leaves_the_former_file(tmp_path, monkeypatch):
    path = tmp_path / "x"
    nnx.save_safetensors(path, {"a": np.ones(1)})
    before = path.read_bytes()

    def fail(*args):
        raise OSError("disk full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        nnx.save_safetensors(path, {"a": np.zeros(1)})
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize("directory", [False, True])
def test_readers_and_writers_at_once_see_whole_checkpoints(tmp_path, directory):
    path, stop, errors, read = tmp_path / "x", threading.Event(), [], []
    nnx.save(path, {"a": np.zeros(5000)}, directory=directory)

    def repeat(step):
        while not stop.is_set():
            try:
                step()
            except Exception as error:
                errors.append(error)

    def write(number):
        tree = {"a": np.full(5000, float(number))}
        nnx.save(path, tree, overwrite=True, directory=directory)

    def look():
        (array,) = nnx.load(path).values()
        assert len(set(np.asarray(array).tolist())) == 1
        read.append(array)

    steps = [lambda: write(1), lambda: write(2), look, look]
    threads = [threading.Thread(target=repeat, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    while len(read) < 20 and not errors:
        time.sleep(0.01)
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors
    assert [p.name for p in tmp_path.iterdir()] == ["x"]


PROGRAM = """
import sys
import numpy as np
from bindax import nnx
number = 0
print("begin", flush=True)
while True:
    number += 1
    tree = {"a": np.full(10**6, number, "i4"), "b": np.full(10, number, "i4")}
    nnx.save(sys.argv[1], tree, directory=sys.argv[2] == "1", overwrite=True)
"""


@pytest.mark.parametrize("directory", [False, True])
def test_a_process_that_is_killed_leaves_a_whole_checkpoint(tmp_path, directory):
    path = tmp_path / "x"
    nnx.save(path, {"a": np.zeros(3, "i4"), "b": np.zeros(3, "i4")}, directory=directory)
    command = [sys.executable, "-c", PROGRAM, str(path), str(int(directory))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    time.sleep(0.15)
    process.kill()
    process.communicate()
    a, b = map(np.asarray, nnx.load(path).values())
    assert {*a.tolist()} == {*b.tolist()}


def test_files_that_are_cut_off_anywhere_are_refused(tmp_path):
    path = tmp_path / "x"
    nnx.save(path, {"a": np.arange(3), "b": np.ones((2, 3), "f4")})
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with pytest.raises(nnx.CheckpointError):
            nnx.load(path)
