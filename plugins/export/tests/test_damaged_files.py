"""Files that were changed after they were written, and files without a checksum."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import bindax_lax_basic as lax
from bindax_core import ShapeDtypeStruct
from bindax_core.errors import BackendError, TreeError
from bindax_export import Exported, ExportError, FormatError, deserialize, export, symbolic_shape
from bindax_export._flatbuffers import Number, write
from bindax_export._writing import program_table
from bindax_transforms import grad, jit

pytest.importorskip("jaxlib")

X = np.arange(1, 4, dtype=np.float32)
WITHOUT_CHECKSUM = Path(__file__).with_name("without_checksum.bin")
"""The program ``scaled``, by the version before the first that writes a checksum."""


@pytest.fixture(scope="module")
def scaled() -> Exported:
    """The sum of sines, times the size."""
    function = jit(lambda x: lax.reduce_sum(lax.sin(x), (0,)) * x.shape[0])
    return export(function)(ShapeDtypeStruct(symbolic_shape("b"), np.float32))


def damaged(blob: bytes, seed: int, count: int) -> Iterator[bytes]:
    """Files with bits or bytes changed, parts exchanged, left out, repeated or cut off."""
    rng = np.random.default_rng(seed)

    def position() -> int:
        return int(rng.integers(len(blob)))

    for i in range(count):
        a, b, c = sorted(position() for _ in range(3))
        made = bytearray(blob)
        if i % 6 == 0:
            made[a] ^= 1 << rng.integers(8)
        elif i % 6 == 1:
            for _ in range(rng.integers(1, 9)):
                made[position()] = rng.integers(256)
        elif i % 6 == 2:
            made[a:c] = made[b:c] + made[a:b]
        elif i % 6 == 3:
            del made[a : 1 + b]
        elif i % 6 == 4:
            made[a:a] = made[b:c] or b"\0"
        else:
            del made[a:]
        if made != blob:
            yield bytes(made)


def check_damages(blob: bytes, seed: int, count: int) -> None:
    for data in damaged(blob, seed, count):
        with pytest.raises(FormatError, match="the bytes hold no exported program that can be"):
            deserialize(data)


def test_two_thousand_damaged_files_are_refused(scaled: Exported) -> None:
    check_damages(bytes(scaled.serialize(1)), seed=0, count=2000)


@pytest.mark.nightly
def test_many_damaged_files_are_refused(scaled: Exported) -> None:
    for seed in range(1, 21):
        check_damages(bytes(scaled.serialize(seed % 2)), seed, count=5000)


def test_every_flipped_bit_is_noticed(scaled: Exported) -> None:
    blob = bytes(scaled.serialize())
    for i in range(len(blob)):
        data = blob[:i] + bytes([blob[i] ^ 1 << i % 8]) + blob[i + 1 :]
        with pytest.raises(FormatError, match="its checksum does not fit, so it was changed after"):
            deserialize(data)


def test_file_of_the_version_without_checksum_is_read() -> None:
    out = deserialize(WITHOUT_CHECKSUM.read_bytes()).call(X)
    np.testing.assert_allclose(out, np.sin(X).sum() * 3, rtol=1e-6)


def test_file_with_checksum_is_read(scaled: Exported) -> None:
    for blob in (scaled.serialize(), bytes(scaled.serialize()), memoryview(scaled.serialize(2))):
        np.testing.assert_allclose(deserialize(blob).call(X), np.sin(X).sum() * 3, rtol=1e-6)  # type: ignore[arg-type]
    read = deserialize(scaled.serialize(1))
    np.testing.assert_allclose(grad(read.call)(X), 3 * np.cos(X), rtol=1e-5)


# -------------------------------------------------------------------------- without a checksum


def test_files_of_other_versions(scaled: Exported) -> None:
    table = program_table(scaled, 0)
    newer = {**table, 0: Number("H", 99)}
    with pytest.raises(FormatError, match="its format has version 99, but versions 1 to"):
        deserialize(write(newer))
    newer = {**table, 14: Number("H", 77)}
    with pytest.raises(FormatError, match="calling convention has version 77, but 9 to 10"):
        deserialize(write(newer))
    eight = deserialize(write({**table, 18: Number("I", 8)}))
    with pytest.raises(
        ExportError, match="for 8 devices and is called in a context with 1 devices"
    ):
        eight.call(X)


def test_damaged_files_without_checksum(scaled: Exported) -> None:
    blob = bytes(write(program_table(scaled, 0)))
    rng = np.random.default_rng(0)
    for junk in (b"", b"x" * 100, b"PK\x03\x04" + bytes(200), blob[:-200], blob[: len(blob) // 2]):
        with pytest.raises(FormatError, match="the bytes hold no exported program"):
            deserialize(junk)
    with pytest.raises(TypeError, match="deserialize takes bytes, but got str"):
        deserialize("x")  # type: ignore[arg-type]
    for _ in range(200):  # nothing but errors that say what is wrong
        changed = bytearray(blob)
        changed[rng.integers(len(blob))] = rng.integers(256)
        cut = changed[: rng.integers(len(blob))]
        for data in (changed, cut):
            with contextlib.suppress(ExportError, TreeError):
                deserialize(data)
    with pytest.raises(BackendError, match=r"no StableHLO artifact that this version of jaxlib"):
        deserialize(blob.replace(b"ML\xefR", b"ML\xefS")).call(X)
