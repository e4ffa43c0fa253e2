"""JAX's answers to the tests, stored beside them, so that ordinary runs compute none.

A test asks the fixture ``jax_answers`` for an answer under a key, and gives a function that takes
JAX and computes it. The answers of ``test_x.py`` are in ``jax_answers/test_x.npz`` next to it.

    uv run python scripts/jax_answers.py                 # compute and store all answers anew
    uv run python scripts/jax_answers.py tests/test_x.py # those of some files
    uv run python scripts/jax_answers.py --compare       # compute all, compare with what is stored

BINDAX_JAX_ANSWERS=compare does the latter in any run of the tests; =live takes what JAX says now.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

FORMAT = 1
VARIABLE = "BINDAX_JAX_ANSWERS"
MODES = ("stored", "compare", "live", "refresh")
ROOT = Path(__file__).resolve().parent.parent
# How far apart answers of two versions or processors may be, in units of the largest element.
UNITS = 64.0


class Answer:
    """An array that JAX computed.

    Attributes:
        array: its values.
        weak_type: whether its dtype gives way to others.
    """

    def __init__(self, array: np.ndarray, weak_type: bool = False) -> None:
        self.array = array
        self.weak_type = weak_type

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.array.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the array; that of JAX's ``float0`` is structured and has no fields."""
        return self.array.dtype

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """The values, for NumPy's functions."""
        return np.array(self.array, dtype=dtype, copy=bool(copy))

    def __repr__(self) -> str:
        weak = ", weak" if self.weak_type else ""
        return f"Answer({self.array!r}{weak})"


def normalized(value: Any) -> Any:
    """An answer in what can be stored: lists, dicts, plain values and arrays.

    Tuples become lists; scalars and arrays of NumPy and JAX become answers.
    """
    if value is None or isinstance(value, bool | int | float | str | Answer):
        return value
    if isinstance(value, dict):
        return {str(key): normalized(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [normalized(one) for one in value]
    return Answer(np.asarray(value), bool(getattr(value, "weak_type", False)))


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype of a name, NumPy's, JAX's ``float0`` or one of ``ml_dtypes``."""
    if name == "float0":
        return np.dtype([("float0", np.void, 0)])
    try:
        return np.dtype(name)
    except TypeError:
        import ml_dtypes

        narrow: type = getattr(ml_dtypes, name)
        return np.dtype(narrow)


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name that ``numpy_dtype`` takes."""
    return "float0" if dtype.names == ("float0",) else dtype.name


def write(path: Path, answers: dict[str, Any], jax_version: str) -> None:
    """Store answers: the bytes of all arrays together, and what they are as JSON."""
    data = bytearray()

    def described(value: Any) -> Any:
        if isinstance(value, Answer):
            place = len(data)
            data.extend(np.ascontiguousarray(value.array).tobytes())
            kind = [dtype_name(value.dtype), list(value.shape), value.weak_type]
            return {"array": [place, *kind]}
        if isinstance(value, dict):
            return {"dict": {key: described(one) for key, one in value.items()}}
        if isinstance(value, list):
            return [described(one) for one in value]
        return value

    index = {"format": FORMAT, "jax": jax_version, "answers": {}}
    for key in sorted(answers):
        index["answers"][key] = described(answers[key])  # type: ignore[index]
    text = json.dumps(index, separators=(",", ":")).encode()
    path.parent.mkdir(exist_ok=True)
    packed = np.frombuffer(bytes(data), np.uint8)
    np.savez_compressed(path, index=np.frombuffer(text, np.uint8), data=packed)


def read(path: Path) -> dict[str, Any]:
    """Read the answers of a file.

    Raises:
        ValueError: when the file is of another version.
    """
    with np.load(path) as file:
        index, data = json.loads(file["index"].tobytes()), file["data"].tobytes()
    if index["format"] != FORMAT:
        raise ValueError(f"{path} has format {index['format']}, not {FORMAT}: run {__file__}")

    def restored(value: Any) -> Any:
        if isinstance(value, list):
            return [restored(one) for one in value]
        if not isinstance(value, dict):
            return value
        if "dict" in value:
            return {key: restored(one) for key, one in value["dict"].items()}
        place, name, shape, weak = value["array"]
        dtype = numpy_dtype(name)
        size = int(np.prod(shape, dtype=int)) * dtype.itemsize
        array = np.frombuffer(data[place : place + size], dtype) if size else np.empty(0, dtype)
        return Answer(array.reshape(shape) if size else np.zeros(shape, dtype), weak)

    return {key: restored(value) for key, value in index["answers"].items()}


def differences(stored: Any, live: Any) -> list[str]:
    """Return the differences between a stored answer and one that was computed now."""
    if isinstance(stored, Answer) and isinstance(live, Answer):
        return _array_difference(stored, live)
    if isinstance(stored, list) and isinstance(live, list) and len(stored) == len(live):
        pairs = zip(stored, live, strict=True)
        return [text for a, b in pairs for text in differences(a, b)]
    if isinstance(stored, dict) and isinstance(live, dict) and stored.keys() == live.keys():
        return [f"{k}: {text}" for k in stored for text in differences(stored[k], live[k])]
    return [] if type(stored) is type(live) and stored == live else [f"{stored!r}, now {live!r}"]


def _array_difference(stored: Answer, live: Answer) -> list[str]:
    kinds = [(a.shape, dtype_name(a.dtype), a.weak_type) for a in (stored, live)]
    if kinds[0] != kinds[1]:
        return [f"{kinds[0]}, now {kinds[1]}"]
    if stored.array.size == 0 or kinds[0][1] == "float0" or np.array_equal(stored, live):
        return []
    if stored.dtype.kind in "biu":
        return [f"{stored}, now {live}"]
    import ml_dtypes

    wide = np.complex128 if stored.dtype.kind == "c" else np.float64
    a, b = stored.array.astype(wide), live.array.astype(wide)
    finfo: Any = ml_dtypes.finfo
    allowed = UNITS * float(finfo(stored.dtype).eps)
    largest = np.abs(a[np.isfinite(a)]).max(initial=0.0)
    close = np.allclose(a, b, rtol=0, atol=allowed * largest, equal_nan=True)
    return [] if close else [f"{stored}, now {live}"]


class Answers:
    """The answers of one file of tests.

    Args:
        tests: the file.
        mode: one of ``MODES``.
    """

    def __init__(self, tests: Path, mode: str) -> None:
        self.path = tests.parent / "jax_answers" / f"{tests.stem}.npz"
        self.mode = mode
        self.stored = read(self.path) if self.path.exists() and mode != "refresh" else {}
        self.computed: dict[str, Any] = {}

    def each(self, keys: Sequence[str], compute: Callable[[], Sequence[Any]]) -> list[Any]:
        """The answers to some keys, which one call computes together.

        Args:
            keys: what they are stored under.
            compute: returns them in this order, normalized.

        Raises:
            AssertionError: when one is not stored, or is not what JAX computes now.
        """
        if self.mode == "stored":
            absent = [key for key in keys if key not in self.stored]
            if absent:
                command = f"python scripts/{Path(__file__).name} {self.path.stem}.py"
                raise AssertionError(f"no answers of JAX are stored to {absent}: run {command}")
            return [self.stored[key] for key in keys]
        live = list(compute())
        for key, value in zip(keys, live, strict=True):
            if self.mode == "compare" and key in self.stored:
                found = differences(self.stored[key], value)
                if found:
                    raise AssertionError(f"stored {key}: " + "; ".join(found))
            self.computed[key] = value
        return live

    def finish(self) -> None:
        """Store what was computed, when that was asked for."""
        if self.mode == "refresh" and self.computed:
            write(self.path, self.computed, version("jax"))


def users() -> list[str]:
    """The files of tests that ask for answers."""
    found = [
        path
        for pattern in ("tests/**/test_*.py", "plugins/*/tests/**/test_*.py")
        for path in sorted(ROOT.glob(pattern))
    ]
    return [str(path) for path in found if "jax_answers" in path.read_text(encoding="utf-8")]


def main(words: list[str]) -> int:
    """Run the tests that ask for answers in the mode of the command; return the exit status."""
    mode = "compare" if "--compare" in words else "refresh"
    files = [word for word in words if not word.startswith("-")] or users()
    # One process writes: a file has the answers of all of its tests, those that run at night too.
    command = [sys.executable, "-m", "pytest", "-n0", "-q", *files]
    environment = {**os.environ, VARIABLE: mode, "BINDAX_NIGHTLY": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
