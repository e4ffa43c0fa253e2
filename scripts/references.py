"""Compute the stored references of all packages anew, and compare: `make_references.py` of each.

    uv run python scripts/references.py           # all packages that have such a script
    uv run python scripts/references.py numpy nn  # some of them

The stored files stay as they are. Results of another version or processor may be rounded otherwise.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# Of the largest element of an array.
TOLERANCE = 1e-4


def close(stored: np.ndarray, made: np.ndarray) -> bool:
    """Tell whether two arrays agree up to rounding; what has no numbers agrees exactly."""
    if (stored.shape, stored.dtype) != (made.shape, made.dtype):
        return False
    if stored.dtype.kind not in "fc":
        return np.array_equal(stored, made)
    finite = np.abs(stored[np.isfinite(stored)]).max(initial=0.0)
    allowed = TOLERANCE * float(finite)
    return np.allclose(made, stored, rtol=TOLERANCE, atol=allowed, equal_nan=True)


def differences(stored: Path, made: Path) -> list[str]:
    """Names of the arrays in which two files differ."""
    with np.load(stored) as old, np.load(made) as new:
        names = sorted({*old.files, *new.files})
        both = {*old.files} & {*new.files}
        return [name for name in names if name not in both or not close(old[name], new[name])]


def compare(script: Path) -> list[str]:
    """Run a script, and return in what its files differ from those that were there."""
    files = sorted(script.parent.glob("references*.npz"))
    before = {path: path.read_bytes() for path in files}
    try:
        subprocess.run([sys.executable, script.name], cwd=script.parent, check=True)
        found = []
        for path, old in before.items():
            made = path.with_name(f"made_{path.name}")
            made.write_bytes(path.read_bytes())
            path.write_bytes(old)
            found += [f"{path.relative_to(ROOT)}: {name}" for name in differences(path, made)]
            made.unlink()
        return found
    finally:
        for path, old in before.items():
            path.write_bytes(old)


def main(words: list[str]) -> int:
    """Compare the references of the packages that are named, or of all."""
    found = []
    for script in sorted(ROOT.glob("plugins/*/tests/make_references.py")):
        package = script.parts[-3]
        if words and package not in words:
            continue
        print(f"--- {package}", flush=True)
        try:
            found += compare(script)
        except subprocess.CalledProcessError as error:
            found.append(f"{package}: {error}")
    print("\n".join(found) or "all references are as stored")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
