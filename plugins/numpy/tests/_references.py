"""JAX's results, stored: the bytes of all arrays one after the other, and where each one lies."""

import functools
import json
from pathlib import Path

import ml_dtypes  # noqa: F401 -- gives NumPy the names of the narrow dtypes
import numpy as np

PATH = Path(__file__).parent / "references.npz"


def save(results, about):
    """Write lists of arrays by name, compressed."""
    index, chunks, start = {}, [], 0
    for name, arrays in results.items():
        places = []
        for x in arrays:
            host = np.asarray(x)
            data = host.tobytes()
            places.append([host.dtype.name, list(host.shape), start])
            chunks.append(data)
            start += len(data)
        index[name] = places
    text = json.dumps({"about": about, "index": index}, separators=(",", ":"))
    data = np.frombuffer(b"".join(chunks), np.uint8)
    np.savez_compressed(PATH, text=np.frombuffer(text.encode(), np.uint8), data=data)


@functools.cache
def _stored():
    with np.load(PATH) as file:
        return json.loads(file["text"].tobytes()), file["data"]


def about():
    """The metadata that was stored beside the arrays."""
    return _stored()[0]["about"]


def stored(name):
    """The arrays of one name."""
    record, data = _stored()
    if name not in record["index"]:
        raise KeyError(f"{name} is not in {PATH.name}; run plugins/numpy/tests/make_references.py")
    found = []
    for dtype, shape, start in record["index"][name]:
        count = int(np.prod(shape))
        made = np.frombuffer(data, np.dtype(dtype), count, start) if count else np.zeros(0, dtype)
        found.append(made.reshape(shape))
    return found


def check_each(calls, check):
    """Check every call, and fail with all that went wrong."""
    wrong = []
    for call in calls:
        try:
            check(call)
        except Exception as error:
            text = str(error).strip() or repr(error)
            wrong.append(f"{call}: {type(error).__name__}: {text[:300]}")
    assert not wrong, f"{len(wrong)} of {len(calls)} calls:\n" + "\n".join(wrong)
