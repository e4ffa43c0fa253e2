"""Measure the errors of functions in units in the last place, and record the worst of each.

    uv run --with python-flint python scripts/accuracy.py                # measure and record all
    uv run --with python-flint python scripts/accuracy.py --only gamma   # names with it
    uv run --with python-flint python scripts/accuracy.py --compare 2/7  # a part with the record
    uv run --with python-flint python scripts/accuracy.py --sample       # inputs of the fast test

A function is evaluated by NumPy's backend and compiled by XLA; JAX's and SciPy's errors on the same
inputs are recorded beside. Exact values are those of Arb. ``scripts/accuracy.json`` is the record,
``tests/accuracy.npz`` has a few inputs with their exact values for a fast test.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from accuracy_functions import Measured, measured
from accuracy_inputs import inputs
from accuracy_references import references

import bindax

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "scripts/accuracy.json"
SAMPLE = ROOT / "tests/accuracy.npz"
DTYPES = ("float32", "float64")
WAYS = ("numpy", "xla", "jax", "scipy")
Values = np.ndarray[Any, Any]


def units(got: Values, high: Values, low: Values) -> Values:
    """The distance from exact values, in units in the last place.

    Numbers below the least normal one count as of its size.

    >>> units(np.array([1 + 2**-23], np.float32), np.array([1.0]), np.array([0.0])).tolist()
    [1.0]
    """
    info = np.finfo(got.dtype)
    largest = float(info.max)
    wide = got.astype(np.float64)
    with np.errstate(all="ignore"):
        size = unit(high, got.dtype)
        # An infinity is one unit beyond the largest number, as it is for rounding.
        near, wanted = (np.clip(x, -largest, largest) for x in (wide, high))
        beyond = (np.abs(wide) > largest) * np.sign(wide)
        beyond = beyond - (np.abs(high) > largest) * np.sign(high)
        rest = np.where(np.abs(high) <= largest, low, 0.0)
        distance = np.abs((near - wanted) / size + beyond - rest / size)
    return np.where(np.isnan(wide) & ~np.isnan(high), np.inf, distance)


def unit(values: Values, dtype: np.dtype[Any], least: float = 0.0) -> Values:
    """The distance of neighbouring numbers of a dtype at values, which count as ``least`` below."""
    info = np.finfo(dtype)
    size = np.clip(np.abs(values), max(least, float(info.tiny)), float(info.max))
    found: Values = np.ldexp(1.0, np.frexp(size)[1] - 1 - info.nmant)
    return found


def function_of(row: Measured, library: Any, name: str) -> Callable[..., Any]:
    """The function of a library by a dotted name."""
    place, _, own = name.rpartition(".")
    module = importlib.import_module(f"{library}.{place}" if place else library)
    found = partial(getattr(module, own), **dict(row.keywords))
    return found if row.part is None else lambda *xs: found(*xs)[row.part]


def evaluate(row: Measured, way: str, operands: list[Values]) -> Values | None:
    """The values that an implementation gives, or None where it has no such function."""
    function = function_of(row, "bindax", row.name.partition("[")[0])
    if way == "numpy":
        with bindax.config.override(backend="numpy", eager="numpy"):
            return np.asarray(function(*operands))
    if way == "xla":
        return np.asarray(bindax.jit(function)(*operands))
    if way == "jax":
        return of_jax(row, operands)
    if not row.scipy:
        return None
    library, _, own = row.scipy.rpartition(".")
    other = function_of(row, library or "scipy.special", own)
    with np.errstate(all="ignore"):
        out = np.asarray(other(*operands))
    return out if out.dtype == operands[0].dtype else out.astype(operands[0].dtype)


def of_jax(row: Measured, operands: list[Values]) -> Values | None:
    """The values of JAX, or None where it has no such function."""
    if not row.jax:
        return None
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    try:
        function = function_of(row, "jax", row.jax)
    except (ImportError, AttributeError):
        return None
    if row.name.endswith("polygamma") and row.name.startswith("scipy"):
        operands = [operands[0].astype(np.int32), *operands[1:]]
    return np.asarray(jax.jit(function)(*operands))


def summary(row: Measured, got: Values, operands: list[Values], high: Values, low: Values) -> Any:
    """The worst input and error, the median, and the shares beyond 1, 4 and 8 units."""
    tiny = float(np.finfo(got.dtype).tiny)
    small = np.abs(high) < tiny
    for x in operands:
        small |= (np.abs(x) < tiny) & (x != 0)
    distance = units(got, high, low)
    normal = np.where(small, 0.0, distance)
    at = int(np.argmax(normal))
    of_one = units_of_one(got, high, low)
    found = {
        "worst": rounded(normal[at]),
        "at": [float(x[at]) for x in operands],
        "median": rounded(np.median(distance[~small])),
        "beyond": [rounded(np.mean(distance[~small] > k)) for k in (1, 4, 8)],
        "absolute": rounded(np.max(np.where(small, 0.0, of_one))),
    }
    if small.any():
        found["subnormal"] = rounded(np.max(distance[small]))
    return found


def units_of_one(got: Values, high: Values, low: Values) -> Values:
    """The distance where values below 1 count as of its size."""
    return units(got, high, low) * unit(high, got.dtype) / unit(high, got.dtype, 1.0)


def rounded(x: Any) -> float:
    """A number with three digits, as much as anybody reads; none is larger than 1e300."""
    return float(f"{min(float(x), 1e300):.3g}")


def measure(row: Measured) -> dict[str, Any]:
    """The record of one function."""
    found: dict[str, Any] = {}
    for name in DTYPES:
        operands = inputs(row.axes, np.dtype(name), row.name)
        high, low = references(f"{row.name}-{name}", row.exact, operands)
        known = ~np.isnan(high)
        operands = [x[known] for x in operands]
        high, low = high[known], low[known]
        found[name] = {"inputs": len(high), "unknown": int((~known).sum())}
        for way in WAYS:
            got = evaluate(row, way, operands)
            if got is not None:
                found[name][way] = summary(row, got, operands, high, low)
    return found


def kept() -> dict[str, Any]:
    """The record of all functions."""
    found: dict[str, Any] = (
        json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    )
    return found


def write(found: dict[str, Any]) -> None:
    """Record what was measured, one function and dtype a line."""
    lines = [
        f"  {json.dumps(name)}: {{\n"
        + ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in found[name].items())
        + "\n  }"
        for name in measured()
        if name in found
    ]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def worse(name: str, before: dict[str, Any], now: dict[str, Any]) -> Iterable[str]:
    """Say where a function is less accurate than it was recorded to be."""
    for dtype, found in now.items():
        for way in ("numpy", "xla"):
            old, new = before[dtype][way]["worst"], found[way]["worst"]
            # Elementary functions of other machines differ by a few units.
            if not new <= 2 * old + 4:
                yield f"{name} {dtype} {way}: {new} units at {found[way]['at']}, recorded are {old}"


def sample(rows: Iterable[Measured], count: int = 24) -> None:
    """Keep a few inputs of each function with their values, for a fast test.

    Those of other functions that are recorded stay.
    """
    known = kept()
    with np.load(SAMPLE) as before:
        arrays: dict[str, Values] = {
            key: before[key] for key in before if key.partition(" ")[0] in known
        }
    for row in rows:
        for name in DTYPES:
            operands = inputs(row.axes, np.dtype(name), row.name)
            high, low = references(f"{row.name}-{name}", row.exact, operands)
            tiny = float(np.finfo(name).tiny)
            fit = np.isfinite(high) & (np.abs(high) > tiny) & (np.abs(high) < np.finfo(name).max)
            for x in operands:
                fit &= (np.abs(x) >= tiny) | (x == 0)
            places = np.random.default_rng(0).permutation(np.flatnonzero(fit))[:count]
            key = f"{row.name} {name}"
            arrays[key] = np.stack(
                [x[places].astype(np.float64) for x in operands] + [high[places], low[places]]
            )
    np.savez_compressed(SAMPLE, **dict(sorted(arrays.items())))  # type: ignore[arg-type]


def main() -> int:
    """Measure and record, or compare with what is recorded."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", default="", metavar="NAME", help="functions with it in their name"
    )
    parser.add_argument("--compare", metavar="K/N", help="the K-th of N parts with the record")
    parser.add_argument("--sample", action="store_true", help="write the inputs of the fast test")
    given = parser.parse_args()
    rows = [row for name, row in measured().items() if given.only in name]
    if given.sample:
        sample([row for row in rows if row.name in kept()])
        return 0
    if given.compare:
        part, parts = map(int, given.compare.split("/"))
        rows = rows[part - 1 :: parts]
    found = kept()
    complaints: list[str] = []
    for row in rows:
        begin = time.perf_counter()
        now = measure(row)
        if given.compare and row.name in found:
            complaints += worse(row.name, found[row.name], now)
        elif not given.compare:
            found[row.name] = now
            write(found)
        print(f"{row.name}: {time.perf_counter() - begin:.1f} s", flush=True)
    print(*complaints, sep="\n")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
