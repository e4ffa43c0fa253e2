"""Importing the libraries, each time in a fresh process."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import Case, Sampler

PLUGINS = 200
PRIMITIVES = 10_000
FIRST_RESULT = "import bindax; bindax.lax.sin(1.0)"


def fresh_process(statements: str, path: Path | None = None) -> Sampler:
    """Make a sampler of the seconds that statements take in a new interpreter once it runs.

    Args:
        statements: the program.
        path: a directory whose distributions count as installed.
    """
    program = (
        "import time; started = time.perf_counter()\n"
        f"{statements}\n"
        "print(time.perf_counter() - started)"
    )

    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})

    def sample() -> float:
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return float(done.stdout)

    return sample


def dummy_plugins() -> Path:
    """Write the metadata of distributions that offer primitives; return their directory."""
    directory = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    for number in range(PLUGINS):
        metadata = directory / f"dummy_{number}-1.0.dist-info"
        metadata.mkdir()
        name = f"Metadata-Version: 2.1\nName: dummy-{number}\nVersion: 1.0\n"
        (metadata / "METADATA").write_text(name, encoding="utf-8")
        offers = "".join(
            f"dummy_{number}_{i} = dummy_{number}:p{i}_p\n" for i in range(PRIMITIVES // PLUGINS)
        )
        manifest = f"[bindax.v1]\ndummy_{number} = dummy_{number}\n[bindax.v1.primitives]\n{offers}"
        (metadata / "entry_points.txt").write_text(manifest, encoding="utf-8")
    return directory


def cases() -> Iterator[Case]:
    """Yield what a user waits for before the first result."""
    yield Case(
        "import",
        fresh_process("import bindax"),
        fresh_process("import jax"),
        target=0.15,
        goal=0.10,
    )
    yield Case(
        f"start with {PLUGINS} plugins, {PRIMITIVES} primitives",
        fresh_process(FIRST_RESULT, path=dummy_plugins()),
        fresh_process(FIRST_RESULT),
        target=0.010,
        goal=0.005,
        against="bindax without them",
        difference=True,
    )
