"""The compilation caches."""

from __future__ import annotations

import gc
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest

from bindax_core import ShapedArray, config
from bindax_transforms import make_jaxpr
from bindax_xla_backend.execution import compilation
from bindax_xla_backend.execution import compilation_cache as caches
from bindax_xla_backend.extend import XlaBackend

MAPPINGS = Path("/proc/self/maps")
AVAL = ShapedArray((5,), np.float32)


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "cache"
    with config.override(compilation_cache_dir=str(path)):
        yield path


def entries(directory):
    return sorted(directory.glob("*.xla"))


def run(ops, backend):
    result = backend.compile(make_jaxpr(ops.sin)(AVAL), name="f")(np.ones(5, np.float32))
    np.testing.assert_allclose(result[0], np.sin(np.ones(5)), rtol=1e-6)


def test_one_program_is_compiled_once(ops):
    backend = XlaBackend()
    run(ops, backend)
    run(ops, backend)
    assert len(backend.compiled) == 1


def test_stored_program_is_loaded(ops, directory, monkeypatch):
    run(ops, XlaBackend())
    assert len(entries(directory)) == 1
    monkeypatch.setattr(compilation, "_compile", lambda *args: pytest.fail("was compiled anew"))
    run(ops, XlaBackend())


@pytest.mark.parametrize("damage", ["empty", "cut", "changed"])
def test_damaged_entry_is_ignored_and_replaced(ops, directory, damage):
    run(ops, XlaBackend())
    (entry,) = entries(directory)
    whole = entry.read_bytes()
    changed = whole[:-1] + bytes([whole[-1] ^ 1])
    entry.write_bytes({"empty": b"", "cut": whole[: len(whole) // 2], "changed": changed}[damage])
    run(ops, XlaBackend())
    assert entry.read_bytes()[:24] == caches._MAGIC
    assert len(entry.read_bytes()) == len(whole)
    assert not list(directory.glob("*.tmp"))


def test_damages_anywhere_are_noticed_before_anything_is_loaded(directory):
    key, payload = bytes(32), np.random.default_rng(0).bytes(150)
    caches.write_entry(directory, key, payload)
    (entry,) = entries(directory)
    whole = entry.read_bytes()
    for i in range(len(whole)):
        flipped = whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :]
        swapped = whole[i:] + whole[:i]
        for damaged in (flipped, whole[:i], swapped, whole[:i] + whole[i + 1 :], whole + whole[:i]):
            entry.write_bytes(damaged)
            found = caches.read_entry(directory, key)
            assert found is None or damaged == whole
    entry.write_bytes(whole)
    assert caches.read_entry(directory, key) == payload


def test_entry_of_another_version_is_ignored(ops, directory):
    run(ops, XlaBackend())
    (entry,) = entries(directory)
    key = bytes.fromhex(entry.stem)
    caches.write_entry(directory, key, b"not an executable")
    run(ops, XlaBackend())
    assert len(entry.read_bytes()) > 1000


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_directory_that_others_can_write_to_is_not_used(ops, directory, mode):
    directory.mkdir()
    directory.chmod(mode)
    caches._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="other users own it or can write"):
        run(ops, XlaBackend())
    assert not entries(directory)


def test_directory_that_cannot_be_made(ops, directory):
    directory.write_text("a file", encoding="utf-8")
    caches._warn_once.cache_clear()
    with pytest.warns(UserWarning, match="could not be stored"):
        run(ops, XlaBackend())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(ops, XlaBackend())


def test_exchanged_entries_are_not_used(ops, directory):
    for function in (ops.sin, lambda x: ops.add(x, x)):
        XlaBackend().compile(make_jaxpr(function)(AVAL), name="f")
    one, other = entries(directory)
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    run(ops, XlaBackend())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_pipe_in_place_of_an_entry(ops, directory):
    run(ops, XlaBackend())
    (entry,) = entries(directory)
    entry.unlink()
    os.mkfifo(entry)
    run(ops, XlaBackend())
    assert entry.is_file()


def test_the_oldest_entries_are_removed(directory):
    keys = [bytes([i]) * 32 for i in range(6)]
    with config.override(compilation_cache_bytes=4 * 1100):
        for i, key in enumerate(keys):
            if i == 4:  # reading makes young
                assert caches.read_entry(directory, keys[0]) == bytes(1000)
            caches.write_entry(directory, key, bytes(1000))
            path = caches._path(directory, key)
            if i < 4:
                os.utime(path, (i + 1, i + 1))
        found = [caches.read_entry(directory, key) is not None for key in keys]
        assert found == [True, False, False, True, True, True]
        caches.write_entry(directory, b"l" * 32, bytes(10_000))
    assert [path.name for path in entries(directory)] == [(b"l" * 32).hex() + ".xla"]


def test_setting(tmp_path):
    assert caches.compilation_cache_dir() is None
    with config.override(compilation_cache_dir=tmp_path):
        assert caches.compilation_cache_dir() == tmp_path
    with config.override(compilation_cache_dir="~/cache"):
        assert caches.compilation_cache_dir() == Path.home() / "cache"
    with pytest.raises(ValueError, match="must be the path of a directory or None, but got 3"):
        config.compilation_cache_dir = 3


def test_limit_and_threads():
    cache = caches.MemoryCache(limit=2)
    made = []

    def make():
        made.append(1)
        return object()

    found = []
    threads = [
        threading.Thread(target=lambda: found.append(cache.get(b"k", 10, make))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, found))) == 1
    for key in (b"1", b"2", b"3"):
        cache.get(key, 10, object)
    assert len(cache) == 2
    cache.clear()
    assert len(cache) == 0


def test_limit_of_the_size_of_all_programs():
    cache = caches.MemoryCache(size_limit=100)
    for key, size, kept in ((b"1", 60, 1), (b"2", 40, 2), (b"3", 30, 2), (b"4", 500, 1)):
        cache.get(key, size, object)
        assert len(cache) == kept
    cache.get(b"5", 70, object)
    cache.get(b"6", 30, object)
    assert len(cache) == 2
    cache.clear()
    cache.get(b"7", 100, object)
    assert len(cache) == 1


def mappings_of_code():
    """How many mappings hold code that is in no file, which is compiled code."""
    lines = [line.split() for line in MAPPINGS.read_text(encoding="utf-8").splitlines()]
    return sum(line[1].startswith("r-x") and len(line) == 5 for line in lines)


@pytest.mark.skipif(not MAPPINGS.exists(), reason="the system does not show them")
def test_programs_that_nobody_uses_give_their_memory_mappings_back(ops):
    def grown(size_limit):
        backend = XlaBackend()
        backend.compiled = caches.MemoryCache(size_limit=size_limit)
        gc.collect()
        before = mappings_of_code()
        for size in range(3, 13):
            aval = ShapedArray((size,), np.float32)
            backend.compile(make_jaxpr(lambda x: ops.sin(ops.sin(x)))(aval), name="f")
        gc.collect()
        return mappings_of_code() - before

    assert grown(1 << 20) >= 10
    assert grown(1) <= 2


def test_failure_is_not_kept():
    cache = caches.MemoryCache()
    with pytest.raises(ZeroDivisionError):
        cache.get(b"k", 10, lambda: 1 / 0)
    assert cache.get(b"k", 10, lambda: 3) == 3


def test_key_depends_on_everything(monkeypatch):
    keys = {caches.program_key("a", b"o", "1"), caches.program_key("b", b"o", "1")}
    keys |= {caches.program_key("a", b"p", "1"), caches.program_key("a", b"o", "2")}
    monkeypatch.setenv("XLA_FLAGS", "--xla_something")
    keys.add(caches.program_key("a", b"o", "1"))
    assert len(keys) == 5
